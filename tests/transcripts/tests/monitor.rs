//! A monitor reports no violation by the machines in any transcript, except the intended deviations.

use mcp_proto::monitor::Rule;
use mcp_proto_transcripts::{all, direct};

/// The transcripts in which an application or a setting deviates from the specification on purpose.
const DEVIATIONS: &[(&str, Rule)] = &[
    ("An application can send shutdown and exit", Rule::MethodUnknown),
    ("An id at the length limit, and beyond it", Rule::ErrorId),
];

#[test]
fn no_transcript_violates_the_specification() {
    let (mut wrong, mut deviations) = (Vec::new(), Vec::new());
    for transcript in all() {
        let name = transcript.name();
        let found = direct::violations(&transcript).unwrap_or_else(|why| panic!("{name}: {why}"));
        for violation in found {
            let is_expected =
                |row: &&(&str, Rule)| transcript.title.starts_with(row.0) && row.1 == violation.rule;
            match DEVIATIONS.iter().find(is_expected) {
                Some(row) => deviations.push(row),
                None => wrong.push(format!("{name}\n  {violation}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{} violations", wrong.join("\n"), wrong.len());
    deviations.dedup();
    assert_eq!(deviations.len(), DEVIATIONS.len(), "{deviations:?}");
}
