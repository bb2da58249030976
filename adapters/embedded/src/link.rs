//! The non-blocking `Link` trait, and adapters from drivers to it.

use embedded_io::{Error, ErrorKind, ErrorType, Read, ReadReady, Write, WriteReady};

use crate::status::{accept_unsupported, is_unflushed_after};

/// A bidirectional link whose methods do not wait for input or for space.
///
/// Every type that implements [`Read`], [`ReadReady`], [`Write`] and [`WriteReady`] is a link. [`Halves`] joins a
/// separate receiver and transmitter. [`WriteBlocks`] adapts a driver without `WriteReady`, and blocks during a short
/// write. For a board without a driver that implements these traits, the application implements `Link`:
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
    /// Reads bytes that have arrived into `space`, and returns the number of bytes read.
    ///
    /// Returns `None` if no byte has arrived yet, and `Some(0)` at the end of the input. `space` is never empty.
    ///
    /// # Errors
    /// Fails if bytes were lost, or the link is closed. The [crate documentation](crate) classifies errors by kind.
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind>;

    /// Writes the first bytes of `bytes`, as many as the link accepts without blocking. Returns the number of written
    /// bytes, which may be 0.
    ///
    /// `bytes` is never empty. The implementation must send all written bytes without a flush, because the pumps that
    /// use this trait do not flush.
    ///
    /// # Errors
    /// Fails if no byte was written because of a temporary error or a closed link. The [crate documentation](crate)
    /// classifies errors by kind.
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

/// A separate receiver and transmitter, joined to one link.
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

/// The maximum number of bytes in one blocking write.
const MAX_WRITE: usize = 16;

/// The maximum number of flushes after one write.
const MAX_FLUSHES: u32 = 10;

/// Adapter for a driver whose writes may block.
///
/// Use this type for drivers without [`WriteReady`], and for drivers that send bytes only after a flush. Each write
/// accepts at most 16 bytes, and blocks until the driver has flushed these bytes.
///
/// A flush is repeated if it times out or ends with a temporary error, because the peer may wait for the written bytes.
/// After ten such flushes, the bytes stay in the driver until the flush of the next write.
///
/// At 115,200 baud, 16 bytes take 1.4 ms. If no flush fails, a [`Pump::step`](crate::Pump::step) blocks for about this
/// time. A step of `FramedPump` or `HttpPump` blocks until all pending output is written. Input that arrives in the
/// meantime is lost unless it fits into the hardware's FIFO, or into a [`Queue`](crate::Queue) that an interrupt fills.
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
        let written = self.0.write(bytes.get(..MAX_WRITE).unwrap_or(bytes))?;
        // An error of a flush is not returned, because the driver has accepted the bytes, and the caller would write
        // them again. If the link is closed, the next write fails too.
        for _ in 0..MAX_FLUSHES {
            let flushed = accept_unsupported(self.0.flush().map_err(|error| error.kind()));
            if !is_unflushed_after(flushed) {
                break;
            }
        }
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
