//! Tools that require several inputs or check a request state, in revision `2026-07-28`.
//!
//! A request state is the server's state of a call. The server sends the state to the client, and the client returns
//! the state together with the input.

use std::hash::{BuildHasher, RandomState};

use mcp_proto::ClientCapabilities;
use mcp_proto::input::{
    CreateMessage, ElicitResultView, Field, Form, Input, ListRoots, RootsView, SampleMessage, SampledView,
};
use mcp_proto::json::Json;
use mcp_proto::server::Call;

use crate::input_requests::NAME;

/// Authenticates request states with a key of this process. A state consists of a step number and a hash of the tool
/// and the step.
///
/// Such a hash is enough for an example. In production, use a signature (an HMAC, for example) over the state, its user
/// and its expiry time.
#[derive(Default)]
pub(crate) struct Seal(RandomState);

impl Seal {
    fn state(&self, tool: &str, step: u32) -> String {
        format!("{step}.{:016x}", self.0.hash_one((tool, step)))
    }

    /// Returns the step in the request state, or 0 without a request state. Returns `None` if this process did not
    /// create the state for this tool.
    fn step_of(&self, call: &Call<'_>) -> Option<u32> {
        match call.request_state() {
            None => Some(0),
            Some(state) => (1..=2).find(|step| state == *self.state(call.name(), *step).as_str()),
        }
    }
}

const OK: &[Field<'_>] = &[Field::boolean("ok").required()];
const COLOR: &[Field<'_>] = &[Field::text("color").required()];
static CONFIRM: Form = Form::new("Please confirm", OK);
static WHO: Form = Form::new("What is your name?", NAME);
static STEP1: Form = Form::new("Step 1: What is your name?", NAME);
static STEP2: Form = Form::new("Step 2: What is your favorite color?", COLOR);
static GREET: [SampleMessage; 1] = [SampleMessage::user("Generate a greeting")];
static GREETING: CreateMessage = CreateMessage::new(&GREET, 50);

/// Responds to calls of the tools in this module.
pub(crate) fn answer(call: Call<'_>, seal: &Seal) {
    if !call.can_require_input() {
        return call.fail("this needs several rounds of input, which only 2026-07-28 has");
    }
    let Some(step) = seal.step_of(&call) else {
        return call.error(-32602, "Invalid params: `requestState` was not made by this server");
    };
    match call.name() {
        "test_input_required_result_multiple_inputs" => several(call, seal, step),
        "test_input_required_result_multi_round" => one_by_one(call, seal, step),
        "test_input_required_result_capabilities" => supported_inputs(call),
        _ => confirm(call, seal, step),
    }
}

fn confirm(call: Call<'_>, seal: &Seal, step: u32) {
    match call.input("confirm").and_then(ElicitResultView::from_json) {
        Some(_) if step == 1 => call.text("state-ok"),
        _ => {
            let state = seal.state(call.name(), 1);
            call.require_input(&[("confirm", &CONFIRM)], Some(&state));
        }
    }
}

fn several(call: Call<'_>, seal: &Seal, step: u32) {
    let name = call.input("user_name").and_then(ElicitResultView::from_json);
    let greeting = call.input("greeting").and_then(SampledView::from_json);
    let roots = call.input("client_roots").and_then(RootsView::from_json);
    match (name, greeting, roots) {
        (Some(name), Some(greeting), Some(roots)) if step == 1 => {
            let name = name.field("name").unwrap_or(Json::NULL);
            let text = greeting.text().map(|text| text.to_string()).unwrap_or_default();
            call.text(format_args!("{text}, {name}, in {} roots", roots.count()));
        }
        _ => {
            let needed: [(&str, &dyn Input); 3] =
                [("user_name", &WHO), ("greeting", &GREETING), ("client_roots", &ListRoots)];
            let state = seal.state(call.name(), 1);
            call.require_input(&needed, Some(&state));
        }
    }
}

/// Requests two inputs in turn. The state contains the number of the current request. A production server would also
/// store earlier input in the state.
fn one_by_one(call: Call<'_>, seal: &Seal, step: u32) {
    let answered = |key| call.input(key).and_then(ElicitResultView::from_json);
    match (step, answered("step1"), answered("step2")) {
        (2, _, Some(answer)) => {
            let color = answer.field("color").unwrap_or(Json::NULL);
            call.text(format_args!("Your favorite color is {color}"));
        }
        (1, Some(_), _) | (2, ..) => {
            let state = seal.state(call.name(), 2);
            call.require_input(&[("step2", &STEP2)], Some(&state));
        }
        _ => {
            let state = seal.state(call.name(), 1);
            call.require_input(&[("step1", &STEP1)], Some(&state));
        }
    }
}

/// Requires only those of two inputs that the client supports. Responds with an error if the client supports neither.
fn supported_inputs(call: Call<'_>) {
    let all: [(&str, &dyn Input); 2] = [("greeting", &GREETING), ("user_name", &WHO)];
    let fitting: Vec<_> = all.into_iter().filter(|(_, input)| call.client().has(input.needs())).collect();
    if fitting.is_empty() {
        return call.require_capability(ClientCapabilities::SAMPLING);
    }
    if fitting.iter().all(|(key, _)| call.input(key).is_some()) {
        return call.text("all input is complete");
    }
    call.require_input(&fitting, None);
}
