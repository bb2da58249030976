//! Questions of the board: to the user, to the client's model, and which folders there are.
//!
//! In 2026-07-28 a call is answered with what it needs, and the client makes it again with the answer. Before, the call
//! is deferred until the client has answered a request of the server's own.

use heapless::String;
use mcp_proto::input::{
    CreateMessage, ElicitResult, Field, Form, Input, ListRoots, Roots, SampleMessage, Sampled,
};
use mcp_proto::json::{Json, Str};
use mcp_proto::server::{Call, RequestOptions, Response};
use mcp_proto::{Decimal, Outcome, SendError, Server, Ticket, ToolArguments};

/// Asks somebody something.
#[derive(ToolArguments)]
pub(super) struct AskSomebody {
    /// Whom
    of: Whom,
}

#[derive(Clone, Copy, ToolArguments)]
#[serde(rename_all = "lowercase")]
enum Whom {
    /// The user, for a name
    User,
    /// The model, for a word
    Model,
    /// The client, for its roots
    Client,
}

static NAME: [Field; 1] = [Field::text("name").required()];
static FORM: Form = Form::new("What is your name?", &NAME);
static MESSAGES: [SampleMessage; 1] = [SampleMessage::user("Say a word about thermometers.")];
static SAMPLE: CreateMessage = CreateMessage::new(&MESSAGES, 20);

/// The name of the one thing that is asked for.
const KEY: &str = "answer";

impl Whom {
    fn input(self) -> &'static (dyn Input + Sync) {
        match self {
            Whom::User => &FORM,
            Whom::Model => &SAMPLE,
            Whom::Client => &ListRoots,
        }
    }

    /// What is kept of an answer.
    fn read(self, answer: Json<'_>) -> Said {
        let text = match self {
            Whom::User => ElicitResult::from_json(answer).and_then(|form| form.field("name")?.string()),
            Whom::Model => Sampled::from_json(answer).and_then(|message| message.text()),
            Whom::Client => {
                return Roots::from_json(answer)
                    .map_or(Said::Nothing, |roots| Said::Count(Decimal::from(roots.count() as u64)));
            }
        };
        text.map_or(Said::Nothing, |text| Said::Text(beginning(text)))
    }
}

/// An answer, or what of it a board remembers.
enum Said {
    Text(String<48>),
    Count(Decimal),
    Nothing,
}

/// As much of a text as there is room for.
fn beginning(text: Str<'_>) -> String<48> {
    let mut kept = String::new();
    for character in text.chars() {
        if kept.push(character).is_err() {
            break;
        }
    }
    kept
}

/// A call that waits for what the client says.
pub(super) struct ServerRequest {
    call: Ticket,
    whom: Whom,
    stage: Stage,
}

enum Stage {
    ToAsk,
    Asked(Ticket),
    Response(Said),
}

impl ServerRequest {
    /// The question of a call, if it cannot be answered now: put into `place`. There is one at a time.
    #[inline(never)]
    pub(super) fn begin(place: &mut Option<ServerRequest>, mut call: Call<'_>) {
        let whom = match call.arguments() {
            Ok(AskSomebody { of }) => of,
            Err(error) => return call.invalid(error),
        };
        if call.can_require_input() {
            round_trip(call, whom);
        } else if place.is_some() {
            call.fail("somebody is being asked already");
        } else {
            match call.defer(None) {
                Ok(call) => *place = Some(ServerRequest { call, whom, stage: Stage::ToAsk }),
                Err(call) => call.busy(),
            }
        }
    }

    /// Whether it is about this request, its own or the board's.
    pub(super) fn relation(&self, ticket: Ticket) -> bool {
        self.call == ticket || matches!(self.stage, Stage::Asked(asked) if asked == ticket)
    }

    /// The client has answered something.
    pub(super) fn hear(&mut self, answered: &Response<'_>) {
        if self.relation(answered.ticket()) {
            self.stage = Stage::Response(match answered.outcome() {
                Outcome::Result(result) => self.whom.read(result),
                _ => Said::Nothing,
            });
        }
    }

    /// Nobody waits for the answer any more.
    pub(super) fn give_up(self, server: &mut Server<'_>) {
        if let Stage::Asked(asked) = self.stage {
            _ = server.cancel(asked, "the call is over");
        }
    }

    /// Goes on as far as there is room. `None`: it has ended.
    pub(super) fn step(mut self, server: &mut Server<'_>) -> Option<ServerRequest> {
        if let Stage::ToAsk = self.stage {
            match server.request(self.whom.input(), RequestOptions::DEFAULT.during(self.call)) {
                Ok(asked) => self.stage = Stage::Asked(asked),
                Err(SendError::Busy) => {}
                Err(SendError::Gone) => return None,
                Err(_) => self.stage = Stage::Response(Said::Nothing),
            }
        }
        let Stage::Response(said) = &self.stage else { return Some(self) };
        match server.reply(self.call) {
            Ok(reply) => match said {
                Said::Text(text) => reply.text(("Hello, ", text.as_str(), "!")),
                Said::Count(count) => reply.text((count, " roots")),
                Said::Nothing => reply.fail("nobody has answered"),
            },
            Err(SendError::Busy) => return Some(self),
            Err(_) => {}
        }
        None
    }
}

/// Answers with what is needed, or with what came back.
#[inline(never)]
fn round_trip(call: Call<'_>, whom: Whom) {
    match call.input(KEY).is_some() {
        true => answer_call(call, whom),
        false => call.require_input(&[(KEY, whom.input())], None),
    }
}

#[inline(never)]
fn answer_call(call: Call<'_>, whom: Whom) {
    match call.input(KEY).map_or(Said::Nothing, |answer| whom.read(answer)) {
        Said::Text(text) => call.text(("Hello, ", text.as_str(), "!")),
        Said::Count(count) => call.text((count, " roots")),
        Said::Nothing => call.fail("nobody has answered"),
    }
}
