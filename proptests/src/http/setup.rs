//! Configurations of the HTTP servers, and their memory.

use arbitrary::Arbitrary;
use mcp_proto::Millis;
use mcp_proto::server::{Server, Slot};
use mcp_proto_http::server::{ExchangeSlot, HttpConfig, HttpServer, LegacyPaths, SessionMode, SessionSlot};

use super::application::{CONFIG, NumberPolicy};

/// A configuration with small limits.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub(crate) struct Setup {
    pub(super) mode: u8,
    pub(super) exchanges: u8,
    pub(super) sessions: u8,
    pub(super) output: u8,
    pub(super) bodies: u8,
    pub(super) replay: u8,
    pub(super) flags: u8,
}

/// The maximum length of a body, in bytes.
pub(super) const BODY: usize = 1024;
/// The time after which an unused session ends.
pub(super) const IDLE: Millis = Millis(100_000);

impl Setup {
    /// Returns a setup with these numbers of exchanges (1 to 6) and sessions (1 to 4), with large buffers, and without
    /// replay.
    pub(super) const fn with_sessions(exchanges: u8, sessions: u8) -> Setup {
        let (exchanges, sessions) = (exchanges - 1, sessions - 1);
        Setup { mode: 2, exchanges, sessions, output: 255, bodies: 3, replay: 0, flags: 0 }
    }

    /// Returns a setup with the same mode and replay buffer, with large tables and buffers, and without the options in
    /// `flags`.
    pub(super) const fn roomy(self) -> Setup {
        Setup { exchanges: 5, sessions: 3, output: 255, bodies: 3, flags: 0, ..self }
    }

    /// Returns the session mode: the server's support of the handshake era.
    #[must_use]
    pub(crate) fn mode(self) -> SessionMode {
        match self.mode % 5 {
            0 => SessionMode::Off,
            1 => SessionMode::Stateless,
            2 | 3 => SessionMode::Sessions,
            _ => SessionMode::Sealed,
        }
    }

    /// Returns the maximum number of concurrent exchanges.
    #[must_use]
    pub(crate) fn exchanges(self) -> usize {
        usize::from(self.exchanges % 6) + 1
    }

    pub(super) fn bodies(self) -> usize {
        usize::from(self.bodies % 4)
    }

    /// Returns whether the server shuts down at the end of the run.
    pub(super) fn shuts_down(self) -> bool {
        self.flags & 0x41 == 0x41
    }

    fn config(self) -> HttpConfig<'static> {
        let mut config = HttpConfig::new().sessions(self.mode());
        let (mut limits, mut times) = (config.get_limits(), config.get_times());
        (limits.body, limits.page, limits.stream) = (BODY, 64, 600);
        times.session_idle = IDLE;
        if self.flags & 2 != 0 {
            config = config.json_only();
        }
        if self.flags & 4 != 0 {
            config = config.strict_accept();
        }
        if self.flags & 8 != 0 && self.mode() == SessionMode::Sessions {
            config = config.legacy(LegacyPaths { events: "/sse", messages: "/messages" });
        }
        config.limits(limits).times(times)
    }

    /// Calls `run` with an HTTP server and its core server.
    pub(crate) fn with_servers(self, run: impl for<'b> FnOnce(HttpServer<'b, NumberPolicy>, Server<'b>)) {
        let config = self.config();
        let (mut rx, mut tx, mut slots, mut text) = ([0; 4096], [0; 4096], [Slot::EMPTY; 6], [0; 6 * 40]);
        let (mut watched, mut batches) = ([0; 256], [0; 4096]);
        let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap().message_mode().unwrap();
        let server = server.in_flight(&mut slots, &mut text).unwrap();
        let server = server.subscription_buffer(&mut watched).batch_buffer(&mut batches);
        let mut exchanges = vec![ExchangeSlot::EMPTY; self.exchanges()];
        let mut sessions = vec![SessionSlot::EMPTY; usize::from(self.sessions % 4) + 1];
        let mut output = vec![0; 1536 + usize::from(self.output) * 24];
        let mut bodies = vec![0; self.bodies() * BODY];
        let mut replay = vec![0; usize::from(self.replay % 4) * 300];
        let http = HttpServer::new(
            &config,
            NumberPolicy::default(),
            exchanges.as_mut_slice(),
            output.as_mut_slice(),
        );
        let http = http
            .body_buffer(bodies.as_mut_slice())
            .sessions(sessions.as_mut_slice())
            .replay_buffer(replay.as_mut_slice());
        run(http, server);
    }
}
