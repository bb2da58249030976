//! Tests of a client board and a server board at the two ends of a line.

use crate::common::{App, with_server};
use embedded_io::ErrorKind;
use mcp_proto::client::{self, Client, ClientConfig, Connect};
use mcp_proto::{Millis, Revision};
use mcp_proto_embedded::{FramedPump, Halves, Link, Pump, PumpStatus, Queue};

#[test]
fn client_reconnects_after_any_restart_of_the_server() {
    for connect in [Connect::Automatic, Connect::Handshake, Connect::Stateless] {
        for steps in 0..150 {
            let (up, down) = (Queue::<8>::new(), Queue::<8>::new());
            let config = ClientConfig::new("c", "1").connect(connect);
            let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
            let mut client = Client::new(&config, &mut rx, &mut tx).unwrap();
            let mut client_pump = Pump::new().session_marks();
            let mut server_pump = Pump::new().session_marks();
            let mut revision = None;
            with_server(1024, 1024, |server| {
                let mut app = App::default();
                for step in 0..600 {
                    if step == steps {
                        server.reset();
                        server_pump = Pump::new().session_marks();
                        revision = None;
                    }
                    app.handle(server_pump.step(server, &mut Halves(&up, &down), Millis(0)), server);
                    match client_pump.step(&mut client, &mut Halves(&down, &up), Millis(0)) {
                        PumpStatus::Event => match client.event() {
                            Some(client::Event::Connected(server)) => revision = Some(server.revision()),
                            event => panic!("{connect:?} {steps}: {event:?}"),
                        },
                        PumpStatus::NewSession => client.reset(),
                        _ => {}
                    }
                }
            });
            let expected = match connect {
                Connect::Handshake => Revision::V2025_11_25,
                _ => Revision::V2026_07_28,
            };
            assert_eq!(revision, Some(expected), "{connect:?} {steps}");
        }
    }
}

#[test]
fn restart_of_either_pump_starts_one_new_session() {
    let config = ClientConfig::new("c", "1");
    for is_client in [true, false] {
        let (up, down) = (Queue::<256>::new(), Queue::<256>::new());
        let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
        let mut client = Client::new(&config, &mut rx, &mut tx).unwrap();
        let (mut client_pump, mut server_pump) = (FramedPump::new(5), FramedPump::new(6));
        with_server(1024, 1024, |server| {
            let (mut sessions, mut connected) = ([0, 0], 0);
            for now in (0..2000).map(Millis) {
                if now == Millis(1000) {
                    assert_eq!((sessions, connected), ([0, 0], 1));
                    match is_client {
                        true => (client_pump, _) = (FramedPump::new(7), client.reset()),
                        false => (server_pump, _) = (FramedPump::new(7), server.reset()),
                    }
                }
                match server_pump.step(server, &mut Halves(&up, &down), now) {
                    PumpStatus::NewSession => (sessions[0], _) = (sessions[0] + 1, server.reset()),
                    status => _ = App::default().handle(status, server),
                }
                match client_pump.step(&mut client, &mut Halves(&down, &up), now) {
                    PumpStatus::NewSession => (sessions[1], _) = (sessions[1] + 1, client.reset()),
                    PumpStatus::Event => {
                        connected += u32::from(matches!(client.event(), Some(client::Event::Connected(_))));
                    }
                    _ => {}
                }
            }
            assert_eq!((sessions, connected), (if is_client { [1, 0] } else { [0, 1] }, 2));
        });
    }
}

/// A link that accepts at most 20 bytes in every second write, and no bytes in the others.
struct Slow<'q, const N: usize>(Halves<&'q Queue<N>, &'q Queue<N>>, bool);

impl<const N: usize> Link for Slow<'_, N> {
    fn receive(&mut self, space: &mut [u8]) -> Result<Option<usize>, ErrorKind> {
        self.0.receive(space)
    }

    fn transmit(&mut self, bytes: &[u8]) -> Result<usize, ErrorKind> {
        self.1 = !self.1;
        if self.1 { self.0.transmit(&bytes[..bytes.len().min(20)]) } else { Ok(0) }
    }
}

#[test]
fn log_lines_between_frames_damage_no_frame() {
    let (up, down) = (Queue::<256>::new(), Queue::<256>::new());
    let config = ClientConfig::new("c", "1");
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    let mut client = Client::new(&config, &mut rx, &mut tx).unwrap();
    let (mut client_pump, mut server_pump) = (FramedPump::new(5), FramedPump::new(6));
    let mut server_line = Slow(Halves(&up, &down), false);
    let (mut steps, mut connected_at) = ([0, 0], None);
    with_server(1024, 1024, |server| {
        for now in (0..1000).map(Millis) {
            App::default().handle(server_pump.step(server, &mut server_line, now), server);
            let is_within = server_pump.is_within_message();
            steps[usize::from(is_within)] += 1;
            if !is_within {
                assert!(down.push_all(b"log\n"));
            }
            if client_pump.step(&mut client, &mut Halves(&down, &up), now) == PumpStatus::Event {
                assert!(matches!(client.event(), Some(client::Event::Connected(_))));
                connected_at = Some(now);
            }
        }
    });
    // A damaged frame would be repeated after 100 ms.
    assert!(connected_at.is_some_and(|at| at < Millis(100)), "{connected_at:?}");
    assert!(steps[1] > 10, "{steps:?}");
}
