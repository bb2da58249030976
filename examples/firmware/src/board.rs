//! What the main loop needs of a board.

use mcp_proto::{Millis, ProtocolError};

/// A board with a UART, a clock, an LED, and something to test.
pub trait Board {
    /// Time since the start.
    fn now(&mut self) -> Millis;
    /// Takes bytes that have arrived, as many as there are and fit: maybe none. Where the UART has lost some, a byte 0x18
    /// makes the server give the line up and say so; other bytes would be joined to a message that nobody sent.
    fn read(&mut self, space: &mut [u8]) -> usize;
    /// Sends bytes, as many as can be sent at once: maybe none.
    fn write(&mut self, bytes: &[u8]) -> usize;
    /// Turns the LED on or off.
    fn set_led(&mut self, on: bool);
    /// Does one of ten steps of the self test; `false` if it fails.
    fn test(&mut self, step: u8) -> bool;
    /// Something went wrong and was dealt with: count it, or blink.
    fn report(&mut self, fault: ProtocolError);
}
