//! The state of a connection, for both roles: two tables, and nothing else changes a state.
//!
//! The server's table is about the handshake era only: requests of the stateless era carry all that they need, are
//! served in every state in which input is read, and change none.

use core::marker::PhantomData;

/// Where a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum State {
    /// Server: no handshake yet.
    Waiting,
    /// Server: `initialize` was answered; `notifications/initialized` is expected.
    Negotiated,
    /// Server: requests came in, but `notifications/initialized` has not. They are served all the same.
    Serving,
    /// Client: nothing was sent yet.
    Start,
    /// Client: `server/discover` was sent, to find out the server's era.
    Probing,
    /// Client: `initialize` was sent.
    Initializing,
    /// Client: the server speaks the stateless era.
    Stateless,
    /// Both: the handshake is complete.
    Ready,
    /// Both: no new requests; what is in flight is finished, for as long as the grace lasts.
    Draining,
    /// Both: over.
    Closed,
}

/// What moves a connection on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// Server: an `initialize` that was accepted. Client: one that was sent.
    Initialize,
    /// Server: an `initialize` on an open session, where the policy is to start over.
    Restart,
    /// Server: `notifications/initialized`.
    Initialized,
    /// Server: a request of the handshake era, other than `initialize` and `ping`.
    Request,
    /// Client: `server/discover` was sent.
    Probe,
    /// Client: the server's answer to `server/discover` names a revision that both speak.
    Discovered,
    /// Client: the server's answer to `initialize` names a revision that both speak.
    Accepted,
    /// Client: connecting has failed.
    Failed,
    /// The input has ended.
    EndOfInput,
    /// The host wants to end. Server: a client of the handshake era that says `shutdown` does, too.
    Shutdown,
    /// Nothing is left to do, or the grace is over.
    Drained,
    /// Server: nothing can be written any more, or the client has gone silent.
    ConnectionLost,
}

type Table = &'static [(State, Trigger, State)];

/// The server's life.
const SERVER: Table = {
    use State::*;
    use Trigger::*;
    &[
        (Waiting, Initialize, Negotiated),
        // As long as nothing was served, a client may change its mind.
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

/// The client's life.
const CLIENT: Table = {
    use State::*;
    use Trigger::*;
    &[
        (Start, Probe, Probing),
        (Start, Initialize, Initializing),
        // Another revision of the same era.
        (Probing, Probe, Probing),
        (Probing, Discovered, Stateless),
        // The server is of the handshake era.
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

/// The two roles: which table a state moves in.
pub(crate) mod role {
    use super::{CLIENT, SERVER, State, Table};

    pub(crate) trait Role {
        const TABLE: Table;
        const START: State;
    }

    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Server;

    impl Role for Server {
        const TABLE: Table = SERVER;
        const START: State = State::Waiting;
    }

    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Client;

    impl Role for Client {
        const TABLE: Table = CLIENT;
        const START: State = State::Start;
    }
}

/// A state that moves in the table of a role.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lifecycle<R> {
    state: State,
    role: PhantomData<R>,
}

impl<R: role::Role> Lifecycle<R> {
    pub(crate) const START: Lifecycle<R> = Lifecycle { state: R::START, role: PhantomData };

    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// Takes a step. `false`: the table does not have it, and the state stays.
    pub(crate) fn step(&mut self, trigger: Trigger) -> bool {
        match self.next(trigger) {
            Some(state) => {
                self.state = state;
                true
            }
            None => false,
        }
    }

    fn next(&self, trigger: Trigger) -> Option<State> {
        let row = R::TABLE.iter().find(|(from, by, _)| (*from, *by) == (self.state, trigger))?;
        Some(row.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    /// ARCHITECTURE.md shows the tables as diagrams. They are written here: `BLESS=1 cargo test diagrams`.
    #[test]
    fn the_diagrams_in_the_documents_are_the_tables() {
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
    fn every_state_can_be_reached_and_left_and_every_step_is_one() {
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
                            // A client hears what has come before the connection was lost.
                            Trigger::EndOfInput => *to == State::Draining && *from != State::Draining,
                            _ => false,
                        }
                });
                assert!(ends || state == State::Closed, "{state:?} has no way out");
            }
        }
    }

    #[test]
    fn a_step_that_is_not_in_the_table_changes_nothing() {
        let mut life = Lifecycle::<role::Server>::START;
        for trigger in [Trigger::Initialized, Trigger::Request, Trigger::Drained, Trigger::Probe] {
            assert!(!life.step(trigger));
            assert_eq!(life.state(), State::Waiting);
        }
        assert!(life.step(Trigger::Initialize) && life.step(Trigger::Initialized));
        assert_eq!(life.state(), State::Ready);
        assert!(!life.step(Trigger::Initialize), "an open session is not opened again");
    }
}
