//! Runs a client against a scripted server, at many paces.
//!
//! A script states its expectations after its steps. It runs at many paces, with lines and, unless it requires lines,
//! with messages. So the harness also shows that the sizes of reads and writes have no effect.

mod setup;
pub(crate) mod text;

use std::sync::{Arc, Mutex};

use mcp_proto::client::{ClientConfig, Event, Options, ServerRequest, Slot};
use mcp_proto::{Action, Buffer, Client, Direction, Millis, Observer, ProtocolError, SendError, Ticket};

use super::transport::{Pace, PeerInput, Transport};
pub(crate) use setup::{Setup, TIMES};
pub(crate) use text::{META, describe};

/// The ids of requests of the client by name. The name is the `name` param, or the last part of the method. An observer
/// records each id when the client writes the request into the buffer.
#[derive(Default)]
pub(crate) struct Asked {
    ids: Vec<(String, String)>,
    last: u64,
}

#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Asked>>);

impl Observer for Notes {
    fn line(&mut self, direction: Direction, line: &[u8], _: Result<(), ProtocolError>) {
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(line) else { return };
        if direction == Direction::In || value.get("method").is_none() || value.get("id").is_none() {
            return;
        }
        let mut asked = self.0.lock().unwrap();
        if let Some(id) = value["id"].as_u64() {
            assert!(id > asked.last, "ids must increase: {id} after {}", asked.last);
            asked.last = id;
        }
        let name = match value["params"]["name"].as_str() {
            Some(name) => name,
            None => value["method"].as_str().unwrap().rsplit('/').next().unwrap(),
        };
        asked.ids.insert(0, (name.to_owned(), value["id"].to_string()));
    }
}

/// The application's handler of requests of the server. The handler may return the ticket of a deferral.
pub(crate) type OnAsked = Box<dyn FnMut(ServerRequest<'_>) -> Option<Ticket>>;

pub(crate) struct ClientHarness {
    pub(crate) client: Client<'static>,
    pub(crate) setup: Setup,
    pub(crate) now: u64,
    /// The deadline of the last [`Action::Io`].
    pub(crate) deadline: Option<u64>,
    transport: Transport,
    tickets: Vec<(Ticket, String)>,
    ended: Vec<Ticket>,
    notes: Notes,
    pub(crate) events: Vec<String>,
    closed: bool,
    events_left: Option<usize>,
    on_server_request: Option<OnAsked>,
}

pub(crate) fn bytes(length: usize) -> &'static mut [u8] {
    Box::leak(vec![0; length].into_boxed_slice())
}

impl ClientHarness {
    pub(crate) fn new(setup: Setup, pace: Pace) -> ClientHarness {
        let info: &'static ClientConfig<'static> = Box::leak(Box::new(setup.info));
        let slots: &'static mut [Slot] = Box::leak(vec![Slot::EMPTY; setup.slots].into_boxed_slice());
        let notes = Notes::default();
        let observer: &'static mut Notes = Box::leak(Box::new(notes.clone()));
        let tx = if setup.grown { Buffer::grown(setup.tx) } else { bytes(setup.tx).into() };
        let mut client = Client::new(info, bytes(setup.rx), tx)
            .unwrap()
            .in_flight(slots, bytes(setup.text))
            .observe(observer);
        if let Some(table) = setup.task_table {
            client = client.client_tasks(Box::leak(Box::new(table()))).unwrap();
        }
        if let Some(bytes) = setup.max_reply_size {
            client = client.max_reply_size(bytes).unwrap();
        }
        if let Some(keep_alive) = setup.keep_alive {
            client = client.keep_alive(keep_alive);
        }
        if pace.messages {
            client = client.message_mode().unwrap();
        }
        ClientHarness {
            client,
            setup,
            now: 0,
            deadline: None,
            transport: Transport::new(pace),
            tickets: Vec::new(),
            ended: Vec::new(),
            notes,
            events: Vec::new(),
            closed: false,
            events_left: None,
            on_server_request: None,
        }
    }

    /// Sets the handler of requests of the server. Without a handler, the application drops requests of the server.
    pub(crate) fn on_server_request(
        &mut self,
        handle: impl FnMut(ServerRequest<'_>) -> Option<Ticket> + 'static,
    ) -> &mut ClientHarness {
        self.on_server_request = Some(Box::new(handle));
        self
    }

    /// Connects to a server with tools, and discards the output.
    pub(crate) fn connect(&mut self) {
        self.pump();
        // The newest request, which is the first in the list, opens the connection.
        let is_handshake =
            self.notes.0.lock().unwrap().ids.first().is_some_and(|(name, _)| name == "initialize");
        if is_handshake {
            let revision = self.setup.revision;
            self.server_sends(&format!(
                r#"{{"id":@initialize,"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#,
            ));
            self.events(&[&format!("connected {revision}")]);
        } else {
            self.server_sends(
                r#"{"id":@discover,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#,
            );
            self.events(&["connected 2026-07-28"]);
        }
        self.transport.output.clear();
    }

    /// Returns whether the session is of the handshake era.
    pub(crate) fn is_handshake(&self) -> bool {
        self.client.revision().is_some_and(|revision| revision.era() == mcp_proto::Era::Handshake)
    }

    /// Advances the time, and polls.
    pub(crate) fn at(&mut self, now: u64) -> &mut ClientHarness {
        self.now = now;
        self.pump();
        self
    }

    /// Writes a message as the server. Adds `"jsonrpc":"2.0"` to an object. `@name` stands for the id of the client's
    /// last request with that name.
    pub(crate) fn server_sends(&mut self, message: &str) -> &mut ClientHarness {
        let message = self.message(message);
        self.raw(message.as_bytes())
    }

    /// Writes several messages as the server, all before the next poll.
    pub(crate) fn server_sends_all(&mut self, messages: &[&str]) -> &mut ClientHarness {
        let messages: Vec<String> = messages.iter().map(|message| self.message(message)).collect();
        for message in messages {
            self.transport.write_line(message.as_bytes());
        }
        self.pump();
        self
    }

    /// Returns the message that [`server_sends`](ClientHarness::server_sends) writes.
    pub(crate) fn message(&self, message: &str) -> String {
        let mut message = match message.strip_prefix('{') {
            Some(rest) => format!(r#"{{"jsonrpc":"2.0",{rest}"#),
            None => message.to_owned(),
        };
        let mut ids = self.notes.0.lock().unwrap().ids.clone();
        // Longer names are replaced first, because a shorter name may be a prefix of a longer one.
        ids.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
        for (name, id) in ids {
            message = message.replace(&format!("@{name}"), &id);
        }
        message
    }

    /// Writes an unchanged line as the server.
    pub(crate) fn raw(&mut self, line: &[u8]) -> &mut ClientHarness {
        self.transport.write_line(line);
        self.pump();
        self
    }

    /// Writes bytes as the server, without a newline. Writes nothing in message mode.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut ClientHarness {
        self.transport.write(bytes);
        self.pump();
        self
    }

    /// Ends the server's output.
    pub(crate) fn eof(&mut self) -> &mut ClientHarness {
        self.transport.ended = true;
        self.pump();
        self
    }

    /// Ends the server's input, so that the client's writes fail.
    pub(crate) fn broken(&mut self) -> &mut ClientHarness {
        self.break_unnoticed().pump();
        self
    }

    /// Ends the server's input. The client notices the end on its next write.
    pub(crate) fn break_unnoticed(&mut self) -> &mut ClientHarness {
        self.transport.peer_input = PeerInput::BreaksOnWrite;
        self
    }

    /// Resets the client, and replaces the connection by a new one.
    pub(crate) fn reset(&mut self) -> &mut ClientHarness {
        self.client.reset();
        self.replace_connection();
        self.pump();
        self
    }

    /// Reconnects the client, and replaces the connection by a new one to the same server.
    pub(crate) fn reconnect(&mut self) -> &mut ClientHarness {
        self.client.reconnect();
        self.replace_connection();
        self.pump();
        self
    }

    fn replace_connection(&mut self) {
        self.transport.reset();
        self.transport.output.clear();
        self.closed = false;
    }

    pub(crate) fn pace(&self) -> Pace {
        self.transport.pace
    }

    /// Sets whether the server reads.
    pub(crate) fn peer_reads(&mut self, reads: bool) {
        self.transport.peer_input = if reads { PeerInput::Open } else { PeerInput::Blocked };
    }

    /// Calls a tool without arguments, and records the ticket under the name of the tool.
    pub(crate) fn call(&mut self, tool: &str, options: Options) -> Result<Ticket, SendError> {
        let ticket = self.client.call_json(tool, "{}", options)?;
        Ok(self.name(ticket, tool))
    }

    /// Records a ticket under a name, and polls.
    pub(crate) fn name(&mut self, ticket: Ticket, name: &str) -> Ticket {
        self.tickets.push((ticket, name.to_owned()));
        self.pump();
        ticket
    }

    /// Records a ticket under a name without polling.
    pub(crate) fn name_without_poll(&mut self, ticket: Ticket, name: &str) {
        self.tickets.push((ticket, name.to_owned()));
    }

    pub(crate) fn list(&mut self) -> Ticket {
        let ticket = self.client.list_tools(Options::DEFAULT).unwrap();
        self.name(ticket, "list")
    }

    /// Cancels a request. A later event of the request, such as its response, fails the test. Chunks, notifications and
    /// pages of skills are not checked.
    pub(crate) fn cancel(&mut self, ticket: Ticket, reason: &str) {
        self.client.cancel(ticket, reason).unwrap();
        self.ended.push(ticket);
        self.pump();
    }

    /// Returns the tickets of all requests of the server that the application has deferred.
    pub(crate) fn deferred_requests(&self) -> Vec<Ticket> {
        self.tickets.iter().filter(|it| it.1.starts_with("ask ")).map(|it| it.0).collect()
    }

    pub(crate) fn tickets_of(&self, name: &str) -> Vec<Ticket> {
        self.tickets.iter().filter(|it| it.1 == name).map(|it| it.0).collect()
    }

    /// Polls until no byte moves and no event occurs, or until the limit of [`stop_after`](ClientHarness::stop_after).
    pub(crate) fn pump(&mut self) {
        while self.step() {
            if self.events_left == Some(self.events.len()) {
                self.events_left = None;
                return;
            }
        }
    }

    fn step(&mut self) -> bool {
        match self.client.poll(Millis(self.now)) {
            Action::Io(io) => {
                self.deadline = io.deadline().map(|deadline| deadline.0);
                assert!(self.deadline.is_none_or(|at| at > self.now), "a deadline in the past: {io:?}");
                self.transport.step(io)
            }
            Action::Event => {
                let event = self.client.event().expect("poll returned Event, but event() returned None");
                let names = &self.tickets;
                let name = |ticket| names.iter().find(|it| it.0 == ticket).map_or("?", |it| it.1.as_str());
                let (text, end) = describe(&event, &name);
                let about = match &event {
                    Event::Response(it) => Some(it.ticket()),
                    Event::Tools(it) => Some(it.ticket()),
                    Event::Resources(it) => Some(it.ticket()),
                    Event::Templates(it) => Some(it.ticket()),
                    Event::Prompts(it) => Some(it.ticket()),
                    Event::Progress(it) => Some(it.ticket()),
                    Event::InputRequired(it) => Some(it.ticket()),
                    Event::Task { ticket, .. } => Some(*ticket),
                    Event::Acknowledged(it) => Some(it.ticket()),
                    Event::Changed { subscription, .. } | Event::Updated { subscription, .. } => {
                        *subscription
                    }
                    _ => None,
                };
                if let Event::ServerRequest(asked) = event {
                    let ticket = self.on_server_request.as_mut().and_then(|handle| handle(asked));
                    self.tickets.extend(ticket.map(|ticket| (ticket, format!("ask {ticket:?}"))));
                }
                if let Some(ticket) = about {
                    assert!(!self.ended.contains(&ticket), "event after the end of the request: {text}");
                }
                self.ended.extend(end);
                self.events.push(text);
                true
            }
            Action::Closed => {
                if !std::mem::replace(&mut self.closed, true) {
                    self.events.push("closed".to_owned());
                }
                false
            }
        }
    }

    /// Takes the events that no earlier call has taken, and checks that they equal `expected`.
    #[track_caller]
    pub(crate) fn events(&mut self, expected: &[&str]) -> &mut ClientHarness {
        let events = std::mem::take(&mut self.events);
        assert_eq!(events, expected);
        self
    }

    /// Takes the messages that no earlier call has taken. Checks that their [short forms](text::shorten) equal
    /// `expected`.
    #[track_caller]
    pub(crate) fn sent(&mut self, expected: &[&str]) -> &mut ClientHarness {
        assert_eq!(self.take_sent(), expected);
        self
    }

    /// Takes the messages that no earlier call has taken, in their [short forms](text::shorten).
    pub(crate) fn take_sent(&mut self) -> Vec<String> {
        let sent = self.take_sent_lines();
        let asked = self.notes.0.lock().unwrap();
        sent.iter().map(|line| text::shorten(line, &asked.ids)).collect()
    }

    /// Takes the events that no earlier call has taken.
    pub(crate) fn take_events(&mut self) -> Vec<String> {
        std::mem::take(&mut self.events)
    }

    /// Makes the next [`pump`](ClientHarness::pump) stop when `events` recorded events are untaken. This simulates an
    /// application that is busy with the last event.
    pub(crate) fn stop_after(&mut self, events: usize) -> &mut ClientHarness {
        self.events_left = Some(events);
        self
    }

    /// Takes the lines that no earlier call has taken.
    pub(crate) fn take_sent_lines(&mut self) -> Vec<String> {
        let sent = String::from_utf8(std::mem::take(&mut self.transport.output)).unwrap();
        assert!(sent.is_empty() || sent.ends_with('\n'), "an incomplete line was sent: {sent}");
        sent.lines().map(str::to_owned).collect()
    }

    /// Discards all events and messages so far.
    pub(crate) fn discard(&mut self) -> &mut ClientHarness {
        self.events.clear();
        self.transport.output.clear();
        self
    }

    fn nothing_is_left(&mut self) {
        assert!(self.events.is_empty(), "unexpected events: {:?}", self.events);
        assert!(
            self.transport.output.is_empty() || self.transport.peer_input == PeerInput::Blocked,
            "unexpected messages: {:?}",
            self.take_sent_lines()
        );
    }
}
