//! Server features used by a client, in every revision, over narrow pipes.
use crate::support::pair::scenario::Both;
use mcp_proto::client::{Options, Reference};
use mcp_proto::server::Change;
use mcp_proto::{ClientCapabilities, Level, Revision, Revisions, SendError};

const DEFAULT: Options = Options::DEFAULT;
const NOTHING: ClientCapabilities = ClientCapabilities::NONE;

/// The numbers of the generated entries.
fn numbered(prefix: &str) -> String {
    (0..12).map(|number| format!("{prefix}{number}")).collect::<Vec<_>>().join(", ")
}

#[test]
fn lists_arrive_complete_for_any_page_size() {
    Both::run(Revisions::ALL, NOTHING, |both| {
        both.start("tools", |client| client.list_tools(DEFAULT));
        both.settle().heard(&["tools: echo, later, steps, speaks, asks, forever, roots, page, last"]);
        both.start("resources", |client| client.list_resources(DEFAULT));
        both.settle().heard(&[&format!("resources: {}", numbered("lib:n"))]);
        both.start("templates", |client| client.list_templates(DEFAULT));
        both.settle().heard(&[&format!("templates: {}", numbered("lib:{a}/{b}/"))]);
        both.start("prompts", |client| client.list_prompts(DEFAULT));
        both.settle().heard(&["prompts: review, b, c, d, e, f, g, h, i"]);
        // All at once: each list is complete in any order.
        both.start("tools", |client| client.list_tools(DEFAULT));
        let given_up = both.start("resources", |client| client.list_resources(DEFAULT));
        both.start("prompts", |client| client.list_prompts(DEFAULT));
        both.cancel(given_up);
        both.settle();
        let mut heard = both.heard_now();
        heard.sort();
        assert_eq!(
            heard,
            [
                "prompts: review, b, c, d, e, f, g, h, i",
                "tools: echo, later, steps, speaks, asks, forever, roots, page, last"
            ]
        );
        both.told_now();
    });
}

#[test]
fn resources_are_text_or_bytes_or_not_found() {
    Both::run(Revisions::ALL, NOTHING, |both| {
        for (uri, contents) in [
            ("lib:n0", r#""mimeType":"text/plain","text":"text"}"#),
            ("lib:n1", r#""mimeType":"application/octet-stream","blob":"AAH/"}"#),
            ("lib:x%20y/%C3%A9/3", r#""mimeType":"text/plain","text":"[Some(\"x y\"), Some(\"é\")]"}"#),
        ] {
            both.start("read", |client| client.read_resource(uri, DEFAULT));
            let heard = both.settle().heard_now();
            assert_eq!(heard.len(), 1, "{heard:?}");
            assert!(heard[0].contains(contents), "{heard:?}");
        }
        let code = if both.is_stateless() { -32602 } else { -32002 };
        for uri in ["lib:none/1/0", "other:"] {
            both.start("read", |client| client.read_resource(uri, DEFAULT));
            let heard = both.settle().heard_now();
            assert_eq!(heard.len(), 1, "{heard:?}");
            assert!(
                heard[0].starts_with("read: error") && heard[0].contains(&format!("({code})")),
                "{heard:?}"
            );
            assert!(heard[0].ends_with("ResourceNotFound?"), "{heard:?}");
            both.told_now();
        }
    });
}

#[test]
fn prompts_are_filled_and_arguments_completed() {
    Both::run(Revisions::ALL, NOTHING, |both| {
        both.start("get", |client| client.get_prompt("review", &[("book", "\"1\"")], DEFAULT));
        let heard = both.settle().heard_now();
        assert!(
            heard[0].contains(r#"{"role":"user","content":{"type":"text","text":"Read \"1\""}}"#),
            "{heard:?}"
        );
        both.start("get", |client| client.get_prompt("review", &[], DEFAULT));
        both.start("get", |client| client.get_prompt("b", &[], DEFAULT));
        both.start("get", |client| client.get_prompt("none", &[], DEFAULT));
        let heard = both.settle().heard_now();
        assert_eq!(heard.iter().filter(|it| it.contains("(-32602)")).count(), 3, "{heard:?}");
        both.told(&["fault InvalidParams", "fault UnknownPrompt"]);
        let prompt = Reference::Prompt("review");
        both.start("complete", |client| client.complete(prompt, "style", "short", &[], DEFAULT));
        let heard = both.settle().heard_now();
        assert!(heard[0].contains(r#""values":["short","shorter"]"#), "{heard:?}");
        both.start("complete", |client| client.complete(prompt, "book", "x", &[], DEFAULT));
        let heard = both.settle().heard_now();
        assert!(heard[0].contains(r#"{"values":["x0","x1","x2"],"total":200,"hasMore":true}"#), "{heard:?}");
    });
}

#[test]
fn log_messages_follow_the_requested_level() {
    Both::run(Revisions::ALL, NOTHING, |both| {
        // The handshake era logs all levels by default, the stateless era none.
        both.call("speaks", "{}", DEFAULT);
        let all: &[&str] =
            &["log debug \"debug\"", "log info \"info\"", "log error \"error\"", "speaks: said"];
        let stateless = both.is_stateless();
        both.settle().heard(if stateless { &all[3..] } else { all });
        if stateless {
            let asked = both.client.set_log_level(Level::Info, DEFAULT);
            assert_eq!(asked, Err(SendError::Unsupported));
        } else {
            both.start("level", |client| client.set_log_level(Level::Info, DEFAULT));
            both.settle().heard(&["level: result {}"]);
        }
        both.call("speaks", "{}", DEFAULT.log_level(Level::Info));
        both.settle().heard(&all[1..]);
    });
}

#[test]
fn progress_belongs_to_its_own_call() {
    Both::run(Revisions::ALL, NOTHING, |both| {
        both.call("steps", "{}", DEFAULT);
        both.settle().heard(&["steps: done"]);
        both.call("steps", "{}", DEFAULT.with_progress());
        let message = if both.revision == Revision::V2024_11_05 { "" } else { " on it" };
        let steps = [1, 2, 3].map(|step| format!("steps: {step}{message}"));
        both.settle().heard(&[&steps[0], &steps[1], &steps[2], "steps: done"]);
    });
}

#[test]
fn deferred_call_is_answered_cancelled_or_times_out() {
    Both::run(Revisions::ALL, NOTHING, |both| {
        let answered = both.call("later", "{}", DEFAULT);
        let given_up = both.call("later", "{}", DEFAULT);
        both.call("later", "{}", DEFAULT.timeout(mcp_proto::Millis(50)));
        both.settle().heard(&[]);
        assert_eq!(both.deferred.len(), 3);
        both.cancel(given_up);
        both.settle().told(&["cancelled why"]);
        both.at(50).heard(&["later: lost TimedOut"]).told(&["cancelled timeout"]);
        assert!(both.client.is_pending(answered));
        let left: Vec<_> = std::mem::take(&mut both.deferred);
        let mut answers = 0;
        for ticket in left {
            if let Ok(reply) = both.server.reply(ticket) {
                reply.text("at last");
                answers += 1;
            }
        }
        assert_eq!(answers, 1);
        both.settle().heard(&["later: at last"]);
    });
}

#[test]
fn handshake_era_client_subscribes_to_resources() {
    Both::run(Revisions::HANDSHAKE, NOTHING, |both| {
        both.start("subscribe", |client| client.subscribe("lib:n0", DEFAULT));
        both.settle().heard(&["subscribe: result {}"]).told(&["subscribed lib:n0"]);
        both.server.changed(Change::Resource("lib:n0"));
        both.server.changed(Change::Resource("lib:n1"));
        both.server.changed(Change::Resource("lib:n0"));
        both.settle().heard(&["updated lib:n0"]);
        both.server.changed(Change::Tools);
        both.server.changed(Change::Prompts);
        both.server.changed(Change::Resources);
        both.settle();
        let mut heard = both.heard_now();
        heard.sort();
        assert_eq!(heard, ["changed Prompts", "changed Resources", "changed Tools"]);
        both.start("unsubscribe", |client| client.unsubscribe("lib:n0", DEFAULT));
        both.settle().heard(&["unsubscribe: result {}"]).told(&["unsubscribed lib:n0"]);
        both.server.changed(Change::Resource("lib:n0"));
        both.settle();
    });
    Both::run(Revisions::STATELESS, NOTHING, |both| {
        assert_eq!(both.client.subscribe("lib:n0", DEFAULT), Err(SendError::Unsupported));
    });
}

/// The client sends no batches; the server answers each member in the array.
#[test]
fn batch_between_requests_disturbs_no_other() {
    Both::run(Revisions::only(Revision::V2025_03_26), NOTHING, |both| {
        both.call("later", "{}", DEFAULT);
        both.settle();
        both.raw(r#"[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"tools/call","params":{"name":"echo"}},{"jsonrpc":"2.0","id":"c","method":"x"},{"jsonrpc":"2.0","method":"x"}]"#);
        // The responses are a batch, too, for requests that this client never sent.
        both.heard(&["fault UnknownResponse"; 3]).told(&["fault UnknownMethod", "fault UnknownNotification"]);
        both.call("echo", r#"{"a":1}"#, DEFAULT);
        both.settle().heard(&[r#"echo: {"a":1}"#]);
        let ticket = both.deferred.pop().unwrap();
        both.server.reply(ticket).unwrap().text("now");
        both.settle().heard(&["later: now"]);
    });
}
