//! Sockets: streams whose two directions can be used at once, and closed from outside.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
#[cfg(unix)]
use std::os::unix::net::UnixStream;

/// A socket: a [`TcpStream`] or, on Unix, a [`UnixStream`].
pub trait Stream: Read + Write + Send + Sized + 'static + sealed::Sealed {
    #[doc(hidden)]
    fn twin(&self) -> io::Result<Self>;
    #[doc(hidden)]
    fn hang_up(&self);
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for std::net::TcpStream {}
    #[cfg(unix)]
    impl Sealed for std::os::unix::net::UnixStream {}
}

impl Stream for TcpStream {
    fn twin(&self) -> io::Result<TcpStream> {
        // Answers are small and wanted at once.
        self.set_nodelay(true)?;
        self.try_clone()
    }

    fn hang_up(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

#[cfg(unix)]
impl Stream for UnixStream {
    fn twin(&self) -> io::Result<UnixStream> {
        self.try_clone()
    }

    fn hang_up(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

/// Hangs up when it is dropped: a thread that is blocked on the socket comes back then, and the peer sees the end.
pub(crate) struct HangUp(Box<dyn Fn() + Send>);

impl HangUp {
    pub(crate) fn new(stream: &impl Stream) -> io::Result<HangUp> {
        let stream = stream.twin()?;
        Ok(HangUp(Box::new(move || stream.hang_up())))
    }
}

impl Drop for HangUp {
    fn drop(&mut self) {
        (self.0)();
    }
}
