//! How much room the machine's own messages need: measured by writing them.

use crate::error::ConfigError;
use crate::json::Writer;
use crate::protocol::revision::Era;
use crate::server::config::ServerConfig;
use crate::server::handshake::{write_discover, write_initialize};
use crate::server::server_state::{ServerState, Shape};
use crate::server::write_message::{END, begin_result};

/// No message of a fault is longer, with its quotes and its numbers.
const LONGEST_FAULT: usize = 112;

/// The small error that must always fit, without its id and what stands around a message.
const SMALL: usize =
    r#"{"jsonrpc":"2.0","id":,"error":{"code":-32700,"message":""}}"#.len().saturating_add(LONGEST_FAULT);

/// The largest error, in the same way: the one about a revision.
const LARGE: usize = concat!(
    r#"{"jsonrpc":"2.0","id":,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":"#,
    r#"["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"#,
    r#""requested":"00000000000000000000000000000000"}}}"#,
)
.len();

impl ServerState<'_> {
    /// How many bytes the small error takes that must always fit.
    pub(crate) fn small(&self) -> usize {
        SMALL.saturating_add(self.id_limit()).saturating_add(self.output.overhead())
    }
}

/// How many bytes the largest message takes that the machine writes by itself, without its id and its end.
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
    fn errors_are_as_long_as_they_are_thought_to_be() {
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
    fn no_fault_has_a_longer_message() {
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
