//! How much room the machine's own messages need: measured by writing them.

use crate::fault::Misuse;
use crate::json::{Json, Writer};
use crate::rpc::code;
use crate::server::core::Core;
use crate::server::handshake::{write_discover, write_initialize};
use crate::server::write::{COMPLETE, write_error, write_result, write_unsupported};
use crate::version::{Era, Revisions};

/// No message of a fault is longer, with its quotes and its numbers.
const LONGEST_FAULT: usize = 112;

impl Core<'_> {
    /// How many bytes the largest message takes that the machine writes by itself.
    pub(crate) fn measure(&mut self) -> Result<usize, Misuse> {
        let info = self.info;
        if info.revisions.is_empty() {
            return Err(Misuse::NoRevision);
        }
        let overhead = self.output.overhead();
        let envelope = |shape: &mut dyn FnMut(&mut Writer<'_>)| {
            let mut out = Writer::measure();
            shape(&mut out);
            out.len().saturating_add(self.id_limit).saturating_add(overhead)
        };
        self.small = envelope(&mut |out| {
            write_error(out, Some(b""), &mut |out| {
                out.field_integer("code", code::PARSE_ERROR.into());
                out.field_string("message", "");
            });
        })
        .saturating_add(LONGEST_FAULT);
        let version = Json::trusted(br#""00000000000000000000000000000000""#).string();
        let mut largest = self.small;
        let unsupported = envelope(&mut |out| {
            write_error(out, Some(b""), &mut |out| {
                if let Some(version) = version {
                    write_unsupported(out, code::UNSUPPORTED_PROTOCOL_VERSION, version, Revisions::ALL);
                }
            });
        });
        largest = largest.max(unsupported);
        for revision in info.revisions.newest_first() {
            let mut result = |identify: bool, body: &mut dyn FnMut(&mut Writer<'_>)| {
                let size =
                    envelope(&mut |out| write_result(COMPLETE, out, b"", info, revision, identify, body));
                largest = largest.max(size);
            };
            match revision.era() {
                Era::Handshake => result(info.identify, &mut |out| write_initialize(info, revision, out)),
                Era::Stateless => result(true, &mut |out| write_discover(info, revision, out)),
            }
            result(info.identify, &mut |_| {});
            for feature in info.features {
                feature.check(revision, info, &mut |body| result(info.identify, body))?;
            }
        }
        Ok(largest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;
    use crate::json::{ScanError, ScanErrorKind};
    use std::format;

    #[test]
    fn no_fault_has_a_longer_message() {
        let limit = usize::MAX;
        let faults = [
            Fault::LineTooLong { limit },
            Fault::TooDeep { limit: 128 },
            Fault::NotJson(ScanError { kind: ScanErrorKind::GivenUp, at: limit }),
            Fault::NotInitialized,
            Fault::AlreadyInitialized,
            Fault::DuplicateId,
            Fault::IdTooLong { limit },
            Fault::TooManyInFlight { limit },
            Fault::ReplyTooLarge { limit },
            Fault::TookTooLong,
            Fault::Unanswered,
            Fault::InvalidReply,
            Fault::NoRoundTrip,
            Fault::ShuttingDown,
            Fault::WrongJsonRpcVersion,
            Fault::Batch,
            Fault::EmptyBatch,
            Fault::BatchTooLarge { limit },
            Fault::TooManyWatched { limit },
            Fault::MissingClientCapability,
            Fault::UnknownResource { code: -32002 },
        ];
        for fault in faults {
            assert!(fault.code().is_some());
            assert!(format!("{fault}").len() + 2 <= LONGEST_FAULT, "{fault}");
        }
    }
}
