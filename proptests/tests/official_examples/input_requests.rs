//! Examples of input requests, in a result, and of input responses, in a retried request.

use mcp_proto::client::{
    CreateMessageView, Event, FieldKind, FieldView, FormView, InputRequest, InputResponses,
    ModelPreferencesView, Options, SampleMessageView,
};
use mcp_proto::input::{ElicitAction, ElicitResultView, RootsView, SampledView};
use mcp_proto::json::Json;
use mcp_proto::{IncludeContext, ToolChoice};
use serde_json::{Value, json};

use super::peer::Peer;
use super::rebuild::{block, number, object, open, some, string, tool};

/// Rebuilds the members of `inputRequests` from the views.
fn input_request_members(event: &Event<'_>) -> Value {
    let Event::InputRequired(needs) = event else { panic!("{event:?}") };
    let asked = needs.requests().map(|(key, input)| {
        let value = match input {
            InputRequest::Roots => json!({"method": "roots/list"}),
            InputRequest::Elicit(it) => json!({"method": "elicitation/create", "params": form(it)}),
            InputRequest::OpenUrl(it) => {
                assert!(it.elicitation_id().is_none(), "2026-07-28 has none");
                let params = json!({"mode": "url", "message": string(it.message()), "url": string(it.url())});
                json!({"method": "elicitation/create", "params": params})
            }
            InputRequest::Sample(it) => json!({"method": "sampling/createMessage", "params": sample(it)}),
            other => panic!("{other:?}"),
        };
        (key.to_string(), value)
    });
    Value::Object(asked.collect())
}

fn form(form: FormView<'_>) -> Value {
    let required = form.fields().filter(FieldView::is_required).map(|it| string(it.name()));
    let properties = form.fields().map(|it| (it.name().to_string(), property(it)));
    let schema = object([
        ("type", Some("object".into())),
        ("properties", Some(Value::Object(properties.collect()))),
        ("required", some(required)),
    ]);
    json!({"mode": "form", "message": string(form.message()), "requestedSchema": schema})
}

fn property(it: FieldView<'_>) -> Value {
    let kind = it.kind();
    let name = match kind {
        FieldKind::Text | FieldKind::Choice => "string",
        FieldKind::Number => "number",
        FieldKind::Integer => "integer",
        FieldKind::Boolean => "boolean",
        FieldKind::Choices => "array",
        other => panic!("{other:?}"),
    };
    let titled = it.choices().any(|choice| choice.title != choice.value);
    let choices = some(it.choices().map(|choice| match titled {
        true => json!({"const": string(choice.value), "title": string(choice.title)}),
        false => string(choice.value),
    }));
    let (least, most) = it.limits();
    let limits = match kind {
        FieldKind::Choices => ["minItems", "maxItems"],
        FieldKind::Text => ["minLength", "maxLength"],
        _ => ["minimum", "maximum"],
    };
    let (one, many) = if kind == FieldKind::Choices { (None, choices) } else { (choices, None) };
    let items = many.map(|list| match titled {
        true => json!({"anyOf": list}),
        false => json!({"type": "string", "enum": list}),
    });
    object([
        ("type", Some(name.into())),
        ("title", (it.title() != it.name()).then(|| string(it.title()))),
        ("description", it.description().map(string)),
        ("format", it.format().map(string)),
        (limits[0], least.map(number)),
        (limits[1], most.map(number)),
        (if titled { "oneOf" } else { "enum" }, one),
        ("items", items),
        ("default", it.default().map(open)),
    ])
}

fn sample(it: CreateMessageView<'_>) -> Value {
    assert_eq!(it.include_context(), IncludeContext::None, "every example has this value");
    let choice = match it.tool_choice() {
        // An absent tool choice means `auto`.
        ToolChoice::Auto => None,
        other => panic!("{other:?}"),
    };
    object([
        ("messages", Some(it.messages().map(message).collect())),
        ("maxTokens", Some(it.max_tokens().into())),
        ("systemPrompt", it.system_prompt().map(string)),
        ("temperature", it.temperature().map(number)),
        ("stopSequences", some(it.stop_sequences().map(string))),
        ("modelPreferences", it.model_preferences().map(preferences)),
        ("tools", some(it.tools().map(tool))),
        ("toolChoice", choice),
        ("metadata", it.metadata().map(open)),
    ])
}

fn preferences(it: ModelPreferencesView<'_>) -> Value {
    object([
        ("hints", some(it.hints().map(|hint| json!({"name": string(hint)})))),
        ("costPriority", it.cost().map(number)),
        ("speedPriority", it.speed().map(number)),
        ("intelligencePriority", it.intelligence().map(number)),
    ])
}

/// Rebuilds a message. In every example, a single block is written without an array.
fn message(it: SampleMessageView<'_>) -> Value {
    let mut pieces: Vec<Value> = it.blocks().map(block).collect();
    let content = if pieces.len() == 1 { pieces.remove(0) } else { pieces.into() };
    json!({"role": it.role().unwrap().as_str(), "content": content})
}

/// Returns the response that requires input with these input requests.
fn input_required_response(requests: &Value, state: Option<&Value>) -> Value {
    let mut result = json!({"resultType": "input_required", "inputRequests": requests});
    if let Some(state) = state {
        result["requestState"] = state.clone();
    }
    json!({"result": result})
}

/// Rebuilds input requests from the views.
pub(crate) fn rebuild(requests: &Value) -> Value {
    let mut peer = Peer::with_all_capabilities();
    peer.client.call_json("t", "{}", Options::DEFAULT).unwrap();
    peer.answer(&input_required_response(requests, None), input_request_members)
}

/// Rebuilds a whole result: its input requests from the views, and its state from the retry.
pub(crate) fn input_required(result: &Value) -> Value {
    let mut peer = Peer::with_all_capabilities();
    let ticket = peer.client.call_json("t", "{}", Options::DEFAULT).unwrap();
    let found = peer.answer(&json!({"result": result}), |event| {
        let Event::InputRequired(needs) = event else { panic!("{event:?}") };
        assert_eq!(needs.has_state(), result.get("requestState").is_some());
        input_request_members(event)
    });
    let answers = |answers: &mut InputResponses<'_, '_>| {
        for key in found.as_object().unwrap().keys() {
            answers.decline(key);
        }
    };
    peer.client.resume_call_json(ticket, "t", "{}", answers).unwrap();
    let sent = peer.sent().pop().unwrap();
    object([
        ("resultType", Some("input_required".into())),
        ("inputRequests", (found != json!({})).then_some(found.clone())),
        ("requestState", sent["params"].get("requestState").cloned()),
    ])
}

/// Writes input responses as a client does. Compares each response with the server's view, too.
pub(crate) fn answered(responses: &Value) -> Value {
    let responses = responses.as_object().unwrap();
    let requests = responses.iter().map(|(key, response)| (key.clone(), question(response))).collect();
    let mut peer = Peer::with_all_capabilities();
    let ticket = peer.client.call_json("t", "{}", Options::DEFAULT).unwrap();
    peer.answer(&input_required_response(&Value::Object(requests), None), input_request_members);
    let answers = |answers: &mut InputResponses<'_, '_>| {
        for (key, response) in responses {
            write(answers, key, response);
        }
    };
    peer.client.resume_call_json(ticket, "t", "{}", answers).unwrap();
    let found = peer.sent().pop().unwrap()["params"]["inputResponses"].take();
    for response in found.as_object().unwrap().values() {
        let text = response.to_string();
        assert_eq!(seen_by_a_server(Json::parse(text.as_bytes()).unwrap()), *response);
    }
    found
}

/// Returns an input request for this response.
fn question(response: &Value) -> Value {
    let (method, params) = match response {
        it if it.get("roots").is_some() => return json!({"method": "roots/list"}),
        it if it.get("model").is_some() => {
            ("sampling/createMessage", json!({"messages": [], "maxTokens": 9}))
        }
        it if it.get("content").is_some() => {
            let schema = json!({"type": "object", "properties": {}});
            ("elicitation/create", json!({"mode": "form", "message": "m", "requestedSchema": schema}))
        }
        _ => ("elicitation/create", json!({"mode": "url", "message": "m", "url": "https://example.com/"})),
    };
    json!({"method": method, "params": params})
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

fn write(answers: &mut InputResponses<'_, '_>, key: &str, response: &Value) {
    if let Some(roots) = response["roots"].as_array() {
        answers
            .roots(key, |out| roots.iter().for_each(|root| out.add(text(root, "uri"), text(root, "name"))));
    } else if response.get("model").is_some() {
        let content = &response["content"];
        let pieces = content.as_array().map_or(std::slice::from_ref(content), Vec::as_slice);
        answers.sampled(key, text(response, "model"), text(response, "stopReason"), |out| {
            for piece in pieces {
                match text(piece, "type") {
                    "text" => out.text(text(piece, "text")),
                    "tool_use" => out.tool_use(text(piece, "id"), text(piece, "name"), |out| {
                        for (name, value) in piece["input"].as_object().unwrap() {
                            out.key(name);
                            out.raw(&value.to_string()).unwrap();
                        }
                    }),
                    other => panic!("{other}"),
                }
            }
        });
    } else if let Some(content) = response["content"].as_object() {
        answers.accept(key, |out| {
            for (name, value) in content {
                out.key(name);
                out.raw(&value.to_string()).unwrap();
            }
        });
    } else {
        assert_eq!(text(response, "action"), "accept", "every example has this value");
        answers.agree(key);
    }
}

/// Rebuilds a response from the server's view.
fn seen_by_a_server(response: Json<'_>) -> Value {
    if let Some(answer) = ElicitResultView::from_json(response) {
        assert_eq!(answer.action(), ElicitAction::Accept);
        let content = open(answer.content());
        return object([
            ("action", Some("accept".into())),
            ("content", (content != json!({})).then_some(content)),
        ]);
    }
    if let Some(said) = SampledView::from_json(response) {
        let mut pieces: Vec<Value> = said.blocks().map(block).collect();
        let content = if pieces.len() == 1 { pieces.remove(0) } else { pieces.into() };
        return object([
            ("role", Some(said.role().as_str().into())),
            ("content", Some(content)),
            ("model", Some(string(said.model()))),
            ("stopReason", said.stop_reason().map(string)),
        ]);
    }
    let roots = RootsView::from_json(response).expect("the response contains roots");
    let roots =
        roots.map(|root| object([("uri", Some(string(root.uri()))), ("name", root.name().map(string))]));
    json!({"roots": roots.collect::<Vec<_>>()})
}
