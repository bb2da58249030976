//! Feature `Logging`: `logging/setLevel`, and log messages unrelated to a request.
//!
//! Specification: *Server features*, *Utilities*, *Logging*.

use crate::error::SendError;
use crate::framing::outbound_message::OutboundMessageKind;
use crate::json::{WriteBody, WriteText, Writer};
use crate::peer::lifecycle::State;
use crate::protocol::level::Level;
use crate::protocol::methods::{self, Method};
use crate::protocol::objects::application_json::write_once;
use crate::protocol::objects::log_message::write_log;
use crate::protocol::revision::Revision;
use crate::server::Server;
use crate::server::config::ServerConfig;
use crate::server::feature::{Feature, Received, Request, Sealed};

/// The feature *logging*: log messages, filtered by level.
///
/// The client sets the minimum level with `logging/setLevel` or, in `2026-07-28`, in the `_meta` of a request. If the
/// client sets no level, the server sends all messages in a session, but none for a request of `2026-07-28`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Logging;

impl Feature for Logging {}

impl Sealed for Logging {
    fn write_capability(&self, _: &ServerConfig<'_>, _: Revision, out: &mut Writer<'_>) {
        out.key("logging");
        out.token("{}");
    }

    fn methods(&self) -> &'static [Method] {
        &[methods::LOGGING_SET_LEVEL]
    }

    fn handle<'b>(&'b self, _: usize, request: &mut Request<'_, 'b>) -> Received {
        let Some(level) = request.param("level").string().and_then(Level::from_json) else {
            return request.invalid_params("`level` must be the name of a level, debug to emergency");
        };
        if let Some(session) = &mut request.state.peer.session {
            session.level = Some(level);
        }
        request.result(&mut |_: &mut Writer<'_>| {})
    }
}

impl Server<'_> {
    /// Sends a log message that is unrelated to a request (handshake era).
    ///
    /// # Errors
    /// [`SendError::Unsupported`]: the server does not have the feature [`Logging`]. [`SendError::NotConnected`]: there
    /// is no session, or the connection is ending or closed. [`SendError::NotWanted`]: the level is lower than the
    /// minimum level that the client has set. [`SendError::Busy`]: the transmit buffer has no space, or the space
    /// is reserved for other messages. [`SendError::Unwritable`]: the message exceeds the size limit of a response.
    pub fn log(&mut self, level: Level, logger: Option<&str>, text: impl WriteText) -> Result<(), SendError> {
        self.write_log(level, logger, &mut |out: &mut Writer<'_>| {
            out.display(&text);
        })
    }

    /// Sends a log message with the JSON value that `data` writes.
    ///
    /// # Errors
    /// The errors of [`log`](Server::log). [`SendError::Invalid`]: `data` does not write exactly one value.
    pub fn log_with(
        &mut self,
        level: Level,
        logger: Option<&str>,
        data: impl FnOnce(&mut Writer<'_>),
    ) -> Result<(), SendError> {
        let mut data = Some(data);
        self.write_log(level, logger, &mut |out: &mut Writer<'_>| write_once(out, &mut data))
    }

    fn write_log(
        &mut self,
        level: Level,
        logger: Option<&str>,
        data: &mut dyn WriteBody,
    ) -> Result<(), SendError> {
        if !self.state.config.has_feature(methods::LOGGING_SET_LEVEL) {
            return Err(SendError::Unsupported);
        }
        let is_open = !matches!(self.state(), State::Draining | State::Closed);
        let session = self.state.peer.session.filter(|_| is_open).ok_or(SendError::NotConnected)?;
        if session.level.is_some_and(|least| level < least) {
            return Err(SendError::NotWanted);
        }
        self.state.ensure_message_space()?;
        let routing = self.state.session_routing(OutboundMessageKind::Notification);
        self.state
            .peer
            .output
            .write_message(routing, &mut |out: &mut Writer<'_>| write_log(out, level, logger, data))
    }
}
