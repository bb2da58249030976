//! What a client under test is made of, and the paces at which a dialogue is run.

use mcp_proto::client::{ClientConfig, Connect, Timeouts};
use mcp_proto::{ClientCapabilities, KeepAlive, Millis, Revision};

use super::Wire;

/// How fast bytes move.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// The most bytes that are read at once.
    pub read: usize,
    /// The most bytes that are written at once.
    pub write: usize,
    pub frames: bool,
}

const ALL: usize = usize::MAX;
const PACES: [Pace; 8] = [
    Pace { read: ALL, write: ALL, frames: false },
    Pace { read: 1, write: ALL, frames: false },
    Pace { read: ALL, write: 1, frames: false },
    Pace { read: 1, write: 1, frames: false },
    Pace { read: 3, write: 7, frames: false },
    Pace { read: 7, write: 3, frames: false },
    Pace { read: 64, write: 50, frames: false },
    Pace { read: ALL, write: ALL, frames: true },
];

/// What a client is made of.
#[derive(Clone, Copy)]
pub struct Setup {
    pub info: ClientConfig<'static>,
    pub rx: usize,
    /// Whether `rx` is part of what is tested. If not, other sizes are tried, too.
    pub exact: bool,
    /// Whether the dialogue makes sense without newlines.
    pub frames: bool,
    pub tx: usize,
    pub slots: usize,
    /// For all slots.
    pub text: usize,
    pub pings: Option<KeepAlive>,
    /// Of the handshake era: what the server answers.
    pub revision: Revision,
    pub reply_room: Option<usize>,
}

/// Times that can be told apart.
pub const TIMES: Timeouts = Timeouts {
    probe: Millis(300),
    initialize: Millis(3000),
    request: Millis(1000),
    maximum: Millis(5000),
    grace: Millis(200),
};

impl Setup {
    pub fn new(connect: Connect) -> Setup {
        let info = ClientConfig::new("c", "1").connect(connect).timeouts(TIMES);
        let revision = Revision::V2025_11_25;
        let (exact, frames, pings, reply_room) = (false, true, None, None);
        Setup { info, rx: 1024, exact, frames, tx: 4096, slots: 4, text: 512, pings, revision, reply_room }
    }

    /// Speaks every revision, and asks for the newest.
    pub fn automatic() -> Setup {
        Setup::new(Connect::Automatic)
    }

    /// Shakes hands.
    pub fn handshake() -> Setup {
        Setup::new(Connect::Handshake)
    }

    /// Does this for servers.
    pub fn declares(self, declared: ClientCapabilities) -> Setup {
        Setup { info: self.info.capabilities(declared), ..self }
    }

    /// Shakes hands, and the server answers with this revision.
    pub fn revision(self, revision: Revision) -> Setup {
        Setup { revision, ..self }
    }

    pub fn rx(self, rx: usize) -> Setup {
        Setup { rx, exact: true, ..self }
    }

    pub fn lines_only(self) -> Setup {
        Setup { frames: false, ..self }
    }

    /// Runs a dialogue at every pace, and with receive buffers of several sizes.
    pub fn run(self, dialogue: impl Fn(&mut Wire)) {
        for pace in PACES.into_iter().filter(|pace| self.frames || !pace.frames) {
            let sizes: &[usize] = if self.exact { &[0] } else { &[0, 1, 333, 8000] };
            for more in sizes {
                let mut wire = Wire::new(Setup { rx: self.rx + more, ..self }, pace);
                let _shown = ShownOnFailure(format!("{pace:?}, {} bytes to receive", wire.setup.rx));
                dialogue(&mut wire);
                wire.nothing_is_left();
            }
        }
    }

    /// Runs a dialogue with a connected client, in both eras.
    pub fn connected(self, dialogue: impl Fn(&mut Wire)) {
        for connect in [Connect::Automatic, Connect::Handshake] {
            let _shown = ShownOnFailure(format!("{connect:?}"));
            Setup { info: self.info.connect(connect), ..self }.run(|wire| {
                wire.connect();
                dialogue(wire);
            });
        }
    }
}

/// What was being tried when a test failed.
pub struct ShownOnFailure(pub String);

impl Drop for ShownOnFailure {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("failed with: {}", self.0);
        }
    }
}
