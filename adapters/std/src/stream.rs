//! Sockets: streams in both directions that can be shut down.

#[cfg(unix)]
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
#[cfg(unix)]
use std::os::{fd::OwnedFd, unix::net::UnixStream};
#[cfg(unix)]
use std::sync::Arc;

/// A socket: a [`TcpStream`] or, on Unix, a [`UnixStream`].
pub trait Stream: Read + Write + Send + Sized + 'static + sealed::Sealed {
    /// Sets the options of the socket, and converts the socket into its file descriptor.
    #[cfg(unix)]
    #[doc(hidden)]
    fn into_socket(self) -> io::Result<OwnedFd>;
    /// Sets the options of the socket, and returns the socket.
    #[cfg(not(unix))]
    #[doc(hidden)]
    fn into_socket(self) -> io::Result<TcpStream>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for std::net::TcpStream {}
    #[cfg(unix)]
    impl Sealed for std::os::unix::net::UnixStream {}
}

impl Stream for TcpStream {
    #[cfg(unix)]
    fn into_socket(self) -> io::Result<OwnedFd> {
        // Most messages are small and urgent, so Nagle's algorithm is disabled.
        self.set_nodelay(true)?;
        Ok(self.into())
    }

    #[cfg(not(unix))]
    fn into_socket(self) -> io::Result<TcpStream> {
        self.set_nodelay(true)?;
        Ok(self)
    }
}

#[cfg(unix)]
impl Stream for UnixStream {
    fn into_socket(self) -> io::Result<OwnedFd> {
        Ok(self.into())
    }
}

/// A socket as input and output. On Unix, both are one file descriptor.
#[cfg(unix)]
pub(crate) type Halves = Arc<File>;
#[cfg(not(unix))]
pub(crate) type Halves = (TcpStream, TcpStream);

/// Returns the input and output of a socket, and a guard for the socket.
pub(crate) fn halves(stream: impl Stream) -> io::Result<(Halves, ShutdownOnDrop)> {
    let socket = stream.into_socket()?;
    #[cfg(unix)]
    {
        let file = Arc::new(File::from(socket));
        Ok((Arc::clone(&file), ShutdownOnDrop(file)))
    }
    #[cfg(not(unix))]
    Ok(((socket.try_clone()?, socket.try_clone()?), ShutdownOnDrop(socket)))
}

/// A guard that shuts a socket down on drop. A blocked read or write of the socket then returns, and the peer receives
/// the end of the stream.
pub(crate) struct ShutdownOnDrop(#[cfg(unix)] Arc<File>, #[cfg(not(unix))] TcpStream);

impl Drop for ShutdownOnDrop {
    fn drop(&mut self) {
        #[cfg(unix)]
        let _ = rustix::net::shutdown(&self.0, rustix::net::Shutdown::Both);
        #[cfg(not(unix))]
        let _ = self.0.shutdown(std::net::Shutdown::Both);
    }
}
