//! The configuration of the client under test, and the transfer sizes of its scripts.

use mcp_proto::client::{ClientConfig, Connect, TaskTable, Timeouts};
use mcp_proto::{ClientCapabilities, KeepAlive, Millis, Revision};

use super::ClientHarness;
use crate::support::FailureContext;
use crate::support::transport::{Order, Pace};

const ALL: usize = usize::MAX;
const PACES: [Pace; 8] = [
    pace(ALL, ALL),
    pace(1, ALL),
    pace(ALL, 1),
    pace(1, 1),
    pace(3, 7),
    pace(7, 3),
    pace(64, 50),
    Pace { messages: true, ..pace(ALL, ALL) },
];

const fn pace(read: usize, write: usize) -> Pace {
    Pace { read, write, order: Order::Both, messages: false }
}

/// The configuration and the buffers of a client.
#[derive(Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) info: ClientConfig<'static>,
    pub(crate) rx: usize,
    /// Whether the script requires this size of `rx`. Otherwise the harness also tests other sizes.
    pub(crate) exact: bool,
    /// Whether the script can run in message mode.
    pub(crate) frames: bool,
    pub(crate) tx: usize,
    /// Whether the transmit buffer grows on the heap up to `tx`.
    pub(crate) grown: bool,
    pub(crate) slots: usize,
    /// Length of the text of all slots together, in bytes.
    pub(crate) text: usize,
    pub(crate) keep_alive: Option<KeepAlive>,
    /// The revision in the server's response to `initialize`.
    pub(crate) revision: Revision,
    pub(crate) max_reply_size: Option<usize>,
    /// Creates the table of the tasks that the client runs.
    pub(crate) task_table: Option<fn() -> TaskTable<'static>>,
}

/// Timeouts that differ from each other.
pub(crate) const TIMES: Timeouts = Timeouts {
    probe: Millis(300),
    initialize: Millis(3000),
    request: Millis(1000),
    maximum: Millis(5000),
    grace: Millis(200),
};

impl Setup {
    pub(crate) fn new(connect: Connect) -> Setup {
        let info = ClientConfig::new("c", "1").connect(connect).timeouts(TIMES);
        let revision = Revision::V2025_11_25;
        let (exact, frames, grown, slots, text) = (false, true, false, 4, 512);
        let (keep_alive, max_reply_size, task_table) = (None, None, None);
        Setup {
            info,
            rx: 1024,
            exact,
            frames,
            tx: 4096,
            grown,
            slots,
            text,
            keep_alive,
            revision,
            max_reply_size,
            task_table,
        }
    }

    /// A client that supports every revision, and probes for the newest.
    pub(crate) fn automatic() -> Setup {
        Setup::new(Connect::Automatic)
    }

    /// A client that connects with `initialize`.
    pub(crate) fn handshake() -> Setup {
        Setup::new(Connect::Handshake)
    }

    /// Declares these capabilities.
    pub(crate) fn declares(self, declared: ClientCapabilities) -> Setup {
        Setup { info: self.info.capabilities(declared), ..self }
    }

    /// Sets the revision of the server's response to `initialize`.
    pub(crate) fn revision(self, revision: Revision) -> Setup {
        Setup { revision, ..self }
    }

    pub(crate) fn rx(self, rx: usize) -> Setup {
        Setup { rx, exact: true, ..self }
    }

    pub(crate) fn lines_only(self) -> Setup {
        Setup { frames: false, ..self }
    }

    /// Runs a script at every pace of `PACES` that the setup permits. Uses several receive buffer sizes, unless the
    /// script requires one size.
    pub(crate) fn run(self, dialogue: impl Fn(&mut ClientHarness)) {
        for pace in PACES.into_iter().filter(|pace| self.frames || !pace.messages) {
            let sizes: &[usize] = if self.exact { &[0] } else { &[0, 1, 333, 8000] };
            for more in sizes {
                let mut harness = ClientHarness::new(Setup { rx: self.rx + more, ..self }, pace);
                let _context = FailureContext(format!("{pace:?}, {} bytes to receive", harness.setup.rx));
                dialogue(&mut harness);
                harness.nothing_is_left();
            }
        }
    }

    /// Runs a script with a connected client, in the stateless era and in the handshake era.
    pub(crate) fn connected(self, dialogue: impl Fn(&mut ClientHarness)) {
        for connect in [Connect::Automatic, Connect::Handshake] {
            let _context = FailureContext(format!("{connect:?}"));
            Setup { info: self.info.connect(connect), ..self }.run(|harness| {
                harness.connect();
                dialogue(harness);
            });
        }
    }
}
