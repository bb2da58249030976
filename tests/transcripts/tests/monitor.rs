//! A monitor finds no violation of our machines in any transcript.

use mcp_proto_transcripts::{all, direct};

#[test]
fn no_transcript_violates_the_specification() {
    let mut wrong = Vec::new();
    for transcript in all() {
        let name = transcript.name();
        match direct::violations(&transcript) {
            Ok(found) => wrong.extend(found.iter().map(|violation| format!("{name}\n  {violation}"))),
            Err(why) => wrong.push(format!("{name}\n  {why}")),
        }
    }
    assert!(wrong.is_empty(), "{}\n{} violations", wrong.join("\n"), wrong.len());
}
