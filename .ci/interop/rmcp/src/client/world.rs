//! A connection to the tested server, with helpers for requests.

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use rmcp::model::*;
use rmcp::service::RunningService;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientLifecycleMode, ClientServiceExt, RoleClient, ServiceError};
use serde_json::{Value, json};
use tokio::process::Command;
use tokio::time::timeout;

use crate::PATIENCE;
use crate::host::Host;

pub(crate) type Checked = Result<(), String>;

pub(crate) fn expect<T: PartialEq + std::fmt::Debug>(what: &str, got: T, wanted: T) -> Checked {
    if got == wanted { Ok(()) } else { Err(format!("{what}: expected {wanted:?}, got {got:?}")) }
}

pub(crate) fn of(what: &str) -> impl FnOnce(ServiceError) -> String {
    move |error| format!("{what}: {error}")
}

/// A connection in one revision.
pub(crate) struct World {
    pub(crate) client: RunningService<RoleClient, Host>,
    pub(crate) host: Host,
    pub(crate) stateless: bool,
    version: &'static str,
}

impl World {
    /// Connects in this revision. `command` is a URL, or a program with arguments, which this function starts. With
    /// `asks`, a client of 2026-07-28 first detects whether the server supports that revision.
    pub(crate) async fn open(command: &[String], version: &'static str, asks: bool) -> Result<World, String> {
        let stateless = version == "2026-07-28";
        let versions = ProtocolVersion::KNOWN_VERSIONS;
        let version_of = versions.iter().find(|it| it.as_str() == version).ok_or("rmcp does not know it")?;
        let heard = Arc::default();
        let answer = Arc::new(Mutex::new(json!({"action": "decline"})));
        let host = Host { version: version_of.clone(), heard, answer };
        let preferred_versions = vec![version_of.clone()];
        let mode = match stateless {
            true if asks => ClientLifecycleMode::Auto { preferred_versions, legacy_version: None },
            true => ClientLifecycleMode::Discover { preferred_versions },
            false => ClientLifecycleMode::Initialize,
        };
        let opened = if command[0].starts_with("http://") {
            let transport = StreamableHttpClientTransport::from_uri(command[0].as_str());
            timeout(PATIENCE, host.clone().serve_with_lifecycle(transport, mode)).await
        } else {
            let mut child = Command::new(&command[0]);
            child.args(&command[1..]).stderr(Stdio::inherit());
            let transport = TokioChildProcess::new(child).map_err(|error| error.to_string())?;
            timeout(PATIENCE, host.clone().serve_with_lifecycle(transport, mode)).await
        };
        let client = opened.map_err(|_| "nothing happened")?.map_err(|error| error.to_string())?;
        let agreed = client.peer_info().map(|peer| peer.protocol_version.to_string());
        expect("revision", agreed.as_deref(), Some(version))?;
        Ok(World { client, host, version, stateless })
    }

    pub(crate) fn since(&self, version: &str) -> bool {
        self.version >= version
    }

    pub(crate) fn answers(&self, answer: Value) {
        *self.host.answer.lock().unwrap() = answer;
    }

    /// Returns the parameters of a call. In the stateless era, they contain the log level of the call.
    pub(crate) fn parameters(&self, name: &str, arguments: Value) -> CallToolRequestParams {
        let meta = self.stateless.then_some(json!({"io.modelcontextprotocol/logLevel": "info"}));
        serde_json::from_value(json!({"name": name, "arguments": arguments, "_meta": meta})).unwrap()
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Result<Value, String> {
        let result = self.client.call_tool(self.parameters(name, arguments)).await;
        result.map(|result| json!(result)).map_err(of(name))
    }

    pub(crate) async fn text(&self, name: &str, arguments: Value) -> Result<String, String> {
        let result = self.call(name, arguments).await?;
        match (result["content"].as_array().map(Vec::as_slice), result["isError"].as_bool()) {
            (Some([block]), None | Some(false)) => Ok(block["text"].as_str().unwrap_or_default().into()),
            _ => Err(format!("{name}: expected one text, got {result}")),
        }
    }

    pub(crate) async fn first_part(&self, uri: &str) -> Result<Value, String> {
        let read = self.client.read_resource(ReadResourceRequestParams::new(uri)).await.map_err(of(uri))?;
        Ok(json!(read)["contents"][0].clone())
    }

    pub(crate) async fn prompt(&self, name: &str, arguments: Value) -> Result<Value, ServiceError> {
        let params = serde_json::from_value(json!({"name": name, "arguments": arguments})).unwrap();
        Ok(json!(self.client.get_prompt(params).await?)["messages"].clone())
    }
}
