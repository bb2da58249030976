//! Prompts: lists, arguments, and messages.

use super::content::{HEAD, stateless};
use crate::support::server::Setup;
use crate::support::server::catalog::{BY_HOST, LIBRARY};
use mcp_proto::server::{Prompt, PromptArgument, Prompts};
use mcp_proto::{ConfigError, Revision, Revisions};

#[test]
fn prompt_is_listed_with_the_members_of_its_revision() {
    for revision in Revisions::HANDSHAKE.newest_first() {
        let named = revision >= Revision::V2025_06_18;
        let icons = if revision >= Revision::V2025_11_25 { r#","icons":[{"src":"data:,i"}]"# } else { "" };
        let part = |text: &'static str| if named { text } else { "" };
        let title = part(r#","title":"Review""#);
        let meta = part(r#","_meta":{"m":3}"#);
        let argument = part(r#","title":"Book""#);
        Setup::new(LIBRARY).session(revision).check(&format!(
            r#"> call 1 prompts/list
               < result 1 {{"prompts":[{{"name":"review"{title},"description":"Reads a book"{icons}{meta},"arguments":[{{"name":"book"{argument},"description":"Which","required":true}},{{"name":"style","required":false}},{{"name":"many","required":false}}]}},{{"name":"empty"}},…]}}"#
        ));
    }
    let ask = stateless(1, "prompts/list", "");
    Setup::new(LIBRARY)
        .check(&format!("{ask}< result 1 {{{HEAD},\"ttlMs\":0,\"cacheScope\":\"private\",\"prompts\":…}}"));
}

#[test]
fn prompt_messages_are_made_from_arguments() {
    let messages = |modified: &str| {
        format!(
            r#""description":"About it","messages":[{{"role":"user","content":{{"type":"text","text":"a \"b\""}}}},{{"role":"assistant","content":{{"type":"image","data":"AQID","mimeType":"image/png","annotations":{{"audience":["user","assistant"],"priority":1{modified}}}}}}},{{"role":"user","content":{{"type":"resource","resource":{{"uri":"lib:log","mimeType":"text/plain","text":"quiet"}}}}}}]"#
        )
    };
    let modified = r#","lastModified":"2026-01-31T12:00:00Z""#;
    for (revision, modified) in [(Revision::V2024_11_05, ""), (Revision::V2025_11_25, modified)] {
        Setup::new(LIBRARY).session(revision).check(&format!(
            r#"> call 1 prompts/get {{"name":"review","arguments":{{"book":"a \"\u0062\"","style":null}}}}
               ! get review [Some("a \"b\""), None] Some("review")
               < result 1 {{{}}}"#,
            messages(modified)
        ));
    }
    let ask = stateless(1, "prompts/get", r#","name":"review","arguments":{"book":"a \"b\""}"#);
    Setup::new(LIBRARY).check(&format!("{ask}! get review …\n< result 1 {{{HEAD},{}}}", messages(modified)));
    Setup::new(LIBRARY).session(Revision::V2025_11_25).check(
        r#"> call 1 prompts/get {"name":"empty"}
           ! get empty [None, None] Some("empty")
           < result 1 {"messages":[]}
           > call 2 prompts/get {"name":"between"}
           ! get between …
           < error 2 -32603 Internal error: the response is invalid
           ! fault InvalidReply
           > call 2 prompts/get {"name":"twice"}
           ! get twice …
           < error 2 -32603 Internal error: the response is invalid
           ! fault InvalidReply
           > call 3 prompts/get {"name":"invalid","arguments":null}
           ! get invalid …
           < error 3 -32602 Invalid arguments: no such book
           > call 4 prompts/get {"name":"drop"}
           ! get drop …
           < error 4 -32603 …
           ! fault Unanswered
           > call 5 prompts/get {"name":"defer"}
           ! get defer …
           > call 6 prompts/get {"name":"defer"}
           ! get defer …
           * messages 0 late
           < result 5 {"messages":[{"role":"user","content":{"type":"text","text":"late"}}]}
           * contents 1 late
           < error 6 -32603 Internal error: the response is invalid
           ! fault InvalidReply
           > call 7 prompts/get {"name":"defer"}
           ! get defer …
           * tools 2
           < error 7 -32603 Internal error: the response is invalid
           ! fault InvalidReply
           > call 8 prompts/get {"name":"defer"}
           ! get defer …
           * invalid 3 no such book
           < error 8 -32602 Invalid arguments: no such book
           * deferred 0"#,
    );
}

#[test]
fn unknown_prompt_or_missing_argument_is_refused() {
    let cases = [
        ("{}", "Invalid params: `name` must be the name of a prompt", "InvalidParams"),
        (r#"{"name":7}"#, "Invalid params: `name` must be the name of a prompt", "InvalidParams"),
        (r#"{"name":"none"}"#, "Unknown prompt: none", "UnknownPrompt"),
        (r#"{"name":"review"}"#, "Invalid params: argument `book` is missing", "InvalidParams"),
        (
            r#"{"name":"review","arguments":{"style":"x"}}"#,
            "Invalid params: argument `book` is missing",
            "InvalidParams",
        ),
        (
            r#"{"name":"review","arguments":{"book":null}}"#,
            "Invalid params: argument `book` is missing",
            "InvalidParams",
        ),
        (
            r#"{"name":"review","arguments":{"book":7}}"#,
            "Invalid params: argument `book` must be a string, found a number",
            "InvalidParams",
        ),
        (
            r#"{"name":"empty","arguments":{"other":{}}}"#,
            "Invalid params: argument `other` must be a string, found an object",
            "InvalidParams",
        ),
        (
            r#"{"name":"empty","arguments":[]}"#,
            "Invalid params: `arguments` must be an object",
            "InvalidParams",
        ),
    ];
    for (params, error, fault) in cases {
        for revision in [Revision::V2024_11_05, Revision::V2025_11_25] {
            Setup::new(LIBRARY)
                .session(revision)
                .check(&format!("> call 1 prompts/get {params}\n< error 1 -32602 {error}\n! fault {fault}"));
        }
    }
}

#[test]
fn dynamic_prompts_accept_numbers_as_text() {
    Setup::new(BY_HOST).session(Revision::V2025_11_25).check(
        r#"> call 1 prompts/list
           ! list prompts
           < result 1 {"prompts":[{"name":"x"}]}
           > call 2 prompts/get {"name":"any","arguments":{"book":1.50,"style":true}}
           ! get any [Some("1.50"), Some("true")] None
           < error 2 -32602 Unknown prompt: any
           > call 3 prompts/get {"name":"any","arguments":{"book":[]}}
           < error 3 -32602 Invalid params: argument `book` must be a string, found an array
           ! fault InvalidParams"#,
    );
}

#[test]
fn prompt_catalog_is_validated() {
    let (a, b) = (Prompt::new("a"), Prompt::new("b"));
    assert!(Prompts::try_new(&[a, b]).is_ok());
    assert_eq!(Prompts::try_new(&[a, b, a]).map(drop), Err(ConfigError::DuplicateName { entry: 2 }));
    let (x, y) = (PromptArgument::new("x"), PromptArgument::new("y"));
    assert!(Prompts::try_new(&[a.arguments(&[x, y])]).is_ok());
    assert_eq!(
        Prompts::try_new(&[a, b.arguments(&[x, y, y])]).map(drop),
        Err(ConfigError::DuplicateName { entry: 1 })
    );
}
