//! Operations between an event and the next poll, before the response.

use crate::support::transport::exchange;
use mcp_proto::input::ListRoots;
use mcp_proto::server::{Change, Event, Feature, RequestOptions, Server, ServerConfig, Slot, Tools};
use mcp_proto::{Action, Millis, Ticket};

static TOOLS: Tools<'static> = Tools::dynamic_list().list_changed();
static FEATURES: [&dyn Feature; 1] = [&TOOLS];

/// Moves bytes until the server has an event or is closed. Returns `false` if nothing moves before that.
pub(crate) fn event(server: &mut Server<'_>, input: &mut &[u8], output: &mut Vec<u8>) -> bool {
    loop {
        let Action::Io(io) = server.poll(Millis(0)) else { return true };
        if !exchange(io, input, output) {
            return false;
        }
    }
}

/// Drops a call, and runs `then`. Expects the call's error for every size of the transmit buffer.
fn assert_dropped_call_gets_error(then: &dyn Fn(&mut Server<'_>, Ticket)) {
    let hello = crate::support::server::hello("2025-11-25")
        .replace("\"capabilities\":{}", "\"capabilities\":{\"roots\":{}}");
    let id = "7".repeat(62);
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{hello}}}
{{"jsonrpc":"2.0","method":"notifications/initialized"}}
{{"jsonrpc":"2.0","id":"{id}","method":"tools/call","params":{{"name":"drop"}}}}
"#
    );
    let info = ServerConfig::new("s", "1").features(&FEATURES);
    let mut sizes = 0;
    for size in 0..2000 {
        let (mut rx, mut tx, mut slots, mut ids) = ([0; 1024], vec![0; size], [Slot::EMPTY; 2], [0; 400]);
        let Ok(server) = Server::new(&info, &mut rx, &mut tx[..]) else { continue };
        let mut server = server.in_flight(&mut slots, &mut ids).unwrap();
        let (mut input, mut output, mut asked) = (text.as_bytes(), Vec::new(), None);
        while event(&mut server, &mut input, &mut output) {
            match server.event() {
                Some(Event::Ready | Event::Writable) => {
                    asked = asked.or_else(|| server.request(&ListRoots, RequestOptions::DEFAULT).ok());
                }
                Some(Event::Call(mut call)) => {
                    call.changed(Change::Tools);
                    drop(call);
                    then(&mut server, asked.unwrap());
                }
                None => break,
                _ => {}
            }
        }
        let output = String::from_utf8(output).unwrap();
        let answers = output.lines().filter(|line| line.contains(&id)).count();
        assert_eq!(answers, 1, "{size} bytes: {output}");
        sizes += 1;
    }
    assert!(sizes > 500, "{sizes}");
}

#[test]
fn dropped_call_gets_its_error_whatever_follows() {
    let reason = "x".repeat(180);
    assert_dropped_call_gets_error(&|_, _| {});
    assert_dropped_call_gets_error(&|server, asked| server.cancel(asked, &reason).unwrap());
    assert_dropped_call_gets_error(&|server, _| server.shutdown(Millis(0)));
    assert_dropped_call_gets_error(&|server, asked| {
        server.cancel(asked, &reason).unwrap();
        server.shutdown(Millis(0));
    });
}
