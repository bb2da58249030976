//! Connecting: the probe, fallback to `initialize`, and the handshake.
use crate::support::ShownOnFailure;
use crate::support::client::{META, Setup, TIMES, Wire};
use mcp_proto::client::Options;
use mcp_proto::client::{ClientConfig, Connect, Slot};
use mcp_proto::{Client, ConfigError, Revision, Revisions, SendError, State};

const PROBE: &str = r#"{"id":@,"method":"server/discover","params":{"_meta":{..}}}"#;
const INITIALIZED: &str = r#"{"method":"notifications/initialized"}"#;

fn initialize(revision: &str) -> String {
    format!(
        r#"{{"id":@,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}

/// The response to `initialize`.
fn accept(revision: &str) -> String {
    format!(
        r#"{{"id":@initialize,"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    )
}

fn discover(versions: &str) -> String {
    format!(r#"{{"id":@discover,"result":{{"supportedVersions":{versions},"capabilities":{{}}}}}}"#)
}

fn error(name: &str, code: i32, data: &str) -> String {
    format!(r#"{{"id":@{name},"error":{{"code":{code},"message":"no"{data}}}}}"#)
}

/// The state of a client after the response to its probe.
enum Then<'t> {
    Connected,
    /// It sends `initialize` with this revision.
    FallsBack(&'t str),
    Fails(&'t str),
}

fn after_the_probe(setup: Setup, answer: &str, then: &Then<'_>) {
    let _shown = ShownOnFailure(answer.to_owned());
    setup.run(|wire| {
        wire.at(0).sent(&[PROBE]);
        assert_eq!(wire.client.state(), State::Probing);
        wire.server(answer);
        match then {
            Then::Connected => {
                wire.heard(&["connected 2026-07-28"]).sent(&[]);
                assert_eq!(wire.client.state(), State::Stateless);
            }
            Then::FallsBack(revision) => {
                wire.heard(&[]).sent(&[&initialize(revision)]);
                assert_eq!(wire.client.state(), State::Initializing);
                wire.server(&accept(revision))
                    .heard(&[&format!("connected {revision}")])
                    .sent(&[INITIALIZED]);
            }
            Then::Fails(why) => {
                wire.heard(&[&format!("failed {why}"), "closed"]).sent(&[]);
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
        // A stateless server: no fallback, unless its error names older revisions.
        (error("discover", -32022, ""), Fails("Refused no (-32022)")),
        (error("discover", -32022, r#","data":{"supported":[]}"#), Fails("Refused no (-32022)")),
        (error("discover", -32022, r#","data":{"supported":["2026-07-28"]}"#), Fails("Refused no (-32022)")),
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
        // Drafts used these codes for -32020 to -32022.
        (error("discover", -32001, ""), FallsBack("2025-11-25")),
        (error("discover", -32003, ""), FallsBack("2025-11-25")),
        (error("discover", -32002, ""), FallsBack("2025-11-25")),
        (error("discover", -32004, ""), FallsBack("2025-11-25")),
        (error("discover", 0, ""), FallsBack("2025-11-25")),
        (r#"{"id":@discover,"error":{}}"#.into(), FallsBack("2025-11-25")),
        (r#"{"id":@discover,"error":{"code":"-32022"}}"#.into(), FallsBack("2025-11-25")),
        (r#"{"id":@discover,"error":{"code":-4294999318,"message":"no"}}"#.into(), FallsBack("2025-11-25")),
        // Some servers answer without an id. Only one request can be meant.
        (r#"{"id":null,"error":{"code":-32700,"message":"no"}}"#.into(), FallsBack("2025-11-25")),
        (r#"{"error":{"code":-32600,"message":"no"}}"#.into(), FallsBack("2025-11-25")),
    ];
    for (answer, then) in cases {
        after_the_probe(Setup::automatic(), &answer, &then);
    }
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
        setup.run(|wire| {
            // Without a fallback, the timeout is that of a handshake.
            wire.at(0).sent(&[PROBE]).at(2999).heard(&[]);
            wire.at(3000).heard(&["failed TimedOut", "closed"]);
        });
    }
}

#[test]
fn unanswered_probe_selects_the_handshake_era() {
    Setup::automatic().run(|wire| {
        wire.at(50).sent(&[PROBE]);
        assert_eq!(wire.deadline, Some(350));
        wire.at(349).sent(&[]).at(350).sent(&[&initialize("2025-11-25")]);
        assert_eq!(wire.deadline, Some(3350));
        // The late response is ignored.
        wire.server(&error("discover", -32601, "")).server(&discover(r#"["2026-07-28"]"#)).heard(&[]);
        wire.server(&accept("2025-11-25")).heard(&["connected 2025-11-25"]).sent(&[INITIALIZED]);
        wire.server(&discover(r#"["2026-07-28"]"#)).heard(&[]);
    });
}

#[test]
fn late_probe_response_restarts_the_probe() {
    // The server read the probe late and therefore refuses the handshake.
    let refusal = r#"{"id":@initialize,"error":{"code":-32022,"message":"not accepted"}}"#;
    Setup::automatic().run(|wire| {
        wire.at(0).sent(&[PROBE]).at(300).sent(&[&initialize("2025-11-25")]);
        wire.server(&discover(r#"["2026-07-28"]"#)).heard(&[]).sent(&[]);
        wire.server(refusal).heard(&[]).sent(&[PROBE]);
        wire.server(&discover(r#"["2026-07-28"]"#)).heard(&["connected 2026-07-28"]).sent(&[]);
    });
    // The probe is repeated only once.
    Setup::automatic().run(|wire| {
        wire.at(0).at(300).forget();
        wire.server(refusal).sent(&[PROBE]).at(600).sent(&[&initialize("2025-11-25")]);
        wire.server(refusal).heard(&["failed Refused not accepted (-32022)", "closed"]).sent(&[]);
    });
    // A client that sent no probe does not repeat it.
    Setup::handshake().run(|wire| {
        wire.at(0).forget();
        wire.server(refusal).heard(&["failed Refused not accepted (-32022)", "closed"]).sent(&[]);
    });
}

#[test]
fn single_era_client_waits_for_a_slow_server() {
    Setup::new(Connect::Stateless).run(|wire| {
        wire.at(50).sent(&[PROBE]);
        assert_eq!(wire.deadline, Some(3050));
        wire.at(3049).server(&discover(r#"["2026-07-28"]"#)).heard(&["connected 2026-07-28"]);
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
        Setup::new(connect).run(|wire| {
            wire.at(0).forget();
            for (line, heard) in &noise {
                wire.raw(line.as_bytes()).heard(heard).sent(&[]);
            }
            wire.raw(b"\xff\xfe{}").heard(&["fault NotJson"]).sent(&[]);
            wire.server(r#"{"id":"p","method":"ping"}"#).heard(&[]).sent(&[r#"{"id":"p","result":{}}"#]);
            wire.server(r#"{"id":1,"method":"roots/list"}"#).heard(&["fault UnknownMethod"]);
            wire.sent(&[r#"{"id":1,"error":{"code":-32601,"message":"Method not found"}}"#]);
            match connect {
                Connect::Handshake => {
                    wire.server(&accept("2025-11-25")).heard(&["connected 2025-11-25"]).sent(&[INITIALIZED]);
                }
                _ => {
                    wire.server(&discover(r#"["2026-07-28"]"#)).heard(&["connected 2026-07-28"]);
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
        Setup::automatic().run(|wire| {
            wire.at(0).sent(&[PROBE]).at(300).sent(&[&initialize("2025-11-25")]);
            wire.server(late).heard(&["fault ErrorWithoutId"]).sent(&[]);
            wire.server(&accept("2025-11-25")).heard(&["connected 2025-11-25"]).sent(&[INITIALIZED]);
        });
        // Only one such response belongs to the probe.
        Setup::automatic().run(|wire| {
            wire.at(0).at(300).forget();
            wire.server(late).heard(&["fault ErrorWithoutId"]);
            wire.server(late).heard(&["failed Refused no (-32600)", "closed"]);
        });
        // A response with the id was already received.
        Setup::automatic().run(|wire| {
            wire.at(0).at(300).forget();
            wire.server(r#"{"id":@discover,"error":{"code":-32601,"message":"no"}}"#).heard(&[]);
            wire.server(late).heard(&["failed Refused no (-32600)", "closed"]);
        });
    }
}

#[test]
fn byte_order_mark_and_carriage_returns_are_accepted() {
    Setup::handshake().run(|wire| {
        wire.at(0).forget();
        let answer = wire.message(&accept("2025-11-25"));
        wire.raw(format!("\u{feff}{answer}\r").as_bytes()).heard(&["connected 2025-11-25"]).forget();
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
        // An unknown revision is refused, and so is 2026-07-28.
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
        // Longer than the receive buffer.
        (accept("2025-11-25").replace("1\"}", &format!("{long}\"}}")), Fails("InvalidResponse")),
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
        let _shown = ShownOnFailure(answer.clone());
        Setup::handshake().run(|wire| {
            wire.at(0).sent(&[&initialize("2025-11-25")]);
            wire.server(&answer);
            match then {
                FallsBack(revision) => {
                    wire.heard(&[&format!("connected {revision}")]).sent(&[INITIALIZED]);
                    assert_eq!(wire.client.state(), State::Ready);
                    assert_eq!(wire.client.revision().map(Revision::as_str), Some(revision));
                }
                Fails(why) => {
                    wire.heard(&[&format!("failed {why}"), "closed"]).sent(&[]);
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
    Setup::handshake().run(|wire| {
        wire.at(0).forget().at(1000).server(&refusal);
        wire.heard(&[]).sent(&[&initialize("2025-03-26")]);
        assert_eq!(wire.deadline, Some(4000), "it has its own time");
        wire.server(&accept("2025-03-26")).heard(&["connected 2025-03-26"]).sent(&[INITIALIZED]);
    });
    Setup::handshake().run(|wire| {
        wire.at(0).server(&refusal).forget();
        wire.server(&refusal).heard(&["failed Refused no (-32602)", "closed"]).sent(&[]);
    });
}

#[test]
fn initialize_is_never_cancelled() {
    Setup::handshake().run(|wire| {
        wire.at(0).forget().at(2999).heard(&[]).at(3000).heard(&["failed TimedOut", "closed"]).sent(&[]);
        assert_eq!(wire.client.state(), State::Closed);
    });
    Setup::automatic().run(|wire| {
        wire.at(0).at(300).forget().at(3299).heard(&[]);
        wire.at(3300).heard(&["failed TimedOut", "closed"]).sent(&[]);
    });
}

#[test]
fn connection_that_ends_while_connecting_has_failed() {
    for connect in [Connect::Automatic, Connect::Stateless, Connect::Handshake] {
        Setup::new(connect).run(|wire| {
            wire.at(0).forget().eof().heard(&["failed Closed", "closed"]).sent(&[]);
        });
        Setup::new(connect).run(|wire| {
            wire.broken().heard(&["failed Closed", "closed"]).sent(&[]);
        });
    }
    // What came before the end still counts.
    Setup::automatic().run(|wire| {
        wire.at(0).forget();
        let answer = wire.message(&discover(r#"["2026-07-28"]"#));
        wire.raw(answer.as_bytes()).eof().heard(&["connected 2026-07-28", "closed"]);
    });
}

#[test]
fn request_before_connecting_is_not_connected() {
    Setup::automatic().run(|wire| {
        assert_eq!(wire.call("x", Options::DEFAULT), Err(SendError::NotConnected));
        wire.at(0).forget();
        assert_eq!(wire.call("x", Options::DEFAULT), Err(SendError::NotConnected));
        assert_eq!(wire.client.list_tools(Options::DEFAULT), Err(SendError::NotConnected));
        assert_eq!(wire.client.ping(Options::DEFAULT), Err(SendError::NotConnected));
        assert_eq!(wire.client.request("x", Options::DEFAULT, |_| {}), Err(SendError::NotConnected));
        assert_eq!((wire.client.revision(), wire.client.capabilities()), (None, None));
        wire.at(300).forget();
        assert_eq!(wire.call("x", Options::DEFAULT), Err(SendError::NotConnected));
    });
}

#[test]
fn undeclared_server_feature_is_unsupported() {
    Setup::automatic().run(|wire| {
        wire.at(0).server(&discover(r#"["2026-07-28"]"#)).forget();
        assert_eq!(wire.call("x", Options::DEFAULT), Err(SendError::Unsupported));
        assert_eq!(wire.client.list_tools(Options::DEFAULT), Err(SendError::Unsupported));
        wire.sent(&[]);
    });
}

#[test]
fn first_message_is_exactly_this() {
    let probe =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{{"_meta":{META}}}}}}}"#);
    Setup::automatic().run(|wire| {
        wire.pump();
        assert_eq!(wire.sent_lines(), [probe.as_str()]);
    });
    // Only some revisions have a title.
    for (revision, title) in [(Revision::V2025_06_18, r#","title":"T""#), (Revision::V2025_03_26, "")] {
        let info = Setup::handshake().info.title("T").revisions(Revisions::only(revision));
        Setup { info, ..Setup::handshake() }.run(|wire| {
            wire.pump();
            let expected = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"{title}}}}}}}"#
            );
            assert_eq!(wire.sent_lines(), [expected]);
        });
    }
}

#[test]
fn client_without_a_revision_is_a_config_error() {
    let none = ClientConfig::new("c", "1").revisions(Revisions::NONE);
    let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
    assert_eq!(Client::new(&none, &mut rx, &mut tx).err(), Some(ConfigError::NoRevision));
    for (connect, revisions) in
        [(Connect::Handshake, Revisions::STATELESS), (Connect::Stateless, Revisions::HANDSHAKE)]
    {
        let setup = Setup::new(connect);
        let info = setup.info.revisions(revisions);
        Setup { info, ..setup }.run(|wire| {
            wire.at(0).heard(&["failed NoRevision", "closed"]).sent(&[]);
        });
    }
    // A client with handshake revisions only sends no probe.
    let info = Setup::automatic().info.revisions(Revisions::only(Revision::V2024_11_05));
    Setup { info, ..Setup::automatic() }.run(|wire| {
        wire.at(0).sent(&[&initialize("2024-11-05")]);
        wire.server(&accept("2024-11-05")).heard(&["connected 2024-11-05"]).sent(&[INITIALIZED]);
    });
}

#[test]
fn smallest_buffer_connects_and_one_byte_less_is_refused() {
    for connect in [Connect::Automatic, Connect::Handshake] {
        let info = ClientConfig::new("a name of some length", "1.2.3").title("title").connect(connect);
        let fits = |rx: usize, tx: usize| {
            let (mut rx, mut tx) = (vec![0; rx], vec![0; tx]);
            Client::new(&info, &mut rx[..], &mut tx[..]).map(|_| ()).err()
        };
        let Some(ConfigError::TxTooSmall { needed: tx }) = fits(1024, 0) else { panic!() };
        let Some(ConfigError::RxTooSmall { needed: rx }) = fits(0, 1024) else { panic!() };
        assert_eq!(fits(rx, tx), None);
        assert_eq!(fits(rx - 1, tx), Some(ConfigError::RxTooSmall { needed: rx }));
        assert_eq!(fits(rx, tx - 1), Some(ConfigError::TxTooSmall { needed: tx }));
    }
}

/// With the smallest transmit buffer and a server that does not read, `initialize` has no space
/// until the probe is sent.
#[test]
fn initialize_waits_for_output_space() {
    let info = ClientConfig::new("c", "1").timeouts(TIMES);
    let mut slots: [Slot; 0] = [];
    let Err(ConfigError::TxTooSmall { needed }) =
        Client::new(&info, &mut [0; 512], &mut []).map(|client| client.in_flight(&mut slots, &mut []))
    else {
        panic!()
    };
    // Message mode takes some bytes more.
    Setup { tx: needed + 9, ..Setup::automatic() }.run(|wire: &mut Wire| {
        wire.peer_reads(false);
        wire.at(0).at(300).heard(&[]);
        assert_eq!(wire.deadline, Some(3300));
        // A response to an unsent request is ignored, even with the right id.
        wire.server(&accept("2025-11-25").replace("@initialize", "6")).heard(&[]);
        assert_eq!(wire.client.revision(), None);
        wire.peer_reads(true);
        wire.at(1000).sent(&[PROBE, &initialize("2025-11-25")]);
        wire.server(&error("discover", -32601, "")).heard(&[]);
        assert_eq!(wire.message("@initialize"), "6", "as was guessed");
        wire.server(&accept("2025-11-25")).heard(&["connected 2025-11-25"]).sent(&[INITIALIZED]);
    });
}
