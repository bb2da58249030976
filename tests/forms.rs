//! Elicitation forms from structs: the form in every revision, and the typed answer.

use std::os::unix::net::UnixStream;
use std::thread;

use mcp_proto::client::{Connect, InputRequest};
use mcp_proto::input::{ElicitResultView, Form};
use mcp_proto::json::Json;
use mcp_proto::server::{Call, Event, ServerConfig, Tool, Tools};
use mcp_proto::{ClientCapabilities, FormContent, Revision, Revisions, ToolArguments};
use mcp_proto_std::{ClientHandle, Connector, InputResponse, Serve, ServerHandle};

#[derive(Debug, PartialEq, FormContent)]
#[serde(rename_all = "camelCase")]
struct Booking {
    /// As in the passport.
    #[tool(title = "Your name", min_length = 1, max_length = 9)]
    full_name: String,
    #[tool(range = 1..=8, default = 2)]
    seats: u8,
    #[tool(range = -0.5..)]
    ratio: Option<f64>,
    #[tool(default = true)]
    meal: bool,
    #[tool(default = Class::First)]
    class: Class,
    #[tool(min_items = 1, max_items = Self::COLORS)]
    colors: Vec<Color>,
    #[tool(format = "email", default = "a@b")]
    contact: String,
    id: i64,
}

impl Booking {
    const COLORS: usize = 2;
}

#[derive(Debug, PartialEq, ToolArguments)]
#[serde(rename_all = "lowercase")]
enum Class {
    /// With a window
    First,
    Second,
}

#[derive(Debug, PartialEq, ToolArguments)]
enum Color {
    Red,
    Blue,
}

static FORM: Form = Form::with_content::<Booking>("Who comes?");
static TOOLS: Tools = Tools::new(&[Tool::new("book", "{}")]);
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);

/// Describes the answer to the form.
fn describe(answer: Option<ElicitResultView<'_>>) -> String {
    match answer.unwrap().content_as::<Booking>() {
        Ok(Some(booking)) => format!("{booking:?}"),
        Ok(None) => "nobody".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Asks the client to fill in the form: with required input in the stateless era, and with a server request in the
/// handshake era.
fn book(call: Call<'_>, server: &ServerHandle) {
    if call.can_require_input() {
        return match call.input("form").map(|answer| describe(ElicitResultView::from_json(answer))) {
            Some(text) => call.text(text),
            None => call.require_input(&[("form", &FORM)], None),
        };
    }
    server.run(call, |responder| match responder.request(&FORM) {
        Ok(response) => responder.text(describe(response.elicited())),
        Err(error) => responder.fail(error),
    });
}

fn connect(revision: Revision, answer: &'static str) -> ClientHandle {
    let (here, there) = UnixStream::pair().unwrap();
    thread::spawn(move || {
        Serve::new(&CONFIG).stream(there, |event, server| {
            if let Event::Call(call) = event {
                book(call, server);
            }
        })
    });
    let connect = if revision == Revision::V2026_07_28 { Connect::Stateless } else { Connect::Handshake };
    let respond = move |request: &mcp_proto_std::ServerRequest| {
        let InputRequest::Elicit(form) = request.input() else { panic!("a form") };
        assert_eq!(form.requested_schema().raw(), schema(revision));
        if answer.is_empty() { InputResponse::decline() } else { InputResponse::accept_json(answer) }
    };
    Connector::new("test", "1")
        .connect(connect)
        .revisions(Revisions::only(revision))
        .on_server_request(ClientCapabilities::ELICITATION_FORM, respond)
        .stream(here)
        .unwrap()
}

/// Returns the requested schema. Revisions before 2025-11-25 have fewer features.
fn schema(revision: Revision) -> String {
    let is_new = revision >= Revision::V2025_11_25;
    let new = |text: &'static str| if is_new { text } else { "" };
    let class = if is_new {
        r#""oneOf":[{"const":"first","title":"With a window"},{"const":"second","title":"second"}],"default":"first""#
    } else {
        r#""enum":["first","second"],"enumNames":["With a window","second"]"#
    };
    let colors = if is_new {
        r#""type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["Red","Blue"]}"#
    } else {
        r#""type":"string","enum":["Red","Blue"]"#
    };
    [
        r#"{"type":"object","properties":{"fullName":{"type":"string","title":"Your name","#,
        r#""description":"As in the passport.","minLength":1,"maxLength":9},"#,
        r#""seats":{"type":"integer","minimum":1,"maximum":8"#,
        new(r#","default":2"#),
        r#"},"ratio":{"type":"number","minimum":-0.5},"meal":{"type":"boolean","default":true},"#,
        r#""class":{"type":"string","#,
        class,
        r#"},"colors":{"#,
        colors,
        r#"},"contact":{"type":"string","format":"email""#,
        new(r#","default":"a@b""#),
        r#"},"id":{"type":"integer"}},"required":["fullName","colors","id"]}"#,
    ]
    .concat()
}

#[test]
fn typed_form_is_answered_in_every_revision() {
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28] {
        let full = r#"{"fullName":"A\nda","seats":3.0,"ratio":null,"meal":false,"class":"second","colors":["Red","Blue"],"contact":"","id":7}"#;
        let full_text = concat!(
            r#"Booking { full_name: "A\nda", seats: 3, ratio: None, meal: false, class: Second, "#,
            r#"colors: [Red, Blue], contact: "", id: 7 }"#
        );
        let least = r#"{ "id" : -1 , "colors" : "Blue" , "full\u004eame" : "A" }"#;
        let least_text = concat!(
            r#"Booking { full_name: "A", seats: 2, ratio: None, meal: true, class: First, "#,
            r#"colors: [Blue], contact: "a@b", id: -1 }"#
        );
        let mut answers = vec![
            (least, least_text),
            (
                r#"{"fullName":"","colors":"Red","id":1}"#,
                "`fullName`: expected a string of 1 to 9 characters",
            ),
            (r#"{"fullName":"a","colors":"Red"}"#, "missing field `id`"),
            ("", "nobody"),
        ];
        // A client of an older revision cannot send a list.
        if revision >= Revision::V2025_11_25 {
            answers.push((
                r#"{"fullName":"a","colors":[],"id":1}"#,
                "`colors`: expected an array of 1 to 2 elements",
            ));
        }
        for (answer, text) in answers {
            let result = connect(revision, answer).call_json("book", "{}").unwrap();
            assert_eq!(result.text().as_deref(), Some(text), "{revision:?}");
        }
        if revision >= Revision::V2025_11_25 {
            // `null` is no value of a form, so only the decoder accepts it.
            let view = format!(r#"{{"action":"accept","content":{full}}}"#);
            let view = ElicitResultView::from_json(Json::parse(view.as_bytes()).unwrap());
            assert_eq!(describe(view), full_text);
        }
    }
}

#[test]
fn form_content_needs_a_buffer_of_its_length() {
    #[derive(Debug, PartialEq, FormContent)]
    struct Name<'a> {
        name: &'a str,
    }
    let json = Json::parse(br#"{"action":"accept","content":{"name":"a\tb"}}"#).unwrap();
    let view = ElicitResultView::from_json(json).unwrap();
    assert_eq!(view.content_in::<Name>(&mut [0; 15]).unwrap(), Some(Name { name: "a\tb" }));
    let error = view.content_in::<Name>(&mut [0; 14]).unwrap_err();
    assert_eq!(error.to_string(), "the content is longer than the buffer");
    assert_eq!(Name::FIELDS.len(), 1);
    let cancelled = Json::parse(br#"{"action":"cancel","content":{}}"#).unwrap();
    let view = ElicitResultView::from_json(cancelled).unwrap();
    assert_eq!(view.content_in::<Name>(&mut []).unwrap(), None);
}

#[test]
fn repeated_choices_do_not_exceed_the_decoding_buffer() {
    #[derive(Debug, PartialEq, FormContent)]
    struct Choices {
        colors: Vec<Color>,
    }
    let repeated = [r#""colors":"Red""#; 20].join(",");
    let answer = format!(r#"{{"action":"accept","content":{{{repeated}}}}}"#);
    let answer = ElicitResultView::from_json(Json::parse(answer.as_bytes()).unwrap()).unwrap();
    let error = answer.content_as::<Choices>().unwrap_err().to_string();
    assert!(!error.contains("longer than the buffer"), "{error}");
}
