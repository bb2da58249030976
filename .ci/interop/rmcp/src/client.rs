//! Drives every feature of the example everything_server with the client of rmcp.
//!
//!     rmcp_client SERVER [ARGUMENT...]
//!
//! Each group of features runs once for each revision that rmcp can talk, in the way that revision has it. A line that
//! starts with RESULT sums up a group in one era; what went wrong in it is said in lines that start with FAILED.

// What 2026-07-28 has no more is marked as deprecated, and is what the older revisions are tested with.
#![allow(deprecated)]

use std::process::{ExitCode, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::{NotificationContext, PeerRequestOptions, RequestContext, RunningService};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, RoleClient, ServiceError};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::{sleep, timeout};

const PEER: &str = "rmcp client 3.9.0";
const PATIENCE: Duration = Duration::from_secs(30);

/// The groups, and the revision that has them first.
const GROUPS: [(&str, &str); 17] = [
    ("tools", "2024-11-05"),
    ("content", "2024-11-05"),
    ("structured content", "2024-11-05"),
    ("progress", "2024-11-05"),
    ("cancel", "2024-11-05"),
    ("logging", "2024-11-05"),
    ("resources", "2024-11-05"),
    ("templates", "2024-11-05"),
    ("list changes", "2024-11-05"),
    ("subscriptions", "2024-11-05"),
    ("prompts", "2024-11-05"),
    ("completion", "2024-11-05"),
    ("sampling", "2024-11-05"),
    ("roots", "2024-11-05"),
    ("elicitation", "2025-06-18"),
    ("url elicitation", "2025-11-25"),
    ("rounds", "2026-07-28"),
];

type Checked = Result<(), String>;

/// What the host answers, and what it has heard.
#[derive(Clone)]
struct Host {
    version: ProtocolVersion,
    heard: Arc<Mutex<Vec<(&'static str, Value)>>>,
    answer: Arc<Mutex<Value>>,
}

impl Host {
    fn hear(&self, what: &'static str, value: Value) {
        self.heard.lock().unwrap().push((what, value));
    }

    /// What was heard of this kind, and forgets it.
    fn take(&self, what: &str) -> Vec<Value> {
        let mut heard = self.heard.lock().unwrap();
        let (found, rest) = heard.drain(..).partition(|(kind, _)| *kind == what);
        *heard = rest;
        found.into_iter().map(|(_, value): (_, Value)| value).collect()
    }

    async fn hears(&self, what: &str) -> Result<Value, String> {
        for _ in 0..1000 {
            {
                let mut heard = self.heard.lock().unwrap();
                if let Some(at) = heard.iter().position(|(kind, _)| *kind == what) {
                    return Ok(heard.remove(at).1);
                }
            }
            sleep(Duration::from_millis(20)).await;
        }
        Err(format!("{what} was not heard, only {:?}", self.heard.lock().unwrap()))
    }
}

impl ClientHandler for Host {
    fn get_info(&self) -> ClientConfig {
        let declared =
            json!({"sampling": {}, "elicitation": {"form": {}, "url": {}}, "roots": {"listChanged": true}});
        let declared = serde_json::from_value(declared).unwrap();
        ClientConfig::new(declared, Implementation::new("interop", "1"))
            .with_protocol_version(self.version.clone())
    }
    async fn create_message(
        &self,
        request: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        self.hear("sampling", json!(request));
        Ok(CreateMessageResult::new(SamplingMessage::assistant_text("made by a model"), "m".into()))
    }
    async fn list_roots(&self, _: RequestContext<RoleClient>) -> Result<ListRootsResult, ErrorData> {
        Ok(ListRootsResult::new(vec![Root::new("file:///home/ada")]))
    }
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.hear("elicitation", json!(request));
        Ok(serde_json::from_value(self.answer.lock().unwrap().clone()).unwrap())
    }
    async fn on_progress(&self, step: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.hear("progress", json!([step.progress, step.total]));
    }
    async fn on_logging_message(
        &self,
        log: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.hear("log", json!(log.level));
    }
    async fn on_resource_updated(
        &self,
        it: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.hear("updated", json!(it.uri));
    }
    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.hear("resources changed", Value::Null);
    }
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.hear("tools changed", Value::Null);
    }
    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.hear("prompts changed", Value::Null);
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, got: T, wanted: T) -> Checked {
    if got == wanted { Ok(()) } else { Err(format!("{what}: expected {wanted:?}, got {got:?}")) }
}

fn of(what: &str) -> impl FnOnce(ServiceError) -> String {
    move |error| format!("{what}: {error}")
}

/// One connection in one revision.
struct World {
    client: RunningService<RoleClient, Host>,
    host: Host,
    version: &'static str,
    stateless: bool,
}

impl World {
    async fn open(command: &[String], version: &'static str) -> Result<World, String> {
        let stateless = version == "2026-07-28";
        let versions = ProtocolVersion::KNOWN_VERSIONS;
        let version_of = versions.iter().find(|it| it.as_str() == version).ok_or("rmcp does not know it")?;
        let heard = Arc::default();
        let answer = Arc::new(Mutex::new(json!({"action": "decline"})));
        let host = Host { version: version_of.clone(), heard, answer };
        let mut child = Command::new(&command[0]);
        child.args(&command[1..]).stderr(Stdio::inherit());
        let transport = TokioChildProcess::new(child).map_err(|error| error.to_string())?;
        let mode = match stateless {
            true => ClientLifecycleMode::Discover { preferred_versions: vec![version_of.clone()] },
            false => ClientLifecycleMode::Initialize,
        };
        let opened = timeout(PATIENCE, host.clone().serve_with_lifecycle(transport, mode)).await;
        let client = opened.map_err(|_| "nothing happened")?.map_err(|error| error.to_string())?;
        let agreed = client.peer_info().map(|peer| peer.protocol_version.to_string());
        expect("revision", agreed.as_deref(), Some(version))?;
        Ok(World { client, host, version, stateless })
    }

    fn since(&self, version: &str) -> bool {
        self.version >= version
    }

    fn answers(&self, answer: Value) {
        *self.host.answer.lock().unwrap() = answer;
    }

    /// The parameters of a call. In the stateless era each says which log messages it wants.
    fn parameters(&self, name: &str, arguments: Value) -> CallToolRequestParams {
        let meta = self.stateless.then_some(json!({"io.modelcontextprotocol/logLevel": "info"}));
        serde_json::from_value(json!({"name": name, "arguments": arguments, "_meta": meta})).unwrap()
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<Value, String> {
        let result = self.client.call_tool(self.parameters(name, arguments)).await;
        result.map(|result| json!(result)).map_err(of(name))
    }

    async fn text(&self, name: &str, arguments: Value) -> Result<String, String> {
        let result = self.call(name, arguments).await?;
        match (result["content"].as_array().map(Vec::as_slice), result["isError"].as_bool()) {
            (Some([block]), None | Some(false)) => Ok(block["text"].as_str().unwrap_or_default().into()),
            _ => Err(format!("{name}: expected one text, got {result}")),
        }
    }

    async fn first_part(&self, uri: &str) -> Result<Value, String> {
        let read = self.client.read_resource(ReadResourceRequestParams::new(uri)).await.map_err(of(uri))?;
        Ok(json!(read)["contents"][0].clone())
    }

    async fn prompt(&self, name: &str, arguments: Value) -> Result<Value, ServiceError> {
        let params = serde_json::from_value(json!({"name": name, "arguments": arguments})).unwrap();
        Ok(json!(self.client.get_prompt(params).await?)["messages"].clone())
    }

    async fn check(&self, group: &str) -> Checked {
        match group {
            "tools" => self.tools().await,
            "content" => self.content().await,
            "structured content" => {
                let sum = self.call("add", json!({"a": 1, "b": 2})).await?;
                let wanted = if self.since("2025-06-18") { json!({"sum": 3}) } else { Value::Null };
                expect("structuredContent", &sum["structuredContent"], &wanted)
            }
            "progress" => {
                self.text("test_tool_with_progress", json!({})).await?;
                // Notifications have tasks of their own in rmcp: they may be heard in any order, and after the answer.
                let mut steps = Vec::new();
                while steps.len() < 3 {
                    steps.push(self.host.hears("progress").await?.to_string());
                }
                steps.sort();
                expect("steps", steps.join(" "), "[0.0,2.0] [1.0,2.0] [2.0,2.0]".into())
            }
            "cancel" => self.cancel().await,
            "logging" => self.logging().await,
            "resources" => self.resources().await,
            "templates" => {
                let listed = self.client.list_all_resource_templates().await.map_err(of("templates"))?;
                let listed: Vec<_> = listed.iter().map(|it| it.uri_template.as_str()).collect();
                expect("templates", listed, vec!["note://{name}", "test://template/{id}/data"])?;
                let part = self.first_part("test://template/123/data").await?;
                expect("media type", part["mimeType"].as_str(), Some("application/json"))
            }
            "list changes" => self.changes().await,
            "subscriptions" => self.subscriptions().await,
            "prompts" => self.prompts().await,
            "completion" => {
                let values =
                    self.client.complete_prompt_simple("test_prompt_with_arguments", "arg1", "par").await;
                expect("par", values.map_err(of("completion"))?.join(" "), "paris park party".into())
            }
            "sampling" => {
                let text = self.text("test_sampling", json!({"prompt": "say something"})).await?;
                expect("what the model said", text, "LLM response: made by a model".into())?;
                let asked = self.host.hears("sampling").await?;
                expect("maxTokens", &asked["maxTokens"], &json!(100))
            }
            "roots" => {
                expect("roots", self.text("ask_roots", json!({})).await?, "Roots: file:///home/ada".into())
            }
            "elicitation" => self.elicitation().await,
            "url elicitation" => {
                self.answers(json!({"action": "accept"}));
                let text = self.text("ask_page", json!({})).await?;
                let asked = self.host.hears("elicitation").await?;
                expect("mode", &asked["mode"], &json!("url"))?;
                expect("action", text.contains("action=accept"), true)
            }
            "rounds" => self.rounds().await,
            _ => Err("no such group".into()),
        }
    }

    async fn tools(&self) -> Checked {
        let listed = self.client.list_all_tools().await.map_err(of("listing"))?;
        let echo = listed.iter().find(|tool| tool.name == "echo").ok_or("echo is not listed")?;
        expect("type of its input", echo.input_schema.get("type"), Some(&json!("object")))?;
        for text in ["", "päivää 👩‍🚀", "a\r\nb\tc \u{2028} \u{0}", &"0123456789".repeat(1000)] {
            expect("echo", self.text("echo", json!({"message": text})).await?, text.into())?;
        }
        for (tool, arguments) in [("no_such_tool", json!({})), ("add", json!({"a": "x", "b": 1}))] {
            match self.client.call_tool(self.parameters(tool, arguments)).await {
                Err(ServiceError::McpError(error)) if error.code == ErrorCode::INVALID_PARAMS => {}
                Ok(result) if tool == "add" && result.is_error == Some(true) => {}
                other => return Err(format!("{tool} must be refused, but is {other:?}")),
            }
        }
        Ok(())
    }

    async fn content(&self) -> Checked {
        let kinds = |result: &Value| -> Vec<String> {
            let blocks = result["content"].as_array().into_iter().flatten();
            blocks.map(|block| block["type"].as_str().unwrap_or("?").to_owned()).collect()
        };
        let image = self.call("test_image_content", json!({})).await?;
        expect("an image", image["content"][0]["mimeType"].as_str(), Some("image/png"))?;
        if self.since("2025-03-26") {
            let sound = self.call("test_audio_content", json!({})).await?;
            expect("sound", sound["content"][0]["mimeType"].as_str(), Some("audio/wav"))?;
        }
        let several = kinds(&self.call("test_multiple_content_types", json!({})).await?);
        expect("several kinds", several.join(" "), "text image resource".into())?;
        let shown = kinds(&self.call("show_content", json!({})).await?);
        expect("a link", shown.contains(&"resource_link".into()), self.since("2025-06-18"))?;
        let failed = self.call("test_error_handling", json!({})).await?;
        expect("isError", &failed["isError"], &json!(true))
    }

    async fn cancel(&self) -> Checked {
        let params = self.parameters("slow", json!({"seconds": 20}));
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::with_timeout(Duration::from_millis(300));
        let handle = self.client.send_cancellable_request(request, options).await.map_err(of("slow"))?;
        match handle.await_response().await {
            Err(ServiceError::Timeout { .. }) => {}
            other => return Err(format!("slow must not be answered, but is {other:?}")),
        }
        expect("echo", self.text("echo", json!({"message": "still there"})).await?, "still there".into())?;
        self.host.take("progress");
        Ok(())
    }

    async fn logging(&self) -> Checked {
        if !self.stateless {
            let level = SetLevelRequestParams::new(LoggingLevel::Info);
            self.client.set_level(level).await.map_err(of("the level"))?;
        }
        self.text("log", json!({"text": "hi"})).await?;
        let mut levels = Vec::new();
        for _ in 0..7 {
            levels.push(self.host.hears("log").await?.as_str().unwrap_or("?").to_owned());
        }
        levels.sort();
        expect("levels", levels.join(" "), "alert critical emergency error info notice warning".into())
    }

    async fn resources(&self) -> Checked {
        let listed = self.client.list_all_resources().await.map_err(of("listing"))?;
        expect("static-text", listed.iter().any(|it| it.uri == "test://static-text"), true)?;
        let text = self.first_part("test://static-text").await?;
        expect("text", text["text"].as_str(), Some("This is the content of the static text resource."))?;
        let bytes = self.first_part("test://static-binary").await?;
        expect("bytes", bytes["blob"].as_str().is_some_and(|blob| blob.starts_with("iVBOR")), true)?;
        let params = ReadResourceRequestParams::new("test://nonexistent");
        match self.client.read_resource(params).await {
            Err(ServiceError::McpError(error)) => {
                expect("error code", error.code.0, if self.stateless { -32602 } else { -32002 })
            }
            other => Err(format!("what is not there must be refused, but is {other:?}")),
        }
    }

    async fn changes(&self) -> Checked {
        let what = ["resources changed", "tools changed", "prompts changed"];
        let cause = ["write_note", "test_trigger_tool_change", "test_trigger_prompt_change"];
        let filter = SubscriptionFilter::builder().tools_list_changed().prompts_list_changed();
        let filter = filter.resources_list_changed().build();
        let mut subscription = match self.stateless {
            true => Some(self.client.listen(filter).await.map_err(of("listen"))?),
            false => None,
        };
        for (tool, heard) in cause.into_iter().zip(what) {
            self.call(tool, json!({"name": "todo", "text": "interop"})).await?;
            match &mut subscription {
                Some(subscription) => {
                    let next =
                        timeout(PATIENCE, subscription.next()).await.map_err(|_| "nothing is heard")?;
                    let next = json!(next.map_err(of("listen"))?.ok_or("the subscription has ended")?);
                    let kind = heard.split(' ').next().unwrap_or_default();
                    let wanted = format!("notifications/{kind}/list_changed");
                    expect("what changed", next["method"].as_str(), Some(&*wanted))?;
                }
                None => _ = self.host.hears(heard).await?,
            }
        }
        self.text("remove_note", json!({"name": "todo"})).await?;
        match &mut subscription {
            Some(subscription) => subscription.cancel().await.map_err(of("cancel")),
            None => self.host.hears("resources changed").await.map(drop),
        }
    }

    async fn subscriptions(&self) -> Checked {
        let uri = "clock://ticks";
        if self.stateless {
            let filter: SubscriptionFilter =
                serde_json::from_value(json!({"resourceSubscriptions": [uri]})).unwrap();
            let mut subscription = self.client.listen(filter.clone()).await.map_err(of("listen"))?;
            expect("what is honored", json!(subscription.acknowledged()), json!(filter))?;
            for _ in 0..2 {
                self.text("tick", json!({})).await?;
                let next = timeout(PATIENCE, subscription.next()).await.map_err(|_| "nothing is heard")?;
                let next = json!(next.map_err(of("listen"))?.ok_or("the subscription has ended")?);
                expect("uri", next["params"]["uri"].as_str(), Some(uri))?;
            }
            return subscription.cancel().await.map_err(of("cancel"));
        }
        self.client.subscribe(SubscribeRequestParams::new(uri)).await.map_err(of("subscribe"))?;
        self.text("tick", json!({})).await?;
        expect("uri", self.host.hears("updated").await?.as_str(), Some(uri))?;
        self.client.unsubscribe(UnsubscribeRequestParams::new(uri)).await.map_err(of("unsubscribe"))?;
        self.text("tick", json!({})).await?;
        self.text("tick", json!({})).await?;
        expect("heard after it was ended", self.host.take("updated"), vec![])
    }

    async fn prompts(&self) -> Checked {
        let listed = self.client.list_all_prompts().await.map_err(of("listing"))?;
        expect("listed", listed.iter().any(|it| it.name == "test_prompt_with_arguments"), true)?;
        let said = self.prompt("test_prompt_with_arguments", json!({"arg1": "ä", "arg2": "b"})).await;
        let said = said.map_err(of("a prompt"))?;
        let text = said[0]["content"]["text"].as_str();
        expect("its arguments", text, Some("Prompt with arguments: arg1='ä', arg2='b'"))?;
        let said = self.prompt("test_prompt_with_image", json!({})).await.map_err(of("an image"))?;
        expect("an image in it", said[0]["content"]["type"].as_str(), Some("image"))?;
        match self.prompt("no_such_prompt", json!({})).await {
            Err(ServiceError::McpError(error)) => expect("error code", error.code, ErrorCode::INVALID_PARAMS),
            other => Err(format!("an unknown prompt must be refused, but is {other:?}")),
        }
    }

    async fn elicitation(&self) -> Checked {
        self.answers(json!({"action": "accept", "content": {"username": "ada", "email": "ada@example.com"}}));
        let text = self.text("test_elicitation", json!({"message": "Who?"})).await?;
        expect("accept", text.contains("action=accept") && text.contains("ada@example.com"), true)?;
        expect("what was asked", self.host.hears("elicitation").await?["message"].as_str(), Some("Who?"))?;
        for action in ["decline", "cancel"] {
            self.answers(json!({"action": action}));
            let text = self.text("test_elicitation", json!({"message": "Who?"})).await?;
            expect(action, text.contains(&format!("action={action}")), true)?;
        }
        self.host.take("elicitation");
        Ok(())
    }

    async fn rounds(&self) -> Checked {
        self.answers(json!({"action": "accept", "content": {"name": "Ada", "color": "blue", "ok": true, "context": "c"}}));
        let hello = self.text("test_input_required_result_elicitation", json!({})).await?;
        expect("one round", hello, "Hello, Ada!".into())?;
        let state = self.text("test_input_required_result_request_state", json!({})).await?;
        expect("a state", state.contains("state-ok"), true)?;
        let several = self.text("test_input_required_result_multiple_inputs", json!({})).await?;
        expect("three questions at once", several, r#"made by a model, "Ada", in 1 roots"#.into())?;
        let two = self.text("test_input_required_result_multi_round", json!({})).await?;
        expect("two rounds", two.contains("blue"), true)?;
        let said = self.prompt("test_input_required_result_prompt", json!({})).await;
        expect("a prompt that asks", said.map_err(of("a prompt that asks"))?[0].is_object(), true)
    }
}

/// Runs each group that the revision has. A group that failed does not stop the others.
async fn run(command: &[String], version: &'static str, failures: &mut Vec<(&'static str, String)>) {
    println!("{PEER}, features | {version}");
    let world = match World::open(command, version).await {
        Ok(world) => world,
        Err(why) => return failures.push(("connection", format!("{version}: {why}"))),
    };
    for (group, since) in GROUPS {
        if version < since {
            continue;
        }
        match timeout(PATIENCE, world.check(group)).await {
            Ok(Ok(())) => println!("  ok  {group}"),
            Ok(Err(why)) => failures.push((group, format!("{version}: {why}"))),
            Err(_) => failures.push((group, format!("{version}: nothing happened for {PATIENCE:?}"))),
        }
    }
    match timeout(PATIENCE, world.client.cancel()).await {
        Ok(Ok(_)) => {}
        other => failures.push(("connection", format!("{version}: it does not end: {other:?}"))),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let command: Vec<String> = std::env::args().skip(1).collect();
    let handshake: &[&'static str] = &["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
    let mut code = ExitCode::SUCCESS;
    for (era, versions) in [("handshake", handshake), ("stateless", &["2026-07-28"])] {
        let mut failures = Vec::new();
        for version in versions {
            run(&command, version, &mut failures).await;
        }
        let last = versions[versions.len() - 1];
        let groups = GROUPS.iter().filter(|(_, since)| last >= *since).map(|(group, _)| *group);
        for group in groups.chain(["connection"]) {
            let of_group: Vec<_> = failures.iter().filter(|(name, _)| *name == group).collect();
            of_group.iter().for_each(|(_, why)| println!("FAILED {group}, {why}"));
            let failed = !of_group.is_empty();
            println!("RESULT {PEER}, {group} | {era} | {}", if failed { "FAILED" } else { "ok" });
            if failed {
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}
