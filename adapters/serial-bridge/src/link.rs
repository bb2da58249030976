//! The connection to the board: a serial port or a TCP socket.
//!
//! One thread can read the link while another thread writes.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serial2::{KeepSettings, SerialPort, Settings};

use crate::options::{Address, Options};

/// Time to wait for a locked port. The bridge of the previous client may still wait for the last responses.
const MAX_WAIT: Duration = Duration::from_secs(4);
const CONNECT: Duration = Duration::from_secs(10);
/// Timeouts of one attempt to read and to write. After each timeout, the link checks whether it was closed.
const READ_ATTEMPT: Duration = Duration::from_millis(500);
const WRITE_ATTEMPT: Duration = Duration::from_millis(100);

pub(crate) struct Link {
    port: Port,
    is_closed: AtomicBool,
}

enum Port {
    Serial(SerialPort),
    Tcp(TcpStream),
}

impl Link {
    /// Opens the port or connects to the address.
    ///
    /// # Errors
    /// A message for the user: the error, and how to fix it.
    pub(crate) fn open(options: &Options) -> Result<Link, String> {
        let port = match &options.address {
            Address::Tcp(host) => connect(host).map(Port::Tcp).map_err(|why| {
                format!("cannot connect to {host}: {why}. Is the board switched on, and is this its address?")
            }),
            Address::Serial(path) => {
                let opened = open_exclusively(path, options.baud);
                opened.map(Port::Serial).map_err(|why| explain(path, &why, &ports()))
            }
        };
        Ok(Link { port: port?, is_closed: AtomicBool::new(false) })
    }

    /// Reads at least one byte.
    ///
    /// # Errors
    /// `UnexpectedEof`: the board has closed the link. `NotConnected`: [`close`](Link::close) was called. Other errors
    /// come from the port or the socket.
    pub(crate) fn read(&self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match &self.port {
                Port::Serial(port) => port.read(space),
                Port::Tcp(socket) => (&*socket).read(space),
            };
            match self.attempt(read)? {
                Some(0) => {
                    return Err(io::Error::new(ErrorKind::UnexpectedEof, "the board closed the link"));
                }
                Some(n) => return Ok(n),
                None => {}
            }
        }
    }

    /// Writes all bytes. Blocks until the port or the socket has accepted the bytes.
    ///
    /// # Errors
    /// The link has ended or was closed.
    pub(crate) fn write_all(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let written = match &self.port {
                Port::Serial(port) => port.write(bytes),
                Port::Tcp(socket) => (&*socket).write(bytes),
            };
            match self.attempt(written)? {
                Some(0) => return Err(ErrorKind::WriteZero.into()),
                Some(n) => bytes = &bytes[n..],
                None => {}
            }
        }
        Ok(())
    }

    /// Makes each read and write of another thread return an error when its current or next attempt times out.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Relaxed);
    }

    /// Returns `None` for an attempt that has to be repeated. Returns an error if the link has failed, or if the
    /// attempt timed out on a closed link. A socket returns `WouldBlock` when its timeout expires.
    fn attempt(&self, result: io::Result<usize>) -> io::Result<Option<usize>> {
        match result {
            Err(error) => match error.kind() {
                ErrorKind::Interrupted => Ok(None),
                ErrorKind::WouldBlock | ErrorKind::TimedOut if self.is_closed.load(Relaxed) => {
                    Err(ErrorKind::NotConnected.into())
                }
                ErrorKind::WouldBlock | ErrorKind::TimedOut => Ok(None),
                _ => Err(error),
            },
            Ok(n) => Ok(Some(n)),
        }
    }

    /// Sends a break while `wait` runs. Does nothing on a TCP link.
    pub(crate) fn send_break(&self, wait: impl FnOnce()) {
        if let Port::Serial(port) = &self.port
            && port.set_break(true).is_ok()
        {
            wait();
            let _ = port.set_break(false);
        }
    }
}

fn connect(host: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the host name has no address");
    for address in host.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                socket.set_read_timeout(Some(READ_ATTEMPT))?;
                socket.set_write_timeout(Some(WRITE_ATTEMPT))?;
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Opens a port exclusively where the system supports exclusive access. Waits for a locked port, but for at most
/// [`MAX_WAIT`].
///
/// Two readers of one port would each get only a part of the input.
fn open_exclusively(path: &str, baud: u32) -> io::Result<SerialPort> {
    let until = Instant::now() + MAX_WAIT;
    let mut port = loop {
        // Keep the settings until the port is locked.
        match SerialPort::open(path, KeepSettings).and_then(|port| lock(&port).map(|()| port)) {
            Err(error) if error.kind() == ErrorKind::ResourceBusy && Instant::now() < until => {
                sleep(Duration::from_millis(50));
            }
            opened => break opened?,
        }
    };
    let mut settings: Settings = port.get_configuration()?;
    settings.set_raw();
    settings.set_baud_rate(baud)?;
    port.set_configuration(&settings)?;
    port.set_write_timeout(WRITE_ATTEMPT)?;
    port.set_read_timeout(READ_ATTEMPT)?;
    // Some boards send nothing until DTR is set. Unix sets DTR on open. Ignore errors, because a port may have no DTR
    // or RTS.
    let _ = port.set_dtr(true).and_then(|()| port.set_rts(true));
    let _ = port.discard_buffers();
    Ok(port)
}

/// Takes an advisory lock, or fails with `ResourceBusy` if the port is locked. The lock keeps out other bridges and all
/// programs that check for such a lock.
#[cfg(unix)]
fn lock(port: &SerialPort) -> io::Result<()> {
    use rustix::fs::{FlockOperation, flock};
    flock(port, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
        rustix::io::Errno::WOULDBLOCK => ErrorKind::ResourceBusy.into(),
        other => other.into(),
    })
}

/// Does nothing, because Windows always opens a port exclusively.
#[cfg(not(unix))]
fn lock(_: &SerialPort) -> io::Result<()> {
    Ok(())
}

/// Returns the names of the available ports.
fn ports() -> Vec<String> {
    let ports = SerialPort::available_ports().unwrap_or_default();
    ports.iter().map(|port| port.display().to_string()).collect()
}

/// Returns a message for the user: why a port could not be opened, and how to fix the error.
pub(crate) fn explain(path: &str, why: &io::Error, ports: &[String]) -> String {
    let help = match why.kind() {
        ErrorKind::NotFound if ports.is_empty() => {
            "no serial port was found: is the board plugged in?".into()
        }
        ErrorKind::NotFound => format!("these ports were found: {}", ports.join(", ")),
        ErrorKind::PermissionDenied if cfg!(unix) => {
            "add yourself to the group dialout (sudo usermod -aG dialout $USER), and log in again".into()
        }
        ErrorKind::ResourceBusy | ErrorKind::PermissionDenied => {
            "another program uses the port: close that program, such as a terminal or another client".into()
        }
        _ => "is this a serial port?".into(),
    };
    format!("cannot open {path}: {why}; {help}")
}
