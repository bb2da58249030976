//! Driver for the Ethernet controller of the LM3S6965, as a device of smoltcp.

use mcp_proto::Millis;
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::time::Instant;

use super::Register;
use super::lm3s6965::{CYCLES_PER_MILLISECOND, TICK_CONTROL, TICK_RELOAD};
use super::ticks::{self, Ticks};

const CLOCKS: Register = Register(0x400F_E108);
/// The clocks of the controller and of its transceiver.
const ETHERNET_CLOCKS: u32 = 1 << 28 | 1 << 30;
const ENABLE_INTERRUPTS: Register = Register(0xE000_E104);
/// Interrupt 42.
const ETHERNET_INTERRUPT: u32 = 1 << 10;

const INTERRUPTS: Register = Register(0x4004_8004);
const RECEIVED: u32 = 1;
const RECEIVE_CONTROL: Register = Register(0x4004_8008);
const RECEIVE: u32 = 1;
const CLEAR_RECEIVED: u32 = 1 << 4;
const TRANSMIT_CONTROL: Register = Register(0x4004_800C);
/// Transmits in full duplex, pads short frames, and appends the checksum.
const TRANSMIT: u32 = 0x17;
/// The FIFOs. The first two bytes of a frame are a length.
const DATA: Register = Register(0x4004_8010);
const ADDRESS_LOW: Register = Register(0x4004_8014);
const ADDRESS_HIGH: Register = Register(0x4004_8018);
const FRAMES_RECEIVED: Register = Register(0x4004_8034);
const TRANSMIT_REQUEST: Register = Register(0x4004_8038);
const BEGIN: u32 = 1;

/// The milliseconds between two ticks of the clock. With shorter intervals, an emulator on a busy computer loses ticks,
/// so that the clock is late.
const TICK: u32 = 10;

/// The longest frame without its checksum, in bytes.
const FRAME: usize = 1514;
const HEADER: u32 = 14;
/// The bytes that the length of a received frame includes besides the frame: the length itself, and the checksum.
const OVERHEAD: usize = 6;

/// The controller, with space for one frame in each direction.
pub struct Ethernet {
    received: [u8; FRAME],
    to_send: [u8; FRAME],
    ticks: Ticks,
}

impl Ethernet {
    /// Creates a controller that is not started.
    pub const fn new() -> Ethernet {
        Ethernet { received: [0; FRAME], to_send: [0; FRAME], ticks: Ticks::new() }
    }

    /// Starts the controller with this hardware address, starts the clock, and enables the interrupts of
    /// both.
    pub fn start(&mut self, address: [u8; 6]) {
        CLOCKS.write(ETHERNET_CLOCKS);
        let [a, b, c, d, e, f] = address;
        ADDRESS_LOW.write(u32::from_le_bytes([a, b, c, d]));
        ADDRESS_HIGH.write(u32::from_le_bytes([e, f, 0, 0]));
        RECEIVE_CONTROL.write(CLEAR_RECEIVED);
        RECEIVE_CONTROL.write(RECEIVE);
        TRANSMIT_CONTROL.write(TRANSMIT);
        ENABLE_INTERRUPTS.write(ETHERNET_INTERRUPT);
        TICK_RELOAD.write(TICK * CYCLES_PER_MILLISECOND - 1);
        TICK_CONTROL.write(0b111);
    }

    /// Returns the time since the start.
    pub fn now(&mut self) -> Millis {
        self.ticks.now()
    }

    /// Sleeps until a frame arrives, or until `until`.
    pub fn sleep(&mut self, until: Millis) {
        self.ticks.sleep(until, || {
            INTERRUPTS.write(RECEIVED);
            FRAMES_RECEIVED.read() > 0
        });
    }
}

/// Handles the interrupt of the clock.
pub fn tick() {
    ticks::advance(TICK);
}

/// Handles the interrupt of the controller. The interrupt only ends a sleep.
pub fn ethernet() {
    INTERRUPTS.write(0);
}

/// Reads a frame. Returns its length, or `None` if no frame has arrived or the frame has an invalid length.
fn receive(space: &mut [u8; FRAME]) -> Option<usize> {
    if FRAMES_RECEIVED.read() == 0 {
        return None;
    }
    let [low, high, first, second] = DATA.read().to_le_bytes();
    let total = usize::from(u16::from_le_bytes([low, high]));
    let mut space_left = space.iter_mut();
    let mut put = |byte| {
        if let Some(place) = space_left.next() {
            *place = byte;
        }
    };
    [first, second].into_iter().for_each(&mut put);
    for _ in 1..total.div_ceil(4) {
        DATA.read().to_le_bytes().into_iter().for_each(&mut put);
    }
    total.checked_sub(OVERHEAD).filter(|length| *length <= FRAME)
}

/// Returns whether the controller has sent the previous frame.
fn is_idle() -> bool {
    !TRANSMIT_REQUEST.has(BEGIN)
}

/// Sends a frame. The controller must have sent the previous frame.
fn send(frame: &[u8]) {
    let length = (frame.len() as u32).saturating_sub(HEADER);
    let (start, rest) = frame.split_at_checked(2).unwrap_or_default();
    let start = start.first_chunk().copied().map_or(0, u16::from_le_bytes);
    DATA.write(length | u32::from(start) << 16);
    for bytes in rest.chunks(4) {
        let mut word = [0; 4];
        word.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
        DATA.write(u32::from_le_bytes(word));
    }
    TRANSMIT_REQUEST.write(BEGIN);
}

/// A received frame.
pub struct Received<'a>(&'a [u8]);

impl RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, process: F) -> R {
        process(self.0)
    }
}

/// Space for a frame.
pub struct Space<'a>(&'a mut [u8; FRAME]);

impl TxToken for Space<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        // smoltcp never requests more than the largest frame.
        let frame = self.0.get_mut(..length).unwrap_or_default();
        let result = fill(frame);
        send(frame);
        result
    }
}

impl Device for Ethernet {
    type RxToken<'a> = Received<'a>;
    type TxToken<'a> = Space<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received<'_>, Space<'_>)> {
        // smoltcp may reply at once, so the frame stays in the FIFO until the controller has sent the previous frame.
        if !is_idle() {
            return None;
        }
        let length = receive(&mut self.received)?;
        Some((Received(self.received.get(..length)?), Space(&mut self.to_send)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Space<'_>> {
        is_idle().then_some(Space(&mut self.to_send))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = FRAME;
        capabilities.max_burst_size = Some(1);
        capabilities
    }
}
