//! Commands of the application in scripts.

use super::ServerHarness;
use crate::support::transport::PeerInput;
use mcp_proto::server::{Change, Reply};
use mcp_proto::{Decimal, Level, Millis, SendError};

impl ServerHarness<'_> {
    /// Runs one command. A [`SendError`] becomes an event, such as `not now Gone`.
    pub(crate) fn command(&mut self, text: &str) {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (first, last) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            // Advances the time before the next poll.
            "time" => self.now = Millis(first.parse().expect("a time")),
            // Advances the time, and runs the command before the next poll.
            "late" => {
                self.now = Millis(first.parse().expect("a time"));
                self.command(last);
            }
            // Commands that state expectations.
            "deadline" => {
                let at = self.deadline.map_or("none".into(), |at| at.0.to_string());
                assert_eq!(at, first, "the deadline");
            }
            "state" => assert_eq!(format!("{:?}", self.server.state()), first, "the state"),
            "deferred" => assert_eq!(self.server.deferred().to_string(), first, "deferred requests"),
            // Commands on the server.
            "changed" => self.server.changed(match first {
                "resources" => Change::Resources,
                "prompts" => Change::Prompts,
                _ => Change::Tools,
            }),
            "updated" => self.server.changed(Change::Resource(first)),
            "refuse" => self.record.refused.push(first.into()),
            "shutdown" => match first.parse() {
                Ok(time) => self.server.shutdown_by(self.now, self.now.plus(Millis(time))),
                Err(_) => self.server.shutdown(self.now),
            },
            "reset" => self.reset(),
            // Commands on the client.
            "send" => self.transport.write(rest.as_bytes()),
            "eof" => self.transport.ended = true,
            "block" => self.transport.peer_input = PeerInput::Blocked,
            "unblock" => self.transport.peer_input = PeerInput::Open,
            "broken" => self.transport.peer_input = PeerInput::Broken,
            _ => {
                if let Err(why) = self.send_command(word, rest) {
                    self.record.events.push(format!("not now {why:?}"));
                }
            }
        }
    }

    /// Runs a command that tries to send a message.
    fn send_command(&mut self, word: &str, rest: &str) -> Result<(), SendError> {
        let (first, last) = rest.split_once(' ').unwrap_or((rest, ""));
        match word {
            // Commands on deferred requests, by the number of the deferral; and `notify`, which needs no request.
            "answer" => self.reply(first, |reply| reply.text(last)),
            "result" => self.result(first, last),
            "notify" => self.notify(first, last),
            "notify-in" => self.notify_in(first, last),
            "fail" => self.reply(first, |reply| reply.error(7, last)),
            "contents" => self.reply(first, |reply| {
                reply.contents(|contents| contents.text("lib:book/defer", None, last));
            }),
            "messages" => self.reply(first, |reply| reply.messages(|messages| messages.user().text(last))),
            "invalid" => self.reply(first, |reply| reply.invalid(last)),
            "tools" => self.reply(first, |reply| reply.tools(|_| None)),
            "values" => self.reply(first, |reply| reply.values(None, last.split(' '))),
            "not-found" => self.reply(first, |reply| reply.not_found(last)),
            "needs" => self.reply(first, |reply| {
                reply.require_input(&super::requests::needed(last), Some("s"));
            }),
            "forget" => self.reply(first, |_| ()),
            "progress" => {
                let (progress, message) = last.split_once(' ').unwrap_or((last, ""));
                let progress = Decimal::parse(progress).expect("a number");
                self.server.reply(self.record.ticket(first))?.progress(progress, None, message)
            }
            "log-to" => {
                let (level, message) = last.split_once(' ').expect("a level");
                self.server.reply(self.record.ticket(first))?.log(level_of(level), None, message)
            }
            // Commands on the server's requests. `cancel` takes the number of a request, and `cancel-deferred` takes
            // the number of a deferral.
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
            "log-json" => self.server.log_with(level_of(first), None, |out| {
                let _ = out.raw(last);
            }),
            "end" => self.server.end_subscription(self.record.ticket(first)),
            _ => panic!("unknown command {word:?}"),
        }
    }

    /// Responds to the deferred request with this number.
    fn reply(&mut self, number: &str, respond: impl FnOnce(Reply<'_>)) -> Result<(), SendError> {
        self.server.reply(self.record.ticket(number)).map(respond)
    }
}

pub(crate) fn level_of(name: &str) -> Level {
    Level::ALL.into_iter().find(|level| level.as_str() == name).expect("a level")
}
