//! Change notifications for sessions and for stateless subscriptions.

use crate::support::server::catalog::EVERYTHING;
use crate::support::server::tools::{BARE, TOOLS};
use crate::support::server::{Setup, hello};
use mcp_proto::server::{Feature, Logging, Resource, Resources, ServerConfig, Subscriptions, Tools};
use mcp_proto::{Revision, Revisions};

static FEATURES: [&dyn Feature; 3] = [&TOOLS, &Logging, &Subscriptions];

const CONFIG: ServerConfig<'static> = ServerConfig::new("s", "1").features(&FEATURES);

fn both() -> Setup {
    Setup::new(CONFIG)
}

fn request(id: &str, method: &str, capabilities: &str, params: &str) -> String {
    format!(
        r#"> call {id} {method} {{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities}}}{params}}}
"#
    )
}

fn listen(id: &str, filter: &str) -> String {
    request(id, "subscriptions/listen", "{}", &format!(r#","notifications":{filter}"#))
}

fn tag(id: &str) -> String {
    format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#)
}

fn acknowledged(id: &str, filter: &str) -> String {
    format!("< note notifications/subscriptions/acknowledged {{{},\"notifications\":{filter}}}\n", tag(id))
}

/// Returns a subscription to the tool list: request, acknowledgment and event.
fn tools(id: &str) -> String {
    let filter = r#"{"toolsListChanged":true}"#;
    format!("{}{}! listening [Tools] []\n", listen(id, filter), acknowledged(id, filter))
}

fn told(id: &str) -> String {
    format!("< note notifications/tools/list_changed {{{}}}\n", tag(id))
}

fn result(id: &str) -> String {
    format!(
        r#"< result {id} {{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":{id},"io.modelcontextprotocol/serverInfo":{{"name":"s","version":"1"}}}}}}
"#
    )
}

fn ended(id: &str) -> String {
    format!("{}< note notifications/cancelled {{\"requestId\":{id}}}\n", result(id))
}

#[test]
fn notifications_match_the_filter_and_carry_its_id() {
    for id in ["1", "\"1\"", "\"l\\u0069sten\"", "0", "\"\""] {
        let (open, notified) = (tools(id), told(id));
        both().check(&format!(
            "{open}* deadline none\n* changed\n{notified}* changed\n{notified}* deferred 1\n"
        ));
    }
    // The server sends no notification outside the filter, and no notification that it did not declare.
    let nothing = format!("{}! listening [] []\n* changed\n* deferred 1\n", acknowledged("1", "{}"));
    for filter in [
        "{}",
        r#"{"toolsListChanged":false}"#,
        r#"{"toolsListChanged":"true","resourceSubscriptions":7}"#,
        r#"{"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["file:///a"]}"#,
    ] {
        both().check(&format!("{}{nothing}", listen("1", filter)));
    }
}

#[test]
fn invalid_filter_is_refused() {
    let refused =
        "< error 1 -32602 Invalid params: `notifications` must be an object\n! fault InvalidParams\n";
    for params in ["", r#","notifications":null"#, r#","notifications":[]"#, r#","notifications":true"#] {
        both().check(&format!("{}{refused}", request("1", "subscriptions/listen", "{}", params)));
    }
    let needs = "< {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32021,\"message\":\"Missing required client capability\",\
                 \"data\":{\"requiredCapabilities\":{\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}}}}\n\
                 ! fault MissingClientCapability\n* deferred 0\n";
    let tasks = r#","notifications":{"taskIds":["t"],"toolsListChanged":true}"#;
    both().check(&format!("{}{needs}", request("1", "subscriptions/listen", "{}", tasks)));
    // The acknowledgment of a filter for tasks omits the tasks, because the server has no tasks.
    let knows = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
    let open = acknowledged("1", r#"{"toolsListChanged":true}"#);
    both().check(&format!(
        "{}{open}! listening [Tools] []\n",
        request("1", "subscriptions/listen", knows, tasks)
    ));
}

#[test]
fn listen_with_an_id_over_the_slot_text_is_refused() {
    let open = |id: &str| format!("{}{}! listening [] []\n", listen(id, "{}"), acknowledged(id, "{}"));
    let refused =
        "< error \"123456789\" -32600 Invalid request: `id` is too long\n! fault IdTooLong\n* deferred 1\n";
    both().slots(2, 10).check(&format!("{}{}{refused}", open("\"12345678\""), listen("\"123456789\"", "{}")));
    let refused = "< error 2 -32603 Too many requests in flight (at most 1)\n! fault TooManyInFlight\n";
    both().slots(1, 10).check(&format!("{}{}{refused}", open("1"), listen("2", "{}")));
}

#[test]
fn listen_is_unknown_without_the_feature() {
    let unknown = "< error 1 -32601 Method not found: subscriptions/listen\n! fault UnknownMethod\n";
    Setup::new(BARE).check(&format!("{}{unknown}", listen("1", "{}")));
    let info = ServerConfig::new("s", "1").features(&[&Subscriptions]);
    Setup::new(info).check(&format!(
        "{}{}! listening [] []\n",
        listen("1", r#"{"toolsListChanged":true}"#),
        acknowledged("1", "{}")
    ));
    // `listen` belongs to the stateless era, and `subscribe` belongs to the handshake era.
    let unknown =
        |method: &str| format!("< error 1 -32601 Method not found: {method}\n! fault UnknownMethod\n");
    for revision in Revision::ALL.into_iter().filter(|revision| Revisions::HANDSHAKE.contains(*revision)) {
        both().session(revision).check(&format!(
            "> call 1 subscriptions/listen {{\"notifications\":{{}}}}\n{}",
            unknown("subscriptions/listen")
        ));
    }
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        both().check(&format!("{}{}", request("1", method, "{}", r#","uri":"a:b""#), unknown(method)));
        let refused = "< error 1 -32601 Method not found: the server does not support resource subscriptions\n! fault UnknownMethod\n";
        both()
            .session(Revision::V2025_11_25)
            .check(&format!("> call 1 {method} {{\"uri\":\"a:b\"}}\n{refused}"));
    }
}

#[test]
fn subscriptions_each_receive_their_own_notifications() {
    let silent = format!("{}{}! listening [] []\n", listen("7", "{}"), acknowledged("7", "{}"));
    let open = format!("{}{silent}{}", tools("1"), tools("\"b\""));
    for tx in [700, 900, 4096] {
        let setup = both().tx(tx).max_reply_size(700);
        setup.check(&format!("{open}* changed\n{}{}", told("1"), told("\"b\"")));
    }
    // Only the first notification has space. For all later changes, each subscription gets one notification.
    let events = format!("{}{}{}", told("1"), told("1"), told("\"b\""));
    both().tx(700).check(&format!("{open}* block\n{}* unblock\n{events}", "* changed\n".repeat(5)));
}

#[test]
fn subscription_takes_a_slot_and_has_no_timeout() {
    let full = "< error 3 -32603 Too many requests in flight (at most 2)\n! fault TooManyInFlight\n";
    both().slots(2, 64).check(&format!(
        "{}{}{}{full}* time 100000000\n* deferred 2\n* changed\n{}{}",
        tools("1"),
        tools("2"),
        listen("3", "{}"),
        told("1"),
        told("2")
    ));
    let none = "< error 1 -32603 Too many requests in flight (at most 0)\n! fault TooManyInFlight\n";
    both().slots(0, 0).check(&format!("{}{none}", listen("1", "{}")));
    // The id of a subscription is in use.
    let twice = "< error 1 -32600 Invalid request: a request with this id is still in flight: …\n! fault DuplicateId\n";
    both().check(&format!("{}{}{twice}", tools("1"), listen("1", "{}")));
    // The application cannot reply to a subscription.
    both().check(&format!("{}* answer 0 x\n! not now Gone\n", tools("1")));
}

#[test]
fn cancelled_subscription_receives_nothing() {
    let cancel =
        "> note notifications/cancelled {\"requestId\":1,\"reason\":\"enough\"}\n! cancelled 0 enough\n";
    both().check(&format!("{}{cancel}* changed\n* deferred 0\n* end 0\n! not now Gone\n", tools("1")));
    both().check(&format!("{}{}{cancel}* changed\n{}", tools("1"), tools("2"), told("2")));
    // A change before the cancellation is still sent, at any pace of output.
    let change = request("2", "tools/call", "{}", r#","name":"change""#);
    for tx in [700, 4096] {
        let setup = both().tx(tx).max_reply_size(700);
        setup.check(&format!(
            "{}{change}! call change {{}}\n< result 2 …\n{}{cancel}",
            tools("1"),
            told("1"),
        ));
    }
}

#[test]
fn server_ends_a_subscription_with_its_response() {
    let end = format!("* end 0\n{}* deferred 0\n* changed\n* end 0\n! not now Gone\n", ended("1"));
    both().check(&format!("{}{end}", tools("1")));
    // The response follows the pending notifications, at any pace of output.
    for tx in [700, 4096] {
        both().tx(tx).max_reply_size(700).check(&format!(
            "{}{}* block\n* changed\n* end 0\n* unblock\n{}{}{}* deferred 1\n",
            tools("1"),
            tools("2"),
            told("1"),
            told("2"),
            ended("1"),
        ));
    }
    // The server sends no notification of a change that follows the end of the subscription, even if the response to
    // the subscription still waits for space.
    for tx in [1100, 4096] {
        let setup = Setup::new(EVERYTHING).tx(tx).max_reply_size(1100).subscription_buffer(60);
        let filter = r#"{"toolsListChanged":true,"resourceSubscriptions":["lib:log"]}"#;
        setup.check(&format!(
            "{}{}! listening [Tools] [\"lib:log\"]\n* block\n* end 0\n* changed\n* updated lib:log\n* unblock\n{}",
            listen("1", filter),
            acknowledged("1", filter),
            ended("1"),
        ));
    }
    let brief = "< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"resultType\":\"complete\",\
                 \"_meta\":{\"io.modelcontextprotocol/subscriptionId\":1}}}\n";
    Setup::new(CONFIG.anonymous_results()).check(&format!(
        "{}* end 0\n{brief}< note notifications/cancelled {{\"requestId\":1}}\n",
        tools("1")
    ));
}

#[test]
fn end_of_connection_ends_its_subscriptions() {
    let open = format!("{}{}", tools("1"), tools("2"));
    let end = format!("{}{}! closed\n", ended("1"), ended("2"));
    for how in ["eof", "shutdown"] {
        for tx in [700, 4096] {
            let setup = both().tx(tx).max_reply_size(700);
            setup.check(&format!("{open}* {how}\n{end}"));
            let notified = format!("{}{}", told("1"), told("2"));
            setup.check(&format!("{open}* block\n* changed\n* {how}\n* unblock\n{notified}{end}"));
        }
        // The server closes the connection of a client that does not read.
        both().check(&format!("{open}* block\n* {how}\n* time 2000\n* time 4000\n! closed\n"));
        // The application can still respond to deferred calls.
        let call = request("3", "tools/call", "{}", r#","name":"defer""#);
        both().check(&format!(
            "{open}{call}! call defer {{}}\n* {how}\n{}{}* answer 2 x\n< result 3 …\n! closed\n",
            ended("1"),
            ended("2")
        ));
    }
}

#[test]
fn new_session_starts_without_subscriptions() {
    use mcp_proto::server::SecondInitialize;
    let hello = hello("2025-11-25");
    let again = format!(
        "> call 9 initialize {hello}\n< result 9 …\n! restarted\n! connected 2025-11-25 c {{}}\n* deferred 0\n\
         * changed\n> note notifications/initialized\n! ready\n< note notifications/tools/list_changed\n"
    );
    let setup =
        Setup::new(CONFIG.second_initialize(SecondInitialize::Restart)).session(Revision::V2025_11_25);
    setup.check(&format!("{}{again}", tools("1")));
    both().check(&format!("{}* reset\n* deferred 0\n* changed\n", tools("1")));
}

#[test]
fn undeclared_change_is_never_sent() {
    static TOOLS: Tools<'static> = Tools::new(&[]);
    static RESOURCES: Resources<'static> = Resources::new(&[Resource::new("a:b", "b")]);
    static FEATURES: [&dyn Feature; 3] = [&TOOLS, &RESOURCES, &Subscriptions];
    let setup = Setup::new(ServerConfig::new("s", "1").features(&FEATURES)).session(Revision::V2025_11_25);
    setup.check(&format!(
        "{}{}! listening [] []\n* changed\n* changed resources\n* changed prompts\n* updated a:b\n> call 2 ping\n\
         < result 2 {{}}\n",
        listen("1", r#"{"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:b"]}"#),
        acknowledged("1", "{}"),
    ));
}

#[test]
fn session_and_subscriptions_are_both_notified() {
    let both_told = format!("< note notifications/tools/list_changed\n{}", told("1"));
    let setup = both().session(Revision::V2025_11_25);
    setup.check(&format!("{}* changed\n{both_told}", tools("1")));
    // The session receives notifications only after the handshake. A subscription receives notifications even before
    // the handshake.
    let hello = hello("2025-11-25");
    both().check(&format!(
        "{}* changed\n{}> call 2 initialize {hello}\n< result 2 …\n! connected 2025-11-25 c {{}}\n\
         > note notifications/initialized\n! ready\n< note notifications/tools/list_changed\n",
        tools("1"),
        told("1"),
    ));
}

/// A server with a catalog accepts only subscriptions to resources of the catalog.
mod watching {
    use super::*;
    use mcp_proto::server::{Resource, ResourceTemplate, Resources};

    static RESOURCES: Resources<'static> = Resources::new(&[Resource::new("lib:log", "log")])
        .templates(&[ResourceTemplate::new("lib:book/{id}", "book")]);
    static WATCHED: Resources<'static> = RESOURCES.subscribe().list_changed();

    static DECLARED: [&dyn Feature; 2] = [&WATCHED, &Subscriptions];
    static SILENT: [&dyn Feature; 2] = [&RESOURCES, &Subscriptions];

    const CONFIG: ServerConfig<'static> = ServerConfig::new("s", "1").features(&DECLARED);

    #[test]
    fn session_subscribes_to_existing_resources() {
        let setup = Setup::new(CONFIG).subscription_buffer(100).session(Revision::V2025_11_25);
        let updated = |uri: &str| format!("< note notifications/resources/updated {{\"uri\":\"{uri}\"}}\n");
        setup.check(&format!(
            "> call 1 resources/subscribe {{\"uri\":\"lib:l\\u006fg\"}}\n< result 1\n! subscribed lib:log\n\
             > call 2 resources/subscribe {{\"uri\":\"lib:book/7\"}}\n< result 2\n! subscribed lib:book/7\n\
             * updated lib:log\n{}* updated lib:book/8\n* updated lib:book/7\n{}\
             > call 3 resources/unsubscribe {{\"uri\":\"lib:log\"}}\n< result 3\n! unsubscribed lib:log\n\
             * updated lib:log\n",
            updated("lib:log"),
            updated("lib:book/7"),
        ));
        for revision in Revision::ALL.into_iter().filter(|revision| Revisions::HANDSHAKE.contains(*revision))
        {
            Setup::new(CONFIG).subscription_buffer(100).session(revision).check(
                "> call 1 resources/subscribe {\"uri\":\"none:\"}\n\
                 < error 1 -32002 Resource not found data {\"uri\":\"none:\"}\n! fault UnknownResource\n",
            );
        }
        // An undeclared method is unknown.
        let info = ServerConfig::new("s", "1").features(&SILENT);
        Setup::new(info).subscription_buffer(100).session(Revision::V2025_11_25).check(
            "> call 1 resources/subscribe {\"uri\":\"lib:log\"}\n\
             < error 1 -32601 Method not found: the server does not support resource subscriptions\n! fault UnknownMethod\n",
        );
    }

    #[test]
    fn subscription_selects_existing_resources() {
        let filter =
            r#"{"resourcesListChanged":true,"resourceSubscriptions":["lib:log","none:","lib:book/7"]}"#;
        let honoured = r#"{"resourcesListChanged":true,"resourceSubscriptions":["lib:log","lib:book/7"]}"#;
        let updated = |id: &str, uri: &str| {
            format!("< note notifications/resources/updated {{{},\"uri\":\"{uri}\"}}\n", tag(id))
        };
        Setup::new(CONFIG).subscription_buffer(100).check(&format!(
            "{}{}! listening [Resources] [\"lib:log\", \"lib:book/7\"]\n* updated lib:log\n{}* changed resources\n\
             < note notifications/resources/list_changed {{{}}}\n* updated none:\n",
            listen("1", filter),
            acknowledged("1", honoured),
            updated("1", "lib:log"),
            tag("1"),
        ));
    }
}
