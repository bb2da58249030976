//! Several handshake sessions on one machine in message mode.

use crate::support::server::hello;
use crate::support::server::tools::TOOLS;
use mcp_proto::input::ListRoots;
use mcp_proto::server::{
    Change, Event, Feature, Logging, RequestOptions, Resource, Resources, SecondInitialize, Server,
    ServerConfig, Session, Slot, Subscriptions,
};
use mcp_proto::{
    Action, Buffer, ClientCapabilities, Level, Millis, Revision, SendError, SessionKey, State, StreamId,
    Ticket,
};

static RESOURCES: Resources<'static> = Resources::new(&[Resource::new("file:///a", "a")]).subscribe();

static FEATURES: [&dyn Feature; 4] = [&TOOLS, &RESOURCES, &Subscriptions, &Logging];

const CONFIG: ServerConfig<'static> = ServerConfig::new("s", "1").features(&FEATURES);

/// A machine, and the values of the sessions that are not current.
struct Sessions<'b> {
    server: Server<'b>,
    stored: [Option<Session>; 3],
    current: usize,
    sent: Vec<String>,
    tickets: Vec<Ticket>,
    events: Vec<String>,
}

impl Sessions<'_> {
    fn select(&mut self, session: usize) {
        if self.current != session {
            let next = self.stored[session].take().unwrap();
            assert_eq!(usize::from(next.key().0), session);
            self.stored[self.current] = Some(self.server.replace_session(next).unwrap());
            self.current = session;
        }
    }

    /// Passes a message of a session to the server, on one of the session's streams.
    fn post(&mut self, session: u16, stream: u16, message: &str) {
        self.run();
        self.select(session.into());
        let Action::Io(io) = self.server.poll(Millis(0)) else { panic!("no event is pending") };
        let stream = StreamId::in_session(SessionKey(session), stream);
        assert!(io.split().1.message(message.as_bytes(), stream).is_ok());
        self.run();
    }

    fn run(&mut self) {
        loop {
            match self.server.poll(Millis(0)) {
                Action::Io(io) => {
                    let (out, _) = io.split();
                    let Some(frame) = out.frame() else { return };
                    let text = String::from_utf8(frame.message().to_vec()).unwrap();
                    self.sent.push(format!("{:?} {text}", frame.relation()));
                    let n = out.bytes().len();
                    out.sent(n);
                }
                Action::Event => match self.server.event().unwrap() {
                    Event::Call(call) if call.name() == "defer" => {
                        self.tickets.push(call.defer(None).unwrap());
                    }
                    Event::Call(call) => call.text("x"),
                    Event::Cancelled { ticket, .. } => self.events.push(format!("cancelled {ticket:?}")),
                    Event::Response(response) => self.events.push(format!("{:?}", response.outcome())),
                    Event::ProtocolError(error) => self.events.push(error.to_string()),
                    _ => {}
                },
                Action::Closed => return,
            }
        }
    }

    #[track_caller]
    fn expect(&mut self, sent: &[String]) {
        self.run();
        assert_eq!(std::mem::take(&mut self.sent), sent);
    }
}

fn with_sessions(test: impl FnOnce(Sessions<'_>)) {
    with_config(&CONFIG, test);
}

fn with_config(config: &ServerConfig<'_>, test: impl FnOnce(Sessions<'_>)) {
    let (mut rx, mut tx, mut uris) = ([0; 1024], [0; 1024], [0; 128]);
    let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 4 * 16]);
    let server = Server::new(config, &mut rx, &mut tx).unwrap().message_mode().unwrap();
    let server = server.in_flight(&mut slots, &mut text).unwrap().subscription_buffer(&mut uris);
    let stored = [0, 1, 2].map(|key| Some(Session::new(SessionKey(key))));
    let (sent, tickets, events) = (Vec::new(), Vec::new(), Vec::new());
    let mut sessions = Sessions { server, stored, current: 0, sent, tickets, events };
    for (session, revision) in [(1, "2025-03-26"), (2, "2025-11-25")] {
        let params = hello(revision);
        sessions.post(
            session,
            1,
            &format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#),
        );
        sessions.post(session, 1, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }
    assert_eq!((sessions.sent.len(), &sessions.events[..]), (2, &[][..]));
    sessions.sent.clear();
    test(sessions);
}

fn call(id: u32) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"defer"}}}}"#)
}

#[test]
fn sessions_have_their_own_revision_ids_and_cancellations() {
    with_sessions(|mut sessions| {
        assert_eq!(sessions.server.revision(), Some(Revision::V2025_11_25));
        sessions.post(1, 2, &call(1));
        sessions.post(2, 2, &call(1));
        sessions.expect(&[]);
        assert_eq!(sessions.server.revision(), Some(Revision::V2025_11_25));
        let [first, second] = sessions.tickets[..] else { panic!() };
        assert_eq!(sessions.server.stream_of(first), Some(StreamId(0x1_0002)));
        let id = mcp_proto::json::Json::parse(b"1").unwrap();
        assert_eq!(sessions.server.find_stream(id), Some(StreamId(0x2_0002)));
        for (stream, expected) in [(0x1_0002, true), (0x2_0002, true), (0x1_0003, false), (0x1_0001, false)] {
            assert_eq!(sessions.server.request_id_on(StreamId(stream)).is_some(), expected, "{stream:#x}");
        }
        // The id is a duplicate in its session, on any stream.
        sessions.post(1, 3, &call(1));
        assert!(sessions.sent.concat().starts_with("Request(StreamId(65539)) "), "{:?}", sessions.sent);
        assert!(sessions.sent.concat().contains("-32600"));
        sessions.sent.clear();

        sessions.post(
            1,
            4,
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        );
        assert_eq!(sessions.events[1..], [format!("cancelled {first:?}")]);
        sessions.server.reply(second).unwrap().text("x");
        sessions.run();
        assert!(sessions.sent.concat().starts_with("Request(StreamId(131074)) "), "{:?}", sessions.sent);
    });
}

#[test]
fn session_messages_and_responses_belong_to_their_session() {
    with_sessions(|mut sessions| {
        sessions.post(
            1,
            1,
            r#"{"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"file:///a"}}"#,
        );
        sessions.select(2);
        sessions.sent.clear();
        let options = RequestOptions::DEFAULT;
        sessions.server.ping(options).unwrap();
        sessions.expect(&[r#"Session(SessionKey(2)) {"jsonrpc":"2.0","id":1,"method":"ping"}"#.into()]);
        // The subscription belongs to session 1, though session 2 is current.
        sessions.server.changed(Change::Resource("file:///a"));
        let updated =
            r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a"}}"#;
        sessions.expect(&[format!("Session(SessionKey(1)) {updated}")]);
        sessions.server.changed(Change::Tools);
        let listed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        sessions.expect(&[format!("Session(SessionKey(2)) {listed}")]);

        let response = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        sessions.post(1, 7, response);
        assert_eq!(sessions.events.len(), 1, "session 1 has no such request");
        sessions.post(2, 7, response);
        assert_eq!(sessions.events[1..], ["Result({})"]);
        assert!(sessions.server.request(&ListRoots, options).is_err());
    });
}

/// A request of the server during a call belongs to the session of the call. In `2026-07-28`, servers send no requests.
#[test]
fn request_during_a_call_goes_to_the_session_of_the_call() {
    with_sessions(|mut sessions| {
        let ready = |key, client| Session::ready(SessionKey(key), Revision::V2025_11_25, client);
        sessions.stored[1] = Some(ready(1, ClientCapabilities::ROOTS));
        sessions.server.replace_session(ready(2, ClientCapabilities::NONE)).unwrap();
        sessions.post(1, 2, &call(1));
        let meta = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
        let params = format!(r#"{{"name":"defer","_meta":{{{meta}}}}}"#);
        let stateless = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{params}}}"#);
        sessions.post(2, 2, &stateless);
        let [during, stateless] = [0, 1].map(|at| RequestOptions::DEFAULT.during(sessions.tickets[at]));
        assert_eq!(sessions.server.request(&ListRoots, stateless), Err(SendError::Unsupported));
        assert_eq!(sessions.server.ping(stateless), Err(SendError::Unsupported));
        assert_eq!(sessions.server.request(&ListRoots, RequestOptions::DEFAULT), Err(SendError::Unsupported));
        // Session 2 is current, and its client did not declare roots.
        sessions.server.request(&ListRoots, during).unwrap();
        sessions
            .expect(&[r#"Request(StreamId(65538)) {"jsonrpc":"2.0","id":3,"method":"roots/list"}"#.into()]);
        let response = r#"{"jsonrpc":"2.0","id":3,"result":{"roots":[]}}"#;
        sessions.post(2, 7, response);
        sessions.post(1, 7, response);
        assert_eq!(
            sessions.events,
            ["a response that matches no request in flight", r#"Result({"roots":[]})"#]
        );
        sessions.select(2);
        sessions.server.ping(during).unwrap();
        sessions.expect(&[r#"Request(StreamId(65538)) {"jsonrpc":"2.0","id":7,"method":"ping"}"#.into()]);
        sessions.server.shutdown(Millis(0));
        assert_eq!(sessions.server.ping(during), Err(SendError::NotConnected));
    });
}

/// A changed list is pending for the session that was current when the application reported the change.
#[test]
fn pending_changes_stay_with_their_session() {
    with_sessions(|mut sessions| {
        let none = Session::new(SessionKey(3));
        let second = sessions.server.replace_session(none).unwrap();
        sessions.server.changed(Change::Tools);
        sessions.expect(&[]);
        sessions.server.replace_session(second).unwrap();
        sessions.expect(&[]);
        // The change is recorded without a poll, so its notification is still pending.
        sessions.server.changed(Change::Tools);
        sessions.select(1);
        sessions.expect(&[]);
        sessions.select(2);
        let listed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        sessions.expect(&[format!("Session(SessionKey(2)) {listed}")]);
    });
}

#[test]
fn closed_session_ends_its_requests_and_subscriptions() {
    with_sessions(|mut sessions| {
        for session in [1, 2] {
            sessions.post(session, 2, &call(1));
            sessions.post(
                session,
                1,
                r#"{"jsonrpc":"2.0","id":5,"method":"resources/subscribe","params":{"uri":"file:///a"}}"#,
            );
            sessions.server.ping(RequestOptions::DEFAULT).unwrap();
            sessions.run();
        }
        sessions.sent.clear();
        let Action::Io(io) = sessions.server.poll(Millis(0)) else { panic!() };
        assert!(io.split().1.stream_closed(SessionKey(1).stream()).is_ok());
        sessions.run();
        let cancelled = format!("cancelled {:?}", sessions.tickets[0]);
        assert_eq!(sessions.events, [cancelled.as_str(), "Failed(Closed)"]);
        assert_eq!(sessions.server.deferred(), 1);
        sessions.server.changed(Change::Resource("file:///a"));
        sessions.run();
        assert_eq!(sessions.sent.len(), 1);
        assert!(sessions.sent[0].starts_with("Session(SessionKey(2)) "));
        // The request to the other client still awaits its response.
        sessions.post(2, 7, r#"{"jsonrpc":"2.0","id":4,"result":{}}"#);
        assert_eq!(sessions.events[2..], ["Result({})"]);
    });
}

/// A client of one session must not end the server of all sessions.
#[test]
fn lsp_shutdown_and_exit_of_one_session_are_unknown() {
    with_sessions(|mut sessions| {
        sessions.post(1, 2, r#"{"jsonrpc":"2.0","id":1,"method":"shutdown"}"#);
        assert!(sessions.sent.concat().contains("-32601"), "{:?}", sessions.sent);
        sessions.post(1, 2, r#"{"jsonrpc":"2.0","method":"exit"}"#);
        assert_eq!(sessions.events.len(), 2, "both are reported: {:?}", sessions.events);
        sessions.sent.clear();
        sessions.post(2, 2, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        sessions.expect(&[r#"Request(StreamId(131074)) {"jsonrpc":"2.0","id":1,"result":{}}"#.into()]);
        assert_eq!(sessions.server.state(), State::Ready);
    });
}

/// A client of one session must not drop the requests of the other sessions.
#[test]
fn second_initialize_of_one_session_restarts_nothing() {
    const RESTARTING: ServerConfig = CONFIG.second_initialize(SecondInitialize::Restart);
    with_config(&RESTARTING, |mut sessions| {
        sessions.post(1, 2, &call(1));
        sessions.post(2, 2, &call(1));
        for id in [1, 2] {
            let params = hello("2025-11-25");
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{params}}}"#);
            sessions.post(2, 3, &line);
            let sent = std::mem::take(&mut sessions.sent).concat();
            assert!(sent.contains("-32600"), "{sent}");
        }
        assert_eq!(sessions.server.deferred(), 2);
        assert_eq!(sessions.server.revision(), Some(Revision::V2025_11_25));
    });
}

/// The server knows the log level of the current session only.
#[test]
fn log_message_of_a_request_needs_the_session_of_the_request() {
    with_sessions(|mut sessions| {
        for (session, level) in [(1, "error"), (2, "debug")] {
            sessions.post(session, 2, &call(1));
            let params = format!(r#"{{"level":"{level}"}}"#);
            sessions.post(
                session,
                1,
                &format!(r#"{{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{params}}}"#),
            );
        }
        sessions.sent.clear();
        for (selected, expected) in [
            (1, [Err(SendError::NotWanted), Err(SendError::NotConnected)]),
            (2, [Err(SendError::NotConnected), Ok(())]),
        ] {
            sessions.select(selected);
            for (number, expected) in expected.into_iter().enumerate() {
                let mut reply = sessions.server.reply(sessions.tickets[number]).unwrap();
                assert_eq!(reply.log(Level::Info, None, "x"), expected, "{selected} {number}");
            }
        }
        sessions.run();
        assert_eq!(sessions.sent.len(), 1);
        assert!(sessions.sent[0].starts_with("Request(StreamId(131074)) "), "{:?}", sessions.sent);
    });
}

#[test]
fn session_is_replaced_only_between_messages() {
    with_sessions(|mut sessions| {
        let next = Session::ready(SessionKey(3), Revision::V2025_06_18, Default::default());
        assert!(next.is_complete() && next.revision() == Some(Revision::V2025_06_18));
        let Action::Io(io) = sessions.server.poll(Millis(0)) else { panic!() };
        assert!(io.split().1.message(call(1).as_bytes(), StreamId(0x2_0001)).is_ok());
        assert_eq!(sessions.server.replace_session(next).err(), Some(SendError::Busy));
        assert!(matches!(sessions.server.poll(Millis(0)), Action::Event));
        assert_eq!(sessions.server.replace_session(next).err(), Some(SendError::Busy));
        sessions.run();
        let old = sessions.server.replace_session(next).unwrap();
        assert_eq!((old.key(), old.revision()), (SessionKey(2), Some(Revision::V2025_11_25)));
        sessions.server.shutdown(Millis(0));
        assert_eq!(sessions.server.replace_session(old).err(), Some(SendError::NotConnected));
    });
}

#[test]
fn stored_session_has_the_results_of_its_handshake() {
    let server = Server::new(&CONFIG, Buffer::grown(4096), Buffer::grown(4096)).unwrap();
    let mut server = server.message_mode().unwrap();
    let mut session = Session::new(SessionKey(1));
    assert!(!session.is_complete() && session.capabilities() == ClientCapabilities::NONE);
    let params = hello("2025-11-25").replace(r#""capabilities":{}"#, r#""capabilities":{"roots":{}}"#);
    let initialize = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{params}}}"#);
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    for (message, is_complete) in [(&*initialize, false), (initialized, true)] {
        let other = server.replace_session(session).unwrap();
        let Action::Io(io) = server.poll(Millis(0)) else { panic!("no event is pending") };
        let stream = StreamId::in_session(SessionKey(1), 1);
        io.split().1.message(message.as_bytes(), stream).unwrap();
        while let Action::Event = server.poll(Millis(0)) {
            _ = server.event();
        }
        session = server.replace_session(other).unwrap();
        assert_eq!((session.is_complete(), session.revision()), (is_complete, Some(Revision::V2025_11_25)));
        assert!(session.capabilities().has(ClientCapabilities::ROOTS));
    }
}
