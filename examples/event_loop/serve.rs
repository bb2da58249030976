//! A server in a custom loop. Call `turn` when the socket is ready, and at the returned time; `None` means closed.
use mcp_proto::server::Event;
use mcp_proto::{Action, Millis, SendError, Server, Ticket};
use std::io::{self, ErrorKind::WouldBlock, Read, Write};

/// A slow call in progress: ten steps, one every fifty milliseconds.
pub(crate) struct Slow { ticket: Ticket, done: u32, next: Millis }
#[derive(serde::Deserialize)]
struct Add { a: i32, b: i32 }

pub(crate) fn turn(server: &mut Server<'_>, mut socket: impl Read + Write, now: Millis, slow: &mut Vec<Slow>) -> Option<Millis> {
    loop {
        slow.retain_mut(|call| call.next > now || match server.reply(call.ticket) {
            Ok(reply) if call.done == 10 => { reply.text("done"); false }
            Ok(mut reply) => {
                _ = reply.progress(call.done, Some(10.into()), "working");
                (call.done, call.next) = (call.done + 1, now.plus(Millis(50)));
                true
            }
            Err(why) => why == SendError::Busy,
        });
        match server.poll(now) {
            Action::Io(io) => {
                let deadline = slow.iter().map(|call| call.next).filter(|at| *at > now).chain(io.deadline()).min();
                let (out, mut input) = io.split();
                let written = if out.bytes().is_empty() { Err(WouldBlock.into()) } else { socket.write(out.bytes()) };
                let read = if input.is_ready() { socket.read(input.space()) } else { Err(WouldBlock.into()) };
                let blocked = |result: &io::Result<usize>| matches!(result, Err(e) if e.kind() == WouldBlock);
                if blocked(&written) && blocked(&read) { return deadline.or(Some(Millis(u64::MAX))) }
                match written { Ok(n) => out.sent(n), Err(e) if e.kind() == WouldBlock => {}, Err(_) => out.broken() }
                match read { Ok(n @ 1..) => input.filled(n), Err(e) if e.kind() == WouldBlock => {}, _ => input.eof() }
            }
            Action::Event => match server.event() {
                Some(Event::Call(mut call)) => match (call.name(), call.arguments()) {
                    ("add", Ok(Add { a, b })) => call.text(i64::from(a) + i64::from(b)),
                    ("add", Err(error)) => call.invalid(error),
                    _ => match call.defer(None) {
                        Ok(ticket) => slow.push(Slow { ticket, done: 1, next: now }),
                        Err(call) => call.busy(),
                    },
                },
                Some(Event::Cancelled { ticket, .. }) => slow.retain(|call| call.ticket != ticket),
                Some(Event::ProtocolError(fault)) => eprintln!("{fault}"),
                _ => {}
            },
            Action::Closed => return None,
        }
    }
}
