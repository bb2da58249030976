//! A server over HTTP on the Ethernet of an LM3S6965, with smoltcp.
#![no_std]
#![no_main]

use cortex_m_rt::{entry, exception};
use embedded_io::ErrorKind;
use mcp_proto::Millis;
use mcp_proto_firmware::chips::lm3s6965_ethernet::{Ethernet, ethernet};
use mcp_proto_firmware::chips::ticks::tick;
use mcp_proto_firmware::http::{CONNECTIONS, Memory, Network, Place, serve};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet, SocketStorage};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{EthernetAddress, IpCidr, Ipv4Address};

/// A locally administered address.
const HARDWARE: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// The address in the user network of QEMU. A board in another network would ask for its address with DHCP.
const ADDRESS: Ipv4Address = Ipv4Address::new(10, 0, 2, 15);
const GATEWAY: Ipv4Address = Ipv4Address::new(10, 0, 2, 2);
const PORT: u16 = 80;

#[exception]
fn SysTick() {
    tick();
}

/// Handles all interrupts without their own handler. Only the interrupt of the Ethernet controller is enabled.
#[exception]
unsafe fn DefaultHandler(_: i16) {
    ethernet();
}

/// The sockets of both connections.
struct Sockets<'n> {
    ethernet: &'n mut Ethernet,
    interface: Interface,
    sockets: SocketSet<'n>,
    handles: [SocketHandle; CONNECTIONS],
    /// Whether each socket has a client.
    is_taken: [bool; CONNECTIONS],
}

impl<'n> Sockets<'n> {
    fn poll(&mut self) {
        let now = instant(self.ethernet.now());
        self.interface.poll(now, self.ethernet, &mut self.sockets);
        for (handle, is_taken) in self.handles.iter().zip(&mut self.is_taken) {
            let socket = self.sockets.get_mut::<Socket<'_>>(*handle);
            if !*is_taken && !socket.is_open() {
                _ = socket.listen(PORT);
            }
            *is_taken |= socket.may_send();
        }
    }

    /// Returns the socket of a connection, if it has a client.
    fn client(&mut self, connection: usize) -> Option<&mut Socket<'n>> {
        let handle = self.handles.get(connection)?;
        let is_taken = *self.is_taken.get(connection)?;
        is_taken.then(|| self.sockets.get_mut(*handle))
    }
}

impl Network for Sockets<'_> {
    fn now(&mut self) -> Millis {
        self.ethernet.now()
    }

    fn receive(&mut self, connection: usize, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        match self.client(connection) {
            Some(socket) if socket.can_recv() => {
                socket.recv_slice(space).map(Some).map_err(|_| ErrorKind::NotConnected)
            }
            Some(socket) if !socket.may_recv() => Ok(Some(0)),
            _ => Ok(None),
        }
    }

    fn transmit(&mut self, connection: usize, bytes: &[u8]) -> Result<usize, ErrorKind> {
        match self.client(connection) {
            Some(socket) => socket.send_slice(bytes).map_err(|_| ErrorKind::NotConnected),
            None => Ok(0),
        }
    }

    fn end(&mut self, connection: usize) {
        if let Some(socket) = self.client(connection) {
            socket.close();
        }
    }

    fn close(&mut self, connection: usize) {
        match self.client(connection) {
            // The client has ended its output first, so nothing of the response is lost.
            Some(socket) if socket.state() == State::CloseWait => socket.close(),
            Some(socket) => socket.abort(),
            None => {}
        }
        if let Some(is_taken) = self.is_taken.get_mut(connection) {
            *is_taken = false;
        }
    }

    fn wait(&mut self, until: Millis) {
        self.poll();
        let now = self.ethernet.now();
        let delay = self.interface.poll_delay(instant(now), &self.sockets);
        let until = delay.map_or(until, |delay| until.min(now.plus(Millis(delay.total_millis()))));
        self.ethernet.sleep(until);
        self.poll();
    }
}

fn instant(now: Millis) -> Instant {
    Instant::from_millis(i64::try_from(now.0).unwrap_or(i64::MAX))
}

#[entry]
fn main() -> ! {
    static mut MEMORY: Memory = Memory::new();
    static mut PLACE: Place<'static> = Place::new();
    static mut ETHERNET: Ethernet = Ethernet::new();
    static mut BUFFERS: [[[u8; 1024]; 2]; CONNECTIONS] = [[[0; 1024]; 2]; CONNECTIONS];
    static mut STORAGE: [SocketStorage<'static>; CONNECTIONS] = [SocketStorage::EMPTY; CONNECTIONS];
    ETHERNET.start(HARDWARE);
    let mut interface =
        Interface::new(Config::new(EthernetAddress(HARDWARE).into()), ETHERNET, instant(Millis::ZERO));
    interface.update_ip_addrs(|addresses| _ = addresses.push(IpCidr::new(ADDRESS.into(), 24)));
    _ = interface.routes_mut().add_default_ipv4_route(GATEWAY);
    let mut sockets = SocketSet::new(&mut STORAGE[..]);
    let handles = BUFFERS.each_mut().map(|[receive, transmit]| {
        let socket = Socket::new(SocketBuffer::new(&mut receive[..]), SocketBuffer::new(&mut transmit[..]));
        sockets.add(socket)
    });
    let is_taken = [false; CONNECTIONS];
    let mut network = Sockets { ethernet: ETHERNET, interface, sockets, handles, is_taken };
    _ = serve(&mut network, MEMORY, PLACE);
    // Unreachable, because a test on the PC checks that the memory suffices.
    loop {
        core::hint::spin_loop();
    }
}

/// The panic handler. smoltcp contains panics.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}
