//! Limits: full tables, slow bodies, slow readers, and the memory of sessions.

use super::support::{Harness, LARGE, Request, Sizes, initialize, old_call};
use mcp_proto::Millis;
use mcp_proto::input::OtherRequest;
use mcp_proto::json::Writer;
use mcp_proto::server::{Change, RequestOptions};
use mcp_proto_http::server::{ExchangeSlot, HttpConfig, HttpLimits, SessionMode, SessionSlot};

fn listen() -> Request {
    Request::modern(1, "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#)
}

#[test]
fn full_table_of_exchanges_gets_503() {
    let mut harness = Harness::with_sizes(HttpConfig::new(), Sizes { exchanges: 2, ..Sizes::default() });
    let first = harness.send(&Request::call(1, "defer")).unwrap();
    harness.send(&Request::call(1, "defer")).unwrap();
    let reply = harness.ask(&Request::call(1, "echo"));
    assert_eq!((reply.status, reply.field("retry-after")), (503, "1"));
    harness.http.close(first);
    harness.run();
    assert_eq!(harness.ask(&Request::call(1, "echo")).status, 200);
}

#[test]
fn streams_leave_exchanges_for_calls() {
    let config = HttpConfig::new().sessions(SessionMode::Sessions);
    let mut harness = Harness::with_sizes(config, Sizes { exchanges: 3, ..Sizes::default() });
    let session = harness.initialize("2025-11-25");
    let get = Request::new("GET").with("mcp-session-id", &session);
    let stream = harness.send(&listen()).unwrap();
    harness.send(&get).unwrap();
    for request in [&listen(), &get] {
        let reply = harness.ask(request);
        assert_eq!((reply.status, reply.field("retry-after")), (503, "1"), "{reply:?}");
    }
    assert_eq!(harness.ask(&Request::call(1, "echo")).status, 200);
    harness.http.close(stream);
    harness.run();
    assert!(harness.ask(&listen()).is_stream());
}

/// The server does not wait forever for a body.
#[test]
fn slow_body_gets_408() {
    let mut harness = Harness::new(HttpConfig::new());
    let request = Request::call(1, "echo");
    let id = harness.begin(&request).unwrap();
    harness.piece(id, &request, b"{", false);
    harness.advance(29_999);
    assert_eq!(harness.reply(id).status, 0);
    harness.advance(1);
    assert_eq!((harness.reply(id).status, harness.http.open_exchanges()), (408, 0));
    harness.piece(id, &request, b"}", true);
    assert_eq!(harness.ask(&request).status, 200);
}

#[test]
fn bodies_in_pieces_share_bounded_memory() {
    let mut harness = Harness::with_sizes(HttpConfig::new(), Sizes { bodies: 2, ..Sizes::default() });
    let request = Request::call(1, "echo");
    let (first, rest) = request.body.as_bytes().split_at(20);
    let ids = [0, 1, 2].map(|_| harness.begin(&request).unwrap());
    for id in ids {
        harness.piece(id, &request, first, false);
    }
    assert_eq!(ids.map(|id| harness.reply(id).status), [0, 0, 503]);
    harness.piece(ids[1], &request, rest, true);
    assert_eq!(harness.reply(ids[1]).status, 200);
    // A body in one piece needs no memory. A closed exchange releases the memory of its body.
    assert_eq!(harness.ask(&request).status, 200);
    harness.http.close(ids[0]);
    for _ in 0..5 {
        let id = harness.begin(&request).unwrap();
        harness.piece(id, &request, first, false);
        harness.piece(id, &request, rest, true);
        assert_eq!(harness.reply(id).status, 200);
    }
}

/// The core server has a receive buffer of 4,096 bytes.
#[test]
fn call_with_a_streamed_argument_is_limited_by_body_and_rx() {
    let limits = HttpLimits::DEFAULT.with_body(8192);
    let mut harness = Harness::new(HttpConfig::new().limits(limits));
    let write = |data: usize| {
        let arguments = format!(r#""name":"write","arguments":{{"data":"{}"}}"#, "x".repeat(data));
        Request::modern(1, "tools/call", &arguments).with("mcp-name", "write")
    };
    let overhead = write(0).body.len();
    let (rx, body) = (4096 - overhead, 8192 - overhead);
    let too_long = r#""id":1,"error":{"code":-32600,"message":"Invalid request: the message is too long""#;
    // The length of the argument, the status, and a part of the body.
    for (data, status, text) in [
        (rx, 200, rx.to_string().as_str()),
        (rx + 1, 200, too_long),
        (body, 200, too_long),
        (body + 1, 413, "the body is longer than the limit of 8192 bytes"),
    ] {
        for piece in [usize::MAX, 64] {
            harness.piece = piece;
            let reply = harness.ask(&write(data));
            assert_eq!(reply.status, status, "{data} {reply:?}");
            assert!(reply.body.contains(text), "{data} {reply:?}");
        }
    }
    assert!(!harness.events.contains(&"chunk".to_owned()), "each call arrives whole");
}

/// While the core server is busy, the bodies that arrive wait in order.
#[test]
fn bodies_wait_for_a_busy_server() {
    let mut harness = Harness::new(HttpConfig::new());
    let requests = [0, 1, 2].map(|id| Request::call(id, "echo"));
    let ids: Vec<_> = requests.iter().map(|request| harness.begin(request).unwrap()).collect();
    for (id, request) in ids.iter().zip(&requests) {
        harness.pass(*id, request, request.body.as_bytes(), true);
    }
    // The client of a waiting request disconnects, so the tool of this request is never called.
    harness.http.close(ids[2]);
    harness.run();
    assert_eq!((harness.reply(ids[0]).status, harness.reply(ids[1]).status), (200, 200));
    assert_eq!((harness.reply(ids[2]).status, harness.http.open_exchanges()), (0, 0));
}

#[test]
fn body_without_space_to_wait_gets_503_with_its_id() {
    let mut harness = Harness::with_sizes(HttpConfig::new(), Sizes { bodies: 0, ..Sizes::default() });
    let requests = [1, 2].map(|id| Request::call(id, "echo"));
    let ids = requests.each_ref().map(|request| {
        let id = harness.begin(request).unwrap();
        harness.pass(id, request, request.body.as_bytes(), true);
        id
    });
    harness.run();
    let refused = harness.reply(ids[1]);
    assert_eq!((harness.reply(ids[0]).status, refused.status), (200, 503));
    assert!(refused.body.starts_with(r#"{"jsonrpc":"2.0","id":2,"error""#), "{refused:?}");
}

#[test]
fn client_that_does_not_read_is_cut() {
    let mut harness = Harness::with_sizes(HttpConfig::new(), Sizes { output: 2000, ..Sizes::default() });
    let slow = harness.begin(&Request::call(1, "large")).unwrap();
    harness.stalled.push(slow);
    let request = Request::call(1, "large");
    harness.piece(slow, &request, request.body.as_bytes(), true);
    // The output pages have space for one large response, so the second response waits.
    let other = harness.send(&request).unwrap();
    assert_eq!(harness.reply(other).status, 0);
    harness.advance(30_000);
    assert!(harness.reply(slow).cut && harness.reply(other).body.contains(LARGE));
    assert_eq!(harness.http.open_exchanges(), 0);
}

/// The end of a session does not wait until its client has read the output of the session.
#[test]
fn unread_output_of_an_ended_session_blocks_no_other() {
    let config = HttpConfig::new().sessions(SessionMode::Sessions);
    for accept in ["application/json", "text/event-stream"] {
        let mut harness = Harness::with_sizes(config, Sizes { output: 4000, ..Sizes::default() });
        let (session, other) = (harness.initialize("2025-11-25"), harness.initialize("2025-11-25"));
        harness.send(&Request::old(old_call(1, "defer"), &session)).unwrap();
        for id in 2..6 {
            let request = Request::old(old_call(id, "large"), &session).with("accept", accept);
            let id = harness.begin(&request).unwrap();
            harness.stalled.push(id);
            harness.pass(id, &request, request.body.as_bytes(), true);
        }
        harness.run();
        let call = harness.send(&Request::old(old_call(1, "large"), &other)).unwrap();
        assert_eq!(harness.reply(call).status, 0, "{accept}: no space is free");
        harness.ask(&Request::new("DELETE").with("mcp-session-id", &session));
        assert!(harness.reply(call).body.contains(LARGE), "{accept}");
        assert_eq!(harness.events.last().unwrap(), "cancelled Some(0)", "{accept}");
        harness.advance(30_000);
        assert_eq!(harness.http.open_exchanges(), 0, "{accept}");
    }
}

#[test]
fn slow_stream_blocks_no_other() {
    let config = HttpConfig::new();
    let mut limits = config.get_limits();
    (limits.stream, limits.body, limits.page) = (500, 2048, 64);
    let mut harness = Harness::new(config.limits(limits));
    let slow = harness.begin(&listen()).unwrap();
    harness.stalled.push(slow);
    harness.piece(slow, &listen(), listen().body.as_bytes(), true);
    let call = harness.send(&Request::call(2, "defer")).unwrap();
    harness.stalled.push(call);
    let fast = harness.send(&listen()).unwrap();
    for number in 0..10 {
        harness.changed(Change::Tools);
        harness.progress(0, number + 1);
    }
    assert!(harness.reply(slow).cut, "a subscription without a reader ends");
    assert_eq!(harness.reply(fast).events().len(), 11);
    // A call whose client does not read loses only progress notifications.
    harness.stalled.clear();
    harness.read(call);
    harness.respond(0);
    let events = harness.reply(call).events();
    assert!(events.len() < 10 && events.last().unwrap().contains("late"), "{events:?}");
    // Twelve messages: ten notifications of the call, its response, and the notification that ended the subscription.
    assert_eq!(events.len() + usize::from(harness.http.dropped_messages()), 12);
}

#[test]
fn response_beyond_the_output_gets_500() {
    let mut harness = Harness::with_sizes(HttpConfig::new(), Sizes { output: 1024, ..Sizes::default() });
    let reply = harness.ask(&Request::call(1, "large"));
    assert_eq!((reply.status, reply.code()), (500, -32603));
    assert!(reply.body.starts_with(r#"{"jsonrpc":"2.0","id":1,"error""#), "{reply:?}");
    assert_eq!(harness.ask(&Request::call(1, "echo")).status, 200);
}

/// The response follows progress, so the event stream has begun.
#[test]
fn response_beyond_the_output_is_an_error_event_in_a_stream() {
    let mut harness = Harness::with_sizes(HttpConfig::new(), Sizes { output: 1024, ..Sizes::default() });
    let call = harness.send(&Request::call(1, "defer")).unwrap();
    harness.progress(0, 1);
    harness.server.reply(harness.tickets[0]).unwrap().text("x".repeat(3000));
    harness.run();
    let events = harness.reply(call).events();
    assert!(events[0].contains("notifications/progress"), "{events:?}");
    assert!(events[1].starts_with(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"#), "{events:?}");
    assert_eq!(events.len(), 2);
    assert_eq!(harness.ask(&Request::call(2, "echo")).status, 200);
}

/// A notification or a request that is longer than the output blocks no other exchange.
#[test]
fn message_beyond_the_output_is_dropped() {
    let sizes = || Sizes { output: 1024, ..Sizes::default() };
    let text = "x".repeat(3000);
    for is_modern in [true, false] {
        for is_stream in [true, false] {
            let mut harness = Harness::with_sizes(HttpConfig::new().sessions(SessionMode::Sessions), sizes());
            let call = match is_modern {
                true => Request::call(1, "defer"),
                false => Request::old(old_call(1, "defer"), &harness.initialize("2025-11-25")),
            };
            let id = harness.send(&call).unwrap();
            if is_stream {
                harness.progress(0, 1);
            }
            harness.server.reply(harness.tickets[0]).unwrap().progress(2, None, &text).unwrap();
            harness.run();
            assert_eq!(harness.ask(&Request::call(2, "echo")).status, 200);
            harness.respond(0);
            assert!(harness.reply(id).ended && harness.reply(id).body.contains("late"));
            assert_eq!(harness.http.dropped_messages(), 1);
        }
    }
    // A request of the server ends with its timeout.
    for is_stream in [true, false] {
        let mut harness = Harness::with_sizes(HttpConfig::new().sessions(SessionMode::Sessions), sizes());
        let session = harness.initialize("2025-11-25");
        harness.send(&Request::old(old_call(1, "defer"), &session)).unwrap();
        if is_stream {
            harness.progress(0, 1);
        }
        harness.events.clear();
        let ticket = harness.tickets[0];
        harness.http.enter(&mut harness.server, ticket).unwrap();
        let options = RequestOptions::DEFAULT.during(ticket);
        let params = |out: &mut Writer<'_>| out.field_string("text", &text);
        harness.server.request(&OtherRequest::new("com.example/ask", &params), options).unwrap();
        harness.run();
        assert_eq!(harness.ask(&Request::call(2, "echo")).status, 200);
        harness.advance(60_000);
        assert_eq!(harness.events, ["Failed(TimedOut)"]);
    }
}

/// D-S11: a session whose id no client has received leaves its slot to others.
#[test]
fn client_lost_during_initialize_leaves_no_session() {
    let config = HttpConfig::new().sessions(SessionMode::Sessions);
    let request = Request::post(initialize("2025-11-25"));
    for case in ["in the core server", "queued", "unread", "unread until the deadline", "read"] {
        let mut harness = Harness::with_sizes(config, Sizes { sessions: 2, ..Sizes::default() });
        let session = harness.initialize("2025-11-25");
        for _ in 0..2 {
            let busy = Request::call(1, "echo");
            let ids = match case {
                "queued" => vec![&busy, &request],
                _ => vec![&request],
            };
            let ids: Vec<_> = ids.into_iter().map(|it| (harness.begin(it).unwrap(), it)).collect();
            let lost = ids[ids.len() - 1].0;
            if case != "read" {
                harness.stalled.push(lost);
            }
            ids.iter().for_each(|(id, it)| harness.pass(*id, it, it.body.as_bytes(), true));
            if case.starts_with("unread") {
                harness.run();
            }
            match case {
                "unread until the deadline" => harness.advance(30_000),
                "read" => {}
                _ => harness.http.close(lost),
            }
            harness.run();
        }
        let reply = harness.ask(&Request::old(old_call(1, "echo"), &session));
        assert_eq!(reply.status, if case == "read" { 404 } else { 200 }, "{case}");
        assert_eq!(harness.http.open_exchanges(), 0, "{case}");
    }
}

#[test]
fn times_of_zero_are_a_millisecond() {
    let mut times = HttpConfig::new().get_times();
    for time in [
        &mut times.body,
        &mut times.upgrade_after,
        &mut times.keep_alive,
        &mut times.stall,
        &mut times.session_idle,
        &mut times.idle,
        &mut times.head,
        &mut times.linger,
    ] {
        *time = Millis(0);
    }
    let mut harness = Harness::new(HttpConfig::new().sessions(SessionMode::Sessions).times(times));
    let session = harness.initialize("2025-03-26");
    let call = harness.send(&Request::old(format!("[{}]", old_call(1, "defer")), &session)).unwrap();
    let stalled = harness.begin(&Request::new("GET").with("mcp-session-id", &session)).unwrap();
    harness.stalled.push(stalled);
    for _ in 0..5 {
        harness.advance(1);
    }
    assert!(harness.reply(call).is_stream() && harness.reply(stalled).cut);
    harness.http.close(call);
    harness.advance(1);
    harness.respond(0);
    harness.advance(1);
    assert_eq!(harness.ask(&Request::old(old_call(1, "echo"), &session)).status, 404);
}

#[test]
fn session_and_exchange_slots_are_small() {
    assert!(size_of::<SessionSlot>() <= 72, "{}", size_of::<SessionSlot>());
    assert!(size_of::<ExchangeSlot>() <= 104, "{}", size_of::<ExchangeSlot>());
}

#[test]
fn nothing_leaks_under_random_traffic() {
    for seed in 1..200u64 {
        let config = HttpConfig::new().sessions(SessionMode::Sessions);
        let sizes =
            Sizes { exchanges: 5, sessions: 2, output: 2500, bodies: 2, replay: 300, grows: seed % 2 == 0 };
        let mut harness = Harness::with_sizes(config, sizes);
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut random = move |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 33) % below
        };
        let (mut ids, mut session) = (Vec::new(), String::new());
        for _ in 0..150 {
            harness.piece = [1, 7, 100, usize::MAX][random(4) as usize];
            let request = match random(12) {
                0 => Request::post(initialize(["2025-03-26", "2025-11-25"][random(2) as usize])),
                1 => Request::new("GET").with("mcp-session-id", &session),
                2 => Request::new("GET").with("mcp-session-id", &session).with("last-event-id", "3-1"),
                3 => Request::new("DELETE").with("mcp-session-id", &session),
                4 | 5 => {
                    let tool = ["echo", "defer", "progress", "large"][random(4) as usize];
                    Request::old(old_call(random(3) as u32, tool), &session)
                }
                6 => listen(),
                7 => Request::call(1, "defer"),
                8 => Request::old(
                    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
                    &session,
                ),
                _ => Request::call(1, ["echo", "progress", "large"][random(3) as usize]),
            };
            match random(4) {
                0 => {
                    if let Ok(id) = harness.begin(&request) {
                        if random(2) == 0 {
                            harness.stalled.push(id);
                        }
                        if request.method == "POST" && random(3) > 0 {
                            let is_end = random(2) == 0;
                            harness.pass(id, &request, request.body.as_bytes(), is_end);
                        }
                        ids.push(id);
                    }
                }
                _ => {
                    if let Ok(id) = harness.send(&request) {
                        let reply = harness.reply(id);
                        if !reply.field("mcp-session-id").is_empty() {
                            session = reply.field("mcp-session-id").into();
                        }
                        ids.push(id);
                    }
                }
            }
            match random(8) {
                0 if !ids.is_empty() => {
                    let id = ids[random(ids.len() as u64) as usize];
                    harness.http.close(id);
                }
                1 => harness.advance(random(20_000)),
                2 => harness.changed(Change::Tools),
                3 if !harness.tickets.is_empty() => {
                    let ticket = harness.tickets[random(harness.tickets.len() as u64) as usize];
                    if let Ok(reply) = harness.server.reply(ticket) {
                        reply.text("late");
                    }
                }
                _ => {}
            }
        }
        for id in ids {
            harness.http.close(id);
        }
        // The calls in flight expire, and with them the last exchanges.
        harness.advance(1);
        harness.advance(60_000);
        harness.advance(60_000);
        harness.advance(Millis::seconds(9 * 3600).0);
        assert_eq!((harness.http.open_exchanges(), harness.server.deferred()), (0, 0), "{seed}");
        harness.piece = usize::MAX;
        assert!(harness.ask(&Request::call(1, "large")).body.contains(LARGE), "{seed}");
        let request = Request::call(1, "echo");
        for _ in 0..3 {
            let id = harness.begin(&request).unwrap();
            harness.piece(id, &request, &request.body.as_bytes()[..9], false);
            harness.piece(id, &request, &request.body.as_bytes()[9..], true);
            assert_eq!(harness.reply(id).status, 200, "{seed}");
        }
    }
}
