//! A server or a client with its application and its buffers.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use proto::client::{self, ClientConfig};
use proto::server::{self, ServerConfig};
use proto::{
    Buffer, Client, ConfigError, Direction, Machine, Millis, Observer, ProtocolError, SendError, Server,
};

use crate::dialogue::{Dialogue, escape};
use crate::wire::Log;
use crate::{setup, words};

/// The memory of a machine.
pub struct Memory {
    rx: Vec<u8>,
    tx: Vec<u8>,
    watches: Vec<u8>,
    batches: Vec<u8>,
    text: Vec<u8>,
    server_slots: Vec<server::Slot>,
    client_slots: Vec<client::Slot>,
    observer: Observing,
}

struct Observing(Arc<Mutex<Log>>);

impl Observer for Observing {
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>) {
        let sigil = match direction {
            Direction::In => '>',
            Direction::Out => '<',
        };
        let outcome = outcome.map_or_else(words::fault, |()| "ok".into());
        let line = format!("o{sigil} {} : {outcome}", escape(line));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).lines.push(line);
    }
}

impl Memory {
    pub fn new(dialogue: &Dialogue, log: &Arc<Mutex<Log>>) -> Memory {
        let (setup, options) = (&dialogue.setup, &dialogue.options);
        let size = |name, otherwise| setup.number(name).unwrap_or(otherwise);
        let lent = |bytes: usize| vec![0; if options.has("lent") { bytes } else { 0 }];
        let slots = if options.has("lent") { size("slots", 4) } else { 0 };
        Memory {
            rx: lent(rx(dialogue)),
            tx: lent(size("answer", 4096)),
            watches: lent(size("watches", 256)),
            batches: lent(size("batches", 4096)),
            text: lent(slots * options.number("text").unwrap_or(256)),
            server_slots: vec![server::Slot::EMPTY; slots],
            client_slots: vec![client::Slot::EMPTY; slots],
            observer: Observing(Arc::clone(log)),
        }
    }
}

fn rx(dialogue: &Dialogue) -> usize {
    dialogue.setup.number("line").unwrap_or_else(|| dialogue.longest().max(4096))
}

/// Leaked configurations by setup text, because few setups serve many dialogues.
static SERVERS: LazyLock<Mutex<HashMap<String, &'static ServerConfig<'static>>>> =
    LazyLock::new(Mutex::default);
static CLIENTS: LazyLock<Mutex<HashMap<String, &'static ClientConfig<'static>>>> =
    LazyLock::new(Mutex::default);

/// A machine with its application.
pub enum Subject<'b> {
    Server(Box<crate::server::App<'b>>),
    Client(Box<crate::client::App<'b>>),
}

impl<'b> Subject<'b> {
    pub fn new(dialogue: &Dialogue, memory: &'b mut Memory) -> Result<Subject<'b>, ConfigError> {
        let (words, options) = (&dialogue.setup, &dialogue.options);
        let size = |name, otherwise| words.number(name).unwrap_or(otherwise);
        let is_lent = options.has("lent");
        let buffer = |lent: &'b mut Vec<u8>, limit| -> Buffer<'b> {
            if is_lent { (&mut lent[..]).into() } else { Buffer::grown(limit) }
        };
        let rx = buffer(&mut memory.rx, rx(dialogue));
        let tx = buffer(&mut memory.tx, size("answer", 4096));
        if words.text.starts_with("server") {
            let mut infos = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
            let info =
                infos.entry(words.text.clone()).or_insert_with(|| Box::leak(Box::new(setup::server(words))));
            let mut server = Server::new(info, rx, tx)?;
            server = match is_lent {
                true => server.in_flight(&mut memory.server_slots, &mut memory.text)?,
                false => server.in_flight_grown(size("slots", 4))?,
            };
            server = server.subscription_buffer(buffer(&mut memory.watches, size("watches", 256)));
            if size("batches", 4096) > 0 {
                server = server.batch_buffer(buffer(&mut memory.batches, size("batches", 4096)));
            }
            if let Some(pings) = setup::pings(words) {
                server = server.keep_alive(pings);
            }
            if options.has("messages") {
                server = server.message_mode()?;
            }
            if let Some(bytes) = options.number("room") {
                server = server.reply_room(bytes)?;
            }
            if let Some(seed) = options.number("seed") {
                server = server.seed(seed as u64);
            }
            if options.has("observe") {
                server = server.observe(&mut memory.observer);
            }
            return Ok(Subject::Server(Box::new(crate::server::App::new(server))));
        }
        let mut infos = CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
        let info =
            infos.entry(words.text.clone()).or_insert_with(|| Box::leak(Box::new(setup::client(words))));
        let mut client = Client::new(info, rx, tx)?;
        client = match is_lent {
            true => client.in_flight(&mut memory.client_slots, &mut memory.text),
            false => client.in_flight_grown(size("slots", 4)),
        };
        if let Some(pings) = setup::pings(words) {
            client = client.keep_alive(pings);
        }
        if options.has("messages") {
            client = client.message_mode()?;
        }
        if let Some(bytes) = options.number("room") {
            client = client.reply_room(bytes)?;
        }
        if let Some(seed) = options.number("seed") {
            client = client.seed(seed as u64);
        }
        if options.has("observe") {
            client = client.observe(&mut memory.observer);
        }
        let manner = words.get("asked").unwrap_or_default();
        Ok(Subject::Client(Box::new(crate::client::App::new(client, manner))))
    }

    pub fn machine(&mut self) -> &mut dyn Machine {
        match self {
            Subject::Server(app) => &mut app.server,
            Subject::Client(app) => &mut app.client,
        }
    }

    pub fn event(&mut self) -> String {
        match self {
            Subject::Server(app) => app.event(),
            Subject::Client(app) => app.event(),
        }
    }

    pub fn command(&mut self, text: &str, now: Millis) -> Option<Result<(), SendError>> {
        match (self, text) {
            (Subject::Server(app), "reset") => Some(Ok(app.server.reset())),
            (Subject::Client(app), "reset") => Some(Ok(app.client.reset())),
            (Subject::Server(app), _) => app.command(text, now),
            (Subject::Client(app), _) => app.command(text, now),
        }
    }

    pub fn connect_again(&mut self) {
        match self {
            Subject::Server(app) => app.server.reset(),
            Subject::Client(app) => app.client.reconnect(),
        }
    }

    pub fn status(&self) -> String {
        match self {
            Subject::Server(app) => app.status(),
            Subject::Client(app) => app.status(),
        }
    }
}
