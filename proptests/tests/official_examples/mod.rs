//! Reads every official example with client views, or writes the example with client requests, and rebuilds its JSON.
//!
//! The examples are read from `MCP_SPEC_DIR` (`examples-2026-07-28/`), one folder for each definition.

mod input_requests;
mod peer;
mod rebuild;
mod subscriptions;

use std::collections::BTreeMap;
use std::fs;

use mcp_proto::client::{BlockView, Event, Options, Reference, ResourceContentsView, ResourceView, ToolView};
use mcp_proto::json::Json;
use mcp_proto::{Client, SendError, Ticket};
use mcp_proto_proptests::schema::spec_dir;
use serde_json::{Value, json};

use peer::Peer;

/// How the examples of a folder are tested. Some examples are only an object, others a message that contains the
/// object.
enum How {
    /// A view of the value itself.
    View(fn(Json<'_>) -> Value),
    /// The result of a request, alone or in its response, read from its event.
    Result(Ask, Read),
    /// The result of `server/discover`, alone or in its response.
    Discovery,
    /// Capabilities in a result of `server/discover`.
    Capabilities,
    /// An error, alone or in its response.
    Error,
    /// A notification of this method, or only its params.
    Notification(&'static str, Read),
    /// A client request, or its params.
    Request(fn(&mut Client<'_>, &Value) -> Result<Ticket, SendError>),
    /// An input request or a part of it. The function builds whole input requests that contain the example. The JSON
    /// pointer is the place of the example in them.
    InputRequest(fn(&Value) -> Value, &'static str),
    /// An input response or a part of it. The function builds whole responses that contain the example. The JSON
    /// pointer is the place of the example in them.
    Response(fn(&Value) -> Value, &'static str),
    /// A custom test.
    Whole(fn(&Value) -> Value),
    /// A notification of this method for a subscription, or only its params.
    SubscriptionNotification(&'static str),
    /// Client capabilities.
    ClientCapabilities,
}
use How::{
    Capabilities, ClientCapabilities, Discovery, Error, InputRequest, Notification, Request, Response,
    SubscriptionNotification, View, Whole,
};

type Ask = fn(&mut Client<'_>) -> Result<Ticket, SendError>;
type Read = fn(&Event<'_>) -> Value;

const DEFAULT: Options<'static> = Options::DEFAULT;

const CALL: How = How::Result(|client| client.call_json("t", "{}", DEFAULT), rebuild::tool_result);
const LIST_TOOLS: How = How::Result(|client| client.list_tools(DEFAULT), rebuild::page);
const LIST_RESOURCES: How = How::Result(|client| client.list_resources(DEFAULT), rebuild::page);
const LIST_TEMPLATES: How = How::Result(|client| client.list_templates(DEFAULT), rebuild::page);
const LIST_PROMPTS: How = How::Result(|client| client.list_prompts(DEFAULT), rebuild::page);
const READ: How = How::Result(|client| client.read_resource("u", DEFAULT), rebuild::read_result);
const GET: How = How::Result(|client| client.get_prompt("p", &[], DEFAULT), rebuild::prompt_result);
const COMPLETE: How =
    How::Result(|client| client.complete(Reference::Prompt("p"), "a", "", &[], DEFAULT), rebuild::completion);
const BLOCK: How = View(|json| rebuild::block(BlockView::from_json(json)));
const CONTENTS: How = View(|json| rebuild::contents(ResourceContentsView::from_json(json)));
const PROGRESS: How = Notification("notifications/progress", rebuild::progress);
const LOG: How = Notification("notifications/message", rebuild::log);
const UPDATED: How = SubscriptionNotification("notifications/resources/updated");
const PROPERTY: How = InputRequest(rebuild_property, "/k/params/requestedSchema/properties/p");
const FORM: How = InputRequest(|params| rebuild_request("elicitation/create", params), "/k/params");
const SAMPLE: How = InputRequest(|params| rebuild_request("sampling/createMessage", params), "/k/params");
const REQUEST: How = InputRequest(rebuild_verbatim, "/k");
const ANSWER: How = Response(|response| json!({"k": response}), "/k");
const CANCELLED: How = Whole(|example| subscriptions::cancelled(example.get("params").unwrap_or(example)));
const LISTENED: How = Whole(|example| subscriptions::end(result_of(example)));

/// The folders of examples. An unlisted folder fails the test.
const FOLDERS: &[(&str, How)] = &[
    ("AudioContent", BLOCK),
    ("BlobResourceContents", CONTENTS),
    ("BooleanSchema", PROPERTY),
    ("CallToolRequest", Request(call)),
    ("CallToolRequestParams", Request(call)),
    ("CallToolResult", CALL),
    ("CallToolResultResponse", CALL),
    ("CancelledNotification", CANCELLED),
    ("CancelledNotificationParams", CANCELLED),
    ("ClientCapabilities", ClientCapabilities),
    ("CompleteRequest", Request(complete)),
    ("CompleteRequestParams", Request(complete)),
    ("CompleteResult", COMPLETE),
    ("CompleteResultResponse", COMPLETE),
    ("CreateMessageRequest", REQUEST),
    ("CreateMessageRequestParams", SAMPLE),
    ("CreateMessageResult", ANSWER),
    ("DiscoverRequest", Request(|client, _| client.ping(DEFAULT))),
    ("DiscoverResult", Discovery),
    ("DiscoverResultResponse", Discovery),
    ("ElicitRequest", REQUEST),
    ("ElicitRequestFormParams", FORM),
    ("ElicitRequestURLParams", FORM),
    ("ElicitResult", ANSWER),
    ("EmbeddedResource", BLOCK),
    ("GetPromptRequest", Request(get_prompt)),
    ("GetPromptRequestParams", Request(get_prompt)),
    ("GetPromptResult", GET),
    ("GetPromptResultResponse", GET),
    ("HeaderMismatchError", Error),
    ("ImageContent", BLOCK),
    ("InputRequests", InputRequest(Value::clone, "")),
    ("InputRequiredResult", Whole(input_requests::input_required)),
    ("InputResponses", Response(Value::clone, "")),
    ("InternalError", Error),
    ("InvalidParamsError", Error),
    ("ListPromptsRequest", Request(|client, _| client.list_prompts(DEFAULT))),
    ("ListPromptsResult", LIST_PROMPTS),
    ("ListPromptsResultResponse", LIST_PROMPTS),
    ("ListResourceTemplatesRequest", Request(|client, _| client.list_templates(DEFAULT))),
    ("ListResourceTemplatesResult", LIST_TEMPLATES),
    ("ListResourceTemplatesResultResponse", LIST_TEMPLATES),
    ("ListResourcesRequest", Request(|client, _| client.list_resources(DEFAULT))),
    ("ListResourcesResult", LIST_RESOURCES),
    ("ListResourcesResultResponse", LIST_RESOURCES),
    ("ListRootsRequest", REQUEST),
    ("ListRootsResult", ANSWER),
    ("ListToolsRequest", Request(|client, _| client.list_tools(DEFAULT))),
    ("ListToolsResult", LIST_TOOLS),
    ("ListToolsResultResponse", LIST_TOOLS),
    ("LoggingMessageNotification", LOG),
    ("LoggingMessageNotificationParams", LOG),
    ("MethodNotFoundError", Error),
    ("MissingRequiredClientCapabilityError", Error),
    ("ModelPreferences", InputRequest(rebuild_preferences, "/k/params/modelPreferences")),
    ("NumberSchema", PROPERTY),
    // List cursors: the next request repeats the cursor of the example.
    ("PaginatedRequestParams", Request(next_page)),
    ("ParseError", Error),
    ("ProgressNotification", PROGRESS),
    ("ProgressNotificationParams", PROGRESS),
    ("PromptListChangedNotification", SubscriptionNotification("notifications/prompts/list_changed")),
    ("ReadResourceRequest", Request(read)),
    ("ReadResourceResult", READ),
    ("ReadResourceResultResponse", READ),
    ("Resource", View(|json| rebuild::resource(ResourceView::from_json(json)))),
    ("ResourceLink", BLOCK),
    ("ResourceListChangedNotification", SubscriptionNotification("notifications/resources/list_changed")),
    ("ResourceUpdatedNotification", UPDATED),
    ("ResourceUpdatedNotificationParams", UPDATED),
    ("Root", Response(|root| json!({"k": {"roots": [root]}}), "/k/roots/0")),
    ("SamplingMessage", InputRequest(rebuild_message, "/k/params/messages/1")),
    ("ServerCapabilities", Capabilities),
    ("StringSchema", PROPERTY),
    (
        "SubscriptionsAcknowledgedNotification",
        SubscriptionNotification("notifications/subscriptions/acknowledged"),
    ),
    ("SubscriptionsListenRequest", Request(subscriptions::listen)),
    ("SubscriptionsListenResult", LISTENED),
    ("SubscriptionsListenResultResponse", LISTENED),
    ("TextContent", BLOCK),
    ("TextResourceContents", CONTENTS),
    ("TitledMultiSelectEnumSchema", PROPERTY),
    ("TitledSingleSelectEnumSchema", PROPERTY),
    ("Tool", View(|json| rebuild::tool(ToolView::from_json(json)))),
    ("ToolListChangedNotification", SubscriptionNotification("notifications/tools/list_changed")),
    ("ToolResultContent", InputRequest(rebuild_tool_result, "/k/params/messages/1/content")),
    ("ToolUseContent", InputRequest(rebuild_tool_use, "/k/params/messages/0/content")),
    ("UnsupportedProtocolVersionError", Error),
    ("UntitledMultiSelectEnumSchema", PROPERTY),
    ("UntitledSingleSelectEnumSchema", PROPERTY),
];

fn rebuild_request(method: &str, params: &Value) -> Value {
    json!({"k": {"method": method, "params": params}})
}

fn rebuild_verbatim(request: &Value) -> Value {
    json!({"k": request})
}

fn rebuild_property(schema: &Value) -> Value {
    let schema = json!({"type": "object", "properties": {"p": schema}});
    rebuild_request("elicitation/create", &json!({"message": "m", "requestedSchema": schema}))
}

fn rebuild_messages(messages: &Value) -> Value {
    rebuild_request("sampling/createMessage", &json!({"messages": messages, "maxTokens": 9}))
}

fn rebuild_preferences(preferences: &Value) -> Value {
    let params = json!({"messages": [], "maxTokens": 9, "modelPreferences": preferences});
    rebuild_request("sampling/createMessage", &params)
}

/// Rebuilds an input request with this message. The content of the message is tool results. The preceding message
/// contains the matching tool uses, as the protocol requires.
fn rebuild_message(message: &Value) -> Value {
    let blocks = message["content"].as_array().into_iter().flatten();
    let uses =
        blocks.map(|block| json!({"type": "tool_use", "id": block["toolUseId"], "name": "t", "input": {}}));
    rebuild_messages(&json!([{"role": "assistant", "content": uses.collect::<Vec<_>>()}, message]))
}

fn rebuild_tool_result(result: &Value) -> Value {
    rebuild_message(&json!({"role": "user", "content": [result]}))
}

fn rebuild_tool_use(tool_use: &Value) -> Value {
    let result = json!({"type": "tool_result", "toolUseId": tool_use["id"], "content": []});
    rebuild_messages(
        &json!([{"role": "assistant", "content": tool_use}, {"role": "user", "content": result}]),
    )
}

/// Returns the capabilities that a client sends if it is configured as in the example.
fn rebuild_capabilities(example: &Value) -> Value {
    use mcp_proto::ClientCapabilities as C;
    let parts = [
        ("/roots", C::ROOTS),
        ("/sampling", C::SAMPLING),
        ("/sampling/context", C::SAMPLING_CONTEXT),
        ("/sampling/tools", C::SAMPLING_TOOLS),
        ("/elicitation", C::ELICITATION_FORM),
        ("/elicitation/url", C::ELICITATION_URL),
    ];
    let there = parts.into_iter().filter(|(place, _)| example.pointer(place).is_some());
    let declared = there.fold(C::NONE, |sum, (_, part)| sum.with(part));
    let extensions: Vec<(&str, &str)> = example["extensions"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, settings)| (&*name.clone().leak(), &*settings.to_string().leak()))
        .collect();
    let mut peer = Peer::with_capabilities(declared, extensions.leak());
    peer.client.call_json("t", "{}", DEFAULT).unwrap();
    peer.sent().pop().unwrap()["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"].take()
}

fn text<'v>(params: &'v Value, name: &str) -> &'v str {
    params[name].as_str().unwrap()
}

fn pairs(object: &Value) -> Vec<(&str, &str)> {
    object
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
        .collect()
}

fn call(client: &mut Client<'_>, params: &Value) -> Result<Ticket, SendError> {
    let progress = params["_meta"].get("progressToken").is_some();
    let options = if progress { DEFAULT.with_progress() } else { DEFAULT };
    client.call(text(params, "name"), &params["arguments"], options)
}

fn complete(client: &mut Client<'_>, params: &Value) -> Result<Ticket, SendError> {
    let reference = Reference::Prompt(text(&params["ref"], "name"));
    let (argument, value) = (text(&params["argument"], "name"), text(&params["argument"], "value"));
    client.complete(reference, argument, value, &pairs(&params["context"]["arguments"]), DEFAULT)
}

fn get_prompt(client: &mut Client<'_>, params: &Value) -> Result<Ticket, SendError> {
    client.get_prompt(text(params, "name"), &pairs(&params["arguments"]), DEFAULT)
}

fn read(client: &mut Client<'_>, params: &Value) -> Result<Ticket, SendError> {
    client.read_resource(text(params, "uri"), DEFAULT)
}

/// Requests the first page of a list. The test responds with the cursor of the example, so the client requests the next
/// page with this cursor.
fn next_page(client: &mut Client<'_>, _: &Value) -> Result<Ticket, SendError> {
    client.list_tools(DEFAULT)
}

/// Returns the examples by folder. If the examples are missing, prints the path and returns `None`; with `CI=true`,
/// panics.
fn examples() -> Option<BTreeMap<String, Vec<(String, Value)>>> {
    let folder = spec_dir().join("examples-2026-07-28");
    let Ok(folders) = fs::read_dir(&folder) else {
        let reason = format!("NOT RUN: no examples in {} (set MCP_SPEC_DIR)", folder.display());
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{reason}");
        eprintln!("{reason}");
        return None;
    };
    let mut found: BTreeMap<String, Vec<(String, Value)>> = BTreeMap::new();
    for folder in folders {
        let folder = folder.unwrap();
        let files = fs::read_dir(folder.path()).unwrap().map(|file| {
            let file = file.unwrap();
            let value = serde_json::from_str(&fs::read_to_string(file.path()).unwrap()).unwrap();
            (file.file_name().into_string().unwrap(), value)
        });
        found.insert(folder.file_name().into_string().unwrap(), files.collect());
    }
    Some(found)
}

/// Removes members that equal their default, and adds the default `mode`.
fn without_defaults(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            if members.contains_key("requestedSchema") {
                members.entry("mode").or_insert_with(|| "form".into());
            }
            members.retain(|name, value| !(name == "toolChoice" && *value == json!({"mode": "auto"})));
            members.retain(|name, value| {
                !(*value == Value::Bool(false) && ["isError", "hasMore", "required"].contains(&name.as_str()))
            });
            members.values_mut().for_each(|value| *value = without_defaults(value.take()));
        }
        Value::Array(elements) => {
            elements.iter_mut().for_each(|value| *value = without_defaults(value.take()));
        }
        _ => {}
    }
    value
}

/// Sorts `required`, because reading fields one by one loses its order.
fn with_sorted_required(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            if let Some(Value::Array(required)) = members.get_mut("required") {
                required.sort_by_key(Value::to_string);
            }
            members.values_mut().for_each(|value| *value = with_sorted_required(value.take()));
        }
        Value::Array(elements) => {
            elements.iter_mut().for_each(|value| *value = with_sorted_required(value.take()))
        }
        _ => {}
    }
    value
}

/// Returns the result of a response, or the value itself.
fn result_of(example: &Value) -> &Value {
    example.get("result").unwrap_or(example)
}

/// Returns the rebuilt and the expected value.
fn rebuilt_and_expected(how: &How, example: &Value) -> (Value, Value) {
    match how {
        View(view) => {
            let text = example.to_string();
            (view(Json::parse(text.as_bytes()).unwrap()), example.clone())
        }
        How::Result(ask, read) => {
            let mut peer = Peer::connected();
            ask(&mut peer.client).unwrap();
            let mut found = peer.answer(&json!({"result": result_of(example)}), read);
            let sent = peer.sent();
            if let Some(cursor) = sent.last().and_then(|line| line["params"].get("cursor")) {
                found["nextCursor"] = cursor.clone();
            }
            (found, result_of(example).clone())
        }
        Discovery => {
            let mut peer = Peer::new();
            let found = peer.answer(&json!({"result": result_of(example)}), rebuild::connected);
            (found, result_of(example).clone())
        }
        Capabilities => {
            let mut peer = Peer::new();
            let result = json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": example});
            (peer.answer(&json!({"result": result}), rebuild::capabilities), example.clone())
        }
        Error => {
            let error = example.get("error").unwrap_or(example);
            let mut peer = Peer::connected();
            peer.client.call_json("t", "{}", DEFAULT).unwrap();
            (peer.answer(&json!({"error": error}), rebuild::error), error.clone())
        }
        Notification(method, read) => {
            let mut params = example.get("params").unwrap_or(example).clone();
            let expected = params.clone();
            let mut peer = Peer::connected();
            peer.client.call_json("t", "{}", DEFAULT.with_progress()).unwrap();
            let id = peer.sent().pop().unwrap()["id"].clone();
            let token = params.get("progressToken").cloned();
            if token.is_some() {
                params["progressToken"] = id;
            }
            let mut found =
                peer.receive(&json!({"jsonrpc": "2.0", "method": method, "params": params}), *read);
            // The view has a ticket in place of the token, so restore the token.
            if let Some(token) = token {
                found["progressToken"] = token;
            }
            (found, expected)
        }
        Request(ask) => {
            let mut expected = example.get("params").unwrap_or(example).clone();
            let mut peer = Peer::connected();
            ask(&mut peer.client, &expected).unwrap();
            if let Some(cursor) = expected.get("cursor") {
                peer.answer(&json!({"result": {"tools": [], "nextCursor": cursor}}), |_| Value::Null);
            }
            let mut sent = peer.sent().pop().unwrap();
            if let Some(method) = example.get("method") {
                assert_eq!(&sent["method"], method);
            }
            // The client uses the id of the request as the progress token.
            if let Some(token) = expected["_meta"].get_mut("progressToken") {
                *token = sent["id"].clone();
            }
            (sent["params"].take(), expected)
        }
        InputRequest(wrapped, place) => {
            let mut expected = example.clone();
            if let (Some(request), true) = (expected.as_object_mut(), example.get("method").is_some()) {
                // Input requests have keys instead of ids.
                request.remove("id");
            }
            (part(input_requests::rebuild(&wrapped(example)), place), expected)
        }
        Response(wrapped, place) => {
            (part(input_requests::answered(&wrapped(example)), place), example.clone())
        }
        Whole(whole) => {
            let expected = example.get("params").unwrap_or(result_of(example));
            (whole(example), expected.clone())
        }
        SubscriptionNotification(method) => {
            if let Some(written) = example.get("method") {
                assert_eq!(written, method);
            }
            let params = example.get("params").unwrap_or(example);
            (subscriptions::notification(method, params), params.clone())
        }
        ClientCapabilities => {
            let mut expected = example.clone();
            if expected.get("elicitation") == Some(&json!({})) {
                // Elicitation without a mode means forms.
                expected["elicitation"]["form"] = json!({});
            }
            (rebuild_capabilities(example), expected)
        }
    }
}

fn part(value: Value, place: &str) -> Value {
    value.pointer(place).unwrap_or_else(|| panic!("no {place} in {value}")).clone()
}

#[test]
fn official_examples_are_read_without_loss() {
    let Some(examples) = examples() else { return };
    let mut count = 0;
    for (folder, files) in &examples {
        let (_, how) =
            FOLDERS.iter().find(|(name, _)| name == folder).unwrap_or_else(|| panic!("no row: {folder}"));
        for (file, example) in files {
            println!("{folder}/{file}");
            let (found, expected) = rebuilt_and_expected(how, example);
            assert_eq!(
                with_sorted_required(found),
                with_sorted_required(without_defaults(expected)),
                "{folder}/{file}"
            );
            count += 1;
        }
    }
    for (name, _) in FOLDERS {
        assert!(examples.contains_key(*name), "missing folder: {name}");
    }
    assert!(count >= 129, "only {count} examples were rebuilt");
}
