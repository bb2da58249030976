//! The server side of the extension: lists types of events, and delivers events by poll and by stream.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_proto::Ticket;
use mcp_proto::server::{ExtensionRequest, Extensions, Listening};
use mcp_proto_tokio::{Responder, ServerHandle};
use serde::Serialize;
use tokio::sync::watch;

/// The extension, as a server declares it.
pub(crate) static EVENTS: Extensions = Extensions::new(&[(super::EXTENSION, "{}")])
    .methods(&["events/list", "events/poll", "events/stream"])
    .filter_members(&["eventsListChanged"]);

/// The error code for a cursor that the server does not know.
pub(crate) const UNKNOWN_CURSOR: i32 = 1001;

/// Number of entries in a page of `events/list`.
const PAGE: usize = 2;

/// A type of events.
#[derive(Clone, Serialize)]
pub(crate) struct EventType {
    pub(crate) name: &'static str,
    pub(crate) description: &'static str,
}

/// An event that has occurred.
#[derive(Clone, Serialize)]
struct Occurrence {
    name: &'static str,
    data: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TypesPage {
    events: Vec<EventType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// The events since a cursor, and the cursor of the next poll.
#[derive(Serialize)]
struct Occurrences {
    events: Vec<Occurrence>,
    cursor: String,
}

/// The state that all requests share. A cursor is an index into the types or into the events.
pub(crate) struct EventSource {
    types: Mutex<Vec<EventType>>,
    log: watch::Sender<Log>,
    /// The subscriptions that report changes of the list of types.
    listeners: Mutex<Vec<Ticket>>,
}

#[derive(Default)]
struct Log {
    occurrences: Vec<Occurrence>,
    is_closed: bool,
}

impl EventSource {
    pub(crate) fn new(types: &[EventType]) -> EventSource {
        let types = Mutex::new(types.to_vec());
        EventSource { types, log: watch::Sender::new(Log::default()), listeners: Mutex::default() }
    }

    /// Responds to a request of the extension.
    pub(crate) fn handle(self: &Arc<Self>, request: ExtensionRequest<'_>, server: &ServerHandle) {
        let cursor = match request.params().get("cursor").and_then(|cursor| cursor.string()) {
            Some(cursor) => cursor.to_string().parse(),
            None => Ok(0),
        };
        let length = match request.method() {
            "events/list" => self.types.lock().unwrap().len(),
            _ => self.log.borrow().occurrences.len(),
        };
        let Some(cursor) = cursor.ok().filter(|cursor| *cursor <= length) else {
            return request.error(UNKNOWN_CURSOR, "unknown cursor");
        };
        match request.method() {
            "events/list" => {
                let next = cursor + PAGE;
                let events = self.types.lock().unwrap().iter().skip(cursor).take(PAGE).cloned().collect();
                request.result(&TypesPage { events, next_cursor: (next < length).then(|| next.to_string()) });
            }
            "events/poll" => {
                let events = self.log.borrow().occurrences[cursor..].to_vec();
                request.result(&Occurrences { events, cursor: length.to_string() });
            }
            _ => {
                let log = self.log.subscribe();
                server.run_within(Duration::MAX, request, move |stream| run_stream(log, cursor, stream));
            }
        }
    }

    /// Records a subscription of `2026-07-28`, if its filter selects the list of types.
    pub(crate) fn add_listener(&self, listening: &Listening<'_>) {
        if listening.filter().get("eventsListChanged").and_then(|member| member.boolean()) == Some(true) {
            self.listeners.lock().unwrap().push(listening.ticket());
        }
    }

    /// Removes a subscription that has ended.
    pub(crate) fn remove_listener(&self, ticket: Ticket) {
        self.listeners.lock().unwrap().retain(|listener| *listener != ticket);
    }

    /// Adds a type of events, and notifies the subscriptions.
    pub(crate) async fn add_type(&self, new: EventType, server: &ServerHandle) {
        self.types.lock().unwrap().push(new);
        let listeners = self.listeners.lock().unwrap().clone();
        for ticket in listeners {
            server.notify_subscription(ticket, "notifications/events/list_changed", &()).await;
        }
    }

    /// Reports an event.
    pub(crate) fn publish(&self, name: &'static str, data: f64) {
        self.log.send_modify(|log| log.occurrences.push(Occurrence { name, data }));
    }

    /// Ends all streams.
    pub(crate) fn close(&self) {
        self.log.send_modify(|log| log.is_closed = true);
    }
}

/// Sends the events since `cursor`, until the client cancels the request. Responds when the source closes.
async fn run_stream(mut log: watch::Receiver<Log>, mut cursor: usize, stream: Responder) {
    loop {
        let (new, is_closed) = {
            let log = log.borrow_and_update();
            (log.occurrences[cursor..].to_vec(), log.is_closed)
        };
        cursor += new.len();
        for occurrence in new {
            stream.notify("notifications/events/occurred", &occurrence).await;
        }
        if is_closed {
            return stream.result(Occurrences { events: Vec::new(), cursor: cursor.to_string() });
        }
        tokio::select! {
            () = stream.cancelled() => return,
            _ = log.changed() => {}
        }
    }
}
