//! Text forms of events and messages.

use mcp_proto::client::{ChunkData, ConnectFailure, Event, InputRequest};
use mcp_proto::json::Str;
use mcp_proto::{Outcome, Ticket};

/// The start of the `_meta` of stateless requests, without capabilities. In formatted messages, `{..` stands for this
/// text.
pub(crate) const META: &str = concat!(
    r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}"#
);

/// Formats an event. Returns the text, and the ticket of the request that ends with the event, if any.
pub(crate) fn describe<'n>(event: &Event<'_>, name: &dyn Fn(Ticket) -> &'n str) -> (String, Option<Ticket>) {
    let text = match event {
        Event::Connected(it) => format!("connected {}", it.revision()),
        Event::ConnectFailed(ConnectFailure::NoCommonRevision(answer)) => {
            format!("failed NoCommonRevision {answer}")
        }
        Event::ConnectFailed(ConnectFailure::Refused(error)) => format!("failed Refused {error}"),
        Event::ConnectFailed(ConnectFailure::ResponseTooLong { .. }) => "failed ResponseTooLong".to_owned(),
        Event::ConnectFailed(other) => format!("failed {other:?}"),
        Event::Response(it) => {
            let what = match it.outcome() {
                Outcome::Result(result) => {
                    let of = it.result_type().map_or(String::new(), |name| format!(" of {name}"));
                    format!("result{of} {result}")
                }
                Outcome::Error(error) => {
                    let data = error.data().map_or(String::new(), |data| format!(" {data}"));
                    let hint = error.hint().map_or(String::new(), |hint| format!(", {hint:?}?"));
                    format!("error {error}{data}{hint}")
                }
                Outcome::Failed(lost) => format!("lost {lost:?}"),
                _ => "?".to_owned(),
            };
            return (format!("{}: {what}", name(it.ticket())), Some(it.ticket()));
        }
        Event::Tools(page) => {
            let names = page.tools().map(|tool| named(tool.name()));
            return one_page(name(page.ticket()), names, page.is_last(), page.ticket());
        }
        Event::Resources(page) => {
            let names = page.resources().map(|resource| named(resource.uri()));
            return one_page(name(page.ticket()), names, page.is_last(), page.ticket());
        }
        Event::Templates(page) => {
            let names = page.templates().map(|template| named(template.uri_template()));
            return one_page(name(page.ticket()), names, page.is_last(), page.ticket());
        }
        Event::Prompts(page) => {
            let names = page.prompts().map(|prompt| named(prompt.name()));
            return one_page(name(page.ticket()), names, page.is_last(), page.ticket());
        }
        Event::Progress(it) => {
            let total = it.total().map_or(String::new(), |total| format!("/{total}"));
            let message = it.message().map_or(String::new(), |message| format!(" {message}"));
            format!("{}: {}{total}{message}", name(it.ticket()), it.progress())
        }
        Event::Log(it) => {
            let level = it.level().map_or("?".into(), |level| format!("{level:?}").to_lowercase());
            let logger = it.logger().map_or(String::new(), |logger| format!(" {logger}"));
            format!("log {level}{logger} {}", it.data())
        }
        Event::ServerRequest(asked) => format!("asked {}", wanted(asked.input())),
        Event::InputRequired(it) => {
            let asks: Vec<String> =
                it.requests().map(|(key, input)| format!("{key}={}", wanted(input))).collect();
            let state = if it.has_state() { " and a state" } else { "" };
            format!("{}: needs [{}]{state}", name(it.ticket()), asks.join(", "))
        }
        Event::Task { ticket, task } => {
            let status = task.status().map_or("?", mcp_proto::TaskStatus::as_str);
            let message = task.message().map_or(String::new(), |message| format!(" {message}"));
            format!("{}: task {} {status}{message}", name(*ticket), named(task.id()))
        }
        Event::Chunk { ticket, block, data: ChunkData::Text(text) } => {
            format!("{}: block {block} {text}", name(*ticket))
        }
        Event::Cancelled { reason: Some(reason), .. } => format!("cancelled {reason}"),
        Event::Cancelled { .. } => "cancelled".to_owned(),
        Event::Expired(_) => "expired".to_owned(),
        Event::Changed { listed, subscription: None } => format!("changed {listed:?}"),
        Event::Changed { listed, subscription: Some(ticket) } => {
            format!("{}: changed {listed:?}", name(*ticket))
        }
        Event::Updated { resource, subscription: None } => format!("updated {}", named(resource.uri())),
        Event::Updated { resource, subscription: Some(ticket) } => {
            format!("{}: updated {}", name(*ticket), named(resource.uri()))
        }
        Event::Acknowledged(it) => {
            let lists = [(it.tools(), "tools"), (it.prompts(), "prompts"), (it.resources(), "resources")];
            let lists =
                lists.into_iter().filter(|(is_listed, _)| *is_listed).map(|(_, name)| name.to_owned());
            let listed: Vec<String> =
                lists.chain(it.uris().chain(it.tasks()).map(|text| text.to_string())).collect();
            format!("{}: subscribes to [{}]", name(it.ticket()), listed.join(", "))
        }
        Event::Notification { method, params, subscription } => {
            let name = subscription.map_or(String::new(), |ticket| format!("{}: ", name(ticket)));
            let params = params.map_or(String::new(), |params| format!(" {params}"));
            format!("{name}notified {method}{params}")
        }
        Event::Writable => "room".to_owned(),
        Event::PeerUnresponsive => "silent".to_owned(),
        Event::ProtocolError(fault) => {
            let fault = format!("{fault:?}");
            format!("fault {}", fault.split([' ', '(', '{']).next().unwrap())
        }
        _ => "?".to_owned(),
    };
    (text, None)
}

fn named(name: Option<Str<'_>>) -> String {
    name.map_or("?".into(), |name| name.to_string())
}

fn one_page(
    about: &str,
    names: impl Iterator<Item = String>,
    last: bool,
    ticket: Ticket,
) -> (String, Option<Ticket>) {
    let (end, ended) = if last { (".", Some(ticket)) } else { (", ..", None) };
    (format!("{about}: {}{end}", names.collect::<Vec<_>>().join(", ")), ended)
}

/// Formats a request of the server.
fn wanted(input: InputRequest<'_>) -> String {
    match input {
        InputRequest::Roots => "roots".to_owned(),
        InputRequest::Elicit(form) => format!("form {}", form.message()),
        InputRequest::OpenUrl(open) => format!("url {}", open.url()),
        InputRequest::Sample(sample) => format!("sample {}", sample.max_tokens()),
        InputRequest::Other { method, params } => format!("{method} {params}"),
        _ => "?".to_owned(),
    }
}

/// Removes the declared capabilities from a stateless request.
fn without_capabilities(text: &str) -> String {
    let key = r#""io.modelcontextprotocol/clientCapabilities":{"#;
    let Some((before, after)) = text.split_once(key) else { return text.to_owned() };
    let mut depth = 1;
    let end = after.find(|it| {
        depth += i32::from(it == '{') - i32::from(it == '}');
        depth == 0
    });
    format!("{before}{key}{}", &after[end.unwrap()..])
}

/// Formats a message for comparison. Omits `jsonrpc`. Writes `@` for a request id and its progress token, `@name` for
/// an id in a cancellation, and `{..` for [`META`].
pub(crate) fn shorten(line: &str, ids: &[(String, String)]) -> String {
    let value: serde_json::Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("not JSON: {line}"));
    let rest = line.strip_prefix(r#"{"jsonrpc":"2.0","#).unwrap_or_else(|| panic!("no envelope: {line}"));
    let mut text = without_capabilities(&format!("{{{rest}")).replace(META, "{..");
    if value.get("method").is_some() && value.get("id").is_some_and(serde_json::Value::is_u64) {
        let id = &value["id"];
        text = text.replacen(&format!(r#""id":{id}"#), r#""id":@"#, 1);
        text = text.replace(&format!(r#""progressToken":{id}"#), r#""progressToken":@"#);
    }
    if let Some(id) = value["params"].get("requestId") {
        let id = id.to_string();
        let name = ids.iter().find(|it| it.1 == id).map_or("?", |it| it.0.as_str());
        text = text.replace(&format!(r#""requestId":{id}"#), &format!(r#""requestId":@{name}"#));
    }
    text
}
