//! The tables of sessions and exchanges, compared with lists that are searched linearly.

use mcp_proto::Millis;
use mcp_proto_http::server::Method;

use super::exchange::State;
use super::request::{Body, Request, Shape};
use super::server::Run;
use super::setup::{IDLE, Setup};

/// An operation on sessions. Numbers choose a session, a user, a request, or a stream.
#[derive(Debug, Clone, Copy)]
pub enum Operation {
    /// A user opens a session.
    Initialize(u8),
    /// A user sends a request that gets an immediate response.
    Call(u8, u8),
    /// A user sends a request that gets a deferred response.
    Defer(u8, u8),
    /// The application responds to a request.
    Respond(u8),
    /// A user opens a stream for messages of the session.
    Listen(u8, u8),
    /// The client closes a stream.
    Close(u8),
    /// A user ends a session.
    Delete(u8, u8),
    /// Time passes. The unit is the session timeout divided by 128.
    Wait(u8),
}

/// A session in the list. The list begins with the session that was unused for the longest time.
struct Session {
    id: String,
    user: u8,
    last_used: Millis,
}

/// An open exchange: a stream, or a request without a response.
struct Open {
    exchange: usize,
    session: String,
    /// The id of the request. `None` for a stream.
    request: Option<u8>,
}

struct Model<'b> {
    run: Run<'b>,
    exchanges: usize,
    capacity: usize,
    sessions: Vec<Session>,
    open: Vec<Open>,
    /// The ids of all sessions of the run.
    ids: Vec<String>,
}

/// Runs operations on tables of these sizes: 1 to 6 exchanges, and 1 to 4 sessions.
///
/// # Panics
/// Panics if a status, the number of open exchanges, or the end of an exchange differs from the prediction of the
/// lists. Also panics if two sessions have the same id, or if the server violates an invariant of `server.rs`.
pub fn run(exchanges: u8, sessions: u8, operations: &[Operation]) {
    let setup = Setup::with_sessions(exchanges, sessions);
    setup.with_servers(|http, server| {
        let mut model = Model {
            run: Run::new(setup, http, server, usize::MAX),
            exchanges: exchanges.into(),
            capacity: sessions.into(),
            sessions: Vec::new(),
            open: Vec::new(),
            ids: Vec::new(),
        };
        for operation in operations {
            model.perform(*operation);
            model.expire();
            assert_eq!(model.run.http.open_exchanges(), model.open.len(), "after {operation:?}");
        }
    });
}

impl Model<'_> {
    fn perform(&mut self, operation: Operation) {
        match operation {
            Operation::Initialize(user) => self.initialize(user % 3),
            Operation::Call(session, user) => {
                let (id, expected) = self.expected(session, user % 3, false);
                let status = self.post(user % 3, &id, Body::Call(0), 3);
                assert_eq!(status, expected.unwrap_or(200));
            }
            Operation::Defer(session, user) => self.defer(session, user % 3),
            Operation::Respond(which) => {
                let waiting = self.open.iter().filter(|open| open.request.is_some()).count();
                if waiting > 0 {
                    self.run.respond(which % waiting as u8);
                    let is_waiting = |(_, open): &(usize, &Open)| open.request.is_some();
                    let at =
                        self.open.iter().enumerate().filter(is_waiting).nth(usize::from(which) % waiting);
                    let open = at.map(|(index, _)| index).map(|index| self.open.remove(index)).unwrap();
                    assert_eq!(self.run.exchanges[open.exchange].state, State::Ended);
                    self.touch(&open.session);
                }
            }
            Operation::Listen(session, user) => {
                let (id, expected) = self.expected(session, user % 3, true);
                let status = self.begin(Request::new(Method::Get, shape(user % 3, 0), Some(&id)));
                assert_eq!(status, expected.unwrap_or(200));
                if status == 200 {
                    let exchange = self.run.exchanges.len() - 1;
                    self.open.push(Open { exchange, session: id, request: None });
                }
            }
            Operation::Close(which) => {
                let streams: Vec<usize> =
                    (0..self.open.len()).filter(|index| self.open[*index].request.is_none()).collect();
                if let Some(index) = streams.get(usize::from(which) % streams.len().max(1)) {
                    let open = self.open.remove(*index);
                    self.run.close(open.exchange);
                    self.run.run();
                    self.touch(&open.session);
                }
            }
            Operation::Delete(session, user) => {
                let (id, expected) = self.expected(session, user % 3, false);
                let status = self.begin(Request::new(Method::Delete, shape(user % 3, 0), Some(&id)));
                assert_eq!(status, expected.unwrap_or(204));
                if status == 204 {
                    self.end(&id);
                }
            }
            Operation::Wait(part) => {
                self.run.now = self.run.now.plus(Millis(IDLE.0 * u64::from(part) / 128));
                self.run.run();
            }
        }
    }

    /// Chooses a session, and predicts the status of a request for the session. Returns the id of the session, and the
    /// status of a refusal. `None` means success; the session then counts as used now.
    fn expected(&mut self, session: u8, user: u8, listens: bool) -> (String, Option<u16>) {
        let unknown = "00000000000000000000000000000000".to_owned();
        let id = self.ids.get(usize::from(session) % (self.ids.len() + 1)).cloned().unwrap_or(unknown);
        if !self.sessions.iter().any(|known| known.id == id && known.user == user) {
            return (id, Some(404));
        }
        let streams = self.open.iter().filter(|open| open.request.is_none()).count();
        if self.open.len() == self.exchanges || listens && streams + 1 >= self.exchanges {
            return (id, Some(503));
        }
        self.touch(&id);
        (id, None)
    }

    /// Records that a session is used now, and moves the session to the end of the list.
    fn touch(&mut self, id: &str) {
        if let Some(index) = self.sessions.iter().position(|session| session.id == id) {
            let session = self.sessions.remove(index);
            self.sessions.push(Session { last_used: self.run.now, ..session });
        }
    }

    fn is_open(&self, id: &str) -> bool {
        self.open.iter().any(|open| open.session == id)
    }

    fn initialize(&mut self, user: u8) {
        let idle = self.sessions.iter().position(|session| !self.is_open(&session.id));
        let is_full = self.sessions.len() == self.capacity;
        let expected = match self.open.len() == self.exchanges || is_full && idle.is_none() {
            true => 503,
            false => 200,
        };
        assert_eq!(self.post(user, "", Body::Initialize, 0), expected);
        if expected == 503 {
            return;
        }
        if let Some(index) = idle.filter(|_| is_full) {
            self.sessions.remove(index);
        }
        let id = self.run.sessions.last().expect("a session").clone();
        assert!(!self.ids.contains(&id), "an id occurs twice");
        self.ids.push(id.clone());
        self.sessions.push(Session { id: id.clone(), user, last_used: self.run.now });
        assert_eq!(self.post(user, &id, Body::Initialized, 0), 202);
    }

    fn defer(&mut self, session: u8, user: u8) {
        let (id, expected) = self.expected(session, user, false);
        let is_used =
            |request: &u8| self.open.iter().any(|open| open.session == id && open.request == Some(*request));
        let Some(request) = (0..3).find(|request| !is_used(request)) else { return };
        let status = self.post(user, &id, Body::Call(1), request);
        assert_eq!(status, expected.unwrap_or(0));
        if status == 0 {
            let exchange = self.run.exchanges.len() - 1;
            self.open.push(Open { exchange, session: id, request: Some(request) });
        }
    }

    /// Removes a session and its exchanges, and checks that the exchanges have ended.
    fn end(&mut self, id: &str) {
        self.sessions.retain(|session| session.id != id);
        for open in self.open.extract_if(.., |open| open.session == id) {
            let exchange = &self.run.exchanges[open.exchange];
            assert_eq!(exchange.state, State::Ended);
            assert!(matches!(exchange.status, 200 | 404), "{exchange:?}");
        }
    }

    /// Removes the sessions that were unused for at least `IDLE`. A session with an exchange is in use.
    fn expire(&mut self) {
        let now = self.run.now;
        let old: Vec<String> = self
            .sessions
            .iter()
            .filter(|it| it.last_used.plus(IDLE) <= now)
            .map(|it| it.id.clone())
            .collect();
        for id in old {
            match self.is_open(&id) {
                true => self.touch(&id),
                false => self.sessions.retain(|session| session.id != id),
            }
        }
    }

    /// Sends a POST, and returns its status. Returns 0 if the response has not begun.
    fn post(&mut self, user: u8, session: &str, body: Body, id: u8) -> u16 {
        let session = Some(session).filter(|session| !session.is_empty());
        let request = Request::post(shape(user, id), session, body, self.run.exchanges.len(), None);
        self.begin(request)
    }

    fn begin(&mut self, request: Request) -> u16 {
        match self.run.begin(request) {
            Ok(index) => {
                self.run.pass(index, usize::MAX);
                self.run.run();
                self.run.exchanges[index].status
            }
            Err(refusal) => refusal.status(),
        }
    }
}

/// Returns the shape of a valid request of 2025-11-25. `user` is 0, 1 or 2.
fn shape(user: u8, id: u8) -> Shape {
    Shape { user: [0, 200, 230][usize::from(user)], session: 0, revision: 1, flaw: 0, id }
}
