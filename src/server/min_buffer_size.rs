//! Minimum buffer sizes, measured by writing the server's own messages.

use crate::error::ConfigError;
use crate::json::Writer;
use crate::protocol::revision::Era;
use crate::server::config::ServerConfig;
use crate::server::handshake::{write_discover, write_initialize};
use crate::server::server_state::{ServerState, Shape};
use crate::server::write_message::{END, begin_result};

/// Maximum length of a `ProtocolError` message, with quotes and numbers, in bytes.
const LONGEST_FAULT: usize = 112;

/// Size of the error response that must always fit, without its id and framing.
const SMALL: usize =
    r#"{"jsonrpc":"2.0","id":,"error":{"code":-32700,"message":""}}"#.len().saturating_add(LONGEST_FAULT);

/// Size of the largest error response, about an unsupported revision, without its id and framing.
const LARGE: usize = concat!(
    r#"{"jsonrpc":"2.0","id":,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":"#,
    r#"["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"#,
    r#""requested":"00000000000000000000000000000000"}}}"#,
)
.len();

impl ServerState<'_> {
    /// Size of the error response that must always fit, with its id and framing, in bytes.
    pub(crate) fn small(&self) -> usize {
        SMALL.saturating_add(self.id_limit()).saturating_add(self.output.overhead())
    }
}

/// Size of the largest message that the server writes by itself, without its id and framing, in bytes.
///
/// # Errors
/// There is no revision, or the configuration of a feature is not valid.
pub(crate) fn measure(info: &ServerConfig<'_>) -> Result<usize, ConfigError> {
    if info.revisions.is_empty() {
        return Err(ConfigError::NoRevision);
    }
    let mut largest = LARGE;
    for revision in info.revisions.newest_first() {
        let mut result = |shape: Shape, body: &mut dyn FnMut(&mut Writer<'_>)| {
            let mut out = Writer::measure();
            begin_result(&mut out, b"", info, revision, shape);
            body(&mut out);
            out.token(END);
            largest = largest.max(out.len());
        };
        match revision.era() {
            Era::Handshake => result(Shape::Result, &mut |out| write_initialize(info, revision, out)),
            Era::Stateless => result(Shape::Discovery, &mut |out| write_discover(info, revision, out)),
        }
        for feature in info.features {
            feature.check(revision, info, &mut result)?;
        }
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ProtocolError;
    use crate::json::{Json, ScanError, ScanErrorKind};
    use crate::protocol::revision::Revisions;
    use crate::rpc::code;
    use crate::server::write_message::{begin_error, write_unsupported};
    use std::format;

    #[test]
    fn error_size_constants_match_written_errors() {
        let error = |body: &mut dyn FnMut(&mut Writer<'_>)| {
            let mut out = Writer::measure();
            begin_error(&mut out, b"1");
            body(&mut out);
            out.token(END);
            out.len() - 1
        };
        let small = error(&mut |out| {
            out.field_integer("code", code::PARSE_ERROR.into());
            out.field_string("message", "");
        });
        assert_eq!(SMALL, small + LONGEST_FAULT);
        let version = Json::trusted(br#""00000000000000000000000000000000""#).string().unwrap();
        let large = error(&mut |out| {
            write_unsupported(out, code::UNSUPPORTED_PROTOCOL_VERSION, version, Revisions::ALL);
        });
        assert_eq!(LARGE, large);
        const { assert!(LARGE >= SMALL) };
    }

    #[test]
    fn longest_error_message_bounds_every_error() {
        let limit = usize::MAX;
        let faults = [
            ProtocolError::LineTooLong { limit },
            ProtocolError::TooDeep { limit: 128 },
            ProtocolError::NotJson(ScanError { kind: ScanErrorKind::GivenUp, at: limit }),
            ProtocolError::NotInitialized,
            ProtocolError::AlreadyInitialized,
            ProtocolError::DuplicateId,
            ProtocolError::IdTooLong { limit },
            ProtocolError::TooManyInFlight { limit },
            ProtocolError::ReplyTooLarge { limit },
            ProtocolError::TookTooLong,
            ProtocolError::Unanswered,
            ProtocolError::InvalidReply,
            ProtocolError::NoRoundTrip,
            ProtocolError::ShuttingDown,
            ProtocolError::WrongJsonRpcVersion,
            ProtocolError::Batch,
            ProtocolError::EmptyBatch,
            ProtocolError::BatchTooLarge { limit },
            ProtocolError::TooManyWatched { limit },
            ProtocolError::MissingClientCapability,
            ProtocolError::UnknownResource { code: -32002 },
        ];
        for fault in faults {
            assert!(fault.code().is_some());
            assert!(format!("{fault}").len() + 2 <= LONGEST_FAULT, "{fault}");
        }
    }
}
