//! The machine of a transcript with its application, which runs the commands.

use std::collections::VecDeque;

use mcp_proto::{Buffer, Client, Machine, SendError, Server};

use crate::format::{Step, Transcript};
use crate::setup::Role;
use crate::{client, server};

/// The machine of a transcript with its application. An adapter moves the bytes:
///
/// - At an event of the machine, the adapter calls [`event`](Subject::event).
/// - When the machine has closed the connection, the adapter returns.
///
/// The application runs each command as soon as the events before it have occurred.
pub struct Subject<'b> {
    host: Application<'b>,
    /// The commands, each with the number of events before it.
    commands: VecDeque<(usize, String)>,
    /// The expected events. After an unexpected event, no further command runs.
    expected: Vec<String>,
    begun: bool,
    heard: Vec<String>,
    /// Events and commands in order, in the format of the file.
    pub(crate) log: Vec<String>,
}

enum Application<'b> {
    Server(server::Application<'b>),
    Client(client::Application<'b>),
}

impl Subject<'static> {
    /// Creates the machine of this transcript, with buffers on the heap.
    #[must_use]
    pub fn new(transcript: &Transcript) -> Subject<'static> {
        Subject::with(transcript, Buffer::grown(rx(transcript)), Buffer::grown(tx(transcript)))
    }
}

/// Returns the size of the receive buffer.
pub(crate) fn rx(transcript: &Transcript) -> usize {
    transcript.setup.number("line").unwrap_or_else(|| transcript.longest().max(4096))
}

/// Returns the size of the transmit buffer.
pub(crate) fn tx(transcript: &Transcript) -> usize {
    transcript.setup.number("answer").unwrap_or(4096)
}

impl<'b> Subject<'b> {
    pub(crate) fn with(transcript: &Transcript, rx: Buffer<'b>, tx: Buffer<'b>) -> Subject<'b> {
        let setup = &transcript.setup;
        let number = |name, otherwise| setup.number(name).unwrap_or(otherwise);
        let slots = number("slots", 4);
        let host = match setup.role {
            Role::Server(info) => {
                let mut server = Server::new(info, rx, tx).expect("a server");
                server = server.in_flight_grown(slots).expect("slots");
                server = server.subscription_buffer(Buffer::grown(number("watches", 256)));
                if number("batches", 4096) > 0 {
                    server = server.batch_buffer(Buffer::grown(number("batches", 4096)));
                }
                if let Some(pings) = setup.pings() {
                    server = server.keep_alive(pings);
                }
                Application::Server(server::Application::new(server))
            }
            Role::Client(info) => {
                let mut client = Client::new(info, rx, tx).expect("a client").in_flight_grown(slots);
                if let Some(pings) = setup.pings() {
                    client = client.keep_alive(pings);
                }
                Application::Client(client::Application::new(client, setup.word("asked").unwrap_or_default()))
            }
        };
        let (mut commands, mut expected) = (VecDeque::new(), Vec::new());
        for (_, step) in &transcript.steps {
            match step {
                Step::Event(event) => expected.push(event.clone()),
                Step::Command(command) => commands.push_back((expected.len(), command.clone())),
                _ => {}
            }
        }
        Subject { host, commands, expected, begun: false, heard: Vec::new(), log: Vec::new() }
    }

    /// Returns the machine, for the adapter. The first call also runs the commands that precede all events.
    pub fn machine(&mut self) -> &mut (dyn Machine + Send) {
        if !std::mem::replace(&mut self.begun, true) {
            self.act();
        }
        match &mut self.host {
            Application::Server(host) => &mut host.server,
            Application::Client(host) => &mut host.client,
        }
    }

    /// Handles the event of the machine, and then runs the due commands.
    pub fn event(&mut self) {
        let event = match &mut self.host {
            Application::Server(host) => host.event(),
            Application::Client(host) => host.event(),
        };
        if let Some(event) = event {
            self.hear(event);
        }
        self.act();
    }

    /// Returns the events so far.
    #[must_use]
    pub fn heard(&self) -> &[String] {
        &self.heard
    }

    fn hear(&mut self, event: String) {
        self.log.push(format!("! {event}"));
        self.heard.push(event);
    }

    /// Runs the due commands.
    fn act(&mut self) {
        while let Some((after, command)) = self.commands.pop_front() {
            let is_time = self.heard.get(..after).is_some_and(|heard| self.expected.starts_with(heard));
            if !is_time || self.command(&command) == Err(SendError::Busy) {
                // After the next event of the machine, this function runs again, and retries the command.
                self.commands.push_front((after, command));
                return;
            }
        }
    }

    pub(crate) fn command(&mut self, command: &str) -> Result<(), SendError> {
        let outcome = match &mut self.host {
            Application::Server(host) => host.command(command),
            Application::Client(host) => host.command(command),
        };
        if outcome != Err(SendError::Busy) {
            self.log.push(format!("* {command}"));
        }
        if let Err(why) = outcome
            && why != SendError::Busy
        {
            self.hear(format!("not now {why:?}"));
        }
        outcome
    }

    /// Resets the server, or reconnects the client, for a new connection.
    pub(crate) fn connect_again(&mut self) {
        match &mut self.host {
            Application::Server(host) => host.server.reset(),
            Application::Client(host) => host.client.reconnect(),
        }
    }

    /// Removes all commands, so that the application runs none by itself.
    pub(crate) fn wait_for_commands(&mut self) {
        self.commands.clear();
    }
}

impl std::fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject").field("heard", &self.heard).finish_non_exhaustive()
    }
}
