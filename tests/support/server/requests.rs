//! Requests of the server in scripts: inputs by name, and responses as text.

use super::ServerHarness;
use super::tools::Record;
use mcp_proto::input::{
    CreateMessage, ElicitResultView, Field, Form, Input, ListRoots, OpenUrl, OtherRequest, SampleMessage,
};
use mcp_proto::json::{Json, Writer};
use mcp_proto::server::{Call, RequestOptions, Response, Tool};
use mcp_proto::{ClientCapabilities, Millis, Outcome, Progress, SendError, Ticket};

/// The inputs by their names in scripts.
pub(crate) static INPUTS: [(&str, &(dyn Input + Sync)); 6] = [
    ("roots", &ListRoots),
    ("form", &Form::new("Who?", &[Field::text("name").required()])),
    ("broken", &Form::raw("Who?", "{")),
    ("page", &OpenUrl::new("Log in", "https://example.com/", "e1")),
    ("model", &CreateMessage::new(&[SampleMessage::user("?")], 9)),
    ("tools", &CreateMessage::new(&[SampleMessage::user("?")], 9).tools(&[Tool::new("t", "{}")])),
];

fn other<'r>(params: &'r dyn Fn(&mut Writer<'_>)) -> OtherRequest<'r> {
    OtherRequest::new("example/own", params)
}

pub(crate) fn input(name: &str) -> &'static dyn Input {
    INPUTS.iter().find(|(known, _)| *known == name).expect("an input").1
}

impl ServerHarness<'_> {
    /// Runs `ask NAME [during CALL] [ms TIMEOUT] [progress]`. NAME is an input, `ping`, `raw`, `unbalanced` or `large`.
    pub(crate) fn request(&mut self, text: &str) -> Result<(), SendError> {
        let mut words = text.split(' ');
        let name = words.next().expect("the name of a request");
        let mut ask = RequestOptions::DEFAULT;
        while let Some(word) = words.next() {
            let mut next = || words.next().expect("a number");
            ask = match word {
                "during" => ask.during(self.record.ticket(next())),
                "ms" => ask.timeout(Millis(next().parse().expect("a time"))),
                "progress" => ask.with_progress(),
                _ => panic!("unknown option {word:?}"),
            };
        }
        let asked: Result<Ticket, SendError> = match name {
            "ping" => self.server.ping(ask),
            "raw" => self.server.request(&other(&|out| out.field_integer("n", 1)), ask),
            "unbalanced" => self.server.request(&other(&|out| out.begin_object()), ask),
            "large" => self.server.request(&other(&|out| out.field_string("x", &"x".repeat(9000))), ask),
            name => self.server.request(input(name), ask),
        };
        self.record.asked.push(asked?);
        Ok(())
    }
}

/// Responds to a call. The arguments select the response: `inputs` (`key=name`) and `state` require input, `urls`
/// requires URLs, `lacks` requires capabilities. The response to a call with input or a request state repeats the input
/// and the state.
pub(crate) fn needs(call: Call<'_>) {
    let arguments = call.raw_arguments().raw().to_string();
    let arguments = Json::parse(arguments.as_bytes()).unwrap();
    let text = |name: &str| Some(arguments.get(name)?.string()?.to_string());
    let (state, inputs) = (text("state"), text("inputs").unwrap_or_default());
    let answers: Vec<String> =
        ["a", "b"].iter().filter_map(|key| Some(format!("{key}: {}", call.input(key)?))).collect();
    if let Some(back) = call.request_state() {
        let text = format!("{} state {back}", answers.join(", "));
        call.text(text);
    } else if !answers.is_empty() {
        call.text(answers.join(", "));
    } else if arguments.get("urls").is_some() {
        let pages = [
            OpenUrl::new("Log in", "https://example.com/a", "e1"),
            OpenUrl::new("Pay", "https://example.com/b", "e2"),
        ];
        call.require_urls(&pages);
    } else if arguments.get("lacks").is_some() {
        call.require_capability(ClientCapabilities::ROOTS.with(ClientCapabilities::SAMPLING_TOOLS));
    } else {
        call.require_input(&needed(&inputs), state.as_deref());
    }
}

/// Parses `a=roots b=form`.
pub(crate) fn needed(text: &str) -> Vec<(&str, &'static dyn Input)> {
    text.split_whitespace()
        .map(|word| word.split_once('=').unwrap())
        .map(|(key, name)| (key, input(name)))
        .collect()
}

fn number(ticket: Ticket, record: &Record) -> usize {
    record.asked.iter().position(|asked| *asked == ticket).expect("a known request")
}

pub(crate) fn answered(answered: Response<'_>, record: &Record) -> String {
    let number = number(answered.ticket(), record);
    match answered.outcome() {
        Outcome::Result(result) => match ElicitResultView::from_json(result) {
            Some(answer) => format!("answered {number} {:?} {}", answer.action(), answer.content()),
            None => format!("answered {number} {result}"),
        },
        Outcome::Error(error) => format!("answered {number} error {error}"),
        Outcome::Failed(lost) => format!("answered {number} {lost:?}"),
        other => format!("answered {number} {other:?}"),
    }
}

pub(crate) fn progress(progress: Progress<'_>, record: &Record) -> String {
    let number = number(progress.ticket(), record);
    let message = progress.message().map(|message| message.to_string()).unwrap_or_default();
    format!("progress {number} {} {:?} {message}", progress.progress(), progress.total())
}
