//! Required input: retried requests of 2026-07-28, and the errors in older revisions.

use crate::support::server::Setup;
use crate::support::server::tools::CONFIG;
use mcp_proto::server::{Experimental, Extensions, Feature, Server, ServerConfig};
use mcp_proto::{ConfigError, Revision, Revisions};

const ALL: &str = r#"{"roots":{},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}"#;

const HEAD: &str = r#""resultType":"input_required","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}"#;

const FORM: &str = r#"{"method":"elicitation/create","params":{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}"#;

fn info() -> ServerConfig<'static> {
    CONFIG.revisions(Revisions::STATELESS)
}

/// Returns a call with further params, and its event.
fn call(id: u32, name: &str, capabilities: &str, arguments: &str, more: &str) -> String {
    let more = if more.is_empty() { String::new() } else { format!(",{more}") };
    format!(
        r#"> call {id} tools/call {{"name":"{name}","arguments":{arguments},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities}}}{more}}}
           ! call {name} {arguments}
"#
    )
}

fn needs(arguments: &str, more: &str) -> String {
    call(1, "needs", ALL, arguments, more)
}

#[test]
fn call_is_answered_with_its_input_requests() {
    let cases = [
        (r#"{"inputs":"a=roots"}"#, r#""inputRequests":{"a":{"method":"roots/list"}}"#.to_string()),
        (r#"{"state":"\"1\n"}"#, r#""requestState":"\"1\n""#.into()),
        (r#"{"state":""}"#, r#""requestState":"""#.into()),
        (
            r#"{"inputs":"a=form b=roots","state":"s"}"#,
            format!(
                r#""inputRequests":{{"a":{FORM},"b":{{"method":"roots/list"}}}},"requestState":"s""#
            ),
        ),
        (
            r#"{"inputs":"p=page"}"#,
            r#""inputRequests":{"p":{"method":"elicitation/create","params":{"mode":"url","message":"Log in","url":"https://example.com/"}}}"#.into(),
        ),
        (
            r#"{"inputs":"m=tools"}"#,
            r#""inputRequests":{"m":{"method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":9,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}}"#.into(),
        ),
    ];
    for (arguments, result) in cases {
        Setup::new(info())
            .check(&format!("{}< result 1 {{{HEAD},{result}}}\n* state Waiting", needs(arguments, "")));
        Setup::new(info().anonymous_results()).check(&format!(
            "{}< result 1 {{\"resultType\":\"input_required\",{result}}}",
            needs(arguments, "")
        ));
    }
}

#[test]
fn retried_call_has_its_input_responses() {
    let text = |text: &str| format!(r#"< result 1 {{"resultType":"complete",…"text":"{text}"…"#) + "\n";
    let setup = Setup::new(info());
    let answers = r#""inputResponses":{"b":{"roots":[]},"a":{"action":"accept"},"c":7}"#;
    let both = r#"a: {\"action\":\"accept\"}, b: {\"roots\":[]}"#;
    setup.check(&(needs("{}", answers) + &text(both)));
    setup.check(
        &(needs("{}", &format!(r#"{answers},"requestState":"x\"y""#)) + &text(&format!("{both} state x…y"))),
    );
    setup.check(&(needs("{}", r#""requestState":"""#) + &text(" state ")));
    // `null` counts as absent.
    let nothing = r#""inputResponses":null,"requestState":null"#;
    setup.check(&format!(
        "{}< result 1 {{{HEAD},\"requestState\":\"s\"}}",
        needs(r#"{"state":"s"}"#, nothing)
    ));
    let malformed = |more: &str| {
        let call = needs("{}", more);
        call.lines().next().unwrap().to_string() + "\n< error 1 -32602 …\n! fault InvalidParams\n"
    };
    for more in
        [r#""inputResponses":[]"#, r#""inputResponses":"a""#, r#""requestState":7"#, r#""requestState":{}"#]
    {
        setup.check(&malformed(more));
    }
    // Older revisions ignore input responses.
    Setup::new(CONFIG).session(Revision::V2025_11_25).check(
        r#"> call 1 tools/call {"name":"echo","inputResponses":7,"requestState":7}
           ! call echo {}
           < result 1 {"content":[{"type":"text","text":"{}"}]}"#,
    );
}

#[test]
fn missing_capability_is_an_error_that_names_it() {
    let lacking = |needed: &str| {
        format!(
            "< error 1 -32021 Missing required client capability data {{\"requiredCapabilities\":{needed}}}\n"
        )
    };
    let cases = [
        ("{}", "a=roots", r#"{"roots":{}}"#),
        ("{}", "a=form b=page c=roots", r#"{"roots":{},"elicitation":{"form":{},"url":{}}}"#),
        (r#"{"elicitation":{}}"#, "a=form b=page", r#"{"elicitation":{"url":{}}}"#),
        (r#"{"sampling":{}}"#, "a=model b=tools", r#"{"sampling":{"tools":{}}}"#),
    ];
    for (declared, inputs, needed) in cases {
        let arguments = format!(r#"{{"inputs":"{inputs}"}}"#);
        Setup::new(info()).check(&(call(1, "needs", declared, &arguments, "") + &lacking(needed)));
    }
    let lacks = r#"{"lacks":1}"#;
    let needed = r#"{"roots":{},"sampling":{"tools":{}}}"#;
    Setup::new(info()).check(&(needs(lacks, "") + &lacking(needed)));
    Setup::new(CONFIG).session(Revision::V2025_06_18).check(&format!(
        "> call 1 tools/call {{\"name\":\"needs\",\"arguments\":{lacks}}}\n! call needs {lacks}\n{}",
        lacking(needed).replace("-32021", "-32600")
    ));
}

#[test]
fn deferred_call_may_require_input() {
    Setup::new(info()).check(&format!(
        "{}{}* needs 0 k=roots\n< result 2 {{{HEAD},\"inputRequests\":{{\"k\":{{\"method\":\"roots/list\"}}}},\"requestState\":\"s\"}}\n\
         * deferred 1\n* needs 0 k=roots\n! not now Gone\n* needs 1 k=roots\n< error 3 -32021 … data …\n* deferred 0",
        call(2, "defer", ALL, "{}", ""),
        call(3, "defer", "{}", "{}", ""),
    ));
}

#[test]
fn invalid_input_request_is_reported_and_answered_with_error() {
    let wrong = |fault: &str| format!("< error 1 -32603 …\n! fault {fault}\n");
    let setup = Setup::new(info());
    setup.check(&(needs("{}", "") + &wrong("InvalidInputRequest")));
    setup.check(&(needs(r#"{"inputs":"a=roots a=form"}"#, "") + &wrong("InvalidInputRequest")));
    setup.check(&(needs(r#"{"inputs":"a=broken"}"#, "") + &wrong("InvalidReply")));
    let small = needs(&format!(r#"{{"state":"{}"}}"#, "x".repeat(1000)), "");
    Setup::new(info()).tx(1000).check(&(small + &wrong("ReplyTooLarge")));
    // A session has no retries.
    Setup::new(CONFIG).session(Revision::V2025_11_25).check(&format!(
        "> call 1 tools/call {{\"name\":\"needs\",\"arguments\":{{\"state\":\"s\"}}}}\n! call needs {{\"state\":\"s\"}}\n{}",
        wrong("InvalidInputRequest")
    ));
}

#[test]
fn required_urls_have_the_form_of_each_revision() {
    let urls = r#"{"urls":1}"#;
    let page = |message: &str, path: &str, id: &str| {
        format!(r#"{{"mode":"url","message":"{message}","url":"https://example.com/{path}"{id}}}"#)
    };
    Setup::new(info()).check(&format!(
        r#"{}< result 1 {{{HEAD},"inputRequests":{{"e1":{{"method":"elicitation/create","params":{}}},"e2":{{"method":"elicitation/create","params":{}}}}}}}"#,
        needs(urls, ""),
        page("Log in", "a", ""),
        page("Pay", "b", ""),
    ));
    Setup::new(info()).check(&(call(1, "needs", "{}", urls, "") + "< error 1 -32021 … data …"));
    let asks =
        format!("> call 1 tools/call {{\"name\":\"needs\",\"arguments\":{urls}}}\n! call needs {urls}\n");
    Setup::new(CONFIG).session_with(Revision::V2025_11_25, ALL).check(&format!(
        r#"{asks}< error 1 -32042 URL elicitation required data {{"elicitations":[{},{}]}}"#,
        page("Log in", "a", r#","elicitationId":"e1""#),
        page("Pay", "b", r#","elicitationId":"e2""#),
    ));
    let plain = format!("{asks}< error 1 -32603 Open this page first: https://example.com/a (Log in)");
    Setup::new(CONFIG).session(Revision::V2025_11_25).check(&plain);
    Setup::new(CONFIG).session_with(Revision::V2025_06_18, ALL).check(&plain);
}

#[test]
fn extensions_are_declared_and_seen() {
    static EXTENSIONS: Extensions<'_> =
        Extensions::new(&[("com.example/a", "{}"), ("com.example/b", "{\"x\":\n1}")]);
    static EXPERIMENTAL: Experimental<'_> = Experimental::new(&[("odd", "{}")]);
    static FEATURES: [&dyn Feature; 2] = [&EXTENSIONS, &EXPERIMENTAL];
    let info = ServerConfig::new("s", "1").features(&FEATURES);
    let discover = r#"> call 1 server/discover {"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}"#;
    Setup::new(info).check(&format!(
        r#"{discover}
           < result 1 {{…"capabilities":{{"extensions":{{"com.example/a":{{}},"com.example/b":{{"x": 1}}}},"experimental":{{"odd":{{}}}}}}}}
           > call 2 initialize {}
           < result 2 {{"protocolVersion":"2025-11-25","capabilities":{{"experimental":{{"odd":{{}}}}}},…}}
           ! connected 2025-11-25 c {{}}"#,
        crate::support::server::hello("2025-11-25"),
    ));
    let declared = r#"{"extensions":{"com.example/a":{"v":2}}}"#;
    Setup::new(CONFIG).check(&format!(
        "{}< result 1 …\"text\":\"{{\\\"extensions\\\":{{\\\"com.example/a\\\":{{\\\"v\\\":2}}}}}}\"…",
        call(1, "declared", declared, "{}", ""),
    ));
    let misuse = |entries: &'static [(&'static str, &'static str)]| {
        let extensions = Extensions::new(entries);
        let info = ServerConfig::new("s", "1");
        let features: [&dyn Feature; 1] = [&extensions];
        let info = info.features(&features);
        Server::new(&info, &mut [0; 1024], &mut [0; 2048]).unwrap_err()
    };
    assert_eq!(misuse(&[("a/b", "{}"), ("x", "{}")]), ConfigError::InvalidName { entry: 1 });
    assert_eq!(misuse(&[("a/b", "{}"), ("a/b", "{}")]), ConfigError::DuplicateName { entry: 1 });
    assert_eq!(misuse(&[("a/b", "[]")]), ConfigError::NotAnObject { entry: 0 });
    assert!(matches!(misuse(&[("a/b", "{")]), ConfigError::InvalidJson { entry: 0, .. }));
}
