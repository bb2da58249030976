//! Batches of 2025-03-26: several messages in one line, and their answers in one.

use crate::common::Setup;
use crate::common::demo::TOOLS;
use mcp_proto::server::{Feature, Limits, Logging, SecondInitialize, ServerInfo, Subscriptions};
use mcp_proto::{Millis, Pings, Revision};

static FEATURES: [&dyn Feature; 3] = [&TOOLS, &Logging, &Subscriptions];

const INFO: ServerInfo<'static> = ServerInfo::new("s", "1").features(&FEATURES);

fn session() -> Setup {
    Setup::new(INFO).batches(4096).session(Revision::V2025_03_26)
}

fn call(id: &str, method: &str, params: &str) -> String {
    let params = if params.is_empty() { String::new() } else { format!(",\"params\":{params}") };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"{params}}}")
}

fn tool(id: &str, name: &str) -> String {
    call(id, "tools/call", &format!("{{\"name\":\"{name}\"}}"))
}

fn ping(id: &str) -> String {
    call(id, "ping", "")
}

fn cancel(id: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{id}}}}}"
    )
}

fn pong(id: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}")
}

fn text(id: &str, text: &str) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}"
    )
}

fn error(id: &str, code: i32, message: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":\"{message}\"}}}}")
}

fn sends(members: &[&str]) -> String {
    format!("> [{}]\n", members.join(","))
}

fn gets(members: &[&str]) -> String {
    format!("< [{}]\n", members.join(","))
}

const PING: &str = "> call 90 ping\n< result 90\n";

#[test]
fn the_answers_to_a_batch_are_one_line() {
    session().check(&format!(
        "{}! call echo {{}}\n! fault UnknownMethod\n! call fail {{}}\n{}{PING}",
        sends(&[&ping("1"), &tool("\"a\"", "echo"), &call("2", "no", ""), &tool("3", "fail"), &ping("1")]),
        gets(&[
            &pong("1"),
            &text("\"a\"", "{}"),
            &error("2", -32601, "Method not found: no"),
            "{\"jsonrpc\":\"2.0\",\"id\":3,…}",
            &pong("1")
        ])
    ));
}

#[test]
fn a_member_is_dealt_with_as_a_line_is() {
    // One member only, and white space.
    session().check(&format!(
        ">  [ {} ]\n! call echo {{\"a\": \"]\"}}\n{}",
        call("1", "tools/call", "{\"name\":\"echo\",\"arguments\":{\"a\": \"]\"}}"),
        gets(&[&text("1", "{\\\"a\\\": \\\"]\\\"}")])
    ));
    // Arguments and names with escapes are decoded where they stand; what comes behind is not disturbed.
    session().check(&format!(
        "{}! call typed {{\"text\":\"\\u00e9]\\\"\",\"count\":1}}\n! call echo {{}}\n< [{},{}]\n",
        sends(&[
            &call(
                "1",
                "tools/call",
                "{\"name\":\"t\\u0079ped\",\"arguments\":{\"text\":\"\\u00e9]\\\"\",\"count\":1}}"
            ),
            &tool("2", "ech\\u006f")
        ]),
        text("1", "é]\\\" 1"),
        text("2", "{}"),
    ));
}

#[test]
fn only_its_own_revision_has_batches_and_only_if_there_is_room_for_answers() {
    let refused = |id: &str| {
        format!(
            "< {{\"jsonrpc\":\"2.0\",{id}\"error\":{{\"code\":-32600,\"message\":\"Invalid request: batches are not \
             supported\"}}}}\n! fault Batch\n{PING}"
        )
    };
    let batch = sends(&[&ping("1"), &ping("2")]);
    for (revision, id) in [
        (Revision::V2024_11_05, "\"id\":null,"),
        (Revision::V2025_06_18, "\"id\":null,"),
        (Revision::V2025_11_25, ""),
    ] {
        Setup::new(INFO).batches(4096).session(revision).check(&format!("{batch}{}", refused(id)));
    }
    let null = "\"id\":null,";
    // Without room for the answers, and before there is a session.
    Setup::new(INFO).session(Revision::V2025_03_26).check(&format!("{batch}{}", refused(null)));
    Setup::new(INFO).batches(4096).check(&format!("{batch}{}", refused(null)));
}

#[test]
fn a_batch_without_members_is_invalid_and_one_without_requests_is_silent() {
    let empty = error("null", -32600, "Invalid request: the batch is empty");
    session().check(&format!("> []\n< {empty}\n! fault EmptyBatch\n> [ ]\n< {empty}\n! fault EmptyBatch\n"));
    let silent = sends(&[
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-1,\"message\":\"m\"}}",
        &cancel("8"),
    ]);
    let faults = ["UnknownNotification", "UnknownResponse", "ErrorWithoutId", "UnknownCancel"];
    let faults: String = faults.iter().map(|fault| format!("! fault {fault}\n")).collect();
    session().check(&format!("{silent}{faults}{PING}"));
}

#[test]
fn what_is_no_message_gets_its_error_in_the_array() {
    let null = |message: &str| error("null", -32600, &format!("Invalid request: {message}"));
    let object = null("a message is a JSON object");
    let members = [
        "1",
        "[]",
        "[[1]]",
        "{}",
        "null",
        &ping("1"),
        "{\"id\":7}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"m\"}",
    ];
    let faults = [
        "NotAnObject",
        "NotAnObject",
        "NotAnObject",
        "WrongJsonRpcVersion",
        "NotAnObject",
        "WrongJsonRpcVersion",
        "InvalidId",
    ];
    let faults: String = faults.iter().map(|fault| format!("! fault {fault}\n")).collect();
    let version = "Invalid request: `jsonrpc` must be \\\"2.0\\\"";
    session().check(&format!(
        "{}{faults}{}",
        sends(&members),
        gets(&[
            &object,
            &object,
            &object,
            &error("null", -32600, version),
            &object,
            &pong("1"),
            &error("7", -32600, version),
            &null("`id` must be a string or an integer"),
        ])
    ));
    // They all get one: what is limited is how many lines in a row do.
    let many = vec!["1"; 12];
    session().check(&format!(
        "{}{}{}",
        sends(&many),
        "! fault NotAnObject\n".repeat(12),
        gets(&[object.as_str(); 12])
    ));
    let long = format!("\"{}\"", "x".repeat(64));
    session().check(&format!(
        "{}! fault IdTooLong\n{}",
        sends(&[&ping(&long), &ping("2")]),
        gets(&[&null("`id` is too long"), &pong("2")])
    ));
}

#[test]
fn what_belongs_in_no_batch_is_refused() {
    let hello = crate::common::hello("2025-03-26");
    let refused = error("1", -32600, "Invalid request: the session is already initialized");
    for info in [INFO, INFO.second_initialize(SecondInitialize::Restart)] {
        Setup::new(info).batches(4096).session(Revision::V2025_03_26).check(&format!(
            "{}! fault AlreadyInitialized\n{}",
            sends(&[&call("1", "initialize", &hello), &ping("2")]),
            gets(&[&refused, &pong("2")])
        ));
    }
    let meta = "{\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\
                \"io.modelcontextprotocol/clientCapabilities\":{}},\"notifications\":{}}";
    session().check(&format!(
        "{}! fault Batch\n{}* deferred 0\n",
        sends(&[&call("1", "subscriptions/listen", meta), &ping("2")]),
        gets(&[&error("1", -32600, "Invalid request: batches are not supported"), &pong("2")])
    ));
}

#[test]
fn room_for_the_answers_is_found_before_anything_is_done() {
    // The smallest error that always fits takes so many bytes with ids of 20.
    let setup = |tx: usize, room: usize| {
        let info = INFO.limits(Limits::DEFAULT.with_id(20));
        Setup::new(info).tx(tx).slots(4, 64).batches(room).session(Revision::V2025_03_26)
    };
    let names: Vec<String> = (0..40).map(|id| tool(&id.to_string(), "echo")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let calls = |count: usize| sends(&names[..count]);
    let answers = |count: usize| {
        let answers: Vec<String> = (0..count).map(|id| text(&id.to_string(), "{}")).collect();
        let answers: Vec<&str> = answers.iter().map(String::as_str).collect();
        format!("{}{}", "! call echo {}\n".repeat(count), gets(&answers))
    };
    for (tx, room) in [(1024, 4096), (4096, 1024)] {
        let most = if tx < room { (tx - 3) / SMALL } else { room / SMALL };
        let error = error(
            "null",
            -32600,
            &format!("Invalid request: the batch has too many requests: at most {most} requests"),
        );
        setup(tx, room).check(&format!("{}{}", calls(most), answers(most)));
        setup(tx, room).check(&format!("{}< {error}\n! fault BatchTooLarge\n{PING}", calls(most + 1)));
    }
    // Notifications and responses need none.
    let many = vec!["{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}"; 50];
    setup(1024, 4096).check(&format!("{}{}", sends(&many), "! fault UnknownResponse\n".repeat(50)));
}

/// What `new` reserves for the smallest error with an id of 20 bytes.
const SMALL: usize = r#"{"jsonrpc":"2.0","id":,"error":{"code":-32700,"message":""}}"#.len() + 20 + 1 + 112;

#[test]
fn an_answer_may_use_what_the_others_leave() {
    let info = INFO.limits(Limits::DEFAULT.with_id(20));
    let frame = text("1", "").len();
    let large = |id: &str, bytes: usize| {
        let arguments = format!("{{\"bytes\":{bytes}}}");
        call(id, "tools/call", &format!("{{\"name\":\"large\",\"arguments\":{arguments}}}"))
    };
    for (tx, buffer) in [(2000, 1997), (2000, 5000), (5000, 1997)] {
        let setup = Setup::new(info).tx(tx).slots(4, 64).batches(buffer).session(Revision::V2025_03_26);
        // The second uses all that the first has left: the line is as long as an answer may be.
        let first = 1997 - SMALL - frame - 1;
        let rest = |first: usize| 1997 - (frame + first) - 1 - frame;
        for (one, two) in [(first, rest(first)), (10, rest(10))] {
            setup.check(&format!(
                "{}! call large {{\"bytes\":{one}}}\n! call large {{\"bytes\":{two}}}\n{}",
                sends(&[&large("1", one), &large("2", two)]),
                gets(&[&text("1", &"x".repeat(one)), &text("2", &"x".repeat(two))]),
            ));
            // One byte more, and it is replaced by an error, for which there is room.
            let limit = 1997 - (frame + one);
            let too_large = error(
                "2",
                -32603,
                &format!("Internal error: the answer is too large (at most {limit} bytes)"),
            );
            setup.check(&format!(
                "{}! call large {{\"bytes\":{one}}}\n! call large {{\"bytes\":{}}}\n! fault ReplyTooLarge\n{}",
                sends(&[&large("1", one), &large("2", two + 1)]),
                two + 1,
                gets(&[&text("1", &"x".repeat(one)), &too_large]),
            ));
        }
    }
}

#[test]
fn what_is_sent_meanwhile_comes_before_the_answers() {
    let progress = call("1", "tools/call", "{\"name\":\"progress\",\"_meta\":{\"progressToken\":5}}");
    let note = |progress: &str, message: &str| {
        format!(
            "< note notifications/progress {{\"progressToken\":5,\"progress\":{progress},\"total\":10{message}}}\n"
        )
    };
    for (tx, room) in [(4096, 4096), (1024, 1024), (4096, 1024)] {
        let setup = Setup::new(INFO).tx(tx).reply_room(room).batches(4096).session(Revision::V2025_03_26);
        setup.check(&format!(
            "{}! call progress {{}}\n! not now NotWanted\n! call echo {{}}\n{}{}{}{}",
            sends(&[&ping("0"), &progress, &tool("2", "echo")]),
            note("1", ",\"message\":\"a\""),
            note("1.5", ""),
            note("10", ",\"message\":\"b\""),
            gets(&[&pong("0"), &text("1", "done"), &text("2", "{}")]),
        ));
        // A list that a handler has changed.
        setup.check(&format!(
            "{}! call change {{}}\n! call echo {{}}\n< note notifications/tools/list_changed\n{}",
            sends(&[&tool("1", "change"), &tool("2", "echo")]),
            gets(&[&text("1", "done"), &text("2", "{}")]),
        ));
    }
}

#[test]
fn forgotten_answers_are_errors_in_the_array() {
    let forgotten = error("1", -32603, "Internal error: the request was not answered");
    session().check(&format!(
        "{}! call drop {{}}\n! fault Unanswered\n! call unbalanced {{}}\n! fault InvalidReply\n{}",
        sends(&[&tool("1", "drop"), &ping("2"), &tool("3", "unbalanced"), &ping("4")]),
        gets(&[
            &forgotten,
            &pong("2"),
            &error("3", -32603, "Internal error: the answer is not valid JSON"),
            &pong("4")
        ])
    ));
}

#[test]
fn a_batch_stays_open_until_its_deferred_members_are_answered() {
    let batch = format!(
        "{}! call defer {{}}\n! call defer {{}}\n",
        sends(&[&tool("1", "defer"), &ping("2"), &tool("3", "defer")])
    );
    let answers = gets(&[&pong("2"), &text("3", "b"), &text("1", "a")]);
    let both = format!("* answer 1 b\n{PING}* answer 0 a\n{answers}");
    session().check(&format!("{batch}* deferred 2\n{PING}{both}* deferred 0\n{PING}"));
    for (tx, room) in [(1024, 1024), (4096, 1024)] {
        let setup = Setup::new(INFO).tx(tx).reply_room(room).batches(1024).session(Revision::V2025_03_26);
        setup.check(&format!("{batch}{both}"));
    }
    // All that goes on meanwhile: calls, cancellations, pings, other batches.
    let other = format!(
        "{}! call echo {{}}\n{}",
        sends(&[&tool("1x", "echo").replace("1x", "11"), &ping("12")]),
        gets(&[&text("11", "{}"), &pong("12")])
    );
    session().check(&format!("{batch}{other}* answer 1 b\n{other}* answer 0 a\n{answers}{other}"));
    // In those nothing can be deferred.
    let busy = error("21", -32603, "Too many requests in flight (at most 4)");
    session().check(&format!(
        "{batch}{}! call defer {{}}\n! full\n{}* answer 0 a\n* answer 1 b\n{}{batch}* answer 3 b\n* answer 2 a\n{answers}",
        sends(&[&tool("21", "defer"), &ping("22")]),
        gets(&[&busy, &pong("22")]),
        gets(&[&pong("2"), &text("1", "a"), &text("3", "b")]),
    ));
    // One that is deferred alone is.
    session().check(&format!(
        "{batch}> {}\n! call defer {{}}\n* answer 2 alone\n< {}\n{both}",
        tool("31", "defer"),
        text("31", "alone"),
    ));
}

#[test]
fn ids_are_in_use_while_their_request_is_in_flight() {
    let twice = error(
        "1",
        -32600,
        "Invalid request: a request with this id is still in flight: wait for its answer, or use another id",
    );
    session().check(&format!(
        "{}! call defer {{}}\n! fault DuplicateId\n* answer 0 a\n{}",
        sends(&[&tool("1", "defer"), &ping("1")]),
        gets(&[&twice, &text("1", "a")])
    ));
}

#[test]
fn a_cancelled_member_is_left_out() {
    let batch = format!(
        "{}! call defer {{}}\n! call defer {{}}\n",
        sends(&[&tool("1", "defer"), &tool("3", "defer")])
    );
    let first = format!("> {}\n! cancelled 0\n", cancel("1"));
    let second = format!("> {}\n! cancelled 1\n", cancel("3"));
    session().check(&format!("{batch}{first}* answer 1 b\n{}{PING}", gets(&[&text("3", "b")])));
    session().check(&format!("{batch}* answer 1 b\n{first}{}{PING}", gets(&[&text("3", "b")])));
    // If nothing is left, nothing is sent.
    session().check(&format!("{batch}{first}{second}{PING}* deferred 0\n"));
    // By the same batch, and by another.
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
fn a_member_that_takes_too_long_is_an_error_in_the_array() {
    let late = error("1", -32603, "Internal error: the request was not finished in time");
    let info = INFO.limits(Limits::DEFAULT.with_deferred(Millis(100)));
    let setup = Setup::new(info).batches(4096).session(Revision::V2025_03_26);
    setup.check(&format!(
        "{}! call defer {{}}\n* deadline 100\n* time 100\n! expired 0\n{}{PING}",
        sends(&[&tool("1", "defer"), &ping("2")]),
        gets(&[&pong("2"), &late])
    ));
}

#[test]
fn the_end_of_a_connection_closes_an_open_batch() {
    let batch = format!("{}! call defer {{}}\n", sends(&[&tool("1", "defer"), &ping("2")]));
    for how in ["eof", "shutdown"] {
        session().check(&format!(
            "{batch}* {how}\n* answer 0 a\n{}! closed\n",
            gets(&[&pong("2"), &text("1", "a")])
        ));
        let late = error("1", -32603, "Internal error: the request was not finished in time");
        session().check(&format!(
            "{batch}* {how}\n* time 2000\n! expired 0\n{}! closed\n",
            gets(&[&pong("2"), &late])
        ));
    }
    session().check(&format!("{batch}* broken\n! closed\n"));
    session().check(&format!("{batch}* reset\n* deferred 0\n{PING}"));
    // A client that starts over gets nothing of the old one.
    let hello = crate::common::hello("2025-03-26");
    let setup = Setup::new(INFO.second_initialize(SecondInitialize::Restart)).batches(4096);
    setup.session(Revision::V2025_03_26).check(&format!(
        "{batch}> call 5 initialize {hello}\n< result 5 …\n! restarted\n! connected 2025-03-26 c {{}}\n{PING}{}\
         ! call defer {{}}\n* answer 1 b\n{}",
        sends(&[&tool("1", "defer")]),
        gets(&[&text("1", "b")])
    ));
}

#[test]
fn pings_of_the_server_do_not_wait_for_a_batch() {
    let pings = Pings { interval: Millis(100), timeout: Millis(50), close: false };
    session().pings(pings).check(&format!(
        "{}! call defer {{}}\n* time 100\n< call \"ping-1\" ping\n\
         > [{{\"jsonrpc\":\"2.0\",\"id\":\"ping-1\",\"result\":{{}}}}]\n* answer 0 a\n{}",
        sends(&[&tool("1", "defer")]),
        gets(&[&text("1", "a")])
    ));
}

#[test]
fn members_wait_for_room_for_what_they_say_beside_their_answers() {
    let progress =
        |id: &str| call(id, "tools/call", "{\"name\":\"progress\",\"_meta\":{\"progressToken\":5}}");
    let told = "< note notifications/progress …\n".repeat(3);
    let heard = "! call progress {}\n! not now NotWanted\n";
    let both = sends(&[&progress("1"), &progress("2")]);
    let answers = gets(&[&text("1", "done"), &text("2", "done")]);
    let setup = Setup::new(INFO.limits(Limits::DEFAULT.with_deferred(Millis(100))));
    let setup = setup.tx(720).slots(4, 64).batches(1500).session(Revision::V2025_03_26);
    setup.check(&format!("{both}{heard}{heard}{told}{told}{answers}{PING}"));
    // The error of a member of an earlier batch waits for its own array.
    setup.check(&format!(
        "{}! call defer {{}}\n* block\n{both}{heard}* time 100\n! expired 0\n* unblock\n{heard}{told}{told}{answers}{}",
        sends(&[&tool("9", "defer")]),
        gets(&[&error("9", -32603, "Internal error: the request was not finished in time")])
    ));
}

#[test]
fn a_batch_is_dealt_with_before_the_host_answers_others() {
    use mcp_proto::server::{Event, Server, Slot};
    use mcp_proto::{Action, NotNow};
    let (mut rx, mut tx, mut room) = ([0; 1024], [0; 4096], [0; 2048]);
    let (mut slots, mut text) = ([Slot::EMPTY; 2], [0; 128]);
    let info = INFO;
    let server = Server::new(&info, &mut rx, &mut tx).unwrap().reply_room(1024).unwrap();
    let mut server = server.batches(&mut room).in_flight(&mut slots, &mut text).unwrap();
    let hello = call("0", "initialize", &crate::common::hello("2025-03-26"));
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
                    // It would stand in the midst of the other answers.
                    assert_eq!(server.reply(ticket.unwrap()).unwrap_err(), NotNow::Busy);
                }
                Event::Room => {
                    rooms += 1;
                    server.reply(ticket.unwrap()).unwrap().text("first");
                }
                _ => {}
            },
            Action::Io(io) => {
                let (out, mut receive) = io.split();
                output.extend_from_slice(out.bytes());
                let n = out.bytes().len();
                out.sent(n);
                if n == 0 && input.is_empty() {
                    break;
                }
                let n = input.len().min(receive.space().len());
                receive.space()[..n].copy_from_slice(&input[..n]);
                receive.filled(n);
                input.drain(..n);
            }
            Action::Closed => break,
        }
    }
    let output = String::from_utf8(output).unwrap();
    let lines: Vec<&str> = output.lines().skip(1).collect();
    assert_eq!(rooms, 1);
    let text = crate::batches::text;
    assert_eq!(
        lines,
        [format!("[{},{}]", text("2", "second"), pong("3")), format!("[{}]", text("1", "first"))]
    );
}
