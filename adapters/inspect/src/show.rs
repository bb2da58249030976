//! Prints a server's description, lists and notifications.

use mcp_proto::json::{Json, Kind, Str};
use mcp_proto::{Era, ProtocolError, ServerCapabilities, TaskStatus};
use mcp_proto_std::{
    CallError, ClientHandle, Notification, Progress, PromptDescription, ResourceDescription, ServerDetails,
    TemplateDescription, ToolDescription,
};

use crate::failed;
use crate::schema_type::type_name;
use crate::table::{Table, wrapped};

/// Prints the server's name, revision, capabilities and instructions.
pub(crate) fn server(server: &ServerDetails) {
    let era = if server.revision.era() == Era::Stateless { "no handshake" } else { "handshake" };
    let declared = Json::parse(server.capabilities_json.as_bytes()).unwrap_or(Json::EMPTY_OBJECT);
    let capabilities: Vec<_> = declared.members().map(capability).collect();
    let capabilities = if capabilities.is_empty() { "none".into() } else { capabilities.join(", ") };
    let mut text = format!("server         {} {}\n", server.name, server.version);
    text += &format!("revision       {}, {era}\ncapabilities   {capabilities}\n", server.revision);
    if let Some(instructions) = &server.instructions {
        text += &format!("instructions   {}\n", wrapped(instructions, 15, 100));
    }
    say!("{text}");
}

/// Returns the text of a capability with its flags, such as `tools (listChanged)`.
fn capability((name, value): (Str<'_>, Json<'_>)) -> String {
    let declared = |value: &Json<'_>| value.kind() == Kind::Object || value.boolean() == Some(true);
    let flags: Vec<_> =
        value.members().filter(|(_, value)| declared(value)).map(|(flag, _)| flag.to_string()).collect();
    if flags.is_empty() { name.to_string() } else { format!("{name} ({})", flags.join(", ")) }
}

/// Prints the lists of tools, resources, templates, prompts and skills that the server declares.
pub(crate) fn lists(client: &ClientHandle) -> Result<(), String> {
    let has = |capability| client.server().capabilities.has(capability);
    if has(ServerCapabilities::TOOLS) {
        tools(&client.list_tools().map_err(failed("listing the tools", "tools"))?);
    }
    if has(ServerCapabilities::RESOURCES) {
        resources(&client.list_resources().map_err(failed("listing the resources", "resources"))?);
        match client.list_templates() {
            // A server may support resources but no templates.
            Err(CallError::Server(error)) if error.code == -32601 => {}
            listed => templates(&listed.map_err(failed("listing the resource templates", "resources"))?),
        }
    }
    if has(ServerCapabilities::PROMPTS) {
        prompts(&client.list_prompts().map_err(failed("listing the prompts", "prompts"))?);
    }
    if has(ServerCapabilities::SKILLS) {
        crate::skill::list(&client.list_skills().map_err(failed("listing the skills", "extensions"))?);
    }
    Ok(())
}

fn tools(tools: &[ToolDescription]) {
    let mut table = Table::new(["TOOL", "ARGUMENTS", "WHAT IT DOES"]);
    for tool in tools {
        let description = tool.description.clone().unwrap_or(tool.title.clone());
        table.row([tool.name.clone(), arguments(tool.view().input_schema()), description]);
    }
    table.print();
}

/// Returns the properties of a schema as text, such as `a: integer`. The name of an optional property ends with `?`.
fn arguments(schema: Json<'_>) -> String {
    let required = schema.get("required").unwrap_or(Json::NULL);
    let required: Vec<_> = required.elements().filter_map(Json::string).collect();
    let properties = schema.get("properties").unwrap_or(Json::NULL);
    let properties = properties.members().map(|(name, property)| {
        let optional = if required.contains(&name) { "" } else { "?" };
        format!("{name}{optional}: {}", type_name(schema, property))
    });
    properties.collect::<Vec<_>>().join("\n")
}

fn resources(resources: &[ResourceDescription]) {
    let mut table = Table::new(["RESOURCE", "TYPE", "WHAT IT IS"]);
    for resource in resources {
        let view = resource.view();
        table.row([resource.uri(), text(view.mime()), text(view.description().or(view.display_name()))]);
    }
    table.print();
}

fn templates(templates: &[TemplateDescription]) {
    let mut table = Table::new(["RESOURCE TEMPLATE", "TYPE", "WHAT IT IS"]);
    for template in templates {
        let view = template.view();
        let what = text(view.description().or(view.display_name()));
        table.row([template.uri_template(), text(view.mime()), what]);
    }
    table.print();
}

fn prompts(prompts: &[PromptDescription]) {
    let mut table = Table::new(["PROMPT", "ARGUMENTS", "WHAT IT IS FOR"]);
    for prompt in prompts {
        let view = prompt.view();
        let arguments = view.arguments().map(|argument| {
            let optional = if argument.is_required() { "" } else { "?" };
            format!("{}{optional}", text(argument.name()))
        });
        let arguments = arguments.collect::<Vec<_>>().join("\n");
        table.row([prompt.name(), arguments, text(view.description().or(view.display_name()))]);
    }
    table.print();
}

/// Prints a notification or a protocol error.
pub(crate) fn notice(notice: &Notification) {
    match notice {
        Notification::Log { level, logger, data } => {
            let level = level.map_or("log", |level| level.as_str());
            let logger = logger.as_ref().map(|logger| format!(" ({logger})")).unwrap_or_default();
            note!("server: {level}{logger}: {data}");
        }
        Notification::Changed(listed) => {
            say!("notification: the list of {} has changed", format!("{listed:?}").to_lowercase())
        }
        Notification::Updated(uri) => say!("notification: {uri} has changed"),
        Notification::Other { method, params } => {
            say!("notification: {method} {}", params.as_deref().unwrap_or_default());
        }
        Notification::ResponseRefused(failure) => note!("server: the response is refused: {failure}"),
        Notification::PeerUnresponsive => note!("server: no response to a ping"),
        Notification::Reconnected => note!("server: connected again"),
        // The observer reports both: `NotJson` as a violation, `UnknownMethod` with the method.
        Notification::ProtocolError(ProtocolError::NotJson(_) | ProtocolError::UnknownMethod) => {}
        Notification::ProtocolError(fault) => note!("server: {fault}"),
        Notification::Missed(count) => note!("{count} notifications were dropped"),
        _ => {}
    }
}

/// Prints the method of a request that the client does not support, and the option that would answer the request, if
/// there is one. Prints nothing for other errors.
pub(crate) fn refused(line: &[u8], error: ProtocolError) {
    if error != ProtocolError::UnknownMethod {
        return;
    }
    let method = Json::parse(line).ok().and_then(|message| message.get("method")).and_then(Json::string);
    let method = text(method);
    let option = match &*method {
        "sampling/createMessage" => ": --sample TEXT answers the request",
        "roots/list" => ": --roots DIR answers the request",
        _ => "",
    };
    note!("server: {error}: {method}{option}");
}

/// Prints progress, such as `progress 5 of 10, reading`, or the status of a task, such as `task 7f3a working, reading`.
pub(crate) fn progress(step: &Progress) {
    let total = step.total.map(|total| format!(" of {total}")).unwrap_or_default();
    let message = step.message.as_ref().map(|text| format!(", {text}")).unwrap_or_default();
    match &step.task {
        Some(task) => {
            let status = task.status.map_or("with an unknown status", TaskStatus::as_str);
            say!("task {} {status}{message}", task.id);
        }
        None => say!("progress {}{total}{message}", step.progress),
    }
}

pub(crate) fn text(text: Option<Str<'_>>) -> String {
    text.map(|text| text.to_string()).unwrap_or_default()
}
