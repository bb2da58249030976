//! Tests of HTTP clients that shut down their output after the request, and wait for the response.

use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;

use crate::common::{On, TestClock, Uart};
use crate::http::{End, Open, Pipe, Task, call, handle, run_tasks, steps, text_of, with_servers};
use mcp_proto_embedded::{HttpPump, HttpShared, HttpStatus};

const REFUSED: &str = "POST /mcp HTTP/1.1\r\nHost: example.com\r\nContent-Length: 9\r\n\r\n{";

#[test]
fn steps_send_the_whole_response_after_the_end_of_input() {
    for (request, end) in [(call("hello", ""), "Hello!"), (REFUSED.into(), "403")] {
        for (reads, writes) in [(1, 1), (64, 3), (64, 1000)] {
            let mut uart = Uart::new([On::Bytes(request.clone().into()), On::End]);
            (uart.reads, uart.writes, uart.alternates) = (reads, writes, true);
            let mut head = [0; 300];
            let mut pump = HttpPump::new(&mut head);
            let status = with_servers(|http, server| steps(&mut pump, http, server, &mut uart).0);
            let sent = uart.sent();
            assert!(sent.contains(end) && sent.ends_with('}'), "{reads} {writes}: {sent}");
            assert_eq!(status, HttpStatus::Closed);
        }
    }
}

#[test]
fn task_sends_the_whole_response_after_the_end_of_input() {
    // The pump ends a call that has no response yet, because its client may be lost.
    for (tool, has_response) in [("hello", true), ("slow", false)] {
        for shares_waker in [true, false] {
            let (input, output, time) = (Pipe::default(), Pipe::default(), Cell::new(0));
            let mut head = [0; 300];
            let mut pump = HttpPump::new(&mut head);
            with_servers(|http, server| {
                let shared: HttpShared<'_, '_, Open, 2> = HttpShared::new(http, server);
                let [mut clock, mut event_clock] = [(); 2].map(|()| TestClock(&time));
                let events = pin!(async {
                    while shared.event(&mut event_clock).await {
                        shared.with(|_, server| handle(server));
                    }
                    HttpStatus::Event
                });
                let (mut reader, mut writer) = (End(&input), End(&output));
                let serve = pin!(pump.serve(&shared, &mut reader, &mut writer, &mut clock));
                let first = Arc::default();
                let second = if shares_waker { Arc::clone(&first) } else { Arc::default() };
                let mut tasks: [Task<'_>; 2] = [(serve, first, None), (events, second, None)];
                input.push(call(tool, "").as_bytes());
                input.close();
                run_tasks(&mut tasks);
                assert_eq!(tasks[0].2, Some(HttpStatus::Closed), "{tool}");
                assert_eq!(shared.with(|http, _| http.open_exchanges()), Some(0));
                let sent = text_of(&output);
                assert_eq!(sent.contains("Hello!") && sent.ends_with('}'), has_response, "{tool} {sent}");
            });
        }
    }
}
