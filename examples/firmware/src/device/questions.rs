//! Requests to the client: elicitation, sampling and roots.
//!
//! In 2026-07-28 the server responds to the call with an input request, and the client repeats the call with the input.
//! In earlier revisions the device defers the call until the client has responded to a request of the server.

use heapless::String;
use mcp_proto::input::{
    CreateMessage, ElicitResultView, Field, Form, Input, ListRoots, RootsView, SampleMessage, SampledView,
};
use mcp_proto::json::{Json, Str};
use mcp_proto::server::{Call, RequestOptions, Response};
use mcp_proto::{Decimal, Outcome, SendError, Server, Ticket, ToolArguments};

/// Asks the user, the model or the client a question.
#[derive(ToolArguments)]
pub(super) struct AskSomebody {
    /// Who is asked
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

/// The key of the input request.
const KEY: &str = "answer";

impl Whom {
    fn input(self) -> &'static (dyn Input + Sync) {
        match self {
            Whom::User => &FORM,
            Whom::Model => &SAMPLE,
            Whom::Client => &ListRoots,
        }
    }

    /// Reads the part of an input response that the device keeps.
    fn read(self, answer: Json<'_>) -> Received {
        let text = match self {
            Whom::User => ElicitResultView::from_json(answer).and_then(|form| form.field("name")?.string()),
            Whom::Model => SampledView::from_json(answer).and_then(|message| message.text()),
            Whom::Client => {
                return RootsView::from_json(answer)
                    .map_or(Received::Nothing, |roots| Received::Count(Decimal::from(roots.count() as u64)));
            }
        };
        text.map_or(Received::Nothing, |text| Received::Text(truncate(text)))
    }
}

/// The part of an input response that the device keeps.
enum Received {
    Text(String<48>),
    Count(Decimal),
    Nothing,
}

/// The first characters of a text, as many as fit.
fn truncate(text: Str<'_>) -> String<48> {
    let mut truncated = String::new();
    for character in text.chars() {
        if truncated.push(character).is_err() {
            break;
        }
    }
    truncated
}

/// A deferred call that waits for a response of the client.
pub(super) struct ServerRequest {
    call: Ticket,
    whom: Whom,
    stage: Stage,
}

enum Stage {
    ToAsk,
    Asked(Ticket),
    Response(Received),
}

impl ServerRequest {
    /// Handles a call of `ask`. Stores a deferred call in `place`, which holds one call at a time.
    #[inline(never)]
    pub(super) fn begin(place: &mut Option<ServerRequest>, mut call: Call<'_>) {
        let whom = match call.arguments() {
            Ok(AskSomebody { of }) => of,
            Err(error) => return call.invalid(error),
        };
        if call.can_require_input() {
            round_trip(call, whom);
        } else if place.is_some() {
            call.fail("another question is pending");
        } else {
            match call.defer(None) {
                Ok(call) => *place = Some(ServerRequest { call, whom, stage: Stage::ToAsk }),
                Err(call) => call.busy(),
            }
        }
    }

    /// Whether `ticket` is the deferred call or the request to the client.
    pub(super) fn relation(&self, ticket: Ticket) -> bool {
        self.call == ticket || matches!(self.stage, Stage::Asked(asked) if asked == ticket)
    }

    /// Handles a response of the client. Ignores responses to other requests.
    pub(super) fn hear(&mut self, answered: &Response<'_>) {
        if self.relation(answered.ticket()) {
            self.stage = Stage::Response(match answered.outcome() {
                Outcome::Result(result) => self.whom.read(result),
                _ => Received::Nothing,
            });
        }
    }

    /// Cancels the request to the client.
    ///
    /// Call this when the client has cancelled the call, or the call has expired.
    pub(super) fn give_up(self, server: &mut Server<'_>) {
        if let Stage::Asked(asked) = self.stage {
            _ = server.cancel(asked, "the call is over");
        }
    }

    /// Sends the request to the client, or replies to the call. Does nothing while the transmit buffer has no space.
    /// Returns `None` if the call is finished.
    pub(super) fn step(mut self, server: &mut Server<'_>) -> Option<ServerRequest> {
        if let Stage::ToAsk = self.stage {
            match server.request(self.whom.input(), RequestOptions::DEFAULT.during(self.call)) {
                Ok(asked) => self.stage = Stage::Asked(asked),
                Err(SendError::Busy) => {}
                Err(SendError::Gone) => return None,
                Err(_) => self.stage = Stage::Response(Received::Nothing),
            }
        }
        let Stage::Response(received) = &self.stage else { return Some(self) };
        match server.reply(self.call) {
            Ok(reply) => match received {
                Received::Text(text) => reply.text(("Hello, ", text.as_str(), "!")),
                Received::Count(count) => reply.text((count, " roots")),
                Received::Nothing => reply.fail("no response"),
            },
            Err(SendError::Busy) => return Some(self),
            Err(_) => {}
        }
        None
    }
}

/// Responds with an input request. If the call already contains the input, responds with the result.
#[inline(never)]
fn round_trip(call: Call<'_>, whom: Whom) {
    match call.input(KEY).is_some() {
        true => answer_call(call, whom),
        false => call.require_input(&[(KEY, whom.input())], None),
    }
}

#[inline(never)]
fn answer_call(call: Call<'_>, whom: Whom) {
    match call.input(KEY).map_or(Received::Nothing, |answer| whom.read(answer)) {
        Received::Text(text) => call.text(("Hello, ", text.as_str(), "!")),
        Received::Count(count) => call.text((count, " roots")),
        Received::Nothing => call.fail("no response"),
    }
}
