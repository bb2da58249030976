//! A server over HTTP on the Ethernet of an LM3S6965, with smoltcp.
#![no_std]
#![no_main]

use cortex_m_rt::{entry, exception};
use embedded_io::ErrorKind;
use mcp_proto::Millis;
use mcp_proto_firmware::chips::lm3s6965_ethernet::{Ethernet, ethernet, tick};
use mcp_proto_firmware::http::{CONNECTIONS, Memory, Network, Place, serve};
use smoltcp::iface::{Config, Interface, PollResult, SocketHandle, SocketSet, SocketStorage};
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{EthernetAddress, IpCidr, Ipv4Address};

/// The hardware address, from the range of locally administered addresses.
const HARDWARE: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// The address in the user network of QEMU. A board in another network would request its address with DHCP.
const ADDRESS: Ipv4Address = Ipv4Address::new(10, 0, 2, 15);
const GATEWAY: Ipv4Address = Ipv4Address::new(10, 0, 2, 2);
const PORT: u16 = 80;
/// One socket for each connection, and further sockets in which clients wait for a connection. smoltcp has no queue of
/// clients: without a listening socket, smoltcp resets the connection of a client.
const SOCKETS: usize = CONNECTIONS + 4;
/// The time for which a socket waits until a client completes the handshake, or acknowledges the last data of an ended
/// connection. Without this timeout, a client that never answers would occupy the socket forever.
const TIMEOUT: Duration = Duration::from_secs(2);

#[exception]
fn SysTick() {
    tick();
}

/// Handles all interrupts without their own handler. Only the interrupt of the Ethernet controller is enabled.
#[exception]
unsafe fn DefaultHandler(_: i16) {
    ethernet();
}

/// The sockets, and the assignment of sockets to connections.
struct Sockets<'n> {
    ethernet: &'n mut Ethernet,
    interface: Interface,
    sockets: SocketSet<'n>,
    handles: [SocketHandle; SOCKETS],
    /// The socket of each connection that has a client.
    clients: [Option<SocketHandle>; CONNECTIONS],
}

impl<'n> Sockets<'n> {
    /// Moves frames, makes closed sockets listen, and assigns clients to connections. Returns whether frames have
    /// changed a socket, or a connection has a new client.
    fn poll(&mut self) -> bool {
        let now = instant(self.ethernet.now());
        let mut has_changed =
            self.interface.poll(now, self.ethernet, &mut self.sockets) == PollResult::SocketStateChanged;
        for handle in self.handles {
            if self.clients.contains(&Some(handle)) {
                continue;
            }
            let socket = self.sockets.get_mut::<Socket<'_>>(handle);
            if !socket.is_open() {
                socket.set_timeout(Some(TIMEOUT));
                _ = socket.listen(PORT);
            } else if socket.may_send() {
                // The timeout would reset a client that waits for a connection.
                socket.set_timeout(None);
                if let Some(free) = self.clients.iter_mut().find(|client| client.is_none()) {
                    *free = Some(handle);
                    has_changed = true;
                }
            }
        }
        has_changed
    }

    /// Returns the socket of a connection, or `None` if the connection has no client.
    fn client(&mut self, connection: usize) -> Option<&mut Socket<'n>> {
        let handle = self.clients.get(connection).copied().flatten()?;
        Some(self.sockets.get_mut(handle))
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
            Some(socket) if socket.may_recv() => Ok(None),
            Some(_) => Ok(Some(0)),
            None => Err(ErrorKind::NotConnected),
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
        if let Some(socket) = self.client(connection) {
            // The end of the output tells the client that the connection is closed. A reset could destroy a response.
            socket.close();
            socket.set_timeout(Some(TIMEOUT));
        }
        if let Some(client) = self.clients.get_mut(connection) {
            *client = None;
        }
    }

    fn wait(&mut self, until: Millis) {
        if self.poll() {
            // Do not sleep: the sockets may have input that no further interrupt reports.
            return;
        }
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
    static mut BUFFERS: [[[u8; 1024]; 2]; SOCKETS] = [[[0; 1024]; 2]; SOCKETS];
    static mut STORAGE: [SocketStorage<'static>; SOCKETS] = [SocketStorage::EMPTY; SOCKETS];
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
    let clients = [None; CONNECTIONS];
    let mut network = Sockets { ethernet: ETHERNET, interface, sockets, handles, clients };
    _ = serve(&mut network, MEMORY, PLACE);
    // Unreachable, because a test on the PC checks that the memory suffices.
    loop {
        core::hint::spin_loop();
    }
}
