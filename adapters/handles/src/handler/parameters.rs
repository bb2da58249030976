//! Parameters of handlers: progress, log messages, the client.

use std::fmt::Display;

use mcp_proto::server::FromRequest;
use mcp_proto::{ClientCapabilities, Decimal, Level, Revision};

use crate::handler::HandlerRequest;
use crate::request_link::RequestLink;

/// Reports the progress of a request.
#[derive(Debug, Clone)]
pub struct Progress {
    link: RequestLink,
}

impl Progress {
    /// Sends a progress notification, if the client requested progress.
    ///
    /// `done` must increase with each call; `message` may be empty. Waits while the queue of commands is full, for
    /// example because the client does not read. Does not wait on the thread of the event loop, after the cancellation
    /// of the request, or if the connection is closed.
    ///
    /// Pass a `format!` as the message, because a `format_args!` cannot be held across an await point. With a
    /// `format_args!`, the compiler reports that the future of the `async` function cannot be sent between threads.
    pub fn report<P: Into<Decimal>, M: Display>(
        &self,
        done: P,
        total: Option<Decimal>,
        message: M,
    ) -> impl Future<Output = ()> + use<'_, P, M> {
        self.link.progress(done, total, message)
    }
}

impl FromRequest<HandlerRequest> for Progress {
    fn from_request(request: &HandlerRequest) -> Progress {
        Progress { link: request.link.clone() }
    }
}

/// Sends log messages that belong to a request. The server needs the feature [`Logging`](mcp_proto::server::Logging)
/// in its configuration; otherwise nothing is sent.
#[derive(Debug, Clone)]
pub struct Log {
    link: RequestLink,
}

impl Log {
    /// Sends a log message.
    ///
    /// Sends nothing if the client does not receive messages of this level. Waits like [`Progress::report`], and takes
    /// no `format_args!` for the same reason.
    pub fn send<T: Display>(&self, level: Level, text: T) -> impl Future<Output = ()> + use<'_, T> {
        self.link.log(level, text)
    }
}

impl FromRequest<HandlerRequest> for Log {
    fn from_request(request: &HandlerRequest) -> Log {
        Log { link: request.link.clone() }
    }
}

/// The revision of a request, the capabilities of its client, and its user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientDetails {
    revision: Revision,
    capabilities: ClientCapabilities,
    user: Option<u64>,
}

impl ClientDetails {
    /// Returns the revision of the request.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the capabilities that the client declared.
    #[must_use]
    pub fn capabilities(&self) -> ClientCapabilities {
        self.capabilities
    }

    /// Returns the user of the request, or `None` if there is none: see [`Call::user`](mcp_proto::server::Call::user).
    #[must_use]
    pub fn user(&self) -> Option<u64> {
        self.user
    }
}

impl FromRequest<HandlerRequest> for ClientDetails {
    fn from_request(request: &HandlerRequest) -> ClientDetails {
        let (revision, capabilities) = request.link.client;
        ClientDetails { revision, capabilities, user: request.link.user }
    }
}
