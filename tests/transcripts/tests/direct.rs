//! Plays every transcript with a machine alone, with many movements of bytes.

use mcp_proto_transcripts::{all, direct};

#[test]
fn transcripts_do_not_depend_on_how_bytes_move() {
    if mcp_proto_transcripts::update() {
        return;
    }
    let failed: Vec<String> = all().iter().filter_map(|transcript| direct::check(transcript).err()).collect();
    assert!(failed.is_empty(), "{} have failed:\n\n{}", failed.len(), failed.join("\n\n"));
}
