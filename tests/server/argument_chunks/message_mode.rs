//! Streamed arguments in message mode: a call arrives whole, or not at all.

use super::{CONFIG, DONE, INITIALIZE, RX, python, run};
use mcp_proto::{Action, Buffer, Millis, Server, StreamId};

#[test]
fn call_of_up_to_rx_bytes_arrives_without_chunks() {
    let overhead = python(1, "").trim_end().len();
    for (length, fits) in
        [(0, true), (100, true), (RX - overhead, true), (RX - overhead + 1, false), (2000, false)]
    {
        let text = "x".repeat(length);
        for grows in [false, true] {
            let (mut rx, mut tx) = ([0; RX], [0; 1024]);
            let rx = if grows { Buffer::grown(RX) } else { (&mut rx).into() };
            let mut server = Server::new(&CONFIG, rx, &mut tx).unwrap().message_mode().unwrap();
            for (message, log, output) in [
                (INITIALIZE.to_owned(), None, r#""protocolVersion""#),
                match fits {
                    true => (python(1, &text), Some(format!("[write {text} 7]")), DONE),
                    false => {
                        let log = "(ProtocolError(LineTooLong { limit: 256 }))".to_owned();
                        let error = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"Invalid request: the message is too long"}}"#;
                        (python(1, &text), Some(log), error)
                    }
                },
                (python(2, "next"), Some("[write next 7]".to_owned()), DONE),
            ] {
                let Action::Io(io) = server.poll(Millis(0)) else { panic!("no event is pending") };
                io.split().1.message(message.trim_end().as_bytes(), StreamId(1)).unwrap();
                let received = run(&mut server, b"", || 0);
                assert!(log.is_none_or(|log| log == received.log), "{length}: {}", received.log);
                assert!(received.output.contains(output), "{length}: {}", received.output);
                assert_eq!(received.chunks, 0, "{length}");
            }
        }
    }
}
