//! Sockets: streams that can be duplicated and shut down.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
#[cfg(unix)]
use std::os::unix::net::UnixStream;

/// A socket: a [`TcpStream`] or, on Unix, a [`UnixStream`].
pub trait Stream: Read + Write + Send + Sized + 'static + sealed::Sealed {
    #[doc(hidden)]
    fn duplicate(&self) -> io::Result<Self>;
    #[doc(hidden)]
    fn shutdown_both(&self);
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for std::net::TcpStream {}
    #[cfg(unix)]
    impl Sealed for std::os::unix::net::UnixStream {}
}

impl Stream for TcpStream {
    fn duplicate(&self) -> io::Result<TcpStream> {
        // Responses are small and urgent, so Nagle's algorithm is disabled.
        self.set_nodelay(true)?;
        self.try_clone()
    }

    fn shutdown_both(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

#[cfg(unix)]
impl Stream for UnixStream {
    fn duplicate(&self) -> io::Result<UnixStream> {
        self.try_clone()
    }

    fn shutdown_both(&self) {
        let _ = self.shutdown(Shutdown::Both);
    }
}

/// A guard that shuts a socket down on drop. A thread blocked on the socket returns, and the peer receives the end of
/// the stream.
pub(crate) struct ShutdownOnDrop(Box<dyn Fn() + Send>);

impl ShutdownOnDrop {
    pub(crate) fn new(stream: &impl Stream) -> io::Result<ShutdownOnDrop> {
        let stream = stream.duplicate()?;
        Ok(ShutdownOnDrop(Box::new(move || stream.shutdown_both())))
    }
}

impl Drop for ShutdownOnDrop {
    fn drop(&mut self) {
        (self.0)();
    }
}
