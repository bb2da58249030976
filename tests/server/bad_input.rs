//! Invalid lines and unserved requests, with and without an error response.

use crate::support::server::Setup;
use crate::support::server::tools::CONFIG;
use mcp_proto::server::{Limits, SecondInitialize, UnknownVersion};
use mcp_proto::{Revision, Revisions};

fn session() -> Setup {
    Setup::new(CONFIG).session(Revision::V2025_11_25)
}

/// A ping that shows that the server continues.
const ALIVE: &str = "> call \"alive\" ping\n< result \"alive\"\n";

/// Checks lines. Each case has a line, its error (`-`: without an id; empty: no error), and the event.
fn check_lines(setup: &Setup, cases: &[(&str, &str, &str)]) {
    for (line, error, fault) in cases {
        let answer = match error.split(' ').count() {
            1 => String::new(),
            2 => format!("< error {error} …\n"),
            _ => format!("< error {error}\n"),
        };
        let fault = if fault.is_empty() { String::new() } else { format!("! fault {fault}\n") };
        setup.check(&format!("> {line}\n{answer}{fault}{ALIVE}"));
    }
}

#[test]
fn invalid_line_gets_at_most_one_error() {
    check_lines(
        &session(),
        &[
            ("nonsense", "- -32700", "NotJson"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping""#, "1 -32700", "NotJson"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}}"#, "1 -32700", "NotJson"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping",}"#, "1 -32700", "NotJson"),
            (r#"{"jsonrpc":"2.0","id":01,"method":"ping"}"#, "- -32700", "NotJson"),
            ("\u{feff}\u{feff}{}", "- -32700", "NotJson"),
            ("1", "- -32600", "NotAnObject"),
            ("\"text\"", "- -32600", "NotAnObject"),
            ("null", "- -32600", "NotAnObject"),
            ("{}", "- -32600", "WrongJsonRpcVersion"),
            ("[]", "- -32600", "Batch"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "- -32600", "Batch"),
            (r#"{"id":1,"method":"ping"}"#, "1 -32600", "WrongJsonRpcVersion"),
            (r#"{"jsonrpc":"1.0","id":"a\/b","method":"ping"}"#, r#""a\/b" -32600"#, "WrongJsonRpcVersion"),
            (r#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, "1 -32600", "WrongJsonRpcVersion"),
            (r#"{"jsonrpc":null,"id":1,"method":"ping"}"#, "1 -32600", "WrongJsonRpcVersion"),
            (r#"{"method":"ping"}"#, "", "WrongJsonRpcVersion"),
            (r#"{"id":1,"result":{}}"#, "", "WrongJsonRpcVersion"),
            (r#"{"jsonrpc":"2.0","id":1}"#, "1 -32600", "InvalidMethod"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, "1 -32600", "InvalidMethod"),
            (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, "1 -32600", "InvalidMethod"),
            (r#"{"jsonrpc":"2.0","method":[]}"#, "- -32600", "InvalidMethod"),
        ],
    );
}

#[test]
fn abandoned_line_is_answered_if_its_id_was_received() {
    let line = r#"{"jsonrpc":"2.0","id":12,"method":"ping","params":{"text":"xyz"}}"#;
    // A line with `method` is a request. The id is complete when another byte follows.
    let known = line.find("\"ping").unwrap();
    for at in [1, 20, 23, known - 1, known, known + 3, known + 5, line.len() - 4, line.len() - 1] {
        let (before, behind) = line.split_at(at);
        let error = if at >= known { "12 -32700" } else { "" };
        check_lines(&session(), &[(&format!("{before}\u{18}{behind}"), error, "NotJson")]);
    }
    for line in [
        "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":12\u{18}3}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":{\"a\":1},\u{18}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{},\u{18}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\",\u{18}",
        "[1\u{18}",
    ] {
        check_lines(&session(), &[(line, "", "NotJson")]);
    }
}

#[test]
fn id_is_string_or_integer_and_echoed_unchanged() {
    for id in ["null", "1.5", "1.0", "1e3", "{}", "[1]", "true"] {
        session().check(&format!("> call {id} ping\n< error - -32600 …\n! fault InvalidId\n{ALIVE}"));
    }
    let longest = "9".repeat(64);
    for id in ["0", "-7", "\"\"", "\"\\u0061\\n\"", "\"\u{1F600}\"", "\"null\"", &longest] {
        session().check(&format!("> call {id} ping\n< result {id}\n"));
    }
    let longer = "9".repeat(65);
    session().check(&format!("> call {longer} ping\n< error - -32600 …\n! fault IdTooLong\n{ALIVE}"));
}

#[test]
fn invalid_utf8_invalidates_one_line() {
    use crate::support::server::ServerHarness;
    use crate::support::transport::Pace;
    let (mut rx, mut tx) = ([0; 256], [0; 1024]);
    let server = mcp_proto::Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
    let mut harness = ServerHarness::new(server, Pace { read: 1, write: 1, ..Pace::FAST });
    harness.transport.write(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\xffing\"}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
    harness.run();
    assert_eq!(harness.record.events, ["fault NotJson"]);
    let output = harness.take_output();
    let lines: Vec<_> = output.lines().collect();
    assert!(lines[0].contains("\"id\":1,\"error\":{\"code\":-32700"), "{output}");
    assert_eq!(lines[1], r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
}

#[test]
fn oversized_request_is_answered_with_its_id_at_any_position() {
    let x = "x".repeat(2000);
    let deep = "[".repeat(200) + &"]".repeat(200);
    let cases = [
        (format!(r#"{{"jsonrpc":"2.0","id":17,"method":"m","params":{{"x":"{x}"}}}}"#), "17 -32600"),
        (
            format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"x":"{x}"}},"id":"\u0061b"}}"#),
            r#""\u0061b" -32600"#,
        ),
        (format!(r#"{{"params":{{"id":1,"x":"{x}"}},"id":2,"method":"m","jsonrpc":"2.0"}}"#), "2 -32600"),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":"{x}","id":2}}"#), "2 -32600"),
        (format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"x":"{x}","y":{deep}}},"id":3}}"#), "3 -32600"),
        (format!(r#"{{"jsonrpc":"2.0","method":"m","id":null,"params":"{x}"}}"#), "- -32600"),
        (format!(r#"{{"jsonrpc":"2.0","method":"m","id":1.5,"params":"{x}"}}"#), "- -32600"),
        (format!(r#"{{"jsonrpc":"2.0","method":"m","id":"{x}"}}"#), "- -32600"),
        (format!(r#"{{"jsonrpc":"2.0","method":"m","params":"{x}"}}"#), ""),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{x}"}}"#), ""),
        (format!(r#"{{"jsonrpc":"2.0","result":"{x}","id":1}}"#), ""),
        (format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":1,"message":"{x}"}}}}"#), ""),
        (format!(r#"[{{"jsonrpc":"2.0","id":1,"method":"{x}"}}]"#), "- -32600"),
        (format!("\"{x}\""), "- -32600"),
    ];
    let setup = Setup::new(CONFIG).session(Revision::V2025_11_25).rx(&[160, 161, 200, 512, 1024]);
    for (line, error) in &cases {
        check_lines(&setup, &[(line, error, "LineTooLong")]);
    }
    let broken = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{x}",}}"#);
    check_lines(&setup, &[(&broken, "- -32700", "NotJson")]);
    let blank = " ".repeat(2000);
    setup.check(&format!("> {blank}\n{ALIVE}"));
}

#[test]
fn too_deep_message_is_answered_with_its_id() {
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let request = |levels, before: &str, after: &str| {
        format!(r#"{{"jsonrpc":"2.0",{before}"method":"ping","params":{{"x":{}}}{after}}}"#, deep(levels))
    };
    let limited = CONFIG.limits(Limits::DEFAULT.with_depth(10));
    for (info, most) in [(CONFIG, 126), (limited, 8)] {
        let setup = Setup::new(info).session(Revision::V2025_11_25);
        setup.check(&format!("> {}\n< result 5\n", request(most, "\"id\":5,", "")));
        check_lines(
            &setup,
            &[
                (&request(most + 1, "\"id\":5,", ""), "5 -32600", "TooDeep"),
                (&request(most + 1, "", ",\"id\":6"), "6 -32600", "TooDeep"),
                (&request(most + 1, "\"id\":null,", ""), "- -32600", "TooDeep"),
                (&request(most + 1, "", ""), "", "TooDeep"),
                (&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{}}}"#, deep(most + 2)), "", "TooDeep"),
                (&format!(r#"{{"jsonrpc":"2.0","result":{},"id":1}}"#, deep(most + 2)), "", "TooDeep"),
                (&deep(most + 3), "- -32600", "TooDeep"),
            ],
        );
    }
}

#[test]
fn error_echoes_ids_up_to_the_limit_only() {
    let (x, deep) = ("x".repeat(2000), "[".repeat(200) + &"]".repeat(200));
    let config = CONFIG.limits(Limits::DEFAULT.with_id(10));
    let setup = Setup::new(config).session(Revision::V2025_11_25).rx(&[300, 1024]);
    for (id, carried) in [(r#""12345678""#, r#""12345678""#), (r#""123456789""#, "-")] {
        let error = format!("{carried} -32600");
        let cases = [
            (format!(r#"{{"jsonrpc":"1.0","id":{id},"method":"ping"}}"#), "WrongJsonRpcVersion"),
            (format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#), "InvalidMethod"),
            (format!(r#"{{"jsonrpc":"2.0","id":{id},"params":"{x}","method":"ping"}}"#), "LineTooLong"),
            (format!(r#"{{"jsonrpc":"2.0","params":"{x}","method":"ping","id":{id}}}"#), "LineTooLong"),
        ];
        for (line, fault) in &cases {
            check_lines(&setup, &[(line, &error, fault)]);
        }
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":{deep}}}"#);
        check_lines(&setup.clone().rx(&[1024]), &[(&line, &error, "TooDeep")]);
    }
}

#[test]
fn unserved_request_gets_an_error_with_the_reason() {
    check_lines(
        &session(),
        &[
            ("call 1 no/such", "1 -32601 Method not found: no/such", "UnknownMethod"),
            ("call 1 prompts/list", "1 -32601", "UnknownMethod"),
            ("call 1 server/discover", "1 -32601", "UnknownMethod"),
            ("call 1 ping [1]", "1 -32602", "InvalidParams"),
            ("call 1 tools/list 7", "1 -32602", "InvalidParams"),
            ("call 1 tools/call", "1 -32602", "InvalidParams"),
            (r#"call 1 tools/call {"name":7}"#, "1 -32602", "InvalidParams"),
            (r#"call 1 tools/call {"name":"echo","arguments":[]}"#, "1 -32602", "InvalidParams"),
            (r#"call 1 tools/call {"name":"echo","arguments":"{}"}"#, "1 -32602", "InvalidParams"),
            (r#"call 1 tools/call {"name":"nobody"}"#, "1 -32602 Unknown tool: nobody", "UnknownTool"),
            (r#"call 1 tools/list {"cursor":7}"#, "1 -32602", "InvalidParams"),
            (r#"call 1 tools/list {"cursor":""}"#, "1 -32602", "BadCursor"),
            (r#"call 1 tools/list {"cursor":"x"}"#, "1 -32602", "BadCursor"),
            (r#"call 1 tools/list {"cursor":"p0"}"#, "1 -32602", "BadCursor"),
            (r#"call 1 tools/list {"cursor":"p99"}"#, "1 -32602", "BadCursor"),
            (r#"call 1 logging/setLevel {"level":"loud"}"#, "1 -32602", "InvalidParams"),
            (r#"call 1 logging/setLevel"#, "1 -32602", "InvalidParams"),
        ],
    );
}

#[test]
fn names_are_compared_after_decoding() {
    let line = r#"{"\u006asonrpc":"2.0","id":1,"method":"tools\/call","params":{"n\u0061me":"caf\u00e9","argument\u0073":{}}}"#;
    session().check(&format!("> {line}\n! call caf\u{e9} {{}}\n< result 1 …\n"));
    session()
        .check("> call 1 tools/call {\"name\":\"echo\",\"arguments\":null}\n! call echo {}\n< result 1 …\n");
    session().check("> call 1 ping null\n< result 1\n");
    let twice = r#"{"name":"fail","name":"echo","arguments":{"a":1},"arguments":{"a":2}}"#;
    session().check(&format!("> call 1 tools/call {twice}\n! call echo {{\"a\":2}}\n< result 1 …\n"));
}

#[test]
fn invalid_arguments_are_error_until_2025_06_18_then_result() {
    for revision in Revision::ALL.into_iter().filter(|revision| *revision < Revision::V2026_07_28) {
        let answer = if revision >= Revision::V2025_11_25 {
            r#"< result 1 {"content":[{"type":"text","text":"Invalid arguments: …"}],"isError":true}"#
        } else {
            "< error 1 -32602 Invalid arguments: …"
        };
        let setup = Setup::new(CONFIG).session(revision);
        setup.check(&format!(
            "> call 1 tools/call {{\"name\":\"invalid\"}}\n! call invalid {{}}\n{answer}\n\
             > call 1 tools/call {{\"name\":\"typed\",\"arguments\":{{\"count\":300}}}}\n\
             ! call typed {{\"count\":300}}\n{answer}\n"
        ));
        setup.check(
            "> call 1 tools/call {\"name\":\"typed\",\"arguments\":{\"text\":\"a\\tb\\u00e9\",\"count\":3}}\n\
             ! call typed {\"text\":\"a\\tb\\u00e9\",\"count\":3}\n\
             < result 1 {\"content\":[{\"type\":\"text\",\"text\":\"a\\tb\u{e9} 3\"}]}\n",
        );
    }
}

#[test]
fn duplicate_id_is_refused_and_the_first_request_continues() {
    session().check(
        r#"> call "a" tools/call {"name":"defer"}
           ! call defer {}
           > call "\u0061" ping
           < error "\u0061" -32600 …
           ! fault DuplicateId
           > call "b" ping
           < result "b"
           * answer 0 done
           < result "a" {"content":[{"type":"text","text":"done"}]}
           > call "\u0061" ping
           < result "\u0061""#,
    );
}

#[test]
fn non_requests_are_never_answered() {
    check_lines(
        &session(),
        &[
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "", "UnknownResponse"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}"#, "", "UnknownResponse"),
            (r#"{"jsonrpc":"2.0","id":1,"error":{},"result":{}}"#, "", "MalformedResponse"),
            (r#"{"jsonrpc":"2.0","id":1,"error":7}"#, "", "MalformedResponse"),
            (r#"{"jsonrpc":"2.0","result":{}}"#, "", "InvalidId"),
            (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}"#, "", "ErrorWithoutId"),
            (r#"{"jsonrpc":"2.0","error":{"code":"x"}}"#, "", "ErrorWithoutId"),
            ("note notifications/unheard-of", "", "UnknownNotification"),
            ("note notifications/unheard-of 7", "", "UnknownNotification"),
            ("note ping", "", "UnknownNotification"),
            ("note tools/list", "", "UnknownNotification"),
            (r#"note notifications/progress {"progressToken":1,"progress":1}"#, "", "UnknownProgress"),
            (r#"note notifications/cancelled {"requestId":1}"#, "", ""),
            (r#"note notifications/cancelled {"requestId":null}"#, "", "InvalidParams"),
            (r#"note notifications/cancelled {"requestId":{}}"#, "", "InvalidParams"),
            ("note notifications/cancelled {}", "", "InvalidParams"),
            ("note notifications/cancelled []", "", "InvalidParams"),
            ("note notifications/cancelled", "", "InvalidParams"),
            ("note notifications/initialized", "", "UnknownNotification"),
        ],
    );
    // This line is invalid but similar to a response. An error for it could start an endless exchange.
    check_lines(&session(), &[(r#"{"jsonrpc":"2.0","id":1,"result":{},}"#, "", "NotJson")]);
}

#[test]
fn request_before_handshake_gets_an_error_naming_initialize() {
    let handshake = CONFIG.revisions(Revisions::HANDSHAKE);
    let stateless = CONFIG.revisions(Revisions::STATELESS);
    let meta = "1 -32602 Invalid params: `_meta` needs …";
    let either = "1 -32602 Invalid params: …, or send `initialize` first";
    let first = "1 -32600 Invalid request: send `initialize` first: …";
    let cases = [
        (CONFIG, "tools/list", either, "InvalidParams"),
        (CONFIG, "no/such", either, "InvalidParams"),
        (CONFIG, "server/discover", either, "InvalidParams"),
        (handshake, "tools/list", first, "NotInitialized"),
        (handshake, "no/such", first, "NotInitialized"),
        (handshake, "server/discover", "1 -32601 …", "UnknownMethod"),
        (stateless, "tools/list", meta, "InvalidParams"),
        (stateless, "ping", meta, "InvalidParams"),
        (stateless, "server/discover", meta, "InvalidParams"),
    ];
    for (info, method, error, fault) in cases {
        Setup::new(info).check(&format!("> call 1 {method}\n< error {error}\n! fault {fault}\n"));
    }
    for info in [CONFIG, handshake] {
        Setup::new(info)
            .check("> note notifications/initialized\n! fault UnknownNotification\n* state Waiting");
    }
}

#[test]
fn malformed_initialize_opens_no_session() {
    let cases = [
        "",
        "{}",
        r#"{"protocolVersion":7,"capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#,
        r#"{"protocolVersion":"2025-11-25","clientInfo":{"name":"c","version":"1"}}"#,
        r#"{"protocolVersion":"2025-11-25","capabilities":[],"clientInfo":{"name":"c","version":"1"}}"#,
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c"}}"#,
        r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#,
    ];
    for params in cases {
        Setup::new(CONFIG).check(&format!(
            "> call 1 initialize {params}\n< error 1 -32602 …\n! fault InvalidParams\n* state Waiting"
        ));
    }
}

#[test]
fn unknown_version_is_negotiated_or_rejected() {
    let hello = |version: &str| {
        format!(
            r#"> call 1 initialize {{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}"#
        )
    };
    let old = Revisions::only(Revision::V2024_11_05).with(Revision::V2025_03_26);
    for asked in ["1.0.0", "2026-07-28", "2099-01-01", "", "2025-11-25 "] {
        for (info, offer) in [(CONFIG, "2025-11-25"), (CONFIG.revisions(old), "2025-03-26")] {
            Setup::new(info).check(&format!(
                "{}\n< result 1 {{\"protocolVersion\":\"{offer}\",…\n! connected {offer} c {{}}\n* state Negotiated",
                hello(asked)
            ));
        }
    }
    let reject = CONFIG.revisions(old).unknown_version(UnknownVersion::Reject);
    let (limit, long) = ("9".repeat(32), "9".repeat(33));
    for (asked, quoted) in [
        ("1.0.0", "1.0.0"),
        ("2026-07-28", "2026-07-28"),
        ("\\u0031", "?"),
        ("a b", "?"),
        (&limit, &limit),
        (&long, "?"),
    ] {
        Setup::new(reject).check(&format!(
            "{}\n< error 1 -32602 … data {{\"supported\":[\"2025-03-26\",\"2024-11-05\"],\"requested\":\"{quoted}\"}}\n\
             ! fault UnsupportedRevision\n* state Waiting",
            hello(asked)
        ));
    }
    Setup::new(CONFIG.revisions(Revisions::STATELESS)).check(&format!(
        "{}\n< error 1 -32601 … data {{\"supported\":[\"2026-07-28\"],\"requested\":\"2025-11-25\"}}\n\
         ! fault UnsupportedRevision",
        hello("2025-11-25")
    ));
}

#[test]
fn second_initialize_is_accepted_refused_or_restarts() {
    let hello = crate::support::server::hello("2025-06-18");
    let again = format!("> call 2 initialize {hello}\n");
    // The client has sent no request after `initialize`, so it may initialize again.
    Setup::new(CONFIG).check(&format!(
        "> call 1 initialize {}\n< result 1 …\n! connected 2025-11-25 c {{}}\n\
         {again}< result 2 {{\"protocolVersion\":\"2025-06-18\",…\n! connected 2025-06-18 c {{}}\n* state Negotiated",
        crate::support::server::hello("2025-11-25")
    ));
    session().check(&format!("{again}< error 2 -32600 …\n! fault AlreadyInitialized\n* state Ready"));
    let restart =
        Setup::new(CONFIG.second_initialize(SecondInitialize::Restart)).session(Revision::V2025_11_25);
    restart.check(&format!(
        "> call 1 tools/call {{\"name\":\"defer\"}}\n! call defer {{}}\n\
         {again}! restarted\n! connected 2025-06-18 c {{}}\n< result 2 {{\"protocolVersion\":\"2025-06-18\",…\n\
         * state Negotiated\n* deferred 0\n* answer 0 too late\n! not now Gone\n\
         > note notifications/initialized\n! ready\n\
         > call 1 ping\n< result 1\n"
    ));
}

#[test]
fn restarted_session_may_reuse_a_forgotten_id() {
    let hello = |id| format!("> call {id} initialize {}\n", crate::support::server::hello("2025-06-18"));
    let begun = "! restarted\n! connected 2025-06-18 c {}\n< result 1 {\"protocolVersion\":\"2025-06-18\",…\n\
                 * state Negotiated\n* deferred 0\n* answer 0 too late\n! not now Gone\n\
                 > note notifications/initialized\n! ready\n> call 1 ping\n< result 1\n";
    let defer = "> call 1 tools/call {\"name\":\"defer\"}\n! call defer {}\n";
    let info = CONFIG.second_initialize(SecondInitialize::Restart);
    let session = Setup::new(info).session(Revision::V2025_11_25);
    session.check(&format!("{defer}{}{begun}", hello(1)));
    // The old client has used the stateless era. Without the restart, the server would refuse the id, because a request
    // with this id is in flight.
    let stateless = r#"> call 1 tools/call {"name":"defer","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}
! call defer {}
"#;
    Setup::new(info).check(&format!("{stateless}{}{begun}", hello(1)));
    session.check(&format!("{stateless}{}{begun}", hello(1)));
    // An `initialize` that does not restart the session keeps all requests.
    let refused =
        |fault| format!("< error 1 -32600 …\n! fault {fault}\n* deferred 1\n* answer 0 yes\n< result 1 …");
    Setup::new(CONFIG).check(&format!("{stateless}{}{}", hello(1), refused("DuplicateId")));
    Setup::new(CONFIG).session(Revision::V2025_11_25).check(&format!(
        "{defer}{}{}",
        hello(1),
        refused("DuplicateId")
    ));
    session.check(&format!(
        "{defer}> call 1 initialize {{}}\n< error 1 -32602 …\n! fault InvalidParams\n* answer 0 yes\n< result 1 …"
    ));
    Setup::new(info).check(&format!(
        "{stateless}{}! connected 2025-06-18 c {{}}\n< result 2 …\n* deferred 1\n* answer 0 yes\n< result 1 …",
        hello(2)
    ));
}

#[test]
fn errors_without_id_stop_after_eight_until_a_valid_message() {
    let bad = "> nonsense\n";
    let notified = format!("{bad}< error - -32700 …\n! fault NotJson\n");
    let muted = format!("{bad}! fault Muted\n");
    let (notified, muted) = (notified.repeat(8), muted.repeat(3));
    session().check(&format!("{notified}{muted}{ALIVE}{notified}{muted}"));
    session().check(&format!("{notified}{muted}> note x\n! fault UnknownNotification\n{notified}{muted}"));
    // An invalid request with a valid id always gets an error, and does not reset the count.
    session().check(&format!(
        "{notified}> {{\"id\":1,\"method\":\"ping\"}}\n< error 1 -32600 …\n! fault WrongJsonRpcVersion\n{muted}"
    ));
    // Without the limit, the exchange with a peer that echoes each line, such as a console, would be endless.
    let bad = format!("{bad}< error - -32700 …\n! fault NotJson\n");
    let echo =
        "> {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"\"}}\n! fault ErrorWithoutId\n";
    session().check(&format!("{}{muted}", format!("{bad}{echo}").repeat(8)));
    // An id that is too long does not bypass the limit.
    let id = "9".repeat(65);
    let long = format!("> call {id} ping\n");
    let notified = format!("{long}< error - -32600 …\n! fault IdTooLong\n").repeat(8);
    session().check(&format!("{notified}{long}! fault Muted\n"));
}

#[test]
fn error_without_id_has_null_id_until_2025_06_18() {
    let cases = [
        (Some(Revision::V2024_11_05), "null"),
        (Some(Revision::V2025_03_26), "null"),
        (Some(Revision::V2025_06_18), "null"),
        (Some(Revision::V2025_11_25), "-"),
        (None, "null"),
    ];
    for (revision, id) in cases {
        let setup = revision.map_or(Setup::new(CONFIG), |revision| Setup::new(CONFIG).session(revision));
        setup.check(&format!("> nonsense\n< error {id} -32700 …\n! fault NotJson\n"));
    }
    let stateless = Setup::new(CONFIG.revisions(Revisions::STATELESS));
    stateless.check("> nonsense\n< error - -32700 …\n! fault NotJson\n");
}

#[test]
fn blank_lines_bom_and_carriage_returns_are_ignored() {
    session().check(
        "> \u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\
         > \r\n>\n> \t \n> \u{feff}\r\n\
         >   {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}  \r\n\
         < result 1\n< result 2\n",
    );
}

#[test]
fn complete_last_line_needs_no_newline() {
    session().check("* send {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n* eof\n< result 1\n! closed");
    session().check(
        "* send {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"\n* eof\n! fault Truncated\n! closed",
    );
    session().check("* send   \n* eof\n! closed");
    session().check("* eof\n! closed");
}
