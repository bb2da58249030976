//! Server features used by a client, in every revision, over narrow pipes.
use crate::support::pair::scenario::Scenario;
use mcp_proto::client::{Options, Reference};
use mcp_proto::server::Change;
use mcp_proto::{ClientCapabilities, Level, Revision, Revisions, SendError};

const DEFAULT: Options = Options::DEFAULT;
const NOTHING: ClientCapabilities = ClientCapabilities::NONE;

/// Returns the names of the generated entries with this prefix.
fn numbered(prefix: &str) -> String {
    (0..12).map(|number| format!("{prefix}{number}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn lists_arrive_complete_for_any_page_size() {
    Scenario::run(Revisions::ALL, NOTHING, |pair| {
        pair.start("tools", |client| client.list_tools(DEFAULT));
        pair.run_until_idle()
            .expect_client_events(&["tools: echo, later, steps, speaks, asks, forever, roots, page, last"]);
        pair.start("resources", |client| client.list_resources(DEFAULT));
        pair.run_until_idle().expect_client_events(&[&format!("resources: {}", numbered("lib:n"))]);
        pair.start("templates", |client| client.list_templates(DEFAULT));
        pair.run_until_idle().expect_client_events(&[&format!("templates: {}", numbered("lib:{a}/{b}/"))]);
        pair.start("prompts", |client| client.list_prompts(DEFAULT));
        pair.run_until_idle().expect_client_events(&["prompts: review, b, c, d, e, f, g, h, i"]);
        // Start three lists together, and cancel one. The others arrive complete, in any order.
        pair.start("tools", |client| client.list_tools(DEFAULT));
        let given_up = pair.start("resources", |client| client.list_resources(DEFAULT));
        pair.start("prompts", |client| client.list_prompts(DEFAULT));
        pair.cancel(given_up);
        pair.run_until_idle();
        let mut client_events = pair.take_client_events();
        client_events.sort();
        assert_eq!(
            client_events,
            [
                "prompts: review, b, c, d, e, f, g, h, i",
                "tools: echo, later, steps, speaks, asks, forever, roots, page, last"
            ]
        );
        pair.take_server_events();
    });
}

#[test]
fn resources_are_text_or_bytes_or_not_found() {
    Scenario::run(Revisions::ALL, NOTHING, |pair| {
        for (uri, contents) in [
            ("lib:n0", r#""mimeType":"text/plain","text":"text"}"#),
            ("lib:n1", r#""mimeType":"application/octet-stream","blob":"AAH/"}"#),
            ("lib:x%20y/%C3%A9/3", r#""mimeType":"text/plain","text":"[Some(\"x y\"), Some(\"é\")]"}"#),
        ] {
            pair.start("read", |client| client.read_resource(uri, DEFAULT));
            let client_events = pair.run_until_idle().take_client_events();
            assert_eq!(client_events.len(), 1, "{client_events:?}");
            assert!(client_events[0].contains(contents), "{client_events:?}");
        }
        let code = if pair.is_stateless() { -32602 } else { -32002 };
        for uri in ["lib:none/1/0", "other:"] {
            pair.start("read", |client| client.read_resource(uri, DEFAULT));
            let client_events = pair.run_until_idle().take_client_events();
            assert_eq!(client_events.len(), 1, "{client_events:?}");
            assert!(
                client_events[0].starts_with("read: error")
                    && client_events[0].contains(&format!("({code})")),
                "{client_events:?}"
            );
            assert!(client_events[0].ends_with("ResourceNotFound?"), "{client_events:?}");
            pair.take_server_events();
        }
    });
}

#[test]
fn prompts_are_filled_and_arguments_completed() {
    Scenario::run(Revisions::ALL, NOTHING, |pair| {
        pair.start("get", |client| client.get_prompt("review", &[("book", "\"1\"")], DEFAULT));
        let client_events = pair.run_until_idle().take_client_events();
        assert!(
            client_events[0].contains(r#"{"role":"user","content":{"type":"text","text":"Read \"1\""}}"#),
            "{client_events:?}"
        );
        pair.start("get", |client| client.get_prompt("review", &[], DEFAULT));
        pair.start("get", |client| client.get_prompt("b", &[], DEFAULT));
        pair.start("get", |client| client.get_prompt("none", &[], DEFAULT));
        let client_events = pair.run_until_idle().take_client_events();
        assert_eq!(client_events.iter().filter(|it| it.contains("(-32602)")).count(), 3, "{client_events:?}");
        pair.expect_server_events(&["fault InvalidParams", "fault UnknownPrompt"]);
        let prompt = Reference::Prompt("review");
        pair.start("complete", |client| client.complete(prompt, "style", "short", &[], DEFAULT));
        let client_events = pair.run_until_idle().take_client_events();
        assert!(client_events[0].contains(r#""values":["short","shorter"]"#), "{client_events:?}");
        pair.start("complete", |client| client.complete(prompt, "book", "x", &[], DEFAULT));
        let client_events = pair.run_until_idle().take_client_events();
        assert!(
            client_events[0].contains(r#"{"values":["x0","x1","x2"],"total":200,"hasMore":true}"#),
            "{client_events:?}"
        );
    });
}

#[test]
fn log_messages_follow_the_requested_level() {
    Scenario::run(Revisions::ALL, NOTHING, |pair| {
        // By default a server sends all levels in the handshake era, and no level in the stateless era.
        pair.call("speaks", "{}", DEFAULT);
        let all: &[&str] =
            &["log debug \"debug\"", "log info \"info\"", "log error \"error\"", "speaks: said"];
        let stateless = pair.is_stateless();
        pair.run_until_idle().expect_client_events(if stateless { &all[3..] } else { all });
        if stateless {
            let asked = pair.client.set_log_level(Level::Info, DEFAULT);
            assert_eq!(asked, Err(SendError::Unsupported));
        } else {
            pair.start("level", |client| client.set_log_level(Level::Info, DEFAULT));
            pair.run_until_idle().expect_client_events(&["level: result {}"]);
        }
        pair.call("speaks", "{}", DEFAULT.log_level(Level::Info));
        pair.run_until_idle().expect_client_events(&all[1..]);
    });
}

#[test]
fn progress_belongs_to_its_own_call() {
    Scenario::run(Revisions::ALL, NOTHING, |pair| {
        pair.call("steps", "{}", DEFAULT);
        pair.run_until_idle().expect_client_events(&["steps: done"]);
        pair.call("steps", "{}", DEFAULT.with_progress());
        let message = if pair.revision == Revision::V2024_11_05 { "" } else { " on it" };
        let steps = [1, 2, 3].map(|step| format!("steps: {step}{message}"));
        pair.run_until_idle().expect_client_events(&[&steps[0], &steps[1], &steps[2], "steps: done"]);
    });
}

#[test]
fn deferred_call_is_answered_cancelled_or_times_out() {
    Scenario::run(Revisions::ALL, NOTHING, |pair| {
        let answered = pair.call("later", "{}", DEFAULT);
        let given_up = pair.call("later", "{}", DEFAULT);
        pair.call("later", "{}", DEFAULT.timeout(mcp_proto::Millis(50)));
        pair.run_until_idle().expect_client_events(&[]);
        assert_eq!(pair.deferred.len(), 3);
        pair.cancel(given_up);
        pair.run_until_idle().expect_server_events(&["cancelled why"]);
        pair.at(50)
            .expect_client_events(&["later: lost TimedOut"])
            .expect_server_events(&["cancelled timeout"]);
        assert!(pair.client.is_pending(answered));
        let left: Vec<_> = std::mem::take(&mut pair.deferred);
        let mut answers = 0;
        for ticket in left {
            if let Ok(reply) = pair.server.reply(ticket) {
                reply.text("at last");
                answers += 1;
            }
        }
        assert_eq!(answers, 1);
        pair.run_until_idle().expect_client_events(&["later: at last"]);
    });
}

#[test]
fn handshake_era_client_subscribes_to_resources() {
    Scenario::run(Revisions::HANDSHAKE, NOTHING, |pair| {
        pair.start("subscribe", |client| client.subscribe("lib:n0", DEFAULT));
        pair.run_until_idle()
            .expect_client_events(&["subscribe: result {}"])
            .expect_server_events(&["subscribed lib:n0"]);
        pair.server.changed(Change::Resource("lib:n0"));
        pair.server.changed(Change::Resource("lib:n1"));
        pair.server.changed(Change::Resource("lib:n0"));
        pair.run_until_idle().expect_client_events(&["updated lib:n0"]);
        pair.server.changed(Change::Tools);
        pair.server.changed(Change::Prompts);
        pair.server.changed(Change::Resources);
        pair.run_until_idle();
        let mut client_events = pair.take_client_events();
        client_events.sort();
        assert_eq!(client_events, ["changed Prompts", "changed Resources", "changed Tools"]);
        pair.start("unsubscribe", |client| client.unsubscribe("lib:n0", DEFAULT));
        pair.run_until_idle()
            .expect_client_events(&["unsubscribe: result {}"])
            .expect_server_events(&["unsubscribed lib:n0"]);
        pair.server.changed(Change::Resource("lib:n0"));
        pair.run_until_idle();
    });
    Scenario::run(Revisions::STATELESS, NOTHING, |pair| {
        assert_eq!(pair.client.subscribe("lib:n0", DEFAULT), Err(SendError::Unsupported));
    });
}

/// The test sends a batch, because clients send no batches.
///
/// The server responds to all members in one array.
#[test]
fn batch_between_requests_disturbs_no_other() {
    Scenario::run(Revisions::only(Revision::V2025_03_26), NOTHING, |pair| {
        pair.call("later", "{}", DEFAULT);
        pair.run_until_idle();
        pair.raw(r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"echo"}},{"jsonrpc":"2.0","id":"c","method":"x"},{"jsonrpc":"2.0","method":"x"}]"#);
        // The responses are a batch, for requests that this client never sent.
        pair.expect_client_events(&["fault UnknownResponse"; 3])
            .expect_server_events(&["fault UnknownMethod", "fault UnknownNotification"]);
        pair.call("echo", r#"{"a":1}"#, DEFAULT);
        pair.run_until_idle().expect_client_events(&[r#"echo: {"a":1}"#]);
        let ticket = pair.deferred.pop().unwrap();
        pair.server.reply(ticket).unwrap().text("now");
        pair.run_until_idle().expect_client_events(&["later: now"]);
    });
}
