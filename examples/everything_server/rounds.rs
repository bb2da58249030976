//! Calls of several rounds in `2026-07-28`, with a state that goes to the client and comes back with its answers.

use std::hash::{BuildHasher, RandomState};

use mcp_proto::ClientCapabilities;
use mcp_proto::input::{
    CreateMessage, ElicitResult, Field, Form, Input, ListRoots, Roots, SampleMessage, Sampled,
};
use mcp_proto::json::Json;
use mcp_proto::server::Call;

use crate::asking::NAME;

/// Makes states that nobody else can: a step of a tool, and a hash of both with a key that this process alone has.
///
/// That is enough to show the idea. Where something depends on it, use a signature (an HMAC, for example) over what is
/// remembered, for whom, and until when.
#[derive(Default)]
pub(crate) struct Seal(RandomState);

impl Seal {
    fn state(&self, tool: &str, step: u32) -> String {
        format!("{step}.{:016x}", self.0.hash_one((tool, step)))
    }

    /// How far the call is: no step was done if it has no state. `None`: its state was not made here.
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

/// The tools of this room.
pub(crate) fn answer(call: Call<'_>, seal: &Seal) {
    if !call.can_require_input() {
        return call.fail("this takes several rounds, which 2026-07-28 has");
    }
    let Some(step) = seal.step_of(&call) else {
        return call.error(-32602, "Invalid params: `requestState` was not made by this server");
    };
    match call.name() {
        "test_input_required_result_multiple_inputs" => several(call, seal, step),
        "test_input_required_result_multi_round" => one_by_one(call, seal, step),
        "test_input_required_result_capabilities" => what_fits(call),
        _ => confirm(call, seal, step),
    }
}

fn confirm(call: Call<'_>, seal: &Seal, step: u32) {
    match call.input("confirm").and_then(ElicitResult::from_json) {
        Some(_) if step == 1 => call.text("state-ok"),
        _ => {
            let state = seal.state(call.name(), 1);
            call.require_input(&[("confirm", &CONFIRM)], Some(&state));
        }
    }
}

fn several(call: Call<'_>, seal: &Seal, step: u32) {
    let name = call.input("user_name").and_then(ElicitResult::from_json);
    let greeting = call.input("greeting").and_then(Sampled::from_json);
    let roots = call.input("client_roots").and_then(Roots::from_json);
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

/// The state says which question was asked. What was answered to an earlier one would have to be part of it, too.
fn one_by_one(call: Call<'_>, seal: &Seal, step: u32) {
    let answered = |key| call.input(key).and_then(ElicitResult::from_json);
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

/// Asks only for what the client can do.
fn what_fits(call: Call<'_>) {
    let all: [(&str, &dyn Input); 2] = [("greeting", &GREETING), ("user_name", &WHO)];
    let fitting: Vec<_> = all.into_iter().filter(|(_, input)| call.client().has(input.needs())).collect();
    if fitting.is_empty() {
        return call.require_capability(ClientCapabilities::SAMPLING);
    }
    if fitting.iter().all(|(key, _)| call.input(key).is_some()) {
        return call.text("all is answered");
    }
    call.require_input(&fitting, None);
}
