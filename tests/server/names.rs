//! The server compares names of tools, methods and parameters after decoding. Earlier calls have no effect.

use crate::support::server::Setup;
use crate::support::server::catalog::UNWATCHED;
use crate::support::server::hello;
use crate::support::server::tools::CONFIG;
use crate::support::transport::serve;
use mcp_proto::server::{Event, Feature, Logging, Prompts, Server, ServerConfig, Tool, Tools};
use mcp_proto::{Revision, Revisions};

/// The backslash in the second name is a character, and not an escape. So the second name differs from the first name.
static NAMES: Tools<'static> =
    Tools::new(&[Tool::new("echo", "{}"), Tool::new(r"ec\u0068o", "{}"), Tool::new("ech", "{}")]);
static FEATURES: [&dyn Feature; 3] = [&NAMES, &UNWATCHED, &Logging];
const NAMED: ServerConfig<'static> = ServerConfig::new("s", "1").features(&FEATURES);

#[test]
fn names_are_compared_decoded_after_any_earlier_call() {
    for revision in Revisions::HANDSHAKE.newest_first() {
        Setup::new(NAMED).session(revision).check(
            r#"> call 1 tools/call {"name":"echo","arguments":{"a":1}}
               ! call echo {"a":1}
               < result 1 …
               > call 2 tools/call {"name":"ec\u0068o"}
               ! call echo {}
               < result 2 …
               > call 3 tools/call {"arguments":{},"name":"\u0065cho"}
               ! call echo {}
               < result 3 …
               > call 4 resources/read {"uri":"lib:b/a"}
               ! read lib:b/a …
               < result 4 …
               > call 5 tools/call {"name":"ec\\u0068o"}
               ! call ec\u0068o {}
               < …
               > call 6 tools/call {"name":"echo"}
               ! call echo {}
               < result 6 …
               > call 7 resources/read {"uri":"lib:\u006cog"}
               ! read lib:log …
               < result 7 …
               > call 8 tools/call {"name":"ec"}
               < error 8 -32602 …
               ! fault UnknownTool"#,
        );
    }
}

#[test]
fn method_with_escapes_is_found_only_in_its_revisions() {
    let stateless = |id: u8, method: &str, params: &str| {
        format!(
            r#"> call {id} {method} {{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}{params}}}"#
        )
    };
    Setup::new(CONFIG).session(Revision::V2025_11_25).check(&format!(
        r#"> call 1 logging/setLevel {{"level":"debug"}}
           < result 1
           {}
           < error 2 -32601 …
           ! fault UnknownMethod
           > call 3 logging/setLevel {{"level":"info"}}
           < result 3
           > call 4 logging\/setLevel {{"level":"info"}}
           < result 4
           > call 5 tools/call {{"name":"echo"}}
           ! call echo {{}}
           < result 5 …
           > call 6 tools/list
           < result 6 …
           {}
           ! call echo {{}}
           < result 7 …
           > call 8 tools/cal
           < error 8 -32601 …
           ! fault UnknownMethod"#,
        stateless(2, "logging/setLevel", r#","level":"debug""#),
        stateless(7, "tools/call", r#","name":"echo""#),
    ));
}

#[test]
fn params_are_found_among_others_and_the_last_duplicate_counts() {
    let others: String = (0..12).map(|number| format!(r#""x{number}":{{"name":"no"}},"#)).collect();
    for others in ["", r#""name":7,"arguments":[],"_meta":1,"#, r#""n\u0061me":"no","#, &others] {
        Setup::new(CONFIG).session(Revision::V2025_11_25).check(&format!(
            r#"> call 1 tools/call {{{others}"name" : "who" , "arguments" : {{"a":1}} ,"_meta":{{"a":2}}}}
               ! call who {{"a":1}}
               < result 1 …{{\"a\":2}}…
               > call 2 tools/call {{{others}"\u006eame":"who","arguments":{{}},"\u005fmeta":{{"a":3}}}}
               ! call who …
               < …"#,
        ));
    }
}

#[test]
fn error_for_an_unknown_name_of_any_length_has_its_code() {
    static TOOLS: Tools = Tools::dynamic_list();
    static PROMPTS: Prompts = Prompts::dynamic_list();
    static FEATURES: [&dyn Feature; 2] = [&TOOLS, &PROMPTS];
    let config = ServerConfig::new("s", "1").features(&FEATURES);
    for (method, length) in
        [("tools/call", 5), ("tools/call", 3000), ("prompts/get", 5), ("prompts/get", 3000)]
    {
        let (mut rx, mut tx, name) = ([0; 4096], [0; 1024], "x".repeat(length));
        let mut server = Server::new(&config, &mut rx, &mut tx).unwrap();
        let hello = hello("2025-11-25");
        let lines = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{hello}}}
{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"{name}"}}}}
"#
        );
        let output = serve(&mut server, lines.as_bytes(), &mut |event| match event {
            Event::Call(call) => call.unknown_tool(),
            Event::GetPrompt(prompt) => prompt.unknown_prompt(),
            Event::ProtocolError(error) => panic!("{error}"),
            _ => {}
        });
        let response = output.lines().last().unwrap();
        assert!(response.contains(r#""code":-32602"#), "{response}");
        assert_eq!(response.contains(&name), length == 5, "{response}");
    }
}
