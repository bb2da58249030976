//! Writes to files, pipes and sockets without blocking.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use rustix::io::Errno;
use rustix::net::{SendFlags, send};

/// Number of bytes that a pipe accepts without blocking after `poll` has reported space: `PIPE_BUF`.
const GUARANTEED_SPACE: usize =
    if cfg!(any(target_os = "linux", target_os = "android")) { 4096 } else { 512 };

/// A file, pipe or socket with non-blocking writes.
///
/// `O_NONBLOCK` is not set, because the flag would also apply to other processes that share the open file.
pub(crate) struct Output {
    file: Arc<File>,
    mode: WriteMode,
}

/// A method of writing without blocking. The output keeps the first method that the stream supports.
#[derive(Debug, Clone, Copy, PartialEq)]
enum WriteMode {
    /// `send` with `MSG_DONTWAIT`, for sockets.
    Send,
    /// `pwritev2` with `RWF_NOWAIT`, for pipes on newer Linux versions.
    #[cfg(target_os = "linux")]
    NoWait,
    /// A plain write after `poll` has reported space, for all other streams. Writes at most `GUARANTEED_SPACE` bytes.
    WhenReady,
}

impl Output {
    pub(crate) fn new(file: Arc<File>) -> Output {
        Output { file, mode: WriteMode::Send }
    }

    /// Writes all or some of the bytes, and returns the number of the written bytes. `is_ready` means that `poll` has
    /// just reported space.
    ///
    /// # Errors
    /// Returns [`WouldBlock`](ErrorKind::WouldBlock) if no byte fits, or if the caller must call `poll` before the
    /// write. [`Interrupted`](ErrorKind::Interrupted) permits another try. Any other error means that the stream has
    /// failed.
    pub(crate) fn write(&mut self, bytes: &[u8], is_ready: bool) -> io::Result<usize> {
        loop {
            let written = match self.mode {
                WriteMode::Send => send(&self.file, bytes, no_signal()),
                #[cfg(target_os = "linux")]
                WriteMode::NoWait => write_no_wait(&self.file, bytes),
                WriteMode::WhenReady => Err(Errno::AGAIN),
            };
            match written {
                // `poll` has reported space, so a short plain write is possible. The branch serves `WhenReady`, and
                // files that reject every non-blocking write.
                Err(Errno::AGAIN) if is_ready => {
                    return (&*self.file).write(bytes.get(..GUARANTEED_SPACE).unwrap_or(bytes));
                }
                Err(error) if is_unsupported(error) && self.mode != WriteMode::WhenReady => {
                    self.mode = self.mode.next()
                }
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                written => return Ok(written?),
            }
        }
    }
}

impl AsFd for Output {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl WriteMode {
    fn next(self) -> WriteMode {
        match self {
            #[cfg(target_os = "linux")]
            WriteMode::Send => WriteMode::NoWait,
            _ => WriteMode::WhenReady,
        }
    }
}

/// Returns the flags for a non-blocking `send` that raises no signal if the peer has closed its input.
fn no_signal() -> SendFlags {
    #[cfg(not(target_vendor = "apple"))]
    return SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    // The standard library sets `SO_NOSIGPIPE` when it creates the socket.
    #[cfg(target_vendor = "apple")]
    SendFlags::DONTWAIT
}

#[cfg(target_os = "linux")]
fn write_no_wait(file: &File, bytes: &[u8]) -> rustix::io::Result<usize> {
    use rustix::io::{ReadWriteFlags, pwritev2};
    /// The current file position, as an argument of `pwritev2`.
    const HERE: u64 = u64::MAX;
    pwritev2(file, &[io::IoSlice::new(bytes)], HERE, ReadWriteFlags::NOWAIT)
}

/// Returns `true` if the error means that the system does not support or permit the write mode.
fn is_unsupported(error: Errno) -> bool {
    matches!(error, Errno::NOTSOCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::PERM)
}

#[cfg(test)]
mod tests {
    use std::io::{PipeReader, Read, pipe};
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    /// Fills the stream without blocking, reads everything back, and repeats. Finally writes to a closed
    /// peer.
    fn assert_fills_without_blocking(
        mut output: Output,
        mut reader: impl Read + Send + 'static,
        mode: WriteMode,
    ) {
        let (done, wait) = channel();
        thread::spawn(move || {
            let bytes: Vec<u8> =
                (0..100_000_u32).map(|at| at.to_le_bytes()[0] ^ at.to_le_bytes()[1]).collect();
            for _ in 0..3 {
                let mut written = Vec::new();
                loop {
                    let is_ready = is_ready(&output);
                    match output.write(&bytes, is_ready) {
                        Ok(n) => written.extend_from_slice(&bytes[..n]),
                        Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                        Err(error) => panic!("{error}"),
                    }
                    assert!(written.len() < 100 << 20, "the stream never fills");
                }
                assert!(written.len() >= GUARANTEED_SPACE && !is_ready(&output));
                let mut read = vec![0; written.len()];
                reader.read_exact(&mut read).unwrap();
                assert!(read == written);
                assert!(is_ready(&output));
            }
            assert_eq!(output.mode, mode);
            drop(reader);
            let error = output.write(&bytes, true).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BrokenPipe);
            done.send(()).unwrap();
        });
        wait.recv_timeout(Duration::from_secs(20)).expect("a write blocked or failed");
    }

    fn is_ready(output: &Output) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut files = [PollFd::new(output, PollFlags::OUT)];
        poll(&mut files, Some(&now)).unwrap() > 0 && files[0].revents().contains(PollFlags::OUT)
    }

    fn new_output(stream: impl Into<OwnedFd>) -> Output {
        Output::new(Arc::new(stream.into().into()))
    }

    fn output_pipe() -> (Output, PipeReader) {
        let (reader, writer) = pipe().unwrap();
        (new_output(writer), reader)
    }

    #[test]
    fn socket_is_filled_without_blocking() {
        let (here, there) = UnixStream::pair().unwrap();
        assert_fills_without_blocking(new_output(here), there, WriteMode::Send);
    }

    #[test]
    fn pipe_is_filled_without_blocking_in_every_mode() {
        let (mut output, reader) = output_pipe();
        let mode = match output.write(b"x", false) {
            Ok(_) => output.mode,
            Err(_) => WriteMode::WhenReady,
        };
        assert_ne!(mode, WriteMode::Send);
        drop(reader);
        let (output, reader) = output_pipe();
        assert_fills_without_blocking(output, reader, mode);
        let (mut output, reader) = output_pipe();
        output.mode = WriteMode::WhenReady;
        assert_fills_without_blocking(output, reader, WriteMode::WhenReady);
    }

    #[test]
    fn when_ready_mode_writes_guaranteed_space_only() {
        let (mut output, mut reader) = output_pipe();
        output.mode = WriteMode::WhenReady;
        let bytes = [7; GUARANTEED_SPACE + 1];
        assert_eq!(output.write(&bytes, false).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(output.write(&bytes, true).unwrap(), GUARANTEED_SPACE);
        assert_eq!(output.write(&bytes[GUARANTEED_SPACE..], true).unwrap(), 1);
        drop(output);
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        assert_eq!(read, bytes);
    }
}
