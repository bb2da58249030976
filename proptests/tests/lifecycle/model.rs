//! The model: one client, one server, and the messages in transit, without bytes and times.

use std::collections::VecDeque;

use mcp_proto::State;
use stateright::{Model, Property};

/// The maximum number of calls.
pub(crate) const CALLS: usize = 2;

/// The eras that the client tries, and the eras that the server supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setup {
    /// The client starts a handshake.
    Handshake,
    /// The client probes, and the server supports the stateless era.
    Stateless,
    /// The client probes, and the server knows the handshake only.
    Fallback,
}

/// A message in transit, or the end of the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Message {
    Discover,
    Initialize,
    Initialized,
    Call(usize),
    CancelCall(usize),
    /// The cancellation of `server/discover` or `initialize`.
    CancelConnect,
    /// The response of the client to the server request.
    Answer,
    /// The result of `server/discover`.
    Discovered,
    /// An error response to `server/discover`.
    Undiscovered,
    /// The result of `initialize`.
    Accepted,
    /// An error response to `initialize`.
    Refused,
    /// The response to a call: a result or an error.
    Result(usize),
    /// The server request.
    ServerRequest,
    CancelServerRequest,
    /// The other side has closed its output.
    End,
}

/// A request, as one side sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Request {
    /// Not sent, or not received.
    #[default]
    New,
    InFlight,
    /// The other side, or the end of the connection, has cancelled the request.
    Cancelled,
    Ended,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Side {
    pub(crate) state: State,
    /// The changes of `state` during a step. Empty between steps.
    pub(crate) changes: Vec<(State, State)>,
    pub(crate) calls: [Request; CALLS],
    pub(crate) server_request: Request,
    /// The messages that this side has not received.
    pub(crate) input: VecDeque<Message>,
}

impl Side {
    fn new(state: State) -> Side {
        Side {
            state,
            changes: Vec::new(),
            calls: [Request::New; CALLS],
            server_request: Request::New,
            input: VecDeque::new(),
        }
    }

    /// Returns the number of requests in flight.
    pub(crate) fn in_flight(&self) -> usize {
        self.calls.iter().chain([&self.server_request]).filter(|it| **it == Request::InFlight).count()
    }

    fn change(&mut self, state: State) {
        self.changes.push((self.state, state));
        self.state = state;
    }

    fn drain_to(&mut self, other: &mut Side) {
        if self.state == State::Draining && self.in_flight() == 0 {
            self.change(State::Closed);
            self.input.clear();
            if other.state != State::Closed {
                other.input.push_back(Message::End);
            }
        }
    }

    fn is_open(&self) -> bool {
        matches!(self.state, State::Ready | State::Stateless)
    }
}

/// The state of the client, the server and the connection.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Pair {
    pub(crate) client: Side,
    pub(crate) server: Side,
    /// Whether this is the second connection.
    pub(crate) is_second: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Move {
    /// The client sends its first message.
    Connect,
    /// The client receives a message.
    ToClient,
    /// The server receives a message.
    ToServer,
    Call(usize),
    /// The client cancels a call.
    CancelCall(usize),
    /// The server responds to a call.
    Respond(usize),
    ServerRequest,
    /// The server cancels its request.
    CancelServerRequest,
    /// The client responds to the server request.
    Answer,
    ShutDownClient,
    ShutDownServer,
    /// All timeouts expire.
    Expire,
    /// Both sides start a new connection after both are closed.
    Reconnect,
}

/// Ends a request if it is in flight.
fn end(request: &mut Request, by: Request) {
    if *request == Request::InFlight {
        *request = by;
    }
}

/// The model of both lifecycles.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lifecycles {
    pub(crate) setup: Setup,
    /// The number of calls that the client makes.
    pub(crate) calls: usize,
}

impl Pair {
    fn new(is_second: bool) -> Pair {
        Pair { client: Side::new(State::Start), server: Side::new(State::Waiting), is_second }
    }

    /// Returns whether both sides are closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.client.state == State::Closed && self.server.state == State::Closed
    }

    fn send_to_server(&mut self, message: Message) {
        if self.server.state != State::Closed {
            self.server.input.push_back(message);
        }
    }

    fn send_to_client(&mut self, message: Message) {
        if self.client.state != State::Closed {
            self.client.input.push_back(message);
        }
    }

    fn server_receives(&mut self, setup: Setup, message: Message) {
        if self.server.state == State::Closed {
            return;
        }
        let refuses = self.server.state == State::Draining;
        match message {
            Message::Discover if refuses || setup == Setup::Fallback => {
                self.send_to_client(Message::Undiscovered)
            }
            Message::Discover => self.send_to_client(Message::Discovered),
            Message::Initialize if refuses => self.send_to_client(Message::Refused),
            Message::Initialize => {
                self.server.change(State::Negotiated);
                self.send_to_client(Message::Accepted);
            }
            Message::Initialized if refuses => {}
            Message::Initialized => self.server.change(State::Ready),
            Message::Call(n) if refuses => self.send_to_client(Message::Result(n)),
            Message::Call(n) => self.server.calls[n] = Request::InFlight,
            Message::CancelCall(n) => {
                end(&mut self.server.calls[n], Request::Cancelled);
            }
            Message::Answer => {
                end(&mut self.server.server_request, Request::Ended);
            }
            Message::End => self.drain_server(),
            _ => unreachable!("the client does not send {message:?}"),
        }
    }

    fn client_receives(&mut self, setup: Setup, message: Message) {
        if self.client.state == State::Closed {
            return;
        }
        match message {
            // A late response to a probe that has ended changes nothing.
            Message::Discovered | Message::Undiscovered if self.client.state != State::Probing => {}
            Message::Discovered => self.client.change(State::Stateless),
            Message::Undiscovered if setup == Setup::Fallback => self.initialize(),
            Message::Undiscovered | Message::Refused => self.close_client(),
            Message::Accepted => {
                self.client.change(State::Ready);
                self.send_to_server(Message::Initialized);
            }
            Message::Result(n) => {
                end(&mut self.client.calls[n], Request::Ended);
            }
            Message::ServerRequest => self.client.server_request = Request::InFlight,
            Message::CancelServerRequest => {
                end(&mut self.client.server_request, Request::Cancelled);
            }
            Message::End => {
                self.close_client();
            }
            _ => unreachable!("the server does not send {message:?}"),
        }
    }

    fn initialize(&mut self) {
        self.client.change(State::Initializing);
        self.send_to_server(Message::Initialize);
    }

    /// Starts to drain the server. The server no longer awaits the response to its request, but the application may
    /// respond to calls.
    fn drain_server(&mut self) {
        self.server.change(State::Draining);
        end(&mut self.server.server_request, Request::Ended);
    }

    /// Ends the requests of the client, and starts to drain the client.
    fn close_client(&mut self) {
        for call in &mut self.client.calls {
            end(call, Request::Ended);
        }
        end(&mut self.client.server_request, Request::Cancelled);
        self.client.change(State::Draining);
    }

    /// Expires all timeouts of both sides: of connecting, of requests, and of draining.
    fn expire(&mut self, setup: Setup) {
        match self.client.state {
            State::Probing if setup == Setup::Fallback => self.initialize(),
            State::Probing | State::Initializing => self.close_client(),
            _ => {}
        }
        for n in 0..CALLS {
            if self.client.calls[n] == Request::InFlight {
                self.client.calls[n] = Request::Ended;
                self.send_to_server(Message::CancelCall(n));
            }
        }
        if self.server.server_request == Request::InFlight {
            self.server.server_request = Request::Ended;
            self.send_to_client(Message::CancelServerRequest);
        }
        if self.client.server_request == Request::InFlight {
            self.client.server_request = Request::Ended;
            self.send_to_server(Message::Answer);
        }
        if self.server.state == State::Draining {
            for n in 0..CALLS {
                if self.server.calls[n] == Request::InFlight {
                    self.server.calls[n] = Request::Ended;
                    self.send_to_client(Message::Result(n));
                }
            }
        }
    }

    /// Closes each draining side that has no requests in flight.
    fn drain(&mut self) {
        self.client.drain_to(&mut self.server);
        self.server.drain_to(&mut self.client);
    }
}

impl Lifecycles {
    /// Returns the state after a step, with the changes during the step. Returns `None` if the step is
    /// `ToClient` or `ToServer`, and no message is in transit to this side.
    pub(crate) fn step(&self, last: &Pair, step: Move) -> Option<Pair> {
        let mut pair = last.clone();
        match step {
            Move::Connect => match self.setup {
                Setup::Handshake => pair.initialize(),
                Setup::Stateless | Setup::Fallback => {
                    pair.client.change(State::Probing);
                    pair.send_to_server(Message::Discover);
                }
            },
            Move::ToClient => {
                let message = pair.client.input.pop_front()?;
                pair.client_receives(self.setup, message);
            }
            Move::ToServer => {
                let message = pair.server.input.pop_front()?;
                pair.server_receives(self.setup, message);
            }
            Move::Call(n) => {
                pair.client.calls[n] = Request::InFlight;
                pair.send_to_server(Message::Call(n));
            }
            Move::CancelCall(n) => {
                pair.client.calls[n] = Request::Ended;
                pair.send_to_server(Message::CancelCall(n));
            }
            Move::Respond(n) => {
                pair.server.calls[n] = Request::Ended;
                pair.send_to_client(Message::Result(n));
            }
            Move::ServerRequest => {
                pair.server.server_request = Request::InFlight;
                pair.send_to_client(Message::ServerRequest);
            }
            Move::CancelServerRequest => {
                pair.server.server_request = Request::Ended;
                pair.send_to_client(Message::CancelServerRequest);
            }
            Move::Answer => {
                pair.client.server_request = Request::Ended;
                pair.send_to_server(Message::Answer);
            }
            Move::ShutDownClient => pair.close_client(),
            Move::ShutDownServer => pair.drain_server(),
            Move::Expire => pair.expire(self.setup),
            Move::Reconnect => pair = Pair::new(true),
        }
        pair.drain();
        Some(pair)
    }
}

impl Model for Lifecycles {
    type State = Pair;
    type Action = Move;

    fn init_states(&self) -> Vec<Pair> {
        vec![Pair::new(false)]
    }

    fn actions(&self, pair: &Pair, actions: &mut Vec<Move>) {
        let Pair { client, server, is_second } = pair;
        match client.state {
            State::Start => actions.push(Move::Connect),
            _ => actions.extend((!client.input.is_empty()).then_some(Move::ToClient)),
        }
        actions.extend((!server.input.is_empty()).then_some(Move::ToServer));
        // An open second connection behaves like the first one, so the model makes no requests on the second one.
        let next = client.calls.iter().position(|it| *it == Request::New).filter(|n| *n < self.calls);
        if client.is_open() && !is_second {
            actions.extend(next.map(Move::Call));
        }
        for n in 0..CALLS {
            actions.extend((client.calls[n] == Request::InFlight).then_some(Move::CancelCall(n)));
            actions.extend((server.calls[n] == Request::InFlight).then_some(Move::Respond(n)));
        }
        if server.state == State::Ready && server.server_request == Request::New && !is_second {
            actions.push(Move::ServerRequest);
        }
        actions.extend((server.server_request == Request::InFlight).then_some(Move::CancelServerRequest));
        actions.extend((client.server_request == Request::InFlight).then_some(Move::Answer));
        if !matches!(client.state, State::Draining | State::Closed) {
            actions.push(Move::ShutDownClient);
        }
        if !matches!(server.state, State::Draining | State::Closed) {
            actions.push(Move::ShutDownServer);
        }
        actions.push(Move::Expire);
        actions.extend((pair.is_closed() && !is_second).then_some(Move::Reconnect));
    }

    fn next_state(&self, last: &Pair, step: Move) -> Option<Pair> {
        let mut pair = self.step(last, step)?;
        pair.client.changes.clear();
        pair.server.changes.clear();
        (pair != *last).then_some(pair)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("a call that was cancelled gets no response", |_, pair: &Pair| {
                (0..CALLS).all(|n| {
                    pair.server.calls[n] != Request::Cancelled
                        || !pair.client.input.contains(&Message::Result(n))
                })
            }),
            Property::always("a closed side has no request", |_, pair: &Pair| {
                [&pair.client, &pair.server]
                    .iter()
                    .all(|side| side.state != State::Closed || side.in_flight() == 0)
            }),
            Property::always("a call that is ended at the server ends at the client", |_, pair: &Pair| {
                (0..CALLS).all(|n| {
                    pair.client.calls[n] != Request::InFlight
                        || pair.server.calls[n] != Request::Ended
                        || pair.client.input.contains(&Message::Result(n))
                        || pair.client.input.contains(&Message::End)
                })
            }),
            // The model has no cycle. Each path therefore ends, and only with a closed connection.
            Property::always("only closed connections have no next step", |model, pair: &Pair| {
                pair.is_closed() || !model.next_steps(pair).is_empty()
            }),
            Property::always("requests of both sides do not wait for each other", |model, pair: &Pair| {
                let mut actions = Vec::new();
                model.actions(pair, &mut actions);
                let serves = |n: usize| {
                    pair.server.calls[n] != Request::InFlight || actions.contains(&Move::Respond(n))
                };
                (0..CALLS).all(serves)
                    && (pair.client.server_request != Request::InFlight || actions.contains(&Move::Answer))
            }),
            Property::sometimes("a cancellation crosses the response", |_, pair: &Pair| {
                (0..CALLS).any(|n| {
                    pair.server.input.contains(&Message::CancelCall(n))
                        && pair.client.input.contains(&Message::Result(n))
                })
            }),
            Property::sometimes("the server drains during a call", |_, pair: &Pair| {
                pair.server.state == State::Draining && pair.client.calls[0] == Request::InFlight
            }),
            Property::sometimes("the second connection is ready", |_, pair: &Pair| {
                pair.is_second && pair.client.is_open()
            }),
        ]
    }
}
