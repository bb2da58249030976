//! Every dialogue with a machine alone, in many ways to cut what is read and written.

use mcp_proto_dialogues::{all, direct};

#[test]
fn every_dialogue_is_the_same_however_bytes_move() {
    if mcp_proto_dialogues::bless() {
        return;
    }
    let failed: Vec<String> = all().iter().filter_map(|dialogue| direct::check(dialogue).err()).collect();
    assert!(failed.is_empty(), "{} have failed:\n\n{}", failed.len(), failed.join("\n\n"));
}
