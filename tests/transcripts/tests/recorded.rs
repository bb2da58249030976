//! A recorded transcript has the bytes of the dialogue.

use mcp_proto::Millis;
use mcp_proto_transcripts::{Step, all, parse};

#[path = "../../../adapters/inspect/src/tap/transcript.rs"]
mod transcript;

#[test]
fn recorded_dialogue_parses_to_the_same_bytes() {
    let odd: [&[u8]; 5] = [
        b"",
        b"$rpc ${a*3} $ $1",
        br#"{"a":"\x41 \\x41 \u0041\n"}"#,
        b"\xff\xc3 \r\x00",
        "é…\u{2028}".as_bytes(),
    ];
    let odd = odd.into_iter().map(<[u8]>::to_vec);
    let whole =
        |bytes: &Vec<u8>| bytes.ends_with(b"\n") && bytes.iter().filter(|it| **it == b'\n').count() == 1;
    let inputs =
        all().into_iter().flat_map(|transcript| transcript.steps).filter_map(|(_, step)| match step {
            Step::In(bytes) if whole(&bytes) && bytes.len() < 2000 => Some(bytes[..bytes.len() - 1].to_vec()),
            _ => None,
        });
    let lines: Vec<Vec<u8>> = odd.chain(inputs).collect();
    assert!(lines.len() > 500, "{}", lines.len());
    let mut text = String::from(transcript::HEAD);
    for (index, line) in lines.iter().enumerate() {
        let sign = if index % 2 == 0 { '>' } else { '<' };
        text.push_str(&transcript::entry(sign, line, Millis(if index == 3 { 250 } else { 99 })));
    }
    text.push_str(transcript::END);
    let parsed = parse("recorded.txt", &text);
    let [recorded] = &parsed[..] else { panic!("{} transcripts", parsed.len()) };
    let steps: Vec<Step> = recorded.steps.iter().map(|(_, step)| step.clone()).collect();
    let mut expected: Vec<Step> = lines
        .iter()
        .enumerate()
        .map(|(index, line)| match index % 2 {
            0 => Step::In([line, &b"\n"[..]].concat()),
            _ => Step::Out(Some(line.clone())),
        })
        .collect();
    expected.insert(3, Step::Time(250));
    expected.push(Step::End);
    assert_eq!(steps, expected);
}
