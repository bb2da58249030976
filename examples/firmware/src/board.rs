//! The `Board` trait: the hardware that the main loop in `run` needs.

use mcp_proto::{Millis, ProtocolError};

/// A board with a UART, clock, LED and self test.
pub trait Board {
    /// Returns the time since the start.
    fn now(&mut self) -> Millis;
    /// Reads received bytes into `space` without blocking. Returns the number of bytes, which may be 0.
    ///
    /// Where the UART has lost bytes, the board must insert a byte 0x18, so that the server rejects the line. Otherwise
    /// the remaining bytes could form a message that the client never sent.
    fn read(&mut self, space: &mut [u8]) -> usize;
    /// Sends as many bytes as possible without blocking. Returns the number of bytes, which may be 0.
    fn write(&mut self, bytes: &[u8]) -> usize;
    /// Turns the LED on or off.
    fn set_led(&mut self, on: bool);
    /// Runs one of ten steps of the self test. Returns `false` if the step fails.
    fn test(&mut self, step: u8) -> bool;
    /// Reports a protocol error, for example with a counter or the LED. The server has already handled the error.
    fn report(&mut self, fault: ProtocolError);
}
