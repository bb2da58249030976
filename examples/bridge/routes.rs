//! Routes messages of a server process to HTTP exchanges.

use std::collections::{BTreeMap, VecDeque};
use std::sync::mpsc::Sender;

use mcp_proto::json::Json;
use mcp_proto::rpc::{Message, MessageKind};

use super::message;

/// Maximum number of messages that wait for the event stream of a session.
const MAX_HELD: usize = 64;

/// The exchanges of one server process.
///
/// A process on stdio expects one client, so its messages name no client. With `is_shared`, the bridge therefore
/// replaces the ids and progress tokens of requests by its own numbers.
#[derive(Default)]
pub(crate) struct Routes {
    is_shared: bool,
    next: u64,
    exchanges: BTreeMap<u64, Exchange>,
    /// The event stream of the session.
    general: Option<Sender<Vec<u8>>>,
    held: VecDeque<Vec<u8>>,
    /// Whether the process has ended. Later exchanges then end at once.
    is_closed: bool,
}

/// A request that waits for its response.
struct Exchange {
    messages: Sender<Vec<u8>>,
    /// The id and the progress token that the client chose.
    id: Vec<u8>,
    token: Option<Vec<u8>>,
    /// Whether the request is of the stateless era and requests log messages.
    wants_logs: bool,
}

impl Routes {
    /// Creates the routes of a process. With `is_shared`, several clients may share the process.
    pub(crate) fn new(is_shared: bool) -> Routes {
        Routes { is_shared, ..Routes::default() }
    }

    /// Adds the exchange of a request. Returns the number of the exchange, and the text for the process.
    pub(crate) fn add(&mut self, request: &Message<'_>, messages: Sender<Vec<u8>>) -> (u64, Vec<u8>) {
        self.next += 1;
        let (id, token) = (request.id(), message::meta(request, message::PROGRESS_TOKEN));
        let bytes = |part: Json<'_>| part.bytes().to_vec();
        let exchange = Exchange {
            messages,
            id: id.map(bytes).unwrap_or_default(),
            token: token.map(bytes),
            wants_logs: message::meta(request, message::LOG_LEVEL).is_some(),
        };
        if !self.is_closed {
            self.exchanges.insert(self.next, exchange);
        }
        if !self.is_shared {
            return (self.next, request.bytes().to_vec());
        }
        let number = self.next.to_string();
        (self.next, message::replace(request, &[(id, number.as_bytes()), (token, number.as_bytes())]))
    }

    /// Removes an exchange. Returns the cancellation for a shared process, or `None` if the exchange has ended.
    /// Also returns `None` in a session, because there a lost connection is no cancellation.
    pub(crate) fn remove(&mut self, number: u64) -> Option<Vec<u8>> {
        self.exchanges.remove(&number).filter(|_| self.is_shared)?;
        let params = format!(r#"{{"requestId":{number}}}"#);
        Some(
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#)
                .into_bytes(),
        )
    }

    /// Ends the exchange of a request that the client of a session has cancelled, because such a request gets no
    /// response.
    pub(crate) fn cancel(&mut self, id: &[u8]) {
        self.exchanges.retain(|_, exchange| exchange.id != id);
    }

    /// Sets the event stream of the session, and sends the held messages to the stream. Ends the previous event stream.
    pub(crate) fn listen(&mut self, messages: Sender<Vec<u8>>) {
        for held in self.held.drain(..) {
            let _ = messages.send(held);
        }
        self.general = Some(messages).filter(|_| !self.is_closed);
    }

    /// Ends all exchanges and the event stream, because the process has ended. Exchanges that are added later end at
    /// once.
    pub(crate) fn close(&mut self) {
        self.exchanges.clear();
        (self.general, self.is_closed) = (None, true);
    }

    /// Passes a message of the process to its exchange. Drops invalid lines and batches.
    pub(crate) fn route(&mut self, line: &[u8]) {
        let Ok(message) = Message::parse(line) else { return };
        match message.kind() {
            MessageKind::Response => self.respond(&message),
            MessageKind::Request | MessageKind::Notification if self.is_shared => self.notify(&message),
            MessageKind::Request | MessageKind::Notification => self.route_in_session(&message),
            MessageKind::Batch | MessageKind::Invalid => {}
        }
    }

    /// Returns the number of the exchange whose id or token is `part`. In a shared process, `part` is the number
    /// itself, and the exchange may have ended. In a session, `named` reads the id or the token of an exchange.
    fn find(&self, part: Option<Json<'_>>, named: fn(&Exchange) -> Option<&[u8]>) -> Option<u64> {
        let part = part?.bytes();
        match self.is_shared {
            true => str::from_utf8(part).ok()?.parse().ok(),
            false => self.exchanges.iter().find(|(_, it)| named(it) == Some(part)).map(|(number, _)| *number),
        }
    }

    fn respond(&mut self, response: &Message<'_>) {
        let number = self.find(response.id(), |exchange| Some(&exchange.id));
        let Some(exchange) = number.and_then(|number| self.exchanges.remove(&number)) else { return };
        let text = match self.is_shared {
            true => {
                let subscription = message::ended_subscription(response);
                message::replace(response, &[(response.id(), &exchange.id), (subscription, &exchange.id)])
            }
            false => response.bytes().to_vec(),
        };
        let _ = exchange.messages.send(text);
    }

    /// Passes a notification of a shared process to the request or the subscription that the notification names. A log
    /// message names neither, so the latest request that requests log messages receives the log message.
    fn notify(&mut self, notification: &Message<'_>) {
        let token = message::token(notification);
        let subscription = message::meta(notification, message::SUBSCRIPTION);
        let number = match token.or(subscription) {
            Some(part) => self.find(Some(part), |_| None),
            None => {
                self.exchanges.iter().rfind(|(_, exchange)| exchange.wants_logs).map(|(number, _)| *number)
            }
        };
        let Some(exchange) = number.and_then(|number| self.exchanges.get(&number)) else { return };
        let own_token = exchange.token.as_deref().unwrap_or(b"null");
        let places = [(token, own_token), (subscription, exchange.id.as_slice())];
        let _ = exchange.messages.send(message::replace(notification, &places));
    }

    /// Passes a message of a session to the request whose progress token the message has, or else to the latest
    /// request. If the session has no request, or the client of this request has disconnected, the message goes to the
    /// event stream. Without an event stream, the bridge holds the message for the next event stream, or drops the
    /// message if the bridge already holds `MAX_HELD` messages. The latest request has precedence over the event
    /// stream, so that the log messages of a call precede its response.
    fn route_in_session(&mut self, message: &Message<'_>) {
        let text = message.bytes().to_vec();
        let number = self.find(message::token(message), |exchange| exchange.token.as_deref());
        let named = number.and_then(|number| self.exchanges.get(&number)).map(|exchange| &exchange.messages);
        let latest = self.exchanges.values().next_back().map(|exchange| &exchange.messages);
        let targets = named.or(latest).into_iter().chain(&self.general);
        let mut unsent = Some(text);
        for target in targets {
            let Some(text) = unsent.take() else { return };
            unsent = target.send(text).err().map(|error| error.0);
        }
        if let Some(text) = unsent.filter(|_| self.held.len() < MAX_HELD) {
            self.held.push_back(text);
        }
    }
}
