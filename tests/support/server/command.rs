//! Commands of the application in scripts.

use super::ServerHarness;
use crate::support::transport::PeerInput;
use mcp_proto::server::Change;
use mcp_proto::{Decimal, Level, Millis, SendError};

impl ServerHarness<'_> {
    /// Runs one command. An error becomes an event: `not now Gone`.
    pub(crate) fn command(&mut self, text: &str) {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (first, last) = rest.split_once(' ').unwrap_or((rest, ""));
        let outcome = match word {
            // Advances the time before the next poll.
            "time" => {
                self.now = Millis(first.parse().expect("a time"));
                Ok(())
            }
            // Advances the time, and runs the command before the next poll.
            "late" => {
                self.now = Millis(first.parse().expect("a time"));
                return self.command(last);
            }
            // Commands that state expectations.
            "deadline" => {
                let at = self.deadline.map_or("none".into(), |at| at.0.to_string());
                assert_eq!(at, first, "the deadline");
                Ok(())
            }
            "state" => {
                assert_eq!(format!("{:?}", self.server.state()), first, "the state");
                Ok(())
            }
            "deferred" => {
                assert_eq!(self.server.deferred().to_string(), first, "deferred requests");
                Ok(())
            }
            // Commands on deferred requests, by the number of the deferral.
            "answer" => self.server.reply(self.record.ticket(first)).map(|reply| reply.text(last)),
            "result" => self.result(first, last),
            "notify" => self.notify(first, last),
            "notify-in" => self.notify_in(first, last),
            "fail" => self.server.reply(self.record.ticket(first)).map(|reply| reply.error(7, last)),
            "contents" => self.server.reply(self.record.ticket(first)).map(|reply| {
                reply.contents(|contents| contents.text("lib:book/defer", None, last));
            }),
            "messages" => self
                .server
                .reply(self.record.ticket(first))
                .map(|reply| reply.messages(|messages| messages.user().text(last))),
            "invalid" => self.server.reply(self.record.ticket(first)).map(|reply| reply.invalid(last)),
            "tools" => self.server.reply(self.record.ticket(first)).map(|reply| reply.tools(|_| None)),
            "values" => {
                self.server.reply(self.record.ticket(first)).map(|reply| reply.values(None, last.split(' ')))
            }
            "not-found" => self.server.reply(self.record.ticket(first)).map(|reply| reply.not_found(last)),
            "needs" => self.server.reply(self.record.ticket(first)).map(|reply| {
                reply.require_input(&super::requests::needed(last), Some("s"));
            }),
            "forget" => self.server.reply(self.record.ticket(first)).map(drop),
            "progress" => {
                let (progress, message) = last.split_once(' ').unwrap_or((last, ""));
                let progress = Decimal::parse(progress).expect("a number");
                self.server
                    .reply(self.record.ticket(first))
                    .and_then(|mut reply| reply.progress(progress, None, message))
            }
            "log-to" => {
                let (level, message) = last.split_once(' ').expect("a level");
                self.server
                    .reply(self.record.ticket(first))
                    .and_then(|mut reply| reply.log(level_of(level), None, message))
            }
            // Commands on the server's requests, by number.
            "ask" => self.request(rest),
            "cancel" => self.server.cancel(self.record.asked[first.parse::<usize>().unwrap()], last),
            "ask-instead" => {
                self.server.cancel(self.record.asked[0], "").expect("the request is in flight");
                self.request(rest)
            }
            "cancel-deferred" => self.server.cancel(self.record.ticket(first), last),
            "reply-asked" => self.server.reply(self.record.asked[0]).map(drop),
            "complete" => self.server.elicitation_complete(rest),
            // Commands on the server.
            "log" => self.server.log(level_of(first), None, last),
            "changed" => {
                self.server.changed(match first {
                    "resources" => Change::Resources,
                    "prompts" => Change::Prompts,
                    _ => Change::Tools,
                });
                Ok(())
            }
            "log-json" => self.server.log_with(level_of(first), None, |out| {
                let _ = out.raw(last);
            }),
            "updated" => {
                self.server.changed(Change::Resource(first));
                Ok(())
            }
            "refuse" => {
                self.record.refused.push(first.into());
                Ok(())
            }
            "end" => self.server.end_subscription(self.record.ticket(first)),
            "shutdown" => {
                match first.parse() {
                    Ok(time) => self.server.shutdown_by(self.now, self.now.plus(Millis(time))),
                    Err(_) => self.server.shutdown(self.now),
                }
                Ok(())
            }
            "reset" => {
                self.reset();
                Ok(())
            }
            // Commands on the client.
            "send" => {
                self.transport.write(rest.as_bytes());
                Ok(())
            }
            "eof" => {
                self.transport.ended = true;
                Ok(())
            }
            "block" => {
                self.transport.peer_input = PeerInput::Blocked;
                Ok(())
            }
            "unblock" => {
                self.transport.peer_input = PeerInput::Open;
                Ok(())
            }
            "broken" => {
                self.transport.peer_input = PeerInput::Broken;
                Ok(())
            }
            _ => panic!("unknown command {text:?}"),
        };
        if let Err(why) = outcome {
            let why: SendError = why;
            self.record.events.push(format!("not now {why:?}"));
        }
    }
}

pub(crate) fn level_of(name: &str) -> Level {
    Level::ALL.into_iter().find(|level| level.as_str() == name).expect("a level")
}
