//! Writing without ever waiting for the reader.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{SendFlags, send};

/// So much fits into a pipe or a socket that says it can be written to: `PIPE_BUF`.
const SURE: usize = if cfg!(any(target_os = "linux", target_os = "android")) { 4096 } else { 512 };

/// A file, a pipe or a socket that is written to. It is not made non-blocking itself, because others may use it, too: on
/// Unix, that belongs to the open file and not to who opened it.
pub(crate) struct Output {
    file: File,
    way: Way,
}

/// How something is written without waiting. Not every stream knows every way: the first one that it knows is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    /// Sockets, everywhere.
    Send,
    /// Pipes, on newer versions of Linux.
    #[cfg(target_os = "linux")]
    Now,
    /// Everything else: so much as surely fits, and only when the system has said that something does.
    Sure,
}

impl Output {
    pub(crate) fn new(stream: OwnedFd) -> Output {
        Output { file: stream.into(), way: Way::Send }
    }

    /// Writes what fits. `is_ready`: the system has just said that something does.
    ///
    /// # Errors
    /// [`WouldBlock`](ErrorKind::WouldBlock): nothing fits, or that has to be asked first.
    pub(crate) fn write(&mut self, bytes: &[u8], is_ready: bool) -> io::Result<usize> {
        loop {
            let written = match self.way {
                Way::Send => send(&self.file, bytes, no_signal()),
                #[cfg(target_os = "linux")]
                Way::Now => now(&self.file, bytes),
                Way::Sure => Err(Errno::AGAIN),
            };
            match written {
                // Some files always say that they are ready, and never that nobody would have to wait.
                Err(Errno::AGAIN) if is_ready => {
                    return (&self.file).write(bytes.get(..SURE).unwrap_or(bytes));
                }
                Err(error) if is_unknown(error) && self.way != Way::Sure => self.way = self.way.next(),
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

impl Way {
    fn next(self) -> Way {
        match self {
            #[cfg(target_os = "linux")]
            Way::Send => Way::Now,
            _ => Way::Sure,
        }
    }
}

/// A peer that is gone is an error, and no signal that ends the process.
fn no_signal() -> SendFlags {
    #[cfg(not(target_vendor = "apple"))]
    return SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
    // The standard library says so when it makes the socket.
    #[cfg(target_vendor = "apple")]
    SendFlags::DONTWAIT
}

#[cfg(target_os = "linux")]
fn now(file: &File, bytes: &[u8]) -> rustix::io::Result<usize> {
    use rustix::io::{ReadWriteFlags, pwritev2};
    /// Where the file stands, if it stands anywhere.
    const HERE: u64 = u64::MAX;
    pwritev2(file, &[io::IoSlice::new(bytes)], HERE, ReadWriteFlags::NOWAIT)
}

/// Whether the system does not know this way, does not know it for this stream, or does not allow it.
fn is_unknown(error: Errno) -> bool {
    matches!(error, Errno::NOTSOCK | Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL | Errno::PERM)
}

#[cfg(test)]
mod tests {
    use std::io::{PipeReader, Read, pipe};
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    /// Writes until nothing fits, never waiting; then what is read is what was written, and there is room again.
    fn fills(mut output: Output, mut reader: impl Read + Send + 'static, way: Way) {
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
                    assert!(written.len() < 100 << 20, "it never fills");
                }
                assert!(written.len() >= SURE && !is_ready(&output));
                let mut read = vec![0; written.len()];
                reader.read_exact(&mut read).unwrap();
                assert!(read == written);
                assert!(is_ready(&output));
            }
            assert_eq!(output.way, way);
            drop(reader);
            let error = output.write(&bytes, true).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::BrokenPipe);
            done.send(()).unwrap();
        });
        wait.recv_timeout(Duration::from_secs(20)).expect("it waits, or fails");
    }

    fn is_ready(output: &Output) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut files = [PollFd::new(output, PollFlags::OUT)];
        poll(&mut files, Some(&now)).unwrap() > 0 && files[0].revents().contains(PollFlags::OUT)
    }

    fn piped() -> (Output, PipeReader) {
        let (reader, writer) = pipe().unwrap();
        (Output::new(writer.into()), reader)
    }

    #[test]
    fn a_socket_takes_what_fits() {
        let (here, there) = UnixStream::pair().unwrap();
        fills(Output::new(here.into()), there, Way::Send);
    }

    #[test]
    fn a_pipe_takes_what_fits_in_every_way_that_the_system_may_know() {
        let (mut output, reader) = piped();
        let way = match output.write(b"x", false) {
            Ok(_) => output.way,
            Err(_) => Way::Sure,
        };
        assert_ne!(way, Way::Send);
        drop(reader);
        let (output, reader) = piped();
        fills(output, reader, way);
        let (mut output, reader) = piped();
        output.way = Way::Sure;
        fills(output, reader, Way::Sure);
    }

    #[test]
    fn what_cannot_be_asked_whether_it_fits_takes_a_little_when_it_is_ready() {
        let (mut output, mut reader) = piped();
        output.way = Way::Sure;
        let bytes = [7; SURE + 1];
        assert_eq!(output.write(&bytes, false).unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(output.write(&bytes, true).unwrap(), SURE);
        assert_eq!(output.write(&bytes[SURE..], true).unwrap(), 1);
        drop(output);
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        assert_eq!(read, bytes);
    }
}
