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
