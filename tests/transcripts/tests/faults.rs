//! Detection of faults in transcript files, machine output and adapters.
#![cfg(unix)]

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use mcp_proto::{Action, Millis, Next};
use mcp_proto_transcripts::partner::{self, Manner};
use mcp_proto_transcripts::{Step, Subject, Transcript, direct, parse};

const PING: &str = "== A ping [2.1.4]\nserver\n> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";

fn one(text: &str) -> Transcript {
    let mut all = parse("file", text);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

#[test]
fn transcript_file_is_parsed() {
    let transcript = one(
        "# About [D1]\n= a {\"x\"}\n= b [$a]\n\n== Title [2.3.4] [T22], and more [x]\nclient probe=150\n# cites [D17], too\n\
         >> \\xff$b\\n\\xzz$nobody\n> ${ab*3}\n>\n~ 20 ms\n< …\n< $a\n! heard $a\n* call $a\n~ end\n~ gone\n~ closed\n~ again\n",
    );
    assert_eq!(
        (transcript.name(), transcript.is_server()),
        ("file:5: Title [2.3.4] [T22], and more [x]".into(), false)
    );
    assert_eq!(transcript.cited, ["2.3.4", "T22", "D17"]);
    assert_eq!((transcript.time(), transcript.is_for_adapters()), (20, false));
    let steps: Vec<Step> = transcript.steps.into_iter().map(|(_, step)| step).collect();
    let expected = [
        Step::In(b"\xff[{\"x\"}]\\n\\xzz$nobody".to_vec()),
        Step::In(b"ababab\n".to_vec()),
        Step::In(b"\n".to_vec()),
        Step::Time(20),
        Step::Out(None),
        Step::Out(Some(b"{\"x\"}".to_vec())),
        Step::Event("heard {\"x\"}".into()),
        Step::Command("call $a".into()),
        Step::End,
        Step::Gone,
        Step::Closed,
        Step::Again,
    ];
    assert_eq!(steps, expected);
}

#[test]
fn malformed_transcript_file_is_refused() {
    let cases = [
        ("== Title\nrobot\n", "must start with server or client"),
        ("== Title\nserver sesion=2025-11-25\n", "unknown word sesion"),
        ("== Title\nserver declares=roots\n", "unknown word declares"),
        ("== Title\nserver\n? what\n", "unknown step \"? what\""),
        ("== Title\nserver\n~ soon\n", "unknown step \"~ soon\""),
        ("== Title\n== Another\nserver\n", "the previous transcript"),
        ("== Title\n", "the last transcript"),
        ("> {}\n", "a step before the first setup line"),
        ("== Title\nserver\n> {}\n* changed tools\n", "must follow an event"),
    ];
    for (text, why) in cases {
        let refused = std::panic::catch_unwind(|| parse("file", text)).expect_err(text);
        let message = refused.downcast_ref::<String>().expect("a message");
        assert!(message.contains(why), "{text}: {message}");
    }
}

#[test]
fn deviation_from_a_transcript_is_detected() {
    let answer = "< {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
    assert_eq!(direct::check(&one(&format!("{PING}{answer}"))), Ok(()));
    for wrong in [
        "".to_owned(),
        answer.replace('1', "2"),
        answer.repeat(2),
        format!("{answer}! fault Batch\n"),
        format!("{answer}~ closed\n"),
    ] {
        assert!(direct::check(&one(&format!("{PING}{wrong}"))).is_err(), "{wrong}");
    }
}

/// Moves a server's bytes without deadlines. Damages the output with `spoil`.
fn move_bytes(subject: &mut Subject<'static>, mut stream: UnixStream, spoil: &dyn Fn(&mut Vec<u8>)) {
    loop {
        match subject.machine().poll(Millis(0)) {
            Action::Event => subject.event(),
            Action::Closed => break,
            Action::Io(io) => match io.next() {
                Next::Write(out) => {
                    let mut bytes = out.bytes().to_vec();
                    spoil(&mut bytes);
                    let n = out.bytes().len();
                    if stream.write_all(&bytes).is_ok() { out.sent(n) } else { out.broken() }
                }
                Next::Read(mut input) => match stream.read(input.space()) {
                    Ok(0) | Err(_) => input.eof(),
                    Ok(n) => input.filled(n),
                },
                Next::Wait => return,
            },
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
}

#[test]
fn faulty_adapter_is_detected() {
    let transcript = one(&format!("{PING}< {{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{}}}}\n"));
    for manner in Manner::ALL {
        // Only an adapter that hangs needs the whole time limit.
        let within = |milliseconds, adapter: fn(&mut Subject<'static>, UnixStream)| {
            partner::over_within(Duration::from_millis(milliseconds), &transcript, manner, adapter)
        };
        let run = |adapter| within(20_000, adapter);
        assert_eq!(run(|subject, stream| move_bytes(subject, stream, &|_| {})), Ok(()), "{manner:?}");
        let hangs = within(300, |_, _| std::thread::sleep(Duration::from_secs(5))).unwrap_err();
        assert!(hangs.contains("does not return") || hangs.contains("timed out"), "{hangs}");
        let panics = run(|_, _| panic!("on purpose")).unwrap_err();
        assert!(panics.contains("has panicked") || panics.contains("closed"), "{panics}");
        if !matches!(manner, Manner::Leaves(_)) {
            let loses = run(|subject, stream| {
                move_bytes(subject, stream, &|bytes| {
                    bytes.remove(3);
                })
            });
            assert!(loses.is_err_and(|why| why.contains("expected")), "{manner:?}");
            let twice =
                run(|subject, stream| move_bytes(subject, stream, &|bytes| bytes.extend(bytes.clone())));
            assert!(twice.is_err_and(|why| why.contains("expected")), "{manner:?}");
        }
    }
}
