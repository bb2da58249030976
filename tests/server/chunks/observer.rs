//! The observer of a server receives chunked responses in pieces.

use super::{CONFIG, CONTENTS, SMALL, Session, data_of};
use crate::server::observer::Recorder;
use mcp_proto::server::{Server, Slot};
use mcp_proto::{Direction, Millis, Observer, ProtocolError, Revision};

/// Joins the pieces of messages.
#[derive(Default)]
struct Pieces(Recorder, Vec<u8>);

impl Observer for Pieces {
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>) {
        assert!(self.1.is_empty(), "a message inside of another");
        self.0.line(direction, line, outcome);
    }

    fn piece(&mut self, piece: &[u8], is_last: bool) {
        self.1.extend_from_slice(piece);
        if is_last {
            self.0.line(Direction::Out, &std::mem::take(&mut self.1), Ok(()));
        }
    }
}

#[test]
fn observer_receives_all_pieces_in_order() {
    let (mut rx, mut tx, mut slots, mut ids) = ([0; 1024], [0; SMALL], [Slot::EMPTY; 1], [0; 64]);
    let mut pieces = Pieces::default();
    let seen = pieces.0.clone();
    let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap().in_flight(&mut slots, &mut ids).unwrap();
    let mut session = Session { server: server.observe(&mut pieces), now: Millis(0), output: Vec::new() };
    session.connect(Revision::V2025_11_25);
    seen.take();
    let request = CONTENTS[0].request(Revision::V2025_11_25);
    let ticket = session.open(CONTENTS[0], Revision::V2025_11_25).unwrap();
    session.write_all(CONTENTS[0], ticket, &data_of(CONTENTS[0], 3000), usize::MAX, 100);
    session.send("{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}\n");
    let output = String::from_utf8(std::mem::take(&mut session.output)).unwrap();
    let mut lines = output.lines();
    let expected = [
        format!("> {}", request.trim_end()),
        format!("< {}", lines.next().unwrap()),
        "> {\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"ping\"}".into(),
        format!("< {}", lines.next().unwrap()),
    ];
    assert_eq!(seen.take(), expected);
}
