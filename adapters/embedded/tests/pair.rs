//! Tests of a client board and a server board at the two ends of a line.

use crate::common::{App, with_server};
use mcp_proto::client::{self, Client, ClientConfig, Connect};
use mcp_proto::{Millis, Revision};
use mcp_proto_embedded::{Halves, Pump, PumpStatus, Queue};

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
