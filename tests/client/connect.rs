//! Connecting: the probe, fallback to `initialize`, and the handshake.
use crate::support::FailureContext;
use crate::support::client::{ClientHarness, META, Setup, TIMES};
use mcp_proto::client::{ClientConfig, Connect, Options, Slot};
use mcp_proto::{Client, ConfigError, Revision, Revisions, SendError, State};

pub(super) const PROBE: &str = r#"{"id":@,"method":"server/discover","params":{"_meta":{..}}}"#;
const INITIALIZED: &str = r#"{"method":"notifications/initialized"}"#;

pub(super) fn initialize(revision: &str) -> String {
    format!(
        r#"{{"id":@,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}

/// Returns the response to `initialize`.
fn accept(revision: &str) -> String {
    format!(
        r#"{{"id":@initialize,"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    )
}

pub(super) fn discover(versions: &str) -> String {
    format!(r#"{{"id":@discover,"result":{{"supportedVersions":{versions},"capabilities":{{}}}}}}"#)
}

pub(super) fn error(name: &str, code: i32, data: &str) -> String {
    format!(r#"{{"id":@{name},"error":{{"code":{code},"message":"no"{data}}}}}"#)
}

/// The expected next step of a client after the response to its connecting request.
enum Then<'t> {
    Connected,
    /// After a probe: the client sends `initialize` with this revision. After `initialize`: it connects with this
    /// revision.
    FallsBack(&'t str),
    Fails(&'t str),
}

fn after_the_probe(setup: Setup, answer: &str, then: &Then<'_>) {
    let _context = FailureContext(answer.to_owned());
    setup.run(|harness| {
        harness.at(0).sent(&[PROBE]);
        assert_eq!(harness.client.state(), State::Probing);
        harness.server_sends(answer);
        match then {
            Then::Connected => {
                harness.events(&["connected 2026-07-28"]).sent(&[]);
                assert_eq!(harness.client.state(), State::Stateless);
            }
            Then::FallsBack(revision) => {
                harness.events(&[]).sent(&[&initialize(revision)]);
                assert_eq!(harness.client.state(), State::Initializing);
                harness
                    .server_sends(&accept(revision))
                    .events(&[&format!("connected {revision}")])
                    .sent(&[INITIALIZED]);
            }
            Then::Fails(why) => {
                harness.events(&[&format!("failed {why}"), "closed"]).sent(&[]);
            }
        }
    });
}

#[test]
fn probe_response_decides_the_era() {
    use Then::{Connected, Fails, FallsBack};
    let cases = [
        (discover(r#"["2026-07-28"]"#), Connected),
        (discover(r#"["2024-11-05","1999-01-01",7,"2026-07-28"]"#), Connected),
        (discover(r#"["2027-01-01","2025-06-18","2024-11-05"]"#), FallsBack("2025-06-18")),
        (
            discover(r#"["2027-01-01"]"#),
            Fails(r#"NoCommonRevision {"supportedVersions":["2027-01-01"],"capabilities":{}}"#),
        ),
        (discover("[]"), Fails(r#"NoCommonRevision {"supportedVersions":[],"capabilities":{}}"#)),
        (discover(r#""2026-07-28""#), FallsBack("2025-11-25")),
        (r#"{"id":@discover,"result":{}}"#.into(), FallsBack("2025-11-25")),
        (r#"{"id":@discover,"result":null}"#.into(), FallsBack("2025-11-25")),
        (r#"{"id":@discover,"result":["2026-07-28"]}"#.into(), FallsBack("2025-11-25")),
        (r#"{"id":@discover,"result":{"supportedVersions":["2026-07-28"]}}"#.into(), Fails("InvalidResponse")),
        (
            r#"{"id":@discover,"result":{"resultType":"input_required","supportedVersions":["2026-07-28"],"capabilities":{}}}"#.into(),
            Fails("InvalidResponse"),
        ),
        (
            r#"{"id":@discover,"result":{"resultType":null,"supportedVersions":["2026-07-28"],"capabilities":{}}}"#.into(),
            Connected,
        ),
        (r#"{"id":@discover,"result":{},"error":{"code":1,"message":""}}"#.into(), FallsBack("2025-11-25")),
        (r#"{"id":"@discover","result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#.into(), Connected),
        // Only a stateless server sends these codes. The client falls back only if the error names older revisions.
        (error("discover", -32022, ""), Fails("Refused no (-32022)")),
        (error("discover", -32022, r#","data":{"supported":[]}"#), Fails("Refused no (-32022)")),
        (error("discover", -32022, r#","data":{"supported":["2099-01-01"]}"#), Fails("Refused no (-32022)")),
        (error("discover", -32022, r#","data":{"supported":["2024-11-05","2025-03-26"]}"#), FallsBack("2025-03-26")),
        (error("discover", -32020, ""), Fails("Refused no (-32020)")),
        (error("discover", -32021, r#","data":{"requiredCapabilities":{}}"#), Fails("Refused no (-32021)")),
        // Any other error means that the server is not stateless.
        (error("discover", -32601, ""), FallsBack("2025-11-25")),
        (error("discover", -32602, r#","data":{"supported":["2024-11-05"]}"#), FallsBack("2025-11-25")),
        (error("discover", -32600, ""), FallsBack("2025-11-25")),
        (error("discover", -32603, ""), FallsBack("2025-11-25")),
        (error("discover", -32700, ""), FallsBack("2025-11-25")),
        (error("discover", -32000, ""), FallsBack("2025-11-25")),
        // Drafts used these codes instead of -32020 to -32022.
        (error("discover", -32001, ""), FallsBack("2025-11-25")),
        (error("discover", -32003, ""), FallsBack("2025-11-25")),
        (error("discover", -32002, ""), FallsBack("2025-11-25")),
        (error("discover", -32004, ""), FallsBack("2025-11-25")),
        (error("discover", 0, ""), FallsBack("2025-11-25")),
        (r#"{"id":@discover,"error":{}}"#.into(), FallsBack("2025-11-25")),
        (r#"{"id":@discover,"error":{"code":"-32022"}}"#.into(), FallsBack("2025-11-25")),
        (r#"{"id":@discover,"error":{"code":-4294999318,"message":"no"}}"#.into(), FallsBack("2025-11-25")),
        // A response that is not valid JSON, or is nested too deep.
        (r#"{"id":@discover,"error":{"code":-32601,"message":"no",}}"#.into(), FallsBack("2025-11-25")),
        (format!(r#"{{"id":@discover,"result":{}}}"#, "[".repeat(200)), FallsBack("2025-11-25")),
        // Some servers respond without an id. Only one request is in flight, so the response belongs to this request.
        (r#"{"id":null,"error":{"code":-32700,"message":"no"}}"#.into(), FallsBack("2025-11-25")),
        (r#"{"error":{"code":-32600,"message":"no"}}"#.into(), FallsBack("2025-11-25")),
    ];
    for (answer, then) in cases {
        after_the_probe(Setup::automatic(), &answer, &then);
    }
}

#[test]
fn refusal_that_names_the_refused_revision_is_retried_once() {
    let refusal = error("discover", -32022, r#","data":{"supported":["2026-07-28"]}"#);
    Setup::automatic().run(|harness| {
        harness.at(0).sent(&[PROBE]).server_sends(&refusal).events(&[]).sent(&[PROBE]);
        harness.server_sends(&refusal).events(&["failed Refused no (-32022)", "closed"]).sent(&[]);
    });
}

#[test]
fn stateless_client_probes_without_fallback() {
    use Then::{Connected, Fails};
    let only = Setup::automatic().info.revisions(Revisions::STATELESS);
    let cases = [
        (discover(r#"["2026-07-28"]"#), Connected),
        (error("discover", -32601, ""), Fails("Refused no (-32601)")),
        (error("discover", -32022, r#","data":{"supported":["2025-11-25"]}"#), Fails("Refused no (-32022)")),
        (
            discover(r#"["2025-11-25"]"#),
            Fails(r#"NoCommonRevision {"supportedVersions":["2025-11-25"],"capabilities":{}}"#),
        ),
    ];
    for (answer, then) in cases {
        after_the_probe(Setup::new(Connect::Stateless), &answer, &then);
        after_the_probe(Setup { info: only, ..Setup::automatic() }, &answer, &then);
    }
    for setup in [Setup::new(Connect::Stateless), Setup { info: only, ..Setup::automatic() }] {
        setup.run(|harness| {
            // Without a fallback, the timeout of the handshake applies.
            harness.at(0).sent(&[PROBE]).at(2999).events(&[]);
            harness.at(3000).events(&["failed TimedOut", "closed"]);
        });
    }
}

#[test]
fn unanswered_probe_selects_the_handshake_era() {
    Setup::automatic().run(|harness| {
        harness.at(50).sent(&[PROBE]);
        assert_eq!(harness.deadline, Some(350));
        harness.at(349).sent(&[]).at(350).sent(&[&initialize("2025-11-25")]);
        assert_eq!(harness.deadline, Some(3350));
        // The client ignores late responses to the probe.
        harness
            .server_sends(&error("discover", -32601, ""))
            .server_sends(&discover(r#"["2026-07-28"]"#))
            .events(&[]);
        harness.server_sends(&accept("2025-11-25")).events(&["connected 2025-11-25"]).sent(&[INITIALIZED]);
        harness.server_sends(&discover(r#"["2026-07-28"]"#)).events(&[]);
    });
}

#[test]
fn single_era_client_waits_for_a_slow_server() {
    Setup::new(Connect::Stateless).run(|harness| {
        harness.at(50).sent(&[PROBE]);
        assert_eq!(harness.deadline, Some(3050));
        harness.at(3049).server_sends(&discover(r#"["2026-07-28"]"#)).events(&["connected 2026-07-28"]);
    });
}

#[test]
fn unexpected_lines_do_not_disturb_connecting() {
    let noise: [(&str, &[&str]); 9] = [
        ("Server v1.2 listening on stdio", &["fault NotJson"]),
        ("", &[]),
        ("  \t ", &[]),
        ("[1,2]", &["fault Batch"]),
        ("42", &["fault NotAnObject"]),
        (r#"{"id":1,"result":{}}"#, &["fault WrongJsonRpcVersion"]),
        (r#"{"jsonrpc":"2.0","id":999,"result":{}}"#, &["fault UnknownResponse"]),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"up"}}"#,
            &[r#"log info "up""#],
        ),
        (r#"{"jsonrpc":"2.0","method":"$/progress"}"#, &["notified $/progress"]),
    ];
    for connect in [Connect::Automatic, Connect::Stateless, Connect::Handshake] {
        Setup::new(connect).run(|harness| {
            harness.at(0).discard();
            for (line, events) in &noise {
                harness.raw(line.as_bytes()).events(events).sent(&[]);
            }
            harness.raw(b"\xff\xfe{}").events(&["fault NotJson"]).sent(&[]);
            harness
                .server_sends(r#"{"id":"p","method":"ping"}"#)
                .events(&[])
                .sent(&[r#"{"id":"p","result":{}}"#]);
            harness.server_sends(r#"{"id":1,"method":"roots/list"}"#).events(&["fault UnknownMethod"]);
            harness.sent(&[r#"{"id":1,"error":{"code":-32601,"message":"Method not found"}}"#]);
            match connect {
                Connect::Handshake => {
                    harness
                        .server_sends(&accept("2025-11-25"))
                        .events(&["connected 2025-11-25"])
                        .sent(&[INITIALIZED]);
                }
                _ => {
                    harness.server_sends(&discover(r#"["2026-07-28"]"#)).events(&["connected 2026-07-28"]);
                }
            }
        });
    }
}

#[test]
fn late_error_without_id_may_answer_the_probe() {
    for late in [
        r#"{"id":null,"error":{"code":-32600,"message":"no"}}"#,
        r#"{"error":{"code":-32600,"message":"no"}}"#,
    ] {
        Setup::automatic().run(|harness| {
            harness.at(0).sent(&[PROBE]).at(300).sent(&[&initialize("2025-11-25")]);
            harness.server_sends(late).events(&["fault ErrorWithoutId"]).sent(&[]);
            harness
                .server_sends(&accept("2025-11-25"))
                .events(&["connected 2025-11-25"])
                .sent(&[INITIALIZED]);
        });
        // The probe has one response, so the second error without an id belongs to `initialize`.
        Setup::automatic().run(|harness| {
            harness.at(0).at(300).discard();
            harness.server_sends(late).events(&["fault ErrorWithoutId"]);
            harness.server_sends(late).events(&["failed Refused no (-32600)", "closed"]);
        });
        // The probe already has a response, so the error without an id belongs to `initialize`.
        Setup::automatic().run(|harness| {
            harness.at(0).at(300).discard();
            harness.server_sends(r#"{"id":@discover,"error":{"code":-32601,"message":"no"}}"#).events(&[]);
            harness.server_sends(late).events(&["failed Refused no (-32600)", "closed"]);
        });
    }
}

#[test]
fn byte_order_mark_and_carriage_returns_are_accepted() {
    Setup::handshake().run(|harness| {
        harness.at(0).discard();
        let answer = harness.message(&accept("2025-11-25"));
        harness.raw(format!("\u{feff}{answer}\r").as_bytes()).events(&["connected 2025-11-25"]).discard();
    });
}

#[test]
fn initialize_response_decides_the_revision() {
    use Then::{Fails, FallsBack};
    let unsupported = |version: &str| {
        format!(
            r#"NoCommonRevision {{"protocolVersion":"{version}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}"#
        )
    };
    let (garbage, modern) = (unsupported("1.0.0"), unsupported("2026-07-28"));
    let long = "1".repeat(10_000);
    let cases = [
        // The client adopts the revision of the server.
        (accept("2025-11-25"), FallsBack("2025-11-25")),
        (accept("2024-11-05"), FallsBack("2024-11-05")),
        // The client refuses unknown revisions and 2026-07-28.
        (accept("1.0.0"), Fails(&garbage)),
        (accept("2026-07-28"), Fails(&modern)),
        (accept("2025-11-25").replace("@initialize", "\"@initialize\""), FallsBack("2025-11-25")),
        (r#"{"id":@initialize,"result":{}}"#.into(), Fails("InvalidResponse")),
        (r#"{"id":@initialize,"result":null}"#.into(), Fails("InvalidResponse")),
        (accept("2025-11-25").replace("serverInfo", "server"), Fails("InvalidResponse")),
        (accept("2025-11-25").replace("capabilities", "caps"), Fails("InvalidResponse")),
        (accept("2025-11-25").replace("\"2025-11-25\"", "20251125"), Fails("InvalidResponse")),
        (
            r#"{"id":@initialize,"result":{},"error":{"code":1,"message":"x"}}"#.into(),
            Fails("InvalidResponse"),
        ),
        (r#"{"id":@initialize}"#.into(), Fails("InvalidResponse")),
        // This response is longer than the receive buffer.
        (accept("2025-11-25").replace("1\"}", &format!("{long}\"}}")), Fails("ResponseTooLong")),
        (error("initialize", -32602, ""), Fails("Refused no (-32602)")),
        (
            error("initialize", -32022, r#","data":{"supported":["2026-07-28"]}"#),
            Fails("Refused no (-32022)"),
        ),
        (
            error("initialize", -32602, r#","data":{"supported":["2025-11-25"]}"#),
            Fails("Refused no (-32602)"),
        ),
        (r#"{"id":null,"error":{"code":-32600,"message":"no"}}"#.into(), Fails("Refused no (-32600)")),
    ];
    for (answer, then) in cases {
        let _context = FailureContext(answer.clone());
        Setup::handshake().run(|harness| {
            harness.at(0).sent(&[&initialize("2025-11-25")]);
            harness.server_sends(&answer);
            match then {
                FallsBack(revision) => {
                    harness.events(&[&format!("connected {revision}")]).sent(&[INITIALIZED]);
                    assert_eq!(harness.client.state(), State::Ready);
                    assert_eq!(harness.client.revision().map(Revision::as_str), Some(revision));
                }
                Fails(why) => {
                    harness.events(&[&format!("failed {why}"), "closed"]).sent(&[]);
                }
                Then::Connected => unreachable!(),
            }
        });
    }
}

#[test]
fn initialize_is_retried_with_the_revision_of_the_server() {
    let refusal =
        error("initialize", -32602, r#","data":{"supported":["1999-01-01","2025-03-26"],"requested":"x"}"#);
    Setup::handshake().run(|harness| {
        harness.at(0).discard().at(1000).server_sends(&refusal);
        harness.events(&[]).sent(&[&initialize("2025-03-26")]);
        assert_eq!(harness.deadline, Some(4000), "`initialize` has its own timeout");
        harness.server_sends(&accept("2025-03-26")).events(&["connected 2025-03-26"]).sent(&[INITIALIZED]);
    });
    Setup::handshake().run(|harness| {
        harness.at(0).server_sends(&refusal).discard();
        harness.server_sends(&refusal).events(&["failed Refused no (-32602)", "closed"]).sent(&[]);
    });
}

#[test]
fn initialize_is_never_cancelled() {
    Setup::handshake().run(|harness| {
        harness
            .at(0)
            .discard()
            .at(2999)
            .events(&[])
            .at(3000)
            .events(&["failed TimedOut", "closed"])
            .sent(&[]);
        assert_eq!(harness.client.state(), State::Closed);
    });
    Setup::automatic().run(|harness| {
        harness.at(0).at(300).discard().at(3299).events(&[]);
        harness.at(3300).events(&["failed TimedOut", "closed"]).sent(&[]);
    });
}

#[test]
fn connection_that_ends_while_connecting_has_failed() {
    for connect in [Connect::Automatic, Connect::Stateless, Connect::Handshake] {
        Setup::new(connect).run(|harness| {
            harness.at(0).discard().eof().events(&["failed Closed", "closed"]).sent(&[]);
        });
        Setup::new(connect).run(|harness| {
            harness.broken().events(&["failed Closed", "closed"]).sent(&[]);
        });
    }
    // A response that the end of the input truncates is no reason to fall back.
    Setup::automatic().lines_only().run(|harness| {
        harness.at(0).discard();
        let half = harness.message(r#"{"id":@discover,"result":{"#);
        harness.bytes(half.as_bytes()).eof();
        harness.events(&["fault Truncated", "failed Closed", "closed"]).sent(&[]);
    });
    // The client still processes the bytes that precede the end of the input.
    Setup::automatic().run(|harness| {
        harness.at(0).discard();
        let answer = harness.message(&discover(r#"["2026-07-28"]"#));
        harness.raw(answer.as_bytes()).eof().events(&["connected 2026-07-28", "closed"]);
    });
}

#[test]
fn request_before_connecting_is_not_connected() {
    Setup::automatic().run(|harness| {
        assert_eq!(harness.call("x", Options::DEFAULT), Err(SendError::NotConnected));
        harness.at(0).discard();
        assert_eq!(harness.call("x", Options::DEFAULT), Err(SendError::NotConnected));
        assert_eq!(harness.client.list_tools(Options::DEFAULT), Err(SendError::NotConnected));
        assert_eq!(harness.client.ping(Options::DEFAULT), Err(SendError::NotConnected));
        assert_eq!(harness.client.request("x", Options::DEFAULT, |_| {}), Err(SendError::NotConnected));
        assert_eq!((harness.client.revision(), harness.client.capabilities()), (None, None));
        harness.at(300).discard();
        assert_eq!(harness.call("x", Options::DEFAULT), Err(SendError::NotConnected));
    });
}

#[test]
fn undeclared_server_feature_is_unsupported() {
    Setup::automatic().run(|harness| {
        harness.at(0).server_sends(&discover(r#"["2026-07-28"]"#)).discard();
        assert_eq!(harness.call("x", Options::DEFAULT), Err(SendError::Unsupported));
        assert_eq!(harness.client.list_tools(Options::DEFAULT), Err(SendError::Unsupported));
        harness.sent(&[]);
    });
}

#[test]
fn first_message_has_exactly_these_bytes() {
    let probe =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{"_meta":{META}}}}}}}"#);
    Setup::automatic().run(|harness| {
        harness.pump();
        assert_eq!(harness.take_sent_lines(), [probe.as_str()]);
    });
    // Only some revisions have a title.
    for (revision, title) in [(Revision::V2025_06_18, r#","title":"T""#), (Revision::V2025_03_26, "")] {
        let info = Setup::handshake().info.title("T").revisions(Revisions::only(revision));
        Setup { info, ..Setup::handshake() }.run(|harness| {
            harness.pump();
            let expected = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"{title}}}}}}}"#
            );
            assert_eq!(harness.take_sent_lines(), [expected]);
        });
    }
}

#[test]
fn client_without_a_revision_is_a_config_error() {
    let none = ClientConfig::new("c", "1").revisions(Revisions::NONE);
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    assert_eq!(Client::new(&none, &mut rx, &mut tx).err(), Some(ConfigError::NoRevision));
    let mismatches = [(Connect::Handshake, Revisions::STATELESS), (Connect::Stateless, Revisions::HANDSHAKE)];
    for (connect, revisions) in mismatches {
        let setup = Setup::new(connect);
        let info = setup.info.revisions(revisions);
        Setup { info, ..setup }.run(|harness| {
            harness.at(0).events(&["failed NoRevision", "closed"]).sent(&[]);
        });
    }
    // A client with only handshake revisions sends no probe, whether `connect` is called before or after `revisions`.
    let oldest = Revisions::only(Revision::V2024_11_05);
    let handshake = Setup::new(Connect::Stateless).info.revisions(oldest).connect(Connect::Handshake);
    for info in [Setup::automatic().info.revisions(oldest), handshake] {
        Setup { info, ..Setup::automatic() }.run(|harness| {
            harness.at(0).sent(&[&initialize("2024-11-05")]);
            harness.server_sends(&accept("2024-11-05")).events(&["connected 2024-11-05"]);
            harness.sent(&[INITIALIZED]);
        });
    }
}

/// The smallest transmit buffer holds either the probe or `initialize`. If the server does not read, `initialize` waits
/// until the client has sent the probe.
#[test]
fn initialize_waits_for_output_space() {
    let info = ClientConfig::new("c", "1").timeouts(TIMES);
    let mut slots: [Slot; 0] = [];
    let Err(ConfigError::TxTooSmall { needed }) =
        Client::new(&info, &mut [0; 512], &mut []).map(|client| client.in_flight(&mut slots, &mut []))
    else {
        panic!()
    };
    // In message mode, each message needs 13 more bytes.
    Setup { tx: needed + 13, ..Setup::automatic() }.run(|harness: &mut ClientHarness| {
        harness.peer_reads(false);
        harness.at(0).at(300).events(&[]);
        assert_eq!(harness.deadline, Some(3300));
        // The client ignores a response to an unsent request, even with the right id.
        harness.server_sends(&accept("2025-11-25").replace("@initialize", "6")).events(&[]);
        assert_eq!(harness.client.revision(), None);
        harness.peer_reads(true);
        harness.at(1000).sent(&[PROBE, &initialize("2025-11-25")]);
        harness.server_sends(&error("discover", -32601, "")).events(&[]);
        assert_eq!(harness.message("@initialize"), "6", "the guessed id");
        harness.server_sends(&accept("2025-11-25")).events(&["connected 2025-11-25"]).sent(&[INITIALIZED]);
    });
}
