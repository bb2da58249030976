//! Minimum buffer sizes, computed from the messages that a server sends and receives.

use crate::error::ConfigError;
use crate::framing::outbound_message::HEADER_SIZE;
use crate::json::writer::member_cache::MemberCache;
use crate::json::{WriteBody, Writer};
use crate::peer::inbound::END;
use crate::protocol::meta;
use crate::protocol::pagination::TAIL;
use crate::protocol::revision::{Era, Revision, WireFeature};
use crate::server::config::ServerConfig;
use crate::server::features::catalog::check_joined;
use crate::server::server_state::{ServerState, Shape};
use crate::server::write_message::begin_result;

/// Maximum length of a `ProtocolError` message, with quotes and numbers, in bytes.
const MAX_MESSAGE: usize = 112;

/// Minimum space for an error response, without its id and framing.
const MIN_ERROR: usize =
    r#"{"jsonrpc":"2.0","id":,"error":{"code":-32700,"message":""}}"#.len().saturating_add(MAX_MESSAGE);

/// Size of the largest error response, without its id and framing. This error reports an unsupported revision.
const MAX_ERROR: usize = concat!(
    r#"{"jsonrpc":"2.0","id":,"error":{"code":-32022,"message":"Unsupported protocol version","#,
    r#""data":{"supported":[]"requested":"00000000000000000000000000000000"}}}"#,
)
.len()
.saturating_add(Revision::ALL.len().saturating_mul(r#""2026-07-28","#.len()));

impl ServerState<'_> {
    /// Returns the minimum space for an error response with id and framing, in bytes.
    pub(crate) fn min_error_size(&self) -> usize {
        MIN_ERROR.saturating_add(self.config.limits.id).saturating_add(self.peer.output.overhead())
    }
}

/// Returns the maximum size of a list response without its entries, in bytes. The size includes the id and the
/// framing.
pub(crate) const fn list_overhead(config: &ServerConfig<'_>, key: &str) -> usize {
    let mut size = r#"{"jsonrpc":"2.0","id":,"result":{"":["#
        .len()
        .saturating_add(config.limits.id)
        .saturating_add(key.len())
        .saturating_add(TAIL.len())
        .saturating_add(HEADER_SIZE);
    if config.revisions.intersects(WireFeature::ResultTypes.revisions()) {
        let head =
            r#""resultType":"complete","ttlMs":18446744073709551615,"cacheScope":"private","_meta":{"":},"#;
        size = size.saturating_add(head.len());
        if config.identify {
            size = size.saturating_add(meta::SERVER_INFO.len()).saturating_add(config.identity.size());
        }
    }
    size
}

/// Maximum length of the client's name, version and capabilities that [`ServerConfig::min_rx`] expects, in bytes.
const CLIENT_DETAILS: usize = 160;

impl ServerConfig<'_> {
    /// Returns the size of a receive buffer for tool calls and, in the handshake era, `initialize`. The size is in
    /// bytes.
    ///
    /// `arguments` is the maximum length of a tool's name and arguments in a call, as JSON text. The size is sufficient
    /// for clients with up to 160 bytes for their name, version and capabilities, as JSON text. In the stateless era,
    /// the 160 bytes include a progress token. A client of the handshake era sends these details once, a client of the
    /// stateless era with each request. Ids may be as long as [`Limits::id`](crate::server::Limits::id).
    ///
    /// [`Tools::list_size`](crate::server::Tools::list_size) has an example.
    #[must_use]
    pub const fn min_rx(&self, era: Era, arguments: usize) -> usize {
        let id = self.limits.id;
        let call =
            r#"{"jsonrpc":"2.0","id":,"method":"tools/call","params":{"name":,"arguments":,"_meta":{}}}"#
                .len()
                .saturating_add(id)
                .saturating_add(arguments)
                .saturating_add("\n".len());
        match era {
            Era::Handshake => {
                let initialize = concat!(
                    r#"{"jsonrpc":"2.0","id":,"method":"initialize","params":{"protocolVersion":"2025-11-25","#,
                    r#""capabilities":,"clientInfo":{"name":,"version":}}}"#,
                    "\n"
                );
                let initialize = initialize.len().saturating_add(id).saturating_add(CLIENT_DETAILS);
                // Most clients use the id as the progress token.
                let call = call.saturating_add(r#""progressToken":"#.len()).saturating_add(id);
                if initialize > call { initialize } else { call }
            }
            Era::Stateless => {
                let context = concat!(
                    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":"#,
                    r#"{"name":,"version":},"io.modelcontextprotocol/clientCapabilities":"#,
                );
                call.saturating_add(context.len()).saturating_add(CLIENT_DETAILS)
            }
        }
    }
}

/// Returns the minimum space for the messages that the server itself writes, in bytes, without id and framing.
///
/// # Errors
/// The configuration has no revision, a feature is not valid, or two features conflict.
pub(crate) fn largest_own_message(config: &ServerConfig<'_>) -> Result<usize, ConfigError> {
    if config.revisions.is_empty() {
        return Err(ConfigError::NoRevision);
    }
    check_joined(config)?;
    let mut results = OwnResults { config, revision: Revision::OLDEST, largest: MAX_ERROR };
    for revision in config.revisions.newest_first() {
        results.revision = revision;
        if let (Era::Stateless, Some(era)) = (revision.era(), config.stateless) {
            results.measure(Shape::Discovery, &mut |out: &mut Writer<'_>| {
                (era.write_discover)(config, revision, out)
            });
        } else if let Some(era) = config.handshake {
            results.measure(Shape::Result, &mut |out: &mut Writer<'_>| {
                (era.write_initialize)(config, revision, out)
            });
        }
        for feature in config.features {
            feature.check(&mut results)?;
        }
    }
    Ok(results.largest)
}

/// The results that the server itself writes, for one revision at a time. Features measure their results. The largest
/// message of all revisions determines the minimum buffer size.
pub(crate) struct OwnResults<'c> {
    pub(crate) config: &'c ServerConfig<'c>,
    pub(crate) revision: Revision,
    largest: usize,
}

impl OwnResults<'_> {
    /// Measures a result with the members that `body` writes.
    pub(crate) fn measure(&mut self, shape: Shape, body: &mut dyn WriteBody) {
        let mut out = Writer::measure();
        begin_result(&mut out, b"", self.config, self.revision, shape, &mut MemberCache::new());
        body.write(&mut out);
        out.token(END);
        self.largest = self.largest.max(out.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ProtocolError;
    use crate::json::{Json, ScanError, ScanErrorKind};
    use crate::peer::inbound::begin_error;
    use crate::protocol::revision::Revisions;
    use crate::rpc::code;
    use crate::server::write_message::write_unsupported;
    use std::format;

    #[test]
    fn error_size_constants_match_written_errors() {
        let error = |code, body: &mut dyn WriteBody| {
            let mut out = Writer::measure();
            begin_error(&mut out, b"1", code);
            body.write(&mut out);
            out.token(END);
            out.len() - 1
        };
        let small = error(code::PARSE_ERROR, &mut |out: &mut Writer<'_>| out.field_string("message", ""));
        assert_eq!(MIN_ERROR, small + MAX_MESSAGE);
        let version = Json::trusted(br#""00000000000000000000000000000000""#).string().unwrap();
        let large = error(code::UNSUPPORTED_PROTOCOL_VERSION, &mut |out: &mut Writer<'_>| {
            write_unsupported(out, version, Revisions::ALL);
        });
        assert_eq!(MAX_ERROR, large);
        const { assert!(MAX_ERROR >= MIN_ERROR) };
    }

    #[test]
    fn longest_error_message_bounds_every_error() {
        let limit = usize::MAX;
        let errors = [
            ProtocolError::LineTooLong { limit },
            ProtocolError::TooDeep { limit: 128 },
            ProtocolError::NotJson(ScanError { kind: ScanErrorKind::Gap, at: limit }),
            ProtocolError::NotInitialized,
            ProtocolError::AlreadyInitialized,
            ProtocolError::DuplicateId,
            ProtocolError::IdTooLong { limit },
            ProtocolError::TooManyInFlight { limit },
            ProtocolError::Busy,
            ProtocolError::ReplyTooLarge { limit },
            ProtocolError::TimedOut,
            ProtocolError::Unanswered,
            ProtocolError::InvalidReply,
            ProtocolError::InvalidInputRequest,
            ProtocolError::ShuttingDown,
            ProtocolError::WrongJsonRpcVersion,
            ProtocolError::Batch,
            ProtocolError::EmptyBatch,
            ProtocolError::BatchTooLarge { limit },
            ProtocolError::TooManySubscriptions { limit },
            ProtocolError::MissingClientCapability,
            ProtocolError::UnknownResource { code: -32002 },
        ];
        for error in errors {
            assert!(error.code().is_some());
            assert!(format!("{error}").len() + 2 <= MAX_MESSAGE, "{error}");
        }
    }
}
