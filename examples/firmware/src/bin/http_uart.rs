//! A server over HTTP on two UARTs of an LM3S6965. Each UART is a connection.
//!
//! The image has no network stack, so that CI measures only the cost of HTTP, and can check that HTTP contains no
//! panic. The network stack of the image `http` contains panics.
#![no_std]
#![no_main]

use embedded_io::ErrorKind;
use mcp_proto::Millis;
use mcp_proto_firmware::chips::lm3s6965::Polled;
use mcp_proto_firmware::http::{Memory, Network, Place, serve};

struct Uarts {
    chip: Polled,
}

impl Network for Uarts {
    fn now(&mut self) -> Millis {
        self.chip.now()
    }

    fn receive(&mut self, connection: usize, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        let count = self.chip.read_from(connection, space);
        Ok((count > 0).then_some(count))
    }

    fn transmit(&mut self, connection: usize, bytes: &[u8]) -> Result<usize, ErrorKind> {
        Ok(self.chip.write_to(connection, bytes))
    }

    // A UART cannot close its connection: the next byte belongs to the next client.
    fn end(&mut self, _: usize) {}

    fn close(&mut self, _: usize) {}

    fn wait(&mut self, _: Millis) {}
}

#[cortex_m_rt::entry]
fn main() -> ! {
    static mut MEMORY: Memory = Memory::new();
    static mut PLACE: Place<'static> = Place::new();
    let mut network = Uarts { chip: Polled::start() };
    _ = serve(&mut network, MEMORY, PLACE);
    // Unreachable, because a test on the PC checks that the memory suffices.
    loop {
        core::hint::spin_loop();
    }
}
