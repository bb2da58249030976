//! Connection states of both roles: one transition table per role.
//!
//! Only [`Lifecycle::apply`] changes a state. For a new connection or another session, other code replaces the whole
//! [`Lifecycle`]. The server's table describes the handshake era only. In every state before `Draining`, the server
//! also serves requests of the stateless era. These requests change no state, because each request carries its own
//! context.

use core::marker::PhantomData;

use crate::peer::Role;

/// State of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum State {
    /// Server: waits for `initialize`.
    Waiting,
    /// Server: has responded to `initialize` and expects `notifications/initialized`.
    Negotiated,
    /// Server: serves requests that arrived before `notifications/initialized`.
    Serving,
    /// Client: has sent no message yet.
    Start,
    /// Client: has sent `server/discover` to detect the server's era.
    Probing,
    /// Client: has sent `initialize`.
    Initializing,
    /// Client: the server speaks the stateless era.
    Stateless,
    /// Both: the handshake is complete.
    Ready,
    /// Both: refuses new requests and sends the remaining output. A client ends its requests in flight at once, or
    /// keeps them for the next connection. A server waits for the responses of the application until the
    /// [grace period](crate::server::Limits::grace) expires.
    Draining,
    /// Both: the connection is closed.
    Closed,
}

/// Cause of a state transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// Server: accepted an `initialize`. Client: sent an `initialize`.
    Initialize,
    /// Server: accepted an `initialize` on an open session, because the configuration permits a restart.
    Restart,
    /// Server: received `notifications/initialized`.
    Initialized,
    /// Server: accepted a request between `initialize` and `notifications/initialized`. The requests `initialize`,
    /// `ping`, `logging/setLevel` and `shutdown`, and requests of unknown methods do not count.
    Request,
    /// Client: sent `server/discover`.
    Probe,
    /// Client: the response to `server/discover` names a revision that both peers support.
    Discovered,
    /// Client: the response to `initialize` names a revision that both peers support.
    Accepted,
    /// Client: failed to connect.
    Failed,
    /// The input ended.
    EndOfInput,
    /// The application shuts the machine down. Server: also a `shutdown` request in a handshake session. Client: also
    /// if the configuration has no revision with which the client may connect.
    Shutdown,
    /// All requests have ended, and the output is sent. Client: also if the grace period has expired, or the output is
    /// broken.
    Drained,
    /// Server: the connection refuses further bytes, the client does not read the output, or the client does not
    /// respond to pings.
    ConnectionLost,
}

pub(crate) type Table = &'static [(State, Trigger, State)];

/// Transitions of the server.
pub(crate) const SERVER: Table = {
    use State::*;
    use Trigger::*;
    &[
        (Waiting, Initialize, Negotiated),
        // A client may repeat `initialize` until the state is `Serving` or `Ready`.
        (Negotiated, Initialize, Negotiated),
        (Negotiated, Initialized, Ready),
        (Negotiated, Request, Serving),
        (Serving, Request, Serving),
        (Serving, Initialized, Ready),
        (Ready, Request, Ready),
        (Negotiated, Restart, Negotiated),
        (Serving, Restart, Negotiated),
        (Ready, Restart, Negotiated),
        (Waiting, EndOfInput, Draining),
        (Negotiated, EndOfInput, Draining),
        (Serving, EndOfInput, Draining),
        (Ready, EndOfInput, Draining),
        (Draining, EndOfInput, Draining),
        (Waiting, Shutdown, Draining),
        (Negotiated, Shutdown, Draining),
        (Serving, Shutdown, Draining),
        (Ready, Shutdown, Draining),
        (Draining, Drained, Closed),
        (Waiting, ConnectionLost, Closed),
        (Negotiated, ConnectionLost, Closed),
        (Serving, ConnectionLost, Closed),
        (Ready, ConnectionLost, Closed),
        (Draining, ConnectionLost, Closed),
    ]
};

/// Transitions of the client.
pub(crate) const CLIENT: Table = {
    use State::*;
    use Trigger::*;
    &[
        (Start, Probe, Probing),
        (Start, Initialize, Initializing),
        // The client probes again with another revision of the stateless era.
        (Probing, Probe, Probing),
        (Probing, Discovered, Stateless),
        // The server speaks the handshake era.
        (Probing, Initialize, Initializing),
        (Initializing, Initialize, Initializing),
        (Initializing, Probe, Probing),
        (Initializing, Accepted, Ready),
        (Probing, Failed, Draining),
        (Initializing, Failed, Draining),
        (Start, EndOfInput, Draining),
        (Probing, EndOfInput, Draining),
        (Initializing, EndOfInput, Draining),
        (Ready, EndOfInput, Draining),
        (Stateless, EndOfInput, Draining),
        (Draining, EndOfInput, Draining),
        (Start, Shutdown, Draining),
        (Probing, Shutdown, Draining),
        (Initializing, Shutdown, Draining),
        (Ready, Shutdown, Draining),
        (Stateless, Shutdown, Draining),
        (Draining, Drained, Closed),
    ]
};

/// Roles as type parameters.
pub(crate) mod role {
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Server;

    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Client;
}

/// Current state of a connection in the role `R`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lifecycle<R> {
    state: State,
    role: PhantomData<R>,
}

impl Lifecycle<role::Server> {
    /// The state of a session whose handshake is complete.
    pub(crate) const READY: Lifecycle<role::Server> = Lifecycle { state: State::Ready, role: PhantomData };
}

impl<R: Role> Lifecycle<R> {
    pub(crate) const START: Lifecycle<R> = Lifecycle { state: R::START, role: PhantomData };

    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// Applies a transition. Returns `false`, and keeps the state, if the table has no such transition.
    pub(crate) fn apply(&mut self, trigger: Trigger) -> bool {
        let row = R::TABLE.iter().find(|(from, by, _)| (*from, *by) == (self.state, trigger));
        let Some((_, _, to)) = row else { return false };
        self.state = *to;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    /// ARCHITECTURE.md shows the tables as diagrams. `BLESS=1 cargo test diagrams` updates the diagrams.
    #[test]
    fn diagrams_in_the_documents_match_the_tables() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/ARCHITECTURE.md");
        let mut document = std::fs::read_to_string(path).unwrap();
        for (name, table, start) in [("server", SERVER, State::Waiting), ("client", CLIENT, State::Start)] {
            let (open, close) = (format!("<!-- {name} states -->\n"), "<!-- end -->");
            let from = document.find(&open).unwrap() + open.len();
            let to = from + document[from..].find(close).unwrap();
            document.replace_range(from..to, &diagram(table, start));
        }
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, &document).unwrap();
        }
        assert!(std::fs::read_to_string(path).unwrap() == document, "run: BLESS=1 cargo test diagrams");
    }

    fn diagram(table: Table, start: State) -> String {
        let mut text = format!("```mermaid\nstateDiagram-v2\n    [*] --> {start:?}\n");
        for (from, trigger, to) in table {
            text += &format!("    {from:?} --> {to:?}: {trigger:?}\n");
        }
        text + "    Closed --> [*]\n```\n"
    }

    #[test]
    fn every_state_is_reachable_and_has_an_end() {
        for (table, start) in [(SERVER, State::Waiting), (CLIENT, State::Start)] {
            let mut reached: Vec<State> = [start].to_vec();
            while let Some((_, _, to)) =
                table.iter().find(|(from, _, to)| reached.contains(from) && !reached.contains(to))
            {
                reached.push(*to);
            }
            for (index, (from, trigger, _)) in table.iter().enumerate() {
                assert!(reached.contains(from), "{from:?}");
                let twice = table[..index].iter().any(|row| (row.0, row.1) == (*from, *trigger));
                assert!(!twice, "{from:?} {trigger:?}");
            }
            for state in reached {
                let ends = table.iter().any(|(from, trigger, to)| {
                    *from == state
                        && match trigger {
                            Trigger::ConnectionLost | Trigger::Drained => *to == State::Closed,
                            // A client still handles input received before the connection was lost.
                            Trigger::EndOfInput => *to == State::Draining && *from != State::Draining,
                            _ => false,
                        }
                });
                assert!(ends || state == State::Closed, "{state:?} cannot end");
            }
        }
    }

    #[test]
    fn transition_outside_the_table_changes_nothing() {
        let mut life = Lifecycle::<role::Server>::START;
        for trigger in [Trigger::Initialized, Trigger::Request, Trigger::Drained, Trigger::Probe] {
            assert!(!life.apply(trigger));
            assert_eq!(life.state(), State::Waiting);
        }
        assert!(life.apply(Trigger::Initialize) && life.apply(Trigger::Initialized));
        assert_eq!(life.state(), State::Ready);
        assert!(!life.apply(Trigger::Initialize), "an open session accepts no `initialize`");
    }
}
