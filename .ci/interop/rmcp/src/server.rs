//! A server on rmcp for tests of our client.
//!
//!     rmcp_server                   on stdin and stdout
//!     rmcp_server --http ADDRESS    at http://ADDRESS
//!
//! The server supports every revision that rmcp supports. It lists the same tools in each revision, even tools for
//! features that the revision does not have.

// The server uses items that rmcp deprecates: those for sampling, roots, logging and `resources/subscribe`.
#![allow(deprecated)]

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::task_manager::{TaskManager, TaskOptions};
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::{Peer, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::time::sleep;

const TICKS: &str = "clock://ticks";
const PNG: &str = "iVBORw0KGgo=";
const SKILL: &str = "skill://greeting/SKILL.md";
const SKILL_TEXT: &str = "---\nname: greeting\ndescription: How to greet\n---\n\nSay hello.\n";

/// The state that all connections share. `ticked` and `changed` each wake one subscription.
///
/// rmcp may run the next request of the client before it starts `listen`. `Notify` stores a change that such a request
/// makes, so the subscription does not miss the change.
#[derive(Default)]
struct Server {
    ticked: Notify,
    changed: Notify,
    tasks: TaskManager,
}

fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|it| it >= ProtocolVersion::V_2026_07_28)
}

fn made<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the literal fits the type")
}

fn invalid(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::invalid_params(error.to_string(), None)
}

fn said(text: impl Into<String>) -> Result<CallToolResponse, ErrorData> {
    Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
}

/// Returns the input request of one of the four tools `ask_…`, or `None` for any other name.
fn question(tool: &str) -> Option<Value> {
    let name = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
    Some(match tool {
        "ask_form" => json!({
            "method": "elicitation/create",
            "params": {"mode": "form", "message": "Who are you?", "requestedSchema": name},
        }),
        "ask_page" => json!({
            "method": "elicitation/create",
            "params": {"mode": "url", "message": "Look", "url": "https://example.com/", "elicitationId": "look"},
        }),
        "ask_model" => json!({
            "method": "sampling/createMessage",
            "params": {"messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}], "maxTokens": 9},
        }),
        "ask_roots" => json!({"method": "roots/list"}),
        _ => return None,
    })
}

/// Requests input from the client, and responds with the client's answer as text. Up to 2025-11-25, the server sends a
/// request. Since 2026-07-28, the server responds with an input-required result, and the client repeats the call with
/// the answer.
async fn ask(
    tool: &str,
    question: Value,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    if is_stateless(context) {
        return match request.input_responses.as_ref().and_then(|answers| answers.get("answer")) {
            Some(answer) if request.request_state.as_deref() == Some("a \"state\"") => {
                said(answer.to_string())
            }
            Some(_) => Err(invalid("the state is not the one that was sent")),
            None => {
                let requests = [("answer".to_owned(), made(question))].into();
                Ok(InputRequiredResult::new(Some(requests), Some("a \"state\"".into())).into())
            }
        };
    }
    let (peer, params) = (&context.peer, question["params"].clone());
    let answer = match tool {
        "ask_model" => peer.create_message(made(params)).await.map(|answer| json!(answer)),
        "ask_roots" => peer.list_roots().await.map(|answer| json!(answer)),
        _ => peer.create_elicitation(made(params)).await.map(|answer| json!(answer)),
    };
    said(answer.map_err(invalid)?.to_string())
}

/// Runs the tool `slow`, which pauses `steps + 1` times. Before each pause, the tool reports progress if the client has
/// requested progress. The tool stops if the client cancels the call.
async fn slow(
    steps: u32,
    pause: Duration,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    for step in 0..=steps {
        if let Some(token) = context.meta.get_progress_token() {
            let step = ProgressNotificationParam::new(token, step.into()).with_total(steps.into());
            context.peer.notify_progress(step).await.map_err(invalid)?;
        }
        tokio::select! {
            () = sleep(pause) => {}
            () = context.ct.cancelled() => {
                eprintln!("rmcp_server: slow was cancelled");
                return said("");
            }
        }
    }
    said("done")
}

async fn log(peer: &Peer<RoleServer>) -> Result<CallToolResponse, ErrorData> {
    let message = LoggingMessageNotificationParam::new(LoggingLevel::Warning, json!("it is warm"));
    peer.notify_logging_message(message).await.map_err(invalid)?;
    said("logged")
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = made(json!({
            "tools": {"listChanged": true}, "resources": {"subscribe": true, "listChanged": true}, "prompts": {},
            "completions": {}, "logging": {},
            "extensions": {"io.modelcontextprotocol/skills": {}, "io.modelcontextprotocol/tasks": {}},
        }));
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("rmcp_server", "1");
        info.protocol_version = ProtocolVersion::V_2026_07_28;
        info
    }

    /// Lists the tools in two pages.
    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let second = request.and_then(|request| request.cursor).is_some_and(|cursor| cursor == "page 2");
        let names: &[&str] = match second {
            false => {
                &["echo", "add", "slow", "log", "fail", "show", "tick", "more_tools", "task", "task_form"]
            }
            true => &["ping", "ask_form", "ask_page", "ask_model", "ask_roots"],
        };
        let tools = names.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}}));
        let mut page = ListToolsResult::with_all_items(made(tools.collect()));
        page.next_cursor = (!second).then(|| "page 2".into());
        Ok(page)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = |name: &str| request.arguments.as_ref().and_then(|all| all.get(name)).cloned();
        let number = |name: &str| given(name).and_then(|it| it.as_i64()).ok_or(invalid(format!("{name}?")));
        match &*request.name {
            "echo" => said(given("message").as_ref().and_then(Value::as_str).unwrap_or_default()),
            "add" => Ok(CallToolResult::structured(json!({"sum": number("a")? + number("b")?})).into()),
            "slow" => {
                let pause = Duration::from_millis(number("pause")?.unsigned_abs());
                slow(number("steps")? as u32, pause, &context).await
            }
            "log" => log(&context.peer).await,
            tool @ ("task" | "task_form") => {
                let form = (tool == "task_form").then(|| question("ask_form").map(made)).flatten();
                let options = TaskOptions::new().with_poll_interval_ms(50);
                let task = self.tasks.spawn(options, move |task| {
                    Box::pin(async move {
                        task.set_status_message("in a moment");
                        sleep(Duration::from_millis(300)).await;
                        let text = match form {
                            Some(form) => task.request_input("form", form).await?.to_string(),
                            None => "done".into(),
                        };
                        Ok(CallToolResult::success(vec![ContentBlock::text(text)]))
                    })
                });
                Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
            }
            "fail" => Ok(CallToolResult::error(vec![ContentBlock::text("it is broken")]).into()),
            "show" => Ok(CallToolResult::success(made(json!([
                {"type": "image", "data": PNG, "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "test://text", "text": "embedded"}},
            ])))
            .into()),
            "tick" => {
                if is_stateless(&context) {
                    self.ticked.notify_one();
                } else {
                    let changed = ResourceUpdatedNotificationParam::new(TICKS);
                    context.peer.notify_resource_updated(changed).await.map_err(invalid)?;
                }
                said("ticked")
            }
            "more_tools" => {
                if is_stateless(&context) {
                    self.changed.notify_one();
                } else {
                    context.peer.notify_tool_list_changed().await.map_err(invalid)?;
                }
                said("the client was notified")
            }
            "ping" => {
                let ping = ServerRequest::PingRequest(PingRequest::default());
                context.peer.send_request(ping).await.map_err(invalid)?;
                said("the client is there")
            }
            tool => match question(tool) {
                Some(question) => ask(tool, question, &request, &context).await,
                None => Err(invalid(format!("Unknown tool: {tool}"))),
            },
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&request.task_id)?))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let of = |uri| json!({"uri": uri, "name": uri});
        Ok(ListResourcesResult::with_all_items(made(json!([
            of("test://text"),
            of("test://bytes"),
            of(TICKS)
        ]))))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = json!({"uriTemplate": "note://{name}", "name": "notes"});
        Ok(ListResourceTemplatesResult::with_all_items(made(json!([template]))))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = &request.uri;
        let part = match uri.strip_prefix("note://") {
            Some(name) => json!({"uri": uri, "mimeType": "text/plain", "text": format!("the note {name}")}),
            None if uri == SKILL => json!({"uri": uri, "mimeType": "text/markdown", "text": SKILL_TEXT}),
            None if uri == "test://text" => {
                json!({"uri": uri, "mimeType": "text/plain", "text": "some text"})
            }
            None if uri == "test://bytes" => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
            None => {
                return Err(ErrorData::resource_not_found(
                    "there is no such resource",
                    Some(json!({"uri": uri})),
                ));
            }
        };
        Ok(ReadResourceResult::new(vec![made(part)]).into())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.supported_by(&self.get_info().capabilities))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        loop {
            tokio::select! {
                () = self.ticked.notified() => {
                    context.sink().notify_resource_updated(TICKS).await.map_err(invalid)?;
                }
                () = self.changed.notified() => {
                    context.sink().notify_tool_list_changed().await.map_err(invalid)?;
                }
                () = context.cancelled() => return Ok(()),
            }
        }
    }

    async fn list_skills(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        Ok(ListSkillsResult::with_all_items(vec![skill()]))
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        if request.uri == SKILL { Ok(GetSkillResult::new(skill())) } else { Err(invalid("unknown skill")) }
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompt = json!({"name": "greet", "arguments": [{"name": "who", "required": true}]});
        Ok(ListPromptsResult::with_all_items(made(json!([prompt]))))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let who = request.arguments.as_ref().and_then(|all| json!(all)["who"].as_str().map(String::from));
        let text = format!("Greet {}.", who.ok_or(invalid("`who` is missing"))?);
        Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).into())
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let names = ["Ada", "Adele", "Grace"];
        let values: Vec<_> = names.into_iter().filter(|it| it.starts_with(&request.argument.value)).collect();
        Ok(made(json!({"completion": {"values": values}})))
    }

    async fn set_level(
        &self,
        _: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }
}

fn skill() -> Skill {
    let files = vec![SkillResource::from_bytes(SKILL, SKILL_TEXT.as_bytes())];
    Skill::new(SKILL, SkillFrontmatter::new("greeting", "How to greet"), SkillResources::Files(files))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words[..] {
        [] => drop(Server::default().serve(rmcp::transport::stdio()).await?.waiting().await?),
        [option, address] if option == "--http" => {
            let server = Arc::new(Server::default());
            let service: StreamableHttpService<_, LocalSessionManager> = StreamableHttpService::new(
                move || Ok(Arc::clone(&server)),
                Arc::default(),
                Default::default(),
            );
            let listener = tokio::net::TcpListener::bind(address).await?;
            axum::serve(listener, axum::Router::new().fallback_service(service)).await?;
        }
        _ => return Err("usage: rmcp_server [--http ADDRESS]".into()),
    }
    Ok(())
}
