//! Several features of one kind: their catalogs are one catalog.

use crate::support::server::Setup;
use mcp_proto::server::{
    AuthorizedSubscriptions, Completion, Experimental, Extensions, Feature, Prompt, PromptArgument, Prompts,
    Resource, ResourceTemplate, Resources, Server, ServerConfig, Skills, Subscriptions, Tasks, Tool, Tools,
};
use mcp_proto::{ConfigError, Revision};

const NUMBERS: Tools<'static> = Tools::new(&[Tool::new("one", "{}"), Tool::new("two", "{}")]);
const ECHO: Tools<'static> = Tools::new(&[Tool::new("echo", "{}")]).list_changed();
const LETTERS: Resources<'static> = Resources::new(&[Resource::new("a:a", "a")])
    .templates(&[ResourceTemplate::new("a:{letter}/old", "old")])
    .list_changed();
const DIGITS: Resources<'static> = Resources::new(&[Resource::new("d:1", "1"), Resource::new("d:2", "2")])
    .templates(&[ResourceTemplate::new("d:{digit}/old", "old")])
    .subscribe();
const GREET: Prompts<'static> = Prompts::new(&[Prompt::new("greet")]);
const ADD: Prompts<'static> =
    Prompts::new(&[Prompt::new("empty").arguments(&[PromptArgument::new("number").required()])]).stringify();

const CONFIG: ServerConfig<'static> = ServerConfig::new("joined", "1").features(&[
    &NUMBERS,
    &LETTERS,
    &GREET,
    &ECHO,
    &Completion,
    &DIGITS,
    &ADD,
    &Subscriptions,
    &Subscriptions,
    &Completion,
]);

fn session() -> Setup {
    Setup::new(CONFIG).session(Revision::V2025_11_25)
}

#[test]
fn capabilities_of_joined_features_are_declared_once() {
    let hello =
        r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}"#;
    Setup::new(CONFIG).check(&format!(
        "> call 1 initialize {hello}\n< result 1 {{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{{\
         \"tools\":{{\"listChanged\":true}},\"resources\":{{\"subscribe\":true,\"listChanged\":true}},\
         \"prompts\":{{}},\"completions\":{{}}}},…\n! connected …"
    ));
}

#[test]
fn lists_of_joined_features_have_the_entries_of_all() {
    let tool = |name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
    let tools = ["one", "two", "echo"].map(tool).join(",");
    session().check(&format!(
        r#"> call 1 tools/list
           < result 1 {{"tools":[{tools}]}}
           > call 2 resources/list
           < result 2 {{"resources":[{{"uri":"a:a","name":"a"}},{{"uri":"d:1","name":"1"}},{{"uri":"d:2","name":"2"}}]}}
           > call 3 resources/templates/list
           < result 3 {{"resourceTemplates":[{{"uriTemplate":"a:{{letter}}/old","name":"old"}},{{"uriTemplate":"d:{{digit}}/old","name":"old"}}]}}
           > call 4 prompts/list
           < result 4 {{"prompts":[{{"name":"greet"}},{{"name":"empty","arguments":[{{"name":"number","required":true}}]}}]}}
           > call 5 tools/list {{"cursor":"p2"}}
           < result 5 {{"tools":[{}]}}
           > call 6 tools/list {{"cursor":"p3"}}
           < error 6 -32602 …
           ! fault BadCursor"#,
        tool("echo")
    ));
}

#[test]
fn pages_of_joined_features_begin_at_their_cursors() {
    const NONE: Tools<'static> = Tools::new(&[]);
    const LAST: Tools<'static> = Tools::new(&[Tool::new("three", "{}"), Tool::new("four", "{}")]);
    static FEATURES: [&dyn Feature; 5] = [&NUMBERS, &NONE, &ECHO, &LAST, &NONE];
    let names = ["one", "two", "echo", "three", "four"];
    let tool = |name: &&str| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
    for first in 1..names.len() {
        let page = names[first..].iter().map(tool).collect::<Vec<_>>().join(",");
        Setup::new(ServerConfig::new("s", "1").features(&FEATURES)).session(Revision::V2025_11_25).check(
            &format!("> call 1 tools/list {{\"cursor\":\"p{first}\"}}\n< result 1 {{\"tools\":[{page}]}}"),
        );
    }
}

#[test]
fn requests_reach_every_joined_feature() {
    session().check(
        r#"> call 1 tools/call {"name":"echo","arguments":{"a":1}}
           ! call echo {"a":1}
           < result 1 …
           > call 2 tools/call {"name":"three"}
           < error 2 -32602 Unknown tool: three
           ! fault UnknownTool
           > call 3 prompts/get {"name":"empty"}
           < error 3 -32602 …
           ! fault InvalidParams
           > call 4 prompts/get {"name":"empty","arguments":{"number":1}}
           ! get empty …
           < result 4 {"messages":[]}
           > call 5 prompts/get {"name":"greet","arguments":{"number":1}}
           < error 5 -32602 …
           ! fault InvalidParams
           > call 6 prompts/get {"name":"sub"}
           < error 6 -32602 Unknown prompt: sub
           ! fault UnknownPrompt
           > call 7 resources/read {"uri":"d:3"}
           < {"jsonrpc":"2.0","id":7,"error":{"code":-32002,…
           ! fault UnknownResource"#,
    );
}

/// Returns the error of a server with these features.
#[track_caller]
fn refused(features: &[&dyn Feature]) -> String {
    let config = ServerConfig::new("s", "1").features(features);
    let (mut rx, mut tx) = ([0; 4096], [0; 4096]);
    Server::new(&config, &mut rx, &mut tx).expect_err("the configuration is refused").to_string()
}

#[test]
fn entry_of_two_features_is_refused_with_its_name() {
    const AGAIN: Tools<'static> = Tools::new(&[Tool::new("three", "{}"), Tool::new("two", "{}")]);
    const OTHER: Resources<'static> = Resources::new(&[Resource::new("a:a", "b")]);
    assert_eq!(
        refused(&[&NUMBERS, &ECHO, &AGAIN]),
        "two features have an entry `two`: names and URIs must be unique"
    );
    assert_eq!(
        refused(&[&LETTERS, &OTHER]),
        "two features have an entry `a:a`: names and URIs must be unique"
    );
    let long = "a".repeat(39) + "ä";
    let (first, second) = ([Prompt::new(&long)], [Prompt::new(&long)]);
    let error = refused(&[&Prompts::new(&first), &Prompts::new(&second)]);
    assert_eq!(
        error,
        format!("two features have an entry `{}…`: names and URIs must be unique", "a".repeat(39))
    );
}

#[test]
fn extension_of_several_features_is_declared_once() {
    const FIRST: Extensions<'static> = Extensions::new(&[("a.b/c", "{}"), ("a.b/d", "{}")]);
    const SECOND: Extensions<'static> = Extensions::new(&[("a.b/d", "{}"), ("a.b/e", "{}")]);
    const TASKS: Tasks = Tasks::new();
    let config = ServerConfig::new("s", "1").features(&[&TASKS, &FIRST, &TASKS, &SECOND]);
    Setup::new(config).check(
        r#"> call 1 server/discover {"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}
           < result 1 {…,"capabilities":{"extensions":{"io.modelcontextprotocol/tasks":{},"a.b/c":{},"a.b/d":{},"a.b/e":{}}}}"#,
    );
    const OTHER: Extensions<'static> = Extensions::new(&[("a.b/d", r#"{"x":1}"#)]);
    assert_eq!(
        refused(&[&FIRST, &OTHER]),
        "two features have an entry `a.b/d`: names and URIs must be unique"
    );
    const SKILLS: Skills<'static> = Skills::new(&[]);
    assert_eq!(
        refused(&[&SKILLS, &SKILLS]),
        "two features have an entry `io.modelcontextprotocol/skills`: names and URIs must be unique"
    );
}

#[test]
fn same_extensions_twice_are_declared_once() {
    static OWN: Extensions<'static> = Extensions::new(&[("a.b/c", "{}")]).methods(&["c/x"]);
    static FEATURES: [&dyn Feature; 2] = [&OWN, &OWN];
    Setup::new(ServerConfig::new("s", "1").features(&FEATURES)).check(
        r#"> call 1 server/discover {"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}
           < result 1 {…,"capabilities":{"extensions":{"a.b/c":{}}}}"#,
    );
}

#[test]
fn repeated_filter_member_or_experimental_is_refused() {
    const FIRST: Extensions<'static> = Extensions::new(&[]).filter_members(&["a", "b"]);
    const SECOND: Extensions<'static> = Extensions::new(&[]).filter_members(&["c", "b"]);
    assert_eq!(refused(&[&FIRST, &SECOND]), "two features have an entry `b`: names and URIs must be unique");
    const EXPERIMENTAL: Experimental<'static> = Experimental::new(&[("a", "{}")]);
    const OTHER: Experimental<'static> = Experimental::new(&[("b", "{}")]);
    assert_eq!(
        refused(&[&EXPERIMENTAL, &OTHER]),
        "two features have an entry `experimental`: names and URIs must be unique"
    );
}

#[test]
fn dynamic_list_beside_another_feature_is_refused() {
    let expected = "a feature with a dynamic list must be the only feature of its kind";
    assert_eq!(refused(&[&NUMBERS, &Tools::dynamic_list()]), expected);
    assert_eq!(refused(&[&Tools::dynamic_list(), &NUMBERS]), expected);
    assert_eq!(refused(&[&Prompts::dynamic_list(), &Prompts::dynamic_list()]), expected);
}

#[test]
fn authorized_subscriptions_beside_another_feature_are_refused() {
    let expected = "`AuthorizedSubscriptions` must be the only feature for subscriptions";
    assert_eq!(refused(&[&Subscriptions, &AuthorizedSubscriptions]), expected);
    assert_eq!(refused(&[&AuthorizedSubscriptions, &NUMBERS, &Subscriptions]), expected);
}

#[test]
fn subscribe_without_the_feature_subscriptions_is_refused() {
    let error = refused(&[&DIGITS]);
    assert_eq!(error, ConfigError::SubscriptionsMissing.to_string());
    assert_eq!(error, "resources declare `subscribe`, but the server has no feature `Subscriptions`");
}

#[test]
fn subscription_is_notified_once_of_a_list_of_two_features() {
    const MORE: Tools<'static> = Tools::new(&[Tool::new("three", "{}")]).list_changed();
    static FEATURES: [&dyn Feature; 3] = [&ECHO, &MORE, &Subscriptions];
    let setup = Setup::new(ServerConfig::new("s", "1").features(&FEATURES)).tx(4096).max_reply_size(1024);
    setup.check(
        r#"> call 1 subscriptions/listen {"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"notifications":{"toolsListChanged":true}}
           < note notifications/subscriptions/acknowledged …
           ! listening [Tools] []
           * changed
           < note notifications/tools/list_changed {"_meta":{"io.modelcontextprotocol/subscriptionId":1}}
           * changed
           < note notifications/tools/list_changed {"_meta":{"io.modelcontextprotocol/subscriptionId":1}}"#,
    );
}
