//! The stateless era: discovery, checks of `_meta`, logs, both eras together.

use crate::support::server::Setup;
use crate::support::server::tools::{BARE, CONFIG};
use mcp_proto::server::{Feature, ServerConfig, Tools};
use mcp_proto::{Millis, Revision, Revisions};

/// Returns a stateless request with further members of `_meta` and params.
fn call(id: &str, method: &str, meta: &str, params: &str) -> String {
    format!(
        r#"> call {id} {method} {{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}{meta}}}{params}}}
"#
    )
}

fn tool(id: &str, name: &str) -> String {
    call(id, "tools/call", "", &format!(r#","name":"{name}""#))
}

/// The first members of every result.
const HEAD: &str =
    r#""resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}"#;

fn stateless() -> Setup {
    Setup::new(CONFIG.revisions(Revisions::STATELESS))
}

#[test]
fn discover_describes_the_server() {
    let ask = call("1", "server/discover", "", "");
    let capabilities = r#""capabilities":{"tools":{"listChanged":true},"logging":{}}"#;
    let cases = [
        (CONFIG.revisions(Revisions::STATELESS), r#"["2026-07-28"]"#),
        (CONFIG, r#"["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]"#),
        // The result of `server/discover` has the server info even if other results omit the server info.
        (CONFIG.anonymous_results().revisions(Revisions::STATELESS), r#"["2026-07-28"]"#),
    ];
    for (info, versions) in cases {
        let result = format!(
            r#"{{{HEAD},"ttlMs":0,"cacheScope":"private","supportedVersions":{versions},{capabilities}}}"#
        );
        Setup::new(info).check(&format!("{ask}< result 1 {result}\n* state Waiting"));
    }
    let info = CONFIG.instructions("I").title("T").cache(Millis(5000), true);
    Setup::new(info).check(&format!(
        "{ask}< result 1 {{\"resultType\":\"complete\",\"_meta\":{{…\"title\":\"T\"}}}},\"ttlMs\":5000,\
         \"cacheScope\":\"public\",…\"instructions\":\"I\"}}"
    ));
}

#[test]
fn stateless_results_have_type_and_server_info() {
    let object = tool("1", "object");
    let list = tool("2", "list");
    let fail = tool("3", "fail");
    let invalid = tool("4", "invalid");
    for (info, head) in [(CONFIG, HEAD), (CONFIG.anonymous_results(), r#""resultType":"complete""#)] {
        Setup::new(info).check(&format!(
            r#"{object}! call object {{}}
               < result 1 {{{head},"structuredContent":{{"a":"1\""}},"content":[{{"type":"text","text":"{{\"a\":\"1\\\"\"}}"}}]}}
               {list}! call list {{}}
               < result 2 {{{head},"structuredContent":[1,2],"content":[{{"type":"text","text":"[1,2]"}}]}}
               {fail}! call fail {{}}
               < result 3 {{{head},"content":[{{"type":"text","text":"it went wrong"}}],"isError":true}}
               {invalid}! call invalid {{}}
               < result 4 {{{head},"content":[{{"type":"text","text":"Invalid arguments: `n` must be a number"}}],"isError":true}}"#
        ));
    }
}

static NO_TOOLS: Tools<'static> = Tools::new(&[]);
static NO_TOOLS_FEATURES: [&dyn Feature; 1] = [&NO_TOOLS];
static BY_HOST: Tools<'static> = Tools::dynamic_list();
static BY_HOST_FEATURES: [&dyn Feature; 1] = [&BY_HOST];

#[test]
fn list_results_have_a_time_to_live() {
    let ask = call("1", "tools/list", "", "");
    let info = ServerConfig::new("s", "1").cache(Millis(7), false);
    let tools = r#"[{"name":"one",…}]"#;
    for (features, events, tools) in
        [(&NO_TOOLS_FEATURES, "", "[]"), (&BY_HOST_FEATURES, "! list tools\n", tools)]
    {
        Setup::new(info.features(features)).check(&format!(
            "{ask}{events}< result 1 {{{HEAD},\"ttlMs\":7,\"cacheScope\":\"private\",\"tools\":{tools}}}"
        ));
    }
    // The handshake era has none of these members.
    Setup::new(info.features(&NO_TOOLS_FEATURES))
        .session(Revision::V2025_11_25)
        .check("> call 1 tools/list\n< result 1 {\"tools\":[]}");
}

#[test]
fn stateless_request_is_checked_in_the_specified_order() {
    let version = r#""io.modelcontextprotocol/protocolVersion":"#;
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities":"#;
    let level = r#""io.modelcontextprotocol/logLevel":"#;
    let unsupported = |asked: &str| {
        format!(
            r#"-32022 Unsupported protocol version data {{"supported":["2026-07-28"],"requested":"{asked}"}}"#
        )
    };
    let now = format!(r#"{version}"2026-07-28",{capabilities}{{}}"#);
    let invalid = "-32602 Invalid params: …";
    let cases: &[(&str, String, String, &str)] = &[
        // First check: the keys of `_meta`.
        ("no/such", String::new(), invalid.into(), "InvalidParams"),
        ("no/such", format!("{capabilities}{{}}"), invalid.into(), "InvalidParams"),
        ("no/such", format!(r#"{version}"1900-01-01""#), invalid.into(), "InvalidParams"),
        ("no/such", format!("{version}7,{capabilities}{{}}"), invalid.into(), "InvalidParams"),
        ("no/such", format!(r#"{version}"2026-07-28",{capabilities}[]"#), invalid.into(), "InvalidParams"),
        // Second check: the version, also for `server/discover`.
        (
            "no/such",
            format!(r#"{version}"1900-01-01",{capabilities}{{}}"#),
            unsupported("1900-01-01"),
            "UnsupportedRevision",
        ),
        (
            "server/discover",
            format!(r#"{version}"2025-11-25",{capabilities}{{}}"#),
            unsupported("2025-11-25"),
            "UnsupportedRevision",
        ),
        (
            "tools/list",
            format!(r#"{version}"a b",{capabilities}{{}},{level}"x""#),
            unsupported("?"),
            "UnsupportedRevision",
        ),
        // Third check: the method.
        (
            "no/such",
            format!(r#"{now},{level}"x""#),
            "-32601 Method not found: no/such".into(),
            "UnknownMethod",
        ),
        ("initialize", now.clone(), "-32601 Method not found: initialize".into(), "UnknownMethod"),
        ("ping", now.clone(), "-32601 Method not found: ping".into(), "UnknownMethod"),
        ("logging/setLevel", now.clone(), "-32601 …".into(), "UnknownMethod"),
        ("prompts/list", now.clone(), "-32601 …".into(), "UnknownMethod"),
        // Fourth check: the params.
        ("tools/list", format!(r#"{now},{level}"x""#), invalid.into(), "InvalidParams"),
        ("tools/list", format!("{now},{level}7"), invalid.into(), "InvalidParams"),
        ("server/discover", format!(r#"{now},{level}"x""#), invalid.into(), "InvalidParams"),
        ("tools/call", now.clone(), invalid.into(), "InvalidParams"),
    ];
    for setup in [stateless(), Setup::new(CONFIG)] {
        for (method, meta, error, fault) in cases {
            setup.check(&format!(
                "> call 1 {method} {{\"_meta\":{{{meta}}}}}\n< error 1 {error}\n! fault {fault}\n* state Waiting"
            ));
        }
        for params in ["", "{}", r#"{"_meta":7}"#, r#"{"_meta":null}"#] {
            setup.check(&format!("> call 1 tools/list {params}\n< error 1 {invalid}\n! fault InvalidParams"));
        }
    }
    let bare = Setup::new(BARE);
    bare.check(&format!("{}< error 1 -32601 …\n! fault UnknownMethod", call("1", "tools/list", "", "")));
}

#[test]
fn stateless_logs_go_to_requests_that_asked() {
    let ask = |level: &str| {
        let level = format!(r#","io.modelcontextprotocol/logLevel":{level}"#);
        call("1", "tools/call", &level, r#","name":"log""#)
    };
    let cases = [("null", 0), (r#""emergency""#, 1), (r#""warning""#, 2), (r#""debug""#, 3)];
    for (level, kept) in cases {
        let lines: String = ["debug", "warning", "emergency"][3 - kept..]
            .iter()
            .map(|level| {
                format!(r#"< note notifications/message {{"level":"{level}","logger":"l","data":"{level}"}}"#)
                    + "\n"
            })
            .collect();
        let refused = "! not now NotWanted\n".repeat(3 - kept);
        stateless().check(&format!("{}! call log {{}}\n{refused}{lines}< result 1 …", ask(level)));
    }
    // The log level of a session does not affect stateless requests.
    Setup::new(CONFIG).session(Revision::V2025_11_25).check(&format!(
        "> call 9 logging/setLevel {{\"level\":\"debug\"}}\n< result 9\n\
         {}! call log {{}}\n! not now NotWanted\n! not now NotWanted\n! not now NotWanted\n< result 2 …",
        tool("2", "log")
    ));
}

#[test]
fn stateless_request_shows_only_its_own_meta() {
    Setup::new(CONFIG).session(Revision::V2025_06_18).check(
        r#"> call 1 tools/call {"name":"who","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}}
           ! call who {}
           < result 1 …"text":"2026-07-28 ClientCapabilities(2) {…}"…
           > call 2 tools/call {"name":"who"}
           ! call who {}
           < result 2 …"text":"2025-06-18 ClientCapabilities(0) {}"…"#,
    );
}

#[test]
fn one_connection_serves_both_eras() {
    let (deferred, again) = (tool("\"new\"", "defer"), tool("\"old\"", "echo"));
    Setup::new(CONFIG).session(Revision::V2025_06_18).check(&format!(
        r#"> call "old" tools/call {{"name":"defer"}}
           ! call defer {{}}
           {deferred}! call defer {{}}
           * deferred 2
           {again}< error "old" -32600 …
           ! fault DuplicateId
           * answer 1 new
           < result "new" {{{HEAD},"content":[{{"type":"text","text":"new"}}]}}
           * answer 0 old
           < result "old" {{"content":[{{"type":"text","text":"old"}}]}}
           * deferred 0
           {}! call echo {{}}
           < result 7 {{{HEAD},"content":…}}
           > call 8 tools/call {{"name":"echo"}}
           ! call echo {{}}
           < result 8 {{"content":…}}"#,
        tool("7", "echo"),
    ));
    // A cancellation finds requests of both eras.
    Setup::new(CONFIG).check(&format!(
        "{}! call defer {{}}\n> note notifications/cancelled {{\"requestId\":1,\"reason\":\"w\\u0068y\"}}\n\
         ! cancelled 0 why\n* deferred 0\n* answer 0 x\n! not now Gone\n* state Waiting",
        tool("1", "defer")
    ));
}
