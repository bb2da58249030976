//! Tools for tests, and the record of their application.

use super::{extension, requests};
use mcp_proto::Decimal;
use mcp_proto::server::{
    Call, Change, Event, Feature, Logging, ServerConfig, SubscriptionRequest, Tool, Tools,
};
use mcp_proto::{Level, Millis, ProtocolError, SendError, Ticket};

/// The events so far, and the tickets of deferred requests and of subscriptions.
pub(crate) struct Record {
    pub(crate) events: Vec<String>,
    pub(crate) faults: Vec<ProtocolError>,
    pub(crate) tickets: Vec<Ticket>,
    /// The tickets of requests that the server sent.
    pub(crate) asked: Vec<Ticket>,
    /// The tools of a dynamic list.
    pub(crate) listed: &'static [Tool<'static>],
    /// The resources to which the client may not subscribe.
    pub(crate) refused: Vec<String>,
}

impl Default for Record {
    fn default() -> Record {
        Record {
            events: Vec::new(),
            faults: Vec::new(),
            tickets: Vec::new(),
            asked: Vec::new(),
            listed: &LISTED,
            refused: Vec::new(),
        }
    }
}

impl Record {
    /// Returns the ticket of the deferred request or the subscription with this number.
    pub(crate) fn ticket(&self, number: &str) -> Ticket {
        self.tickets[number.parse::<usize>().expect("a number")]
    }

    fn number(&self, ticket: Ticket) -> usize {
        self.tickets.iter().position(|known| *known == ticket).expect("a known ticket")
    }

    fn not_now(&mut self, outcome: Result<(), SendError>) {
        if let Err(why) = outcome {
            self.events.push(format!("not now {why:?}"));
        }
    }
}

/// Tools whose names state their behavior.
pub(crate) static TOOLS: Tools<'static> = Tools::new(&[
    Tool::new("echo", "{}"),
    Tool::new("who", "{}"),
    Tool::new("pieces", "{}"),
    Tool::new("typed", "{}"),
    Tool::new("invalid", "{}"),
    Tool::new("fail", "{}"),
    Tool::new("empty", "{}"),
    Tool::new("error", "{}"),
    Tool::new("unknown", "{}"),
    Tool::new("drop", "{}"),
    Tool::new("defer", "{}"),
    Tool::new("progress", "{}"),
    Tool::new("log", "{}"),
    Tool::new("object", "{}"),
    Tool::new("list", "{}"),
    Tool::new("unbalanced", "{}"),
    Tool::new("large", "{}"),
    Tool::new("large_error", "{}"),
    Tool::new("change", "{}"),
    Tool::new("needs", "{}"),
    Tool::new("declared", "{}"),
    Tool::new("caf\u{e9}", "{}"),
])
.list_changed();

/// A server with tools and logging.
pub(crate) const CONFIG: ServerConfig<'static> = ServerConfig::new("s", "1").features(&FEATURES);

static FEATURES: [&dyn Feature; 2] = [&TOOLS, &Logging];

/// A server without features.
pub(crate) const BARE: ServerConfig<'static> = ServerConfig::new("s", "1");

/// Records the event. If it is a request, responds to, defers or drops the request.
pub(crate) fn handle(event: Event<'_>, record: &mut Record) {
    let text = match event {
        Event::Connected(client) => {
            let name =
                client.client_info().get("name").and_then(|name| name.string()).map(|name| name.to_string());
            let name = name.unwrap_or_default();
            format!("connected {} {name} {}", client.revision(), client.capabilities().raw())
        }
        Event::Ready => "ready".into(),
        Event::Restarted => "restarted".into(),
        Event::RootsChanged => "roots changed".into(),
        Event::Response(answered) => requests::answered(answered, record),
        Event::Progress(progress) => requests::progress(progress, record),
        Event::Writable => "room".into(),
        Event::PeerUnresponsive => "silent".into(),
        Event::ProtocolError(fault) => {
            record.faults.push(fault);
            format!("fault {}", name_of(&format!("{fault:?}")))
        }
        Event::Expired(ticket) => format!("expired {}", record.number(ticket)),
        Event::Cancelled { ticket, reason } => match reason {
            Some(reason) => format!("cancelled {} {reason}", record.number(ticket)),
            None => format!("cancelled {}", record.number(ticket)),
        },
        Event::Listening(listening) => {
            record.tickets.push(listening.ticket());
            let lists = [Change::Tools, Change::Prompts, Change::Resources];
            let lists: Vec<_> = lists.into_iter().filter(|list| listening.includes(*list)).collect();
            format!("listening {lists:?} {:?}", listening.uris().collect::<Vec<_>>())
        }
        Event::SubscriptionRequest(request) => return authorize(request, record),
        Event::Request(request) => return extension::respond(request, record),
        Event::Notification { method, params } => match params {
            Some(params) => format!("notified {method} {params}"),
            None => format!("notified {method}"),
        },
        Event::Subscribed(uri) => format!("subscribed {uri}"),
        Event::Unsubscribed(uri) => format!("unsubscribed {uri}"),
        Event::ListTools(list) => {
            record.events.push("list tools".into());
            return list.tools(|index| record.listed.get(index).copied());
        }
        Event::Call(call) => {
            record.events.push(format!("call {} {}", call.name(), call.raw_arguments().raw()));
            return answer(call, record);
        }
        other => return super::catalog::handle(other, record),
    };
    record.events.push(text);
}

/// Accepts the resources that the script did not `refuse`. Refuses the request if its only resource is `lib:error`, and
/// drops the request if its only resource is `lib:drop`.
fn authorize(request: SubscriptionRequest<'_>, record: &mut Record) {
    let uris: Vec<_> = request.uris().map(|uri| uri.to_string()).collect();
    let declared = request.meta().get("io.modelcontextprotocol/clientCapabilities").is_some();
    let filter = request.filter().map(|filter| filter.raw().to_string()).unwrap_or_default();
    record.events.push(format!(
        "{} {} {uris:?} {} {declared}{filter}",
        request.method(),
        request.id(),
        request.revision()
    ));
    match &*uris.concat() {
        "lib:error" => request.error(7, "not permitted"),
        "lib:drop" => {}
        _ => {
            let accepted = request.accept_if(|uri| !record.refused.iter().any(|refused| refused == uri));
            record.tickets.extend(accepted);
        }
    }
}

/// The default entries of the dynamic list.
pub(crate) static LISTED: [Tool<'static>; 3] =
    [Tool::new("one", "{}"), Tool::new("two", "{}"), Tool::new("three", "{}")];

/// Returns the name of a variant from its `Debug` text.
pub(crate) fn name_of(debug: &str) -> &str {
    debug.split([' ', '(', '{']).next().unwrap_or_default()
}

#[derive(serde::Deserialize)]
struct Typed<'a> {
    text: &'a str,
    count: u8,
}

fn answer(mut call: Call<'_>, record: &mut Record) {
    let number = |call: &Call<'_>, name| call.raw_arguments().get(name).and_then(|value| value.integer());
    match call.name() {
        "echo" | "caf\u{e9}" | r"ec\u0068o" => {
            let text = call.raw_arguments().raw().to_string();
            call.text(text);
        }
        "who" => {
            let text = format!("{} {:?} {}", call.revision(), call.client(), call.meta().raw());
            call.text(text);
        }
        "pieces" => call.content(|result| {
            result.text(1);
            result.text("two");
            result.failed();
        }),
        "typed" => match call.arguments::<Typed<'_>>() {
            Ok(Typed { text, count }) => call.text(format_args!("{text} {count}")),
            Err(error) => call.invalid(error),
        },
        "invalid" => call.invalid("`n` must be a number"),
        "fail" => call.fail("it went wrong"),
        "empty" => call.content(|_| {}),
        "error" => call.error_with(7, "no", |out| out.integer(1)),
        "unknown" => call.unknown_tool(),
        "drop" => drop(call),
        "defer" => {
            let time = number(&call, "ms").map(|ms| Millis(ms as u64));
            if number(&call, "progress").is_some() {
                let notified = call.progress(1, None, "");
                record.not_now(notified);
            }
            match call.defer(time) {
                Ok(ticket) => record.tickets.push(ticket),
                Err(call) => {
                    record.events.push("full".into());
                    call.busy();
                }
            }
        }
        "progress" => {
            for (progress, message) in [("1", "a"), ("1.0", "not more"), ("1.5", ""), ("1e1", "b")] {
                let notified =
                    call.progress(Decimal::parse(progress).expect("a number"), Decimal::parse("10"), message);
                record.not_now(notified);
            }
            call.text("done");
        }
        "log" => {
            for level in [Level::Debug, Level::Warning, Level::Emergency] {
                let notified = call.log(level, Some("l"), level.as_str());
                record.not_now(notified);
            }
            call.text("done");
        }
        "object" => call.structured(&std::collections::BTreeMap::from([("a", "1\"")])),
        "list" => call.structured(&[1, 2]),
        "unbalanced" => call.structured_with(|out| out.begin_object()),
        "large" => {
            let text = "x".repeat(number(&call, "bytes").unwrap_or(0) as usize);
            call.text(text);
        }
        "large_error" => call.error(7, "x".repeat(10_000)),
        "change" => {
            call.changed(Change::Tools);
            call.changed(Change::Tools);
            let text = number(&call, "bytes").map_or("done".into(), |bytes| "x".repeat(bytes as usize));
            call.text(text);
        }
        "declared" => {
            let text = call.client_capabilities().raw().to_string();
            call.text(text);
        }
        "needs" => requests::needs(call),
        _ => super::catalog::content(call),
    }
}
