//! The way to the board: a serial port, or a TCP connection. Both can be read and written at the same time.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serial2::{KeepSettings, SerialPort, Settings};

use crate::options::{Address, Options};

/// A bridge whose client was replaced may still wait for its last answers.
const LONGEST_WAIT: Duration = Duration::from_secs(4);
const CONNECT: Duration = Duration::from_secs(10);
/// How often a write that goes nowhere looks whether it may go on.
const WRITE_ATTEMPT: Duration = Duration::from_millis(100);

pub(crate) enum Link {
    Serial(SerialPort),
    Tcp(TcpStream),
}

impl Link {
    /// # Errors
    /// What is wrong, and what to do about it.
    pub(crate) fn open(options: &Options) -> Result<Link, String> {
        match &options.address {
            Address::Tcp(host) => connect(host).map(Link::Tcp).map_err(|why| {
                format!("cannot connect to {host}: {why}. Is the board switched on, and is this its address?")
            }),
            Address::Serial(path) => {
                let opened = open_alone(path, options.baud);
                opened.map(Link::Serial).map_err(|why| explain(path, &why, &ports()))
            }
        }
    }

    /// At least one byte. At the end of the link, which a board has not by itself, an error.
    pub(crate) fn read(&self, space: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = match self {
                Link::Serial(port) => port.read(space),
                Link::Tcp(socket) => (&*socket).read(space),
            };
            match read.map_err(timed_out) {
                Ok(0) => {
                    return Err(io::Error::new(ErrorKind::UnexpectedEof, "its side of the link was closed"));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }

    /// Waits until the link takes everything, or for `longest`.
    pub(crate) fn write_all(&self, mut bytes: &[u8], longest: Option<Duration>) -> io::Result<()> {
        let until = longest.map(|longest| Instant::now() + longest);
        while !bytes.is_empty() {
            let written = match self {
                Link::Serial(port) => port.write(bytes),
                Link::Tcp(socket) => (&*socket).write(bytes),
            };
            match written.map_err(timed_out) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => bytes = &bytes[n..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::TimedOut => {
                    if until.is_some_and(|until| Instant::now() >= until) {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// How long a read may take; `None`: for ever, or until it times out all the same.
    pub(crate) fn set_read_timeout(&mut self, timeout: Option<Duration>) -> io::Result<()> {
        match self {
            Link::Serial(port) => port.set_read_timeout(timeout.unwrap_or(Duration::MAX)),
            Link::Tcp(socket) => socket.set_read_timeout(timeout),
        }
    }

    /// A break as long as `wait`, where the link has such a thing.
    pub(crate) fn send_break(&self, wait: impl FnOnce()) {
        if let Link::Serial(port) = self
            && port.set_break(true).is_ok()
        {
            wait();
            let _ = port.set_break(false);
        }
    }
}

/// A socket that has waited for long enough says that it would block.
fn timed_out(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::WouldBlock { ErrorKind::TimedOut.into() } else { error }
}

fn connect(host: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "it has no address");
    for address in host.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(socket) => {
                socket.set_nodelay(true)?;
                socket.set_write_timeout(Some(WRITE_ATTEMPT))?;
                return Ok(socket);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Opens a port that nobody else has open, as far as one can know: two readers would each get half of what comes.
fn open_alone(path: &str, baud: u32) -> io::Result<SerialPort> {
    let until = Instant::now() + LONGEST_WAIT;
    let mut port = loop {
        // Before it is ours, its settings stay as they are.
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
    port.set_read_timeout(Duration::MAX)?;
    // Some boards send nothing before somebody says that he listens. Unix says so by itself; what has no such lines need not.
    let _ = port.set_dtr(true).and_then(|()| port.set_rts(true));
    let _ = port.discard_buffers();
    Ok(port)
}

/// Other bridges keep away from the port, and so does whatever else asks.
#[cfg(unix)]
fn lock(port: &SerialPort) -> io::Result<()> {
    use rustix::fs::{FlockOperation, flock};
    flock(port, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
        rustix::io::Errno::WOULDBLOCK => ErrorKind::ResourceBusy.into(),
        other => other.into(),
    })
}

/// Windows opens a port once.
#[cfg(not(unix))]
fn lock(_: &SerialPort) -> io::Result<()> {
    Ok(())
}

/// The ports that there are.
fn ports() -> Vec<String> {
    let ports = SerialPort::available_ports().unwrap_or_default();
    ports.iter().map(|port| port.display().to_string()).collect()
}

/// Why a port could not be opened, and what to do.
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
            "another program has it open: end that one, such as a terminal or another client".into()
        }
        _ => "is it a serial port?".into(),
    };
    format!("cannot open {path}: {why}; {help}")
}
