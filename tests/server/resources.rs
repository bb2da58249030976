//! Resources: lists, templates, and reading.

use super::content::{HEAD, stateless};
use crate::support::server::Setup;
use crate::support::server::catalog::{BY_HOST, LIBRARY};
use mcp_proto::server::{Feature, Resource, ResourceTemplate, Resources, ServerConfig};
use mcp_proto::{ConfigError, Revision, Revisions};

#[test]
fn resource_is_listed_with_the_members_of_its_revision() {
    for revision in Revisions::HANDSHAKE.newest_first() {
        let named = revision >= Revision::V2025_06_18;
        let icons = if revision >= Revision::V2025_11_25 { r#","icons":[{"src":"data:,i"}]"# } else { "" };
        let part = |text: &str| if named { text.to_string() } else { String::new() };
        let annotations = format!(
            r#""annotations":{{"audience":["user","assistant"],"priority":1{}}}"#,
            part(r#","lastModified":"2026-01-31T12:00:00Z""#)
        );
        let log = format!(
            r#"{{"uri":"lib:log","name":"log"{},"description":"What happened"{icons}{},"mimeType":"text/markdown",{annotations},"size":12}}"#,
            part(r#","title":"The log""#),
            part(r#","_meta":{"m":1}"#)
        );
        let book = format!(
            r#"{{"uriTemplate":"lib:book/{{id}}","name":"book"{},"description":"By number"{icons}{},"mimeType":"text/html",{annotations}}}"#,
            part(r#","title":"A book""#),
            part(r#","_meta":{"m":2}"#)
        );
        Setup::new(LIBRARY).session(revision).check(&format!(
            r#"> call 1 resources/list
               < result 1 {{"resources":[{log},{{"uri":"lib:b/a","name":"plain"}}]}}
               > call 2 resources/templates/list {{}}
               < result 2 {{"resourceTemplates":[{book},{{"uriTemplate":"lib:{{shelf}}/{{+rest}}","name":"rest"}}]}}
               > call 3 resources/list {{"cursor":"p2"}}
               < error 3 -32602 …
               ! fault BadCursor"#
        ));
    }
    let ask = stateless(1, "resources/templates/list", "");
    Setup::new(LIBRARY).check(&format!(
        "{ask}< result 1 {{{HEAD},\"ttlMs\":0,\"cacheScope\":\"private\",\"resourceTemplates\":…}}"
    ));
}

#[test]
fn each_catalog_is_listed_page_by_page() {
    const LONG: &str = match std::str::from_utf8(&[b'd'; 150]) {
        Ok(text) => text,
        Err(_) => "",
    };
    const RESOURCE: Resource<'static> = Resource::new("a:1", "r").description(LONG);
    const OTHER: Resource<'static> = Resource::new("a:2", "r").description(LONG);
    const TEMPLATE: ResourceTemplate<'static> = ResourceTemplate::new("a:{x}", "t").description(LONG);
    const LAST: ResourceTemplate<'static> = ResourceTemplate::new("b:{x}", "t").description(LONG);
    static RESOURCES: Resources<'static> = Resources::new(&[RESOURCE, OTHER]).templates(&[TEMPLATE, LAST]);
    static FEATURES: [&dyn Feature; 1] = [&RESOURCES];
    let info = ServerConfig::new("s", "1").features(&FEATURES).revisions(Revisions::HANDSHAKE);
    let rest = format!(r#","description":"{LONG}"}}]"#);
    // The buffer holds one entry and the end of the page.
    Setup::new(info).tx(4096).max_reply_size(380).session(Revision::V2025_11_25).check(&format!(
        r#"> call 1 resources/list
           < result 1 {{"resources":[{{"uri":"a:1","name":"r"{rest},"nextCursor":"p1"}}
           ! fault ListSplit
           > call 2 resources/list {{"cursor":"p1"}}
           < result 2 {{"resources":[{{"uri":"a:2","name":"r"{rest}}}
           > call 3 resources/templates/list {{}}
           < result 3 {{"resourceTemplates":[{{"uriTemplate":"a:{{x}}","name":"t"{rest},"nextCursor":"p1"}}
           ! fault ListSplit
           > call 4 resources/templates/list {{"cursor":"p1"}}
           < result 4 {{"resourceTemplates":[{{"uriTemplate":"b:{{x}}","name":"t"{rest}}}
           > call 5 resources/templates/list {{"cursor":"p2"}}
           < error 5 -32602 …
           ! fault BadCursor"#
    ));
}

#[test]
fn configured_features_are_declared() {
    let all = r#""capabilities":{"tools":{"listChanged":true},"resources":{"listChanged":true},"prompts":{"listChanged":true}"#;
    let ask = stateless(1, "server/discover", "");
    Setup::new(LIBRARY).check(&format!("{ask}< result 1 …{all},\"completions\":{{}},\"logging\":{{}}}}}}"));
    let hello = crate::support::server::hello("2024-11-05");
    Setup::new(LIBRARY).check(&format!(
        "> call 1 initialize {hello}\n< result 1 …{all},\"logging\":{{}}}},…\n! connected 2024-11-05 c {{}}"
    ));
    let few = r#"…"capabilities":{"resources":{},"prompts":{},"completions":{}}}"#;
    Setup::new(BY_HOST).check(&format!("{ask}< result 1 {few}"));
}

#[test]
fn resources_and_template_matches_can_be_read() {
    Setup::new(LIBRARY).session(Revision::V2025_11_25).check(
        r#"> call 1 resources/read {"uri":"lib:log"}
           ! read lib:log (Some("log"), None, None)
           < result 1 {"contents":[{"uri":"lib:log","mimeType":"text/markdown","text":"all \"quiet\""}]}
           > call 2 resources/read {"uri":"lib:b\/a"}
           ! read lib:b/a (Some("plain"), Some("rest"), Some("a"))
           < result 2 {"contents":[{"uri":"lib:b/a","mimeType":"text/plain","text":"plain"}]}
           > call 3 resources/read {"uri":"lib:\u0062ook/7"}
           ! read lib:book/7 (None, Some("book"), Some("7"))
           < result 3 {"contents":[{"uri":"lib:book/7","mimeType":"text/html","blob":"AP8="}]}
           > call 4 resources/read {"uri":"lib:x/a/%C3%A9?q"}
           ! read lib:x/a/%C3%A9?q (None, Some("rest"), Some("a/é?q"))
           < result 4 {"contents":[{"uri":"lib:x/a/%C3%A9?q","mimeType":"text/plain","text":…}]}
           > call 5 resources/read {"uri":"lib:book/parts"}
           ! read lib:book/parts (None, Some("book"), Some("parts"))
           < result 5 {"contents":[{"uri":"lib:book/parts/1","mimeType":"text/plain","text":"1"},{"uri":"lib:book/parts/2","mimeType":"application/octet-stream","blob":"AQ=="},{"uri":"lib:book/parts/3","mimeType":"text/x","text":"3"}]}
           > call 6 resources/read {"uri":"lib:book/nothing"}
           ! read lib:book/nothing …
           < result 6 {"contents":[]}
           > call 7 resources/read {"uri":"lib:book/error"}
           ! read lib:book/error …
           < error 7 7 no data 1
           > call 8 resources/read {"uri":"lib:book/drop"}
           ! read lib:book/drop …
           < error 8 -32603 Internal error: the request was dropped without a response
           ! fault Unanswered
           > call 9 resources/read {"uri":7}
           < error 9 -32602 Invalid params: `uri` must be the URI of a resource
           ! fault InvalidParams
           > call 10 resources/read
           < error 10 -32602 …
           ! fault InvalidParams"#,
    );
    let ask = stateless(1, "resources/read", r#","uri":"lib:log""#);
    Setup::new(LIBRARY).check(&format!(
        "{ask}! read lib:log …\n< result 1 {{{HEAD},\"ttlMs\":0,\"cacheScope\":\"private\",\"contents\":[…]}}"
    ));
    // The application can read the `_meta` of the request.
    let ask = stateless(1, "resources/read", r#","uri":"lib:x/y""#);
    Setup::new(LIBRARY)
        .check(&format!("{ask}! read lib:x/y …\n< result 1 …io.modelcontextprotocol/protocolVersion…"));
}

#[test]
fn missing_resource_is_not_found() {
    for revision in Revisions::HANDSHAKE.newest_first() {
        Setup::new(LIBRARY).session(revision).check(
            r#"> call 1 resources/read {"uri":"lib:\u0062"}
               < error 1 -32002 Resource not found data {"uri":"lib:\u0062"}
               ! fault UnknownResource
               > call 2 resources/read {"uri":"lib:book/none"}
               ! read lib:book/none (None, Some("book"), Some("none"))
               < error 2 -32002 Resource not found data {"uri":"lib:book/none"}"#,
        );
    }
    let (one, two) = (
        stateless(1, "resources/read", r#","uri":"lib:""#),
        stateless(2, "resources/read", r#","uri":"lib:book/none""#),
    );
    Setup::new(LIBRARY).check(&format!(
        r#"{one}< error 1 -32602 Resource not found data {{"uri":"lib:"}}
           ! fault UnknownResource
           {two}! read lib:book/none …
           < error 2 -32602 Resource not found data {{"uri":"lib:book/none"}}"#
    ));
    // The error omits a URI that does not fit.
    let uri = "y".repeat(2000);
    Setup::new(LIBRARY).tx(2000).session(Revision::V2025_11_25).check(&format!(
        "> call 1 resources/read {{\"uri\":\"{uri}\"}}\n\
         < error 1 -32002 Resource not found\n! fault UnknownResource"
    ));
}

#[test]
fn deferred_read_is_answered_with_contents() {
    Setup::new(LIBRARY).session(Revision::V2025_11_25).check(
        r#"> call 1 resources/read {"uri":"lib:book/defer"}
           ! read lib:book/defer …
           > call 2 resources/read {"uri":"lib:book/defer"}
           ! read lib:book/defer …
           > call 3 resources/read {"uri":"lib:book/defer"}
           ! read lib:book/defer …
           * contents 0 late
           < result 1 {"contents":[{"uri":"lib:book/defer","mimeType":"text/plain","text":"late"}]}
           * not-found 1 lib:book/defer
           < error 2 -32002 Resource not found data {"uri":"lib:book/defer"}
           * answer 2 text
           < error 3 -32603 Internal error: the response is invalid
           ! fault InvalidReply
           * deferred 0"#,
    );
}

#[test]
fn dynamic_resources_are_listed_and_read_by_any_uri() {
    Setup::new(BY_HOST).session(Revision::V2025_11_25).check(
        r#"> call 1 resources/list
           ! list resources
           < result 1 {"resources":[{"uri":"lib:x","name":"x"},{"uri":"lib:x","name":"x"}]}
           > call 2 resources/templates/list
           ! list templates
           < result 2 {"resourceTemplates":[{"uriTemplate":"lib:{x}","name":"x"}]}
           > call 3 resources/list {"cursor":"p1"}
           ! list resources
           < result 3 {"resources":[{"uri":"lib:x","name":"x"}]}
           > call 4 resources/list {"cursor":"p2"}
           ! list resources
           < error 4 -32602 …
           ! fault BadCursor
           > call 5 resources/read {"uri":"any\"thing"}
           ! read any"thing (None, None, None)
           < result 5 …"#,
    );
}

#[test]
fn resource_catalog_is_validated() {
    let (a, b) = (Resource::new("lib:a", "a"), Resource::new("lib:b", "a"));
    assert!(Resources::try_new(&[a, b]).is_ok());
    assert_eq!(Resources::try_new(&[a, b, b, a]).map(drop), Err(ConfigError::DuplicateName { entry: 2 }));
    let none = Resources::try_new(&[]).unwrap();
    let (x, y) = (ResourceTemplate::new("lib:{x}", "x"), ResourceTemplate::new("lib:{y}", "x"));
    assert!(none.try_templates(&[x, y]).is_ok());
    assert_eq!(none.try_templates(&[x, y, x]).map(drop), Err(ConfigError::DuplicateName { entry: 2 }));
    let bad = ResourceTemplate::new("lib:{y", "x");
    assert_eq!(none.try_templates(&[x, bad]).map(drop), Err(ConfigError::InvalidTemplate { entry: 1 }));
}
