//! What a pump needs of a link that never blocks, and what makes one of the drivers that there are.

use embedded_io::{Error, ErrorKind, ErrorType, Read, ReadReady, Write, WriteReady};

/// A link that never blocks, in both directions.
///
/// Whatever implements [`Read`], [`ReadReady`], [`Write`] and [`WriteReady`] is one. A driver in two parts becomes one
/// with [`Halves`], one without `WriteReady` with [`WriteBlocks`]. A board without a driver implements this:
///
/// ```
/// use embedded_io::ErrorKind;
/// use mcp_proto_embedded::Link;
///
/// struct Registers;
/// # impl Registers { fn received(&mut self) -> Option<u8> { None } fn send(&mut self, _: u8) -> bool { false } }
///
/// impl Link for Registers {
///     fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
///         let arrived = core::iter::from_fn(|| self.received());
///         let count = space.iter_mut().zip(arrived).map(|(place, byte)| *place = byte).count();
///         Ok((count > 0).then_some(count))
///     }
///     fn transmit(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
///         Ok(bytes.iter().take_while(|byte| self.send(**byte)).count())
///     }
/// }
/// ```
pub trait Link {
    /// Reads what has arrived, as much as fits: `None` if nothing has, `Some(0)` if nothing ever will. `space` is never
    /// empty.
    ///
    /// # Errors
    /// Bytes were lost, or the link is gone: see [`PumpStatus`](crate::PumpStatus).
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind>;

    /// Writes what can be written at once, from the front, and says how much that was: maybe nothing. `bytes` is never
    /// empty. Nothing has to be held back, because nothing is flushed.
    ///
    /// # Errors
    /// Nothing was written, now or for ever: see [`PumpStatus`](crate::PumpStatus).
    fn transmit(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind>;
}

impl<T: Read + ReadReady + Write + WriteReady> Link for T {
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        if !self.read_ready().map_err(|error| error.kind())? {
            return Ok(None);
        }
        self.read(space).map(Some).map_err(|error| error.kind())
    }

    fn transmit(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        if !self.write_ready().map_err(|error| error.kind())? {
            return Ok(0);
        }
        self.write(bytes).map_err(|error| error.kind())
    }
}

/// A receiver and a transmitter as one link.
#[derive(Debug)]
pub struct Halves<R, W>(pub R, pub W);

impl<R, W> ErrorType for Halves<R, W> {
    type Error = ErrorKind;
}

impl<R: Read, W> Read for Halves<R, W> {
    fn read(&mut self, space: &mut [u8]) -> Result<usize, ErrorKind> {
        self.0.read(space).map_err(|error| error.kind())
    }
}

impl<R: ReadReady, W> ReadReady for Halves<R, W> {
    fn read_ready(&mut self) -> Result<bool, ErrorKind> {
        self.0.read_ready().map_err(|error| error.kind())
    }
}

impl<R, W: Write> Write for Halves<R, W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.1.write(bytes).map_err(|error| error.kind())
    }

    fn flush(&mut self) -> Result<(), ErrorKind> {
        self.1.flush().map_err(|error| error.kind())
    }
}

impl<R, W: WriteReady> WriteReady for Halves<R, W> {
    fn write_ready(&mut self) -> Result<bool, ErrorKind> {
        self.1.write_ready().map_err(|error| error.kind())
    }
}

/// How much is handed at once to a driver that blocks.
const AT_ONCE: usize = 16;

/// A driver that cannot say whether it would block, or that holds bytes back until it is flushed: writing blocks, for
/// 16 bytes at a time, until they are out.
///
/// At 115,200 baud that is at most 1.4 ms for each step. What arrives meanwhile has to wait in the hardware, or in a
/// [`Queue`](crate::Queue) that an interrupt fills.
#[derive(Debug)]
pub struct WriteBlocks<T>(pub T);

impl<T: ErrorType> ErrorType for WriteBlocks<T> {
    type Error = T::Error;
}

impl<T: Read> Read for WriteBlocks<T> {
    fn read(&mut self, space: &mut [u8]) -> Result<usize, T::Error> {
        self.0.read(space)
    }
}

impl<T: ReadReady> ReadReady for WriteBlocks<T> {
    fn read_ready(&mut self) -> Result<bool, T::Error> {
        self.0.read_ready()
    }
}

impl<T: Write> Write for WriteBlocks<T> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, T::Error> {
        let written = self.0.write(bytes.get(..AT_ONCE).unwrap_or(bytes))?;
        // The bytes are counted as written. If the link is gone, the next write says so, too.
        _ = self.0.flush();
        Ok(written)
    }

    fn flush(&mut self) -> Result<(), T::Error> {
        self.0.flush()
    }
}

impl<T: Write> WriteReady for WriteBlocks<T> {
    fn write_ready(&mut self) -> Result<bool, T::Error> {
        Ok(true)
    }
}
