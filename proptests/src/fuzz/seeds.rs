//! Seeds and dictionary for fuzzing.
//!
//! Seeds come from the transcripts in `tests/transcripts`, are written by hand, or are pseudo-random.

use std::collections::BTreeSet;

use mcp_proto_transcripts::{Step, Transcript as Dialogue};

use super::mutate::number_of;

/// Returns the seed inputs for each target.
#[must_use]
pub fn all() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let dialogues = mcp_proto_transcripts::all();
    // A depth limit, two bytes of `Moves`, then the text: the `Input` of the target `scan`.
    let scan = lines(&dialogues).into_iter().map(|line| [&[64, 3, 7], &line[..]].concat()).collect();
    let line = dialogues.iter().filter(|dialogue| dialogue.is_server()).map(|dialogue| {
        let said = input_of(dialogue);
        [&[200, 24, 7, 0, 3, 7, 2, 9], &said[..said.len().min(4000)]].concat()
    });
    let whole = dialogues.iter().map(|dialogue| {
        let [low, high] = number_of(dialogue).to_le_bytes();
        [&[low, high, 3, 5, 1, 0, 1], &noise(u32::from(high) << 8 | u32::from(low), 60)[..]].concat()
    });
    let operations = || (1..200).map(|seed| noise(seed, 20 + 6 * seed as usize)).collect();
    // An oversized line with two ids. The server must use the last id.
    let twice = format!("{{\"id\":1,\"x\":\"{}\",\"id\":23,\"method\":\"ping\"}}\n{{}}\n", "x".repeat(400));
    let twice = [&[0, 24, 7, 0, 3, 7, 2, 9], twice.as_bytes()].concat();
    vec![
        ("scan", scan),
        ("line", line.chain([twice]).collect()),
        ("server", operations()),
        ("client", operations()),
        ("pair", operations()),
        ("dialogue", whole.collect()),
        ("http1_head", heads()),
        ("sse", streams()),
        ("http_connection", operations()),
        ("http_server", operations()),
        ("http_pair", operations()),
    ]
}

/// Returns four seeds for each head, with different read lengths. A seed is an `Input` of the target `http1_head`.
fn heads() -> Vec<Vec<u8>> {
    let requests = [
        "POST /mcp?x HTTP/1.1\r\nHost: h:80\r\nContent-Length: 5\r\nMcp-Session-Id: \t1 \r\nmcp-param-a: 1\r\n\r\n",
        "POST http://h/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
        "\r\nGET / HTTP/1.0\r\nConnection: a\r\nAccept: b\r\nconnection: keep-alive\r\naccept: c\r\n\r\n",
    ];
    let responses = [
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
        "HTTP/1.1 401\r\nWWW-Authenticate: a\r\nContent-Length: 0\r\nwww-authenticate: b\r\nRetry-After: 5\r\n\r\n",
    ];
    let texts = requests.map(|text| (0, text)).into_iter().chain(responses.map(|text| (1, text)));
    texts
        .flat_map(|(kind, text)| (0..4).map(move |moves| [&[kind, moves, 9], text.as_bytes()].concat()))
        .collect()
}

/// Returns eight seeds for each event stream: two buffer sizes, each with four sequences of read lengths. A seed is an
/// `Input` of the target `sse`.
fn streams() -> Vec<Vec<u8>> {
    let texts = [
        "\u{feff}: x\r\nid: s1-0\r\nretry: 500\r\ndata:\r\n\r\ndata: {}\r\n\r\n",
        "event: endpoint\ndata: /m\ndata: b\n\ndata\nid\n\n",
        "data: a\rid: 1\revent: e\rdata: b\rid: 23\r\rid: 4\0\r\r",
    ];
    let sizes = [10, 200];
    let cuts = || (0..4).flat_map(move |moves| sizes.map(|size| [size, moves, 9]));
    texts.into_iter().flat_map(|text| cuts().map(move |cut| [&cut, text.as_bytes()].concat())).collect()
}

/// Returns pseudo-random bytes. The bytes decode to arbitrary operations or mutations.
fn noise(seed: u32, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    let bytes = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state >> 8) as u8
    });
    bytes.take(length).collect()
}

/// Returns all bytes that the peer sends in a transcript.
pub(super) fn input_of(dialogue: &Dialogue) -> Vec<u8> {
    let parts = dialogue.steps.iter().filter_map(|(_, step)| match step {
        Step::In(bytes) => Some(&bytes[..]),
        _ => None,
    });
    parts.collect::<Vec<_>>().concat()
}

/// Returns the distinct lines of the peers, without lines of 2000 bytes or more.
fn lines(dialogues: &[Dialogue]) -> BTreeSet<Vec<u8>> {
    let all = dialogues.iter().flat_map(|dialogue| {
        input_of(dialogue).split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>()
    });
    all.filter(|line| line.len() < 2000).collect()
}

/// Returns the fuzzer's dictionary: quoted strings from the peers' lines of fewer than 2000 bytes. Each string has 1 to
/// 49 characters, all of them printable ASCII.
#[must_use]
pub fn words() -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for line in lines(&mcp_proto_transcripts::all()) {
        let Ok(line) = String::from_utf8(line) else { continue };
        let strings = line.split('"').skip(1).step_by(2);
        let is_word = |word: &&str| {
            let is_plain = word.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ');
            (1..50).contains(&word.len()) && is_plain
        };
        words.extend(strings.filter(is_word).map(|word| format!("\"{word}\"")));
    }
    words
}
