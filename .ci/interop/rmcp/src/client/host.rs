//! The client handler: answers the server's requests, and records messages of the server for the checks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::*;
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};
use tokio::time::sleep;

/// The handler of a client. Its clones share `heard`, the recorded messages, and `answer`, the result of each
/// elicitation.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) version: ProtocolVersion,
    pub(crate) heard: Arc<Mutex<Vec<(&'static str, Value)>>>,
    pub(crate) answer: Arc<Mutex<Value>>,
}

impl Host {
    fn hear(&self, what: &'static str, value: Value) {
        self.heard.lock().unwrap().push((what, value));
    }

    /// Removes and returns all recorded messages of this kind.
    pub(crate) fn take(&self, what: &str) -> Vec<Value> {
        let mut heard = self.heard.lock().unwrap();
        let (found, rest) = heard.drain(..).partition(|(kind, _)| *kind == what);
        *heard = rest;
        found.into_iter().map(|(_, value): (_, Value)| value).collect()
    }

    pub(crate) async fn hears(&self, what: &str) -> Result<Value, String> {
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
        let declared = json!({"sampling": {}, "elicitation": {"form": {}, "url": {}}, "roots": {"listChanged": true},
                "extensions": {"io.modelcontextprotocol/tasks": {}}});
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
