//! The handshake era: connecting, early requests, and differences between revisions.

use crate::support::server::tools::{BARE, CONFIG, LISTED};
use crate::support::server::{Setup, hello};
use mcp_proto::server::{Feature, ServerConfig, Tool, Tools};
use mcp_proto::{Icon, Revision, Revisions, Theme};

const HANDSHAKE: [Revision; 4] =
    [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

#[test]
fn handshake_works_in_every_revision() {
    let info = CONFIG.title("T").description("D").website("https://w").instructions("I");
    for revision in HANDSHAKE {
        let details = match revision {
            Revision::V2025_06_18 => r#","title":"T""#,
            Revision::V2025_11_25 => r#","title":"T","description":"D","websiteUrl":"https://w""#,
            _ => "",
        };
        Setup::new(info).check(&format!(
            r#"* state Waiting
               > call 1 initialize {}
               ! connected {revision} c {{}}
               < result 1 {{"protocolVersion":"{revision}","capabilities":{{"tools":{{"listChanged":true}},"logging":{{}}}},"serverInfo":{{"name":"s","version":"1"{details}}},"instructions":"I"}}
               * state Negotiated
               > note notifications/initialized
               ! ready
               * state Ready
               > call "2" ping
               < result "2"
               * eof
               ! closed
               * state Closed"#,
            hello(revision.as_str()),
        ));
    }
}

#[test]
fn connected_event_shows_client_name_and_capabilities() {
    let params = r#"{"clientInfo":{"version":"1","name":"caf\u00e9","x":[1]},"capabilities":{"roots":{},"x":1},"protocolVersion":"2025-11-25","_meta":{}}"#;
    Setup::new(BARE).check(&format!(
        "> call 1 initialize {params}\n< result 1 …\n! connected 2025-11-25 caf\u{e9} {{\"roots\":{{}},\"x\":1}}"
    ));
}

#[test]
fn ping_is_answered_in_every_state() {
    Setup::new(CONFIG).check(&format!(
        "> call 1 ping\n< result 1\n> call 2 ping {{}}\n< result 2\n\
         > call 3 initialize {}\n< result 3 …\n! connected 2025-11-25 c {{}}\n\
         > call 4 ping\n< result 4\n* state Negotiated\n\
         > call 5 tools/call {{\"name\":\"echo\"}}\n! call echo {{}}\n< result 5 …\n\
         > call 6 ping {{\"_meta\":{{\"progressToken\":1}}}}\n< result 6\n* state Serving\n\
         > note notifications/initialized\n! ready\n> call 7 ping\n< result 7",
        hello("2025-11-25"),
    ));
}

#[test]
fn early_requests_are_served_unless_strict() {
    let hello = hello("2025-11-25");
    let open = format!("> call 0 initialize {hello}\n< result 0 …\n! connected 2025-11-25 c {{}}\n");
    let early = "> call 1 tools/call {\"name\":\"echo\"}\n";
    Setup::new(CONFIG).check(&format!(
        "{open}{early}! call echo {{}}\n< result 1 …\n* state Serving\n{early}! call echo {{}}\n< result 1 …\n\
         > call 2 initialize {hello}\n< error 2 -32600 …\n! fault AlreadyInitialized\n* state Serving\n\
         > note notifications/initialized\n! ready\n* state Ready\n\
         > note notifications/initialized\n! fault UnknownNotification\n* state Ready"
    ));
    Setup::new(CONFIG.strict_handshake()).check(&format!(
        "{open}{early}< error 1 -32600 …\n! fault NotInitialized\n* state Negotiated\n\
         > call 2 ping\n< result 2\n\
         > call 3 logging/setLevel {{\"level\":\"error\"}}\n< result 3\n* state Negotiated\n\
         > note notifications/initialized\n! ready\n{early}! call echo {{}}\n< result 1 …\n"
    ));
}

#[test]
fn initialize_may_be_repeated_after_a_refused_method() {
    let hello = hello("2025-11-25");
    let again = hello.replace("2025-11-25", "2025-06-18");
    for method in ["tools/list", "no/such"] {
        Setup::new(BARE).check(&format!(
            "> call 0 initialize {hello}\n< result 0 …\n! connected 2025-11-25 c {{}}\n\
             > call 1 {method}\n< error 1 -32601 …\n! fault UnknownMethod\n* state Negotiated\n\
             > call 2 initialize {again}\n< result 2 …\n! connected 2025-06-18 c {{}}\n"
        ));
    }
}

#[test]
fn method_of_a_missing_feature_is_not_found() {
    let methods = [
        "tools/list",
        "tools/call",
        "logging/setLevel",
        "resources/list",
        "prompts/get",
        "completion/complete",
    ];
    for method in methods {
        for revision in HANDSHAKE {
            Setup::new(BARE).session(revision).check(&format!(
                "> call 1 {method} {{\"name\":\"echo\",\"level\":\"error\"}}\n< error 1 -32601 Method not found: {method}\n\
                 ! fault UnknownMethod"
            ));
        }
    }
    Setup::new(BARE).session(Revision::V2025_11_25).check("* log error x\n! not now Unsupported\n* changed");
}

#[test]
fn log_messages_follow_the_level_of_the_client() {
    let debug = "< note notifications/message {\"level\":\"debug\",\"logger\":\"l\",\"data\":\"debug\"}\n";
    let warning = debug.replace("debug", "warning");
    let emergency = debug.replace("debug", "emergency");
    let call = "> call 1 tools/call {\"name\":\"log\"}\n! call log {}\n";
    let done = "< result 1 …\n";
    for revision in HANDSHAKE {
        let setup = Setup::new(CONFIG).session(revision);
        setup.check(&format!("{call}{debug}{warning}{emergency}{done}"));
        for (level, kept) in
            [("debug", 3), ("info", 2), ("warning", 2), ("error", 1), ("alert", 1), ("emergency", 1)]
        {
            let lines = [debug, &warning, &emergency][3 - kept..].concat();
            let refused = "! not now NotWanted\n".repeat(3 - kept);
            setup.check(&format!(
                "> call 9 logging/setLevel {{\"level\":\"{level}\"}}\n< result 9\n{call}{refused}{lines}{done}"
            ));
        }
    }
    Setup::new(CONFIG).check("* log error x\n! not now NotConnected");
    Setup::new(CONFIG).session(Revision::V2025_11_25).check(
        r#"* log debug a "quoted" word
           < note notifications/message {"level":"debug","data":"a \"quoted\" word"}
           > call 1 logging/setLevel {"level":"error"}
           < result 1
           * log warning x
           ! not now NotWanted
           * log error y
           < note notifications/message {"level":"error","data":"y"}
           * eof
           ! closed
           * log error z
           ! not now NotConnected"#,
    );
}

#[test]
fn result_has_the_members_of_its_revision() {
    for revision in HANDSHAKE {
        let knows_structure = revision >= Revision::V2025_06_18;
        let object = if knows_structure { r#""structuredContent":{"a":"1\""},"# } else { "" };
        let no_type = "{\"content\":";
        Setup::new(CONFIG).session(revision).check(&format!(
            r#"> call 1 tools/call {{"name":"object"}}
               ! call object {{}}
               < result 1 {{{object}"content":[{{"type":"text","text":"{{\"a\":\"1\\\"\"}}"}}]}}
               > call 2 tools/call {{"name":"list"}}
               ! call list {{}}
               < result 2 {{"content":[{{"type":"text","text":"[1,2]"}}]}}
               > call 3 tools/call {{"name":"pieces"}}
               ! call pieces {{}}
               < result 3 {no_type}[{{"type":"text","text":"1"}},{{"type":"text","text":"two"}}],"isError":true}}
               > call 4 tools/call {{"name":"fail"}}
               ! call fail {{}}
               < result 4 {no_type}[{{"type":"text","text":"it went wrong"}}],"isError":true}}
               > call 5 tools/call {{"name":"error"}}
               ! call error {{}}
               < error 5 7 no data 1
               > call 6 tools/call {{"name":"unknown"}}
               ! call unknown {{}}
               < error 6 -32602 Unknown tool: unknown"#,
        ));
    }
}

static ICONS: [Icon<'static>; 1] =
    [Icon::new("data:,i").mime_type("image/png").sizes(&["48x48", "any"]).theme(Theme::Dark)];
static FULL: Tools<'static> = Tools::new(&[Tool::new("t", " {\"type\":\n\"object\", \"x\": 1.50} ")
    .title("T")
    .description("D \"q\"")
    .icons(&ICONS)
    .meta("{\"a\":\n1}")
    .output_schema("{\"type\":\"object\"}")
    .read_only(true)
    .destructive(false)
    .idempotent(true)
    .open_world(false)]);
static FULL_FEATURES: [&dyn Feature; 1] = [&FULL];

#[test]
fn tool_is_listed_with_the_members_of_its_revision() {
    for revision in HANDSHAKE {
        let named = revision >= Revision::V2025_06_18;
        let title = if named { r#""title":"T","# } else { "" };
        let icons = if revision >= Revision::V2025_11_25 {
            r#","icons":[{"src":"data:,i","mimeType":"image/png","sizes":["48x48","any"],"theme":"dark"}]"#
        } else {
            ""
        };
        let meta = if named { r#","_meta":{"a": 1}"# } else { "" };
        let output = if named { r#","outputSchema":{"type":"object"}"# } else { "" };
        // In one revision, the title of a tool can only be an annotation.
        let hints = match revision {
            Revision::V2024_11_05 => "".into(),
            _ => format!(
                r#","annotations":{{{}"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}"#,
                if named { "" } else { r#""title":"T","# }
            ),
        };
        let info = ServerConfig::new("s", "1").features(&FULL_FEATURES).icons(&ICONS);
        Setup::new(info).session(revision).check(&format!(
            r#"> call 1 tools/list
               < result 1 {{"tools":[{{"name":"t",{title}"description":"D \"q\""{icons}{meta},"inputSchema":{{"type": "object", "x": 1.50}}{output}{hints}}}]}}"#
        ));
        let hello = hello(revision.as_str());
        Setup::new(info).check(&format!(
            r#"> call 1 initialize {hello}
               < result 1 {{…"serverInfo":{{"name":"s","version":"1"{icons}}}}}
               ! connected {revision} c {{}}"#
        ));
    }
}

static BY_HOST: Tools<'static> = Tools::dynamic_list();
static BY_HOST_FEATURES: [&dyn Feature; 1] = [&BY_HOST];

#[test]
fn dynamic_tools_are_listed_and_called_by_any_name() {
    assert_eq!(LISTED.map(|tool| tool.name()), ["one", "two", "three"]);
    let info = ServerConfig::new("s", "1").features(&BY_HOST_FEATURES);
    Setup::new(info).session(Revision::V2025_11_25).check(
        r#"> call 1 tools/list
           ! list tools
           < result 1 {"tools":[{"name":"one","inputSchema":{"type":"object"}},{"name":"two","inputSchema":{"type":"object"}},{"name":"three","inputSchema":{"type":"object"}}]}
           > call 2 tools/list {"cursor":"p2"}
           ! list tools
           < result 2 {"tools":[{"name":"three","inputSchema":{"type":"object"}}]}
           > call 3 tools/list {"cursor":"p3"}
           ! list tools
           < error 3 -32602 Invalid params: unknown cursor
           ! fault BadCursor
           > call 4 tools/call {"name":"echo"}
           ! call echo {}
           < result 4 …"#,
    );
}

/// Returns the `_meta` of 2026-07-28 with this revision.
fn stateless_meta(revision: &str) -> String {
    format!(
        r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"{revision}","io.modelcontextprotocol/clientCapabilities":{{}},"io.modelcontextprotocol/logLevel":"debug"}}"#
    )
}

#[test]
fn handshake_server_refuses_stateless_requests_without_session() {
    let first = |method| format!("-32600 Invalid request: send `initialize` first: {method}");
    for revision in ["2026-07-28", "2099-01-01"] {
        let meta = stateless_meta(revision);
        // A client that probes for the stateless era falls back to the handshake after any of these errors.
        for (method, error, fault) in [
            ("server/discover", "-32601 Method not found: server/discover".to_owned(), "UnknownMethod"),
            ("tools/list", first("tools/list"), "NotInitialized"),
            ("tools/call", first("tools/call"), "NotInitialized"),
            ("subscriptions/listen", first("subscriptions/listen"), "NotInitialized"),
            ("shutdown", first("shutdown"), "NotInitialized"),
        ] {
            Setup::new(CONFIG.revisions(Revisions::HANDSHAKE)).check(&format!(
                "> call 1 {method} {{\"name\":\"echo\",{meta}}}\n< error 1 {error}\n! fault {fault}\n* state Waiting"
            ));
        }
        Setup::new(CONFIG.revisions(Revisions::HANDSHAKE)).check(&format!(
            "> call 1 ping {{{meta}}}\n< result 1\n\
             > note exit {{{meta}}}\n! fault UnknownNotification\n\
             > call 2 initialize {}\n< result 2 …\n! connected 2025-11-25 c {{}}",
            hello("2025-11-25").replacen('{', &format!("{{{meta},"), 1)
        ));
    }
}

#[test]
fn handshake_server_handles_stateless_requests_in_its_session() {
    for revision in ["2026-07-28", "2099-01-01"] {
        let meta = stateless_meta(revision);
        for (message, expected) in [
            ("call 1 tools/list", r#"< result 1 {"tools":[…"#),
            ("call 1 tools/call", "! call echo {}\n< result 1 {\"content\":[…"),
            ("call 1 server/discover", "< error 1 -32601 …\n! fault UnknownMethod"),
            ("call 1 subscriptions/listen", "< error 1 -32601 …\n! fault UnknownMethod"),
            ("call 1 logging/setLevel", "< error 1 -32602 …\n! fault InvalidParams"),
            ("call 1 shutdown", "< result 1\n* state Draining"),
            ("note exit", "! closed\n* state Closed"),
        ] {
            Setup::new(CONFIG.revisions(Revisions::HANDSHAKE))
                .session(Revision::V2025_11_25)
                .check(&format!("> {message} {{\"name\":\"echo\",{meta}}}\n{expected}"));
        }
    }
}
