//! The `Board` trait: the hardware that the main loop in `run` needs.

use mcp_proto::{Millis, ProtocolError};

/// A board with a UART, a clock, an LED, and something to test.
pub trait Board {
    /// Time since the start.
    fn now(&mut self) -> Millis;
    /// Reads received bytes into `space` without blocking, and returns their number, which may be 0.
    ///
    /// Where the UART has lost bytes, the board must insert a byte 0x18, because the server then rejects the line.
    /// Otherwise the remaining bytes would form a message that the client never sent.
    fn read(&mut self, space: &mut [u8]) -> usize;
    /// Sends as many bytes as possible without blocking, and returns their number, which may be 0.
    fn write(&mut self, bytes: &[u8]) -> usize;
    /// Turns the LED on or off.
    fn set_led(&mut self, on: bool);
    /// Runs one of ten steps of the self test. Returns `false` if it fails.
    fn test(&mut self, step: u8) -> bool;
    /// Reports a protocol error that the server has already handled, for example with a counter or the LED.
    fn report(&mut self, fault: ProtocolError);
}
