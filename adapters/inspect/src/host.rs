//! Responds to the server's requests, with values from the command line or the terminal.

use std::collections::{BTreeMap, BTreeSet};
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_proto::ClientCapabilities;
use mcp_proto::client::{FieldKind, FieldView, FormView, InputRequest};
use mcp_proto::json::Json;
use mcp_proto_std::{InputResponse, Printable, ServerRequest};

use crate::options::Arguments;
use crate::quoted;
use crate::terminal::Output;

/// The values of `--answer`, and the names of the fields that the server has requested.
#[derive(Debug, Clone)]
pub(crate) struct Answers {
    values: Vec<(String, String)>,
    requested: Arc<Mutex<BTreeSet<String>>>,
}

impl Answers {
    pub(crate) fn new(values: &[(String, String)]) -> Answers {
        Answers { values: values.to_vec(), requested: Arc::default() }
    }

    /// Records that the server has requested this field. Returns the value of `--answer` for the field, or `None` if
    /// there is no value.
    fn value(&self, name: &str) -> Option<String> {
        self.requested.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned());
        self.values.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    /// Returns an error for a value whose field the server has not requested.
    pub(crate) fn check_use(&self) -> Result<(), String> {
        let requested = self.requested.lock().unwrap_or_else(PoisonError::into_inner);
        match self.values.iter().find(|(name, _)| !requested.contains(name)) {
            Some((name, _)) => Err(format!("--answer {name}: the server has not requested this field")),
            None => Ok(()),
        }
    }
}

/// Returns the client's capabilities, and the handler for the server's requests.
pub(crate) fn server_request_handler(
    arguments: &Arguments,
    answers: Answers,
) -> (ClientCapabilities, impl FnMut(&ServerRequest) -> InputResponse + Send + 'static) {
    use ClientCapabilities as C;
    let mut declared = C::ELICITATION_FORM.with(C::ELICITATION_URL);
    if !arguments.roots.is_empty() {
        declared = declared.with(C::ROOTS);
    }
    if arguments.sample.is_some() {
        declared = declared.with(C::SAMPLING);
    }
    let roots: Vec<_> = arguments.roots.iter().map(|folder| (uri(folder), folder.clone())).collect();
    let sample = arguments.sample.clone();
    let handler = move |request: &ServerRequest| match request.input() {
        InputRequest::Roots => InputResponse::roots(roots.clone()),
        InputRequest::Sample(sampled) => {
            for message in sampled.messages() {
                say!("the server requests a model response: {}", message.raw());
            }
            InputResponse::sampled("canned", "endTurn", sample.as_deref().unwrap_or_default())
        }
        InputRequest::OpenUrl(page) => {
            say!("the server asks you to open {}\n  {}", page.url(), page.message());
            match answers.value("open").or_else(|| prompt_user("open it (yes or no)")) {
                Some(answer) if answer == "yes" => InputResponse::agree(),
                _ => InputResponse::decline(),
            }
        }
        InputRequest::Elicit(form) => {
            say!("the server asks: {}", form.message());
            fill_in(&form, &answers)
        }
        _ => InputResponse::decline(),
    };
    (declared, handler)
}

/// Fills in a form, field by field. A field without a value keeps its default, or is omitted. Declines if a required
/// field has neither a value nor a default.
fn fill_in(form: &FormView<'_>, answers: &Answers) -> InputResponse {
    let mut content = BTreeMap::new();
    for field in form.fields() {
        let name = field.name().to_string();
        let text =
            answers.value(&name).or_else(|| prompt_user(&label(&field))).filter(|text| !text.is_empty());
        let value = text.map(|text| value(&field, &text)).or(field.default().map(|json| json.to_string()));
        match value {
            Some(value) => _ = content.insert(name, value),
            None if field.is_required() => {
                say!("  no {name}: declined");
                return InputResponse::decline();
            }
            None => {}
        }
    }
    let members = content.iter().map(|(name, value)| format!("{}:{value}", quoted(name)));
    let fields = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
    say!("  answered {fields}");
    InputResponse::accept_json(&fields)
}

/// Returns the label of a field: `Color (one of red, green) ["red"]`. The square brackets contain the default as JSON.
fn label(field: &FieldView<'_>) -> String {
    let choices: Vec<_> = field.choices().map(|choice| choice.value.to_string()).collect();
    let kind = match field.kind() {
        FieldKind::Number => " (number)".into(),
        FieldKind::Integer => " (integer)".into(),
        FieldKind::Boolean => " (true or false)".into(),
        FieldKind::Choice => format!(" (one of {})", choices.join(", ")),
        FieldKind::Choices => format!(" (some of {}, with commas)", choices.join(", ")),
        _ => String::new(),
    };
    let description = field.description().map(|text| format!(": {text}")).unwrap_or_default();
    let default = field.default().map(|value| format!(" [{value}]")).unwrap_or_default();
    format!("{}{description}{kind}{default}", field.title())
}

/// Converts the entered text to JSON of the field's type.
fn value(field: &FieldView<'_>, text: &str) -> String {
    match field.kind() {
        FieldKind::Number | FieldKind::Integer | FieldKind::Boolean => {
            // A text that is not JSON becomes a string, so that the server rejects the response.
            Json::parse(text.as_bytes()).map_or_else(|_| quoted(text), |json| json.to_string())
        }
        FieldKind::Choices => {
            let choices: Vec<_> = text.split(',').map(|choice| quoted(choice.trim())).collect();
            format!("[{}]", choices.join(","))
        }
        _ => quoted(text),
    }
}

/// Shows a prompt and reads a line from the terminal. Returns `None` if stdin is not a terminal, or has ended. Also
/// returns `None` with `--json` or `--quiet`, because stdout is then not for prompts.
fn prompt_user(what: &str) -> Option<String> {
    let output = Output::get();
    if output.json || output.quiet || !std::io::stdin().is_terminal() {
        return None;
    }
    crate::terminal::write(&format!("  {}? ", Printable(what)));
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).ok().filter(|n| *n > 0)?;
    Some(line.trim_end().to_owned())
}

/// Returns the `file://` URI of a folder. All bytes except `/` and the unreserved characters of a URI are
/// percent-encoded.
fn uri(folder: &str) -> String {
    let path = std::path::absolute(folder).unwrap_or(folder.into());
    let mut uri = String::from("file://");
    for byte in path.to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(byte.into());
            }
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}
