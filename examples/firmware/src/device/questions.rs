//! The tool `ask`: a question to the user, the model or the client, the same in both eras.

use mcp_proto::input::{
    CreateMessage, ElicitResultView, Field, Form, Input, ListRoots, RootsView, SampleMessage, SampledView,
};
use mcp_proto::server::{Call, InputRequests, Reply};
use mcp_proto::{Outcome, ToolArguments};

use super::Device;

/// One call at a time waits for a response.
pub(super) type Questions<'h> = InputRequests<'h, Device<'h>, Whom, 1>;

/// Memory for a response of the client. In the handshake era, a call fails if the client's response is longer.
pub type Responses = [u8; 256];

/// Asks the user, the model or the client a question.
#[derive(ToolArguments)]
pub(super) struct AskArguments {
    /// Who is asked
    of: Whom,
}

#[derive(Clone, Copy, ToolArguments)]
#[serde(rename_all = "lowercase")]
pub(super) enum Whom {
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

#[inline(never)]
pub(super) fn ask(device: &mut Device<'_>, call: Call<'_>) {
    call.with(|call, AskArguments { of }| {
        let input: &'static (dyn Input + Sync) = match of {
            Whom::User => &FORM,
            Whom::Model => &SAMPLE,
            Whom::Client => &ListRoots,
        };
        InputRequests::request(device, call, input, of, respond);
    });
}

/// Responds to a call of `ask` when its input request has an outcome.
fn respond(_: &mut Device<'_>, of: Whom, outcome: Outcome<'_>, reply: Reply<'_>) {
    let Outcome::Result(result) = outcome else { return reply.fail("no response") };
    let text = match of {
        Whom::User => ElicitResultView::from_json(result).and_then(|form| form.field("name")?.string()),
        Whom::Model => SampledView::from_json(result).and_then(|message| message.text()),
        Whom::Client => {
            let roots = RootsView::from_json(result).map_or(0, |roots| roots.count());
            return reply.text((roots, " roots"));
        }
    };
    match text {
        Some(text) => reply.text(("Hello, ", text, "!")),
        None => reply.fail("no response"),
    }
}
