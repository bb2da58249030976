//! Operations between an event and the next poll, before the response.

use crate::support::transport::exchange;
use mcp_proto::input::ListRoots;
use mcp_proto::server::{Change, Event, Feature, RequestOptions, Server, ServerConfig, Slot, Tools};
use mcp_proto::{Action, KeepAlive, Millis, Outcome, Ticket};

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

#[test]
fn timeout_of_a_deferred_call_starts_at_the_advanced_time() {
    let hello = crate::support::server::hello("2025-11-25");
    let text = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{hello}}}\n\
         {{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{{\"name\":\"x\"}}}}\n"
    );
    let info = ServerConfig::new("s", "1").features(&FEATURES);
    // An earlier time has no effect.
    for (polled_at, advanced_to, deadline) in [(0, 500, 600), (500, 0, 600)] {
        let (mut rx, mut tx, mut slots, mut ids) = ([0; 1024], [0; 2048], [Slot::EMPTY; 1], [0; 64]);
        let server = Server::new(&info, &mut rx, &mut tx[..]).unwrap();
        let mut server = server.in_flight(&mut slots, &mut ids).unwrap();
        server.poll(Millis(polled_at));
        let (mut input, mut output) = (text.as_bytes(), Vec::new());
        while event(&mut server, &mut input, &mut output) {
            if let Some(Event::Call(mut call)) = server.event() {
                call.advance_time(Millis(advanced_to));
                call.defer(Some(Millis(100))).unwrap();
                assert_eq!(server.deadline(), Some(Millis(deadline)));
            }
        }
        assert_eq!(server.deferred(), 1);
    }
}

/// Moves bytes at the time `now` until nothing moves, or until a call. Returns the names of the events.
fn names_at(server: &mut Server<'_>, now: u64, input: &[u8], sent: &mut Vec<u8>) -> Vec<&'static str> {
    let (mut input, mut names) = (input, Vec::new());
    loop {
        if let Action::Io(io) = server.poll(Millis(now)) {
            if exchange(io, &mut input, sent) {
                continue;
            }
            return names;
        }
        names.push(match server.event() {
            Some(Event::Call(call)) => {
                // A call that is dropped gets an error, and the next event reports the missing response.
                if call.name() == "x" {
                    call.respond("done");
                }
                names.push("call");
                return names;
            }
            Some(Event::Response(response)) if matches!(response.outcome(), Outcome::Result(_)) => "roots",
            Some(Event::Response(_)) => "timeout",
            Some(Event::PeerUnresponsive) => "unresponsive",
            Some(Event::Connected(_)) => "connected",
            Some(Event::Ready) => "ready",
            Some(_) => "other",
            None => return names,
        });
    }
}

/// The application handles a call for longer than the timeouts of a ping and of a request to the client.
#[test]
fn timeouts_do_not_end_while_the_application_handles_a_call() {
    let hello = crate::support::server::hello("2025-11-25")
        .replace("\"capabilities\":{}", "\"capabilities\":{\"roots\":{}}");
    let call = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"x\"}}\n";
    let roots = "{\"jsonrpc\":\"2.0\",\"id\":@,\"result\":{\"roots\":[]}}\n";
    let pong = "{\"jsonrpc\":\"2.0\",\"id\":\"ping-1\",\"result\":{}}\n";
    let info = ServerConfig::new("s", "1").features(&FEATURES);
    let pings = KeepAlive { interval: Millis(100), timeout: Millis(40), close: true };
    for (is_answered, is_dropped) in [(true, false), (true, true), (false, false), (false, true)] {
        let call = if is_dropped { call.replace("\"x\"", "\"y\"") } else { call.to_owned() };
        let handled: &[&str] = if is_dropped { &["other"] } else { &[] };
        let (mut rx, mut tx, mut slots, mut ids) = ([0; 1024], [0; 2048], [Slot::EMPTY; 2], [0; 400]);
        let server = Server::new(&info, &mut rx, &mut tx[..]).unwrap();
        let mut server = server.in_flight(&mut slots, &mut ids).unwrap().keep_alive(pings);
        let start = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{hello}}}\n\
             {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}\n"
        );
        let mut sent = Vec::new();
        assert_eq!(names_at(&mut server, 0, start.as_bytes(), &mut sent), ["connected", "ready"]);
        server.request(&ListRoots, RequestOptions::DEFAULT.timeout(Millis(130))).unwrap();
        sent.clear();
        // The server sends a ping. The application handles a call from 110 to 900.
        assert_eq!(names_at(&mut server, 100, b"", &mut sent), [""; 0]);
        let text = String::from_utf8(sent.clone()).unwrap();
        let request = text.lines().find(|line| line.contains("roots/list")).unwrap();
        let (id, _) = request.split_once("\"id\":").unwrap().1.split_once(',').unwrap();
        assert_eq!(names_at(&mut server, 110, call.as_bytes(), &mut sent), ["call"]);
        assert_eq!(names_at(&mut server, 900, b"", &mut sent), handled);
        let (answers, at_900): (_, &[&str]) =
            if is_answered { (roots.replace('@', id) + pong, &["roots"]) } else { (String::new(), &[]) };
        assert_eq!(names_at(&mut server, 900, answers.as_bytes(), &mut sent), at_900);
        let late = [939, 940, 999, 1000].map(|now| names_at(&mut server, now, b"", &mut sent));
        let expected: [&[&str]; 4] =
            if is_answered { [&[]; 4] } else { [&[], &["unresponsive", "timeout"], &[], &[]] };
        assert_eq!(late, expected);
    }
}
