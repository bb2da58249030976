//! Batches with deferred members: other messages before the response, timeouts, and the end of the connection.

use super::batches::{CONFIG, PING, call, cancel, error, gets, ping, pong, sends, session, text, tool};
use crate::support::server::Setup;
use crate::support::transport::{exchange, serve};
use mcp_proto::server::{Limits, SecondInitialize};
use mcp_proto::{KeepAlive, Millis, Revision};

#[test]
fn messages_sent_during_a_batch_precede_its_responses() {
    let progress = call("1", "tools/call", "{\"name\":\"progress\",\"_meta\":{\"progressToken\":5}}");
    let note = |progress: &str, message: &str| {
        format!(
            "< note notifications/progress {{\"progressToken\":5,\"progress\":{progress},\"total\":10{message}}}\n"
        )
    };
    for (tx, room) in [(4096, 4096), (1024, 1024), (4096, 1024)] {
        let setup =
            Setup::new(CONFIG).tx(tx).max_reply_size(room).batch_buffer(4096).session(Revision::V2025_03_26);
        setup.check(&format!(
            "{}! call progress {{}}\n! not now NotWanted\n! call echo {{}}\n{}{}{}{}",
            sends(&[&ping("0"), &progress, &tool("2", "echo")]),
            note("1", ",\"message\":\"a\""),
            note("1.5", ""),
            note("10", ",\"message\":\"b\""),
            gets(&[&pong("0"), &text("1", "done"), &text("2", "{}")]),
        ));
        // The handler changes a list.
        setup.check(&format!(
            "{}! call change {{}}\n! call echo {{}}\n< note notifications/tools/list_changed\n{}",
            sends(&[&tool("1", "change"), &tool("2", "echo")]),
            gets(&[&text("1", "done"), &text("2", "{}")]),
        ));
    }
}

#[test]
fn dropped_batch_members_are_errors_in_the_array() {
    let forgotten = error("1", -32603, "Internal error: the request was dropped without a response");
    session().check(&format!(
        "{}! call drop {{}}\n! fault Unanswered\n! call unbalanced {{}}\n! fault InvalidReply\n{}",
        sends(&[&tool("1", "drop"), &ping("2"), &tool("3", "unbalanced"), &ping("4")]),
        gets(&[
            &forgotten,
            &pong("2"),
            &error("3", -32603, "Internal error: the response is invalid"),
            &pong("4")
        ])
    ));
}

#[test]
fn batch_stays_open_until_deferred_members_are_answered() {
    let batch = format!(
        "{}! call defer {{}}\n! call defer {{}}\n",
        sends(&[&tool("1", "defer"), &ping("2"), &tool("3", "defer")])
    );
    let answers = gets(&[&pong("2"), &text("3", "b"), &text("1", "a")]);
    let both = format!("* answer 1 b\n{PING}* answer 0 a\n{answers}");
    session().check(&format!("{batch}* deferred 2\n{PING}{both}* deferred 0\n{PING}"));
    for (tx, room) in [(1024, 1024), (4096, 1024)] {
        let setup =
            Setup::new(CONFIG).tx(tx).max_reply_size(room).batch_buffer(1024).session(Revision::V2025_03_26);
        setup.check(&format!("{batch}{both}"));
    }
    // While the first batch is open, the server handles other batches.
    let other = format!(
        "{}! call echo {{}}\n{}",
        sends(&[&tool("1x", "echo").replace("1x", "11"), &ping("12")]),
        gets(&[&text("11", "{}"), &pong("12")])
    );
    session().check(&format!("{batch}{other}* answer 1 b\n{other}* answer 0 a\n{answers}{other}"));
    // While a batch has deferred members, the application cannot defer members of other batches.
    let busy = error("21", -32603, "Internal error: the server is busy");
    session().check(&format!(
        "{batch}{}! call defer {{}}\n! full\n{}* answer 0 a\n* answer 1 b\n{}{batch}* answer 3 b\n* answer 2 a\n{answers}",
        sends(&[&tool("21", "defer"), &ping("22")]),
        gets(&[&busy, &pong("22")]),
        gets(&[&pong("2"), &text("1", "a"), &text("3", "b")]),
    ));
    // The application can defer a call outside of batches.
    session().check(&format!(
        "{batch}> {}\n! call defer {{}}\n* answer 2 alone\n< {}\n{both}",
        tool("31", "defer"),
        text("31", "alone"),
    ));
}

#[test]
fn batch_ids_are_in_use_while_in_flight() {
    let twice =
        error("1", -32600, "Invalid request: a request with this id is still in flight: use another id");
    session().check(&format!(
        "{}! call defer {{}}\n! fault DuplicateId\n* answer 0 a\n{}",
        sends(&[&tool("1", "defer"), &ping("1")]),
        gets(&[&twice, &text("1", "a")])
    ));
}

#[test]
fn cancelled_batch_member_is_omitted() {
    let batch = format!(
        "{}! call defer {{}}\n! call defer {{}}\n",
        sends(&[&tool("1", "defer"), &tool("3", "defer")])
    );
    let first = format!("> {}\n! cancelled 0\n", cancel("1"));
    let second = format!("> {}\n! cancelled 1\n", cancel("3"));
    session().check(&format!("{batch}{first}* answer 1 b\n{}{PING}", gets(&[&text("3", "b")])));
    session().check(&format!("{batch}* answer 1 b\n{first}{}{PING}", gets(&[&text("3", "b")])));
    // The server sends no line for a batch without responses.
    session().check(&format!("{batch}{first}{second}{PING}* deferred 0\n"));
    // The client reuses the id in the same batch, and in another batch.
    session().check(&format!(
        "{}! call defer {{}}\n! cancelled 0\n{}",
        sends(&[&tool("1", "defer"), &cancel("1"), &ping("2")]),
        gets(&[&pong("2")])
    ));
    session().check(&format!(
        "{}! call defer {{}}\n! cancelled 0\n{PING}",
        sends(&[&tool("1", "defer"), &cancel("1")])
    ));
    session().check(&format!(
        "{batch}{}! cancelled 0\n! cancelled 1\n{}{}! call defer {{}}\n* answer 2 c\n{}",
        sends(&[&ping("4"), &cancel("1"), &cancel("3")]),
        gets(&[&pong("4")]),
        sends(&[&tool("5", "defer")]),
        gets(&[&text("5", "c")])
    ));
}

#[test]
fn expired_batch_member_is_an_error_in_the_array() {
    let late = error("1", -32603, "Internal error: the request timed out");
    let info = CONFIG.limits(Limits::DEFAULT.with_deferred_timeout(Millis(100)));
    let setup = Setup::new(info).batch_buffer(4096).session(Revision::V2025_03_26);
    setup.check(&format!(
        "{}! call defer {{}}\n* deadline 100\n* time 100\n! expired 0\n{}{PING}",
        sends(&[&tool("1", "defer"), &ping("2")]),
        gets(&[&pong("2"), &late])
    ));
}

#[test]
fn end_of_connection_closes_an_open_batch() {
    let batch = format!("{}! call defer {{}}\n", sends(&[&tool("1", "defer"), &ping("2")]));
    for how in ["eof", "shutdown"] {
        session().check(&format!(
            "{batch}* {how}\n* answer 0 a\n{}! closed\n",
            gets(&[&pong("2"), &text("1", "a")])
        ));
        let late = error("1", -32603, "Internal error: the request timed out");
        session().check(&format!(
            "{batch}* {how}\n* time 2000\n! expired 0\n{}! closed\n",
            gets(&[&pong("2"), &late])
        ));
    }
    session().check(&format!("{batch}* broken\n! closed\n"));
    session().check(&format!("{batch}* reset\n* deferred 0\n{PING}"));
    // A new client gets no response of the old session.
    let hello = crate::support::server::hello("2025-03-26");
    let setup = Setup::new(CONFIG.second_initialize(SecondInitialize::Restart)).batch_buffer(4096);
    setup.session(Revision::V2025_03_26).check(&format!(
        "{batch}> call 5 initialize {hello}\n< result 5 …\n! restarted\n! connected 2025-03-26 c {{}}\n{PING}{}\
         ! call defer {{}}\n* answer 1 b\n{}",
        sends(&[&tool("1", "defer")]),
        gets(&[&text("1", "b")])
    ));
}

#[test]
fn server_pings_do_not_wait_for_a_batch() {
    let pings = KeepAlive { interval: Millis(100), timeout: Millis(50), close: false };
    session().keep_alive(pings).check(&format!(
        "{}! call defer {{}}\n* time 100\n< call \"ping-1\" ping\n\
         > [{{\"jsonrpc\":\"2.0\",\"id\":\"ping-1\",\"result\":{{}}}}]\n* answer 0 a\n{}",
        sends(&[&tool("1", "defer")]),
        gets(&[&text("1", "a")])
    ));
}

#[test]
fn batch_members_wait_for_space_for_notifications() {
    let progress =
        |id: &str| call(id, "tools/call", "{\"name\":\"progress\",\"_meta\":{\"progressToken\":5}}");
    let notified = "< note notifications/progress …\n".repeat(3);
    let events = "! call progress {}\n! not now NotWanted\n";
    let both = sends(&[&progress("1"), &progress("2")]);
    let answers = gets(&[&text("1", "done"), &text("2", "done")]);
    let setup = Setup::new(CONFIG.limits(Limits::DEFAULT.with_deferred_timeout(Millis(100))));
    let setup = setup.tx(720).slots(4, 64).batch_buffer(1500).session(Revision::V2025_03_26);
    setup.check(&format!("{both}{events}{events}{notified}{notified}{answers}{PING}"));
    // The error for a member of an earlier batch waits for the array of that batch.
    setup.check(&format!(
        "{}! call defer {{}}\n* block\n{both}{events}* time 100\n! expired 0\n* unblock\n{events}{notified}{notified}{answers}{}",
        sends(&[&tool("9", "defer")]),
        gets(&[&error("9", -32603, "Internal error: the request timed out")])
    ));
}

#[test]
fn batch_is_processed_before_other_replies() {
    use mcp_proto::server::{Event, Server, Slot};
    use mcp_proto::{Action, SendError};
    let (mut rx, mut tx, mut room) = ([0; 1024], [0; 4096], [0; 2048]);
    let (mut slots, mut ids) = ([Slot::EMPTY; 2], [0; 128]);
    let info = CONFIG;
    let server = Server::new(&info, &mut rx, &mut tx).unwrap().max_reply_size(1024).unwrap();
    let mut server = server.batch_buffer(&mut room).in_flight(&mut slots, &mut ids).unwrap();
    let hello = call("0", "initialize", &crate::support::server::hello("2025-03-26"));
    let first = format!("[{}]", tool("1", "defer"));
    let second = format!("[{},{}]", tool("2", "echo"), ping("3"));
    let mut input = format!("{hello}\n{first}\n{second}\n").into_bytes();
    let (mut ticket, mut rooms, mut output) = (None, 0, Vec::new());
    loop {
        match server.poll(Millis(0)) {
            Action::Event => match server.event().unwrap() {
                Event::Call(call) if call.name() == "defer" => ticket = call.defer(None).ok(),
                Event::Call(call) => {
                    call.text("second");
                    // A reply at this point would separate the other responses.
                    assert_eq!(server.reply(ticket.unwrap()).unwrap_err(), SendError::Busy);
                }
                Event::Writable => {
                    rooms += 1;
                    server.reply(ticket.unwrap()).unwrap().text("first");
                }
                _ => {}
            },
            Action::Io(io) => {
                let mut rest = &input[..];
                if !exchange(io, &mut rest, &mut output) {
                    assert!(rest.is_empty(), "the server neither reads nor writes");
                    break;
                }
                input = rest.to_vec();
            }
            Action::Closed => break,
        }
    }
    let output = String::from_utf8(output).unwrap();
    let lines: Vec<&str> = output.lines().skip(1).collect();
    assert_eq!(rooms, 1);
    assert_eq!(
        lines,
        [format!("[{},{}]", text("2", "second"), pong("3")), format!("[{}]", text("1", "first"))]
    );
}

#[test]
fn batch_buffer_cannot_change_while_a_batch_is_open() {
    use mcp_proto::server::{Event, Server};
    use mcp_proto::{Buffer, Ticket};
    let server = Server::new(&CONFIG, Buffer::grown(1024), Buffer::grown(4096)).unwrap();
    let mut server = server.batch_buffer(Buffer::grown(2048)).in_flight_grown(2).unwrap();
    let hello = call("0", "initialize", &crate::support::server::hello("2025-03-26"));
    let mut tickets: Vec<Ticket> = Vec::new();
    let batch = format!("[{},{},{}]", tool("1", "defer"), ping("2"), tool("3", "defer"));
    serve(&mut server, format!("{hello}\n{batch}\n").as_bytes(), &mut |event| {
        if let Event::Call(call) = event {
            tickets.extend(call.defer(None));
        }
    });
    server.set_batch_buffer(Buffer::grown(4096));
    server.reply(tickets[0]).unwrap().text("a");
    server.set_batch_buffer(Buffer::grown(4096));
    server.reply(tickets[1]).unwrap().text("b");
    let responses = format!("[{},{},{}]\n", pong("2"), text("1", "a"), text("3", "b"));
    assert_eq!(serve(&mut server, b"", &mut |_| ()), responses);
    // The server sent the batch, so the buffer can change.
    server.set_batch_buffer(Buffer::grown(100));
    let refused = serve(&mut server, format!("{batch}\n").as_bytes(), &mut |_| ());
    assert!(refused.contains("too many requests"), "{refused}");
}
