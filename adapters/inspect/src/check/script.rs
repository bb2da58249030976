//! The script of a check: requests that every server has to answer, or to refuse in a defined way.
//!
//! If the server exits, the remaining requests are not sent.
//!
//! The script calls only the tools that the command line names, because a tool may have effects.

use std::time::Duration;

use mcp_proto::json::Json;
use mcp_proto::{Era, Revision, WireFeature};

use super::Outcome;
use super::connection::{Connection, Response};
use crate::options::Arguments;
use crate::quoted;

/// A name that no server has.
const UNKNOWN_NAME: &str = "inspect-no-such-name";
/// The limit of each of three numbers: the pages of one list, the resources to read, and the prompts to get.
const MAX_ENTRIES: usize = 20;
/// The minimum time limit for a server to start.
const START_TIMEOUT: Duration = Duration::from_secs(30);

const DECLARED: &str = r#"{"roots":{"listChanged":true},"sampling":{},"elicitation":{}}"#;
const DECLARED_STATELESS: &str = r#"{"roots":{},"sampling":{},"elicitation":{}}"#;

/// Runs the script in one revision. Returns an error if the server cannot be started.
pub(super) fn run(arguments: &Arguments, revision: Revision) -> Result<Outcome, String> {
    let mut script = Script { connection: Connection::start(arguments, revision)?, declared: String::new() };
    if let Err(why) = script.open(revision) {
        script.connection.finish();
        return Ok(Outcome::Unsupported(why));
    }
    script.lists();
    script.refusals();
    for (name, given) in &arguments.calls {
        let params = format!("\"name\":{},\"arguments\":{given}", quoted(name));
        let response = script.request_with("tools/call", &params, r#""progressToken":"token""#);
        // An error is no violation, but the name or the arguments may be a mistake of the user.
        if let Some(error) = response.map(|response| response.error()).filter(|error| !error.is_empty()) {
            note!("mcp-inspect: {}: {name}: {error}", revision.as_str());
        }
    }
    match revision.era() {
        Era::Handshake => script.session(revision),
        Era::Stateless => script.stateless(),
    }
    script.bad_lines();
    script.connection.receive_late_messages();
    let exit = script.connection.exit();
    Ok(Outcome::Checked { violations: script.connection.finish(), exit })
}

struct Script {
    connection: Connection,
    /// The capabilities of the server, as JSON.
    declared: String,
}

impl Script {
    /// Opens the session, or discovers the server. Returns the reason if the server does not respond, or does not
    /// support the revision.
    fn open(&mut self, revision: Revision) -> Result<(), String> {
        let name = revision.as_str();
        let (method, params) = match revision.era() {
            Era::Stateless => ("server/discover", self.params("", "")),
            Era::Handshake => {
                let has_forms = revision.has(WireFeature::Elicitation);
                let declared = if has_forms { DECLARED } else { r#"{"roots":{},"sampling":{}}"# };
                let client = r#""clientInfo":{"name":"mcp-inspect","version":"1"}"#;
                let params = format!(r#"{{"protocolVersion":"{name}","capabilities":{declared},{client}}}"#);
                ("initialize", params)
            }
        };
        let id = self.connection.begin(method, &params);
        let timeout = START_TIMEOUT.max(self.connection.timeout);
        let Some(response) = self.connection.wait(&id, timeout) else {
            return Err(self.connection.exit().unwrap_or(format!("no response to {method}")));
        };
        let result = response.result().ok_or_else(|| response.error())?;
        self.declared = result.get("capabilities").map(|json| json.to_string()).unwrap_or_default();
        if revision.era() == Era::Handshake {
            let agreed = result.get("protocolVersion").and_then(Json::string);
            if let Some(other) = agreed.filter(|agreed| *agreed != *name) {
                return Err(format!("the server offers {other}"));
            }
            self.connection.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
            self.connection.request("ping", "");
        }
        Ok(())
    }

    /// Returns the parameters as JSON, with the metadata of the revision. `meta` has further members of `_meta`.
    fn params(&self, members: &str, meta: &str) -> String {
        let meta = match self.connection.revision.era() {
            Era::Handshake if meta.is_empty() => String::new(),
            Era::Handshake => format!(r#""_meta":{{{meta}}}"#),
            Era::Stateless => {
                let comma = if meta.is_empty() { "" } else { "," };
                format!(
                    r#""_meta":{{"io.modelcontextprotocol/protocolVersion":"{}","io.modelcontextprotocol/clientCapabilities":{DECLARED_STATELESS},"io.modelcontextprotocol/clientInfo":{{"name":"mcp-inspect","version":"1"}}{comma}{meta}}}"#,
                    self.connection.revision.as_str()
                )
            }
        };
        let comma = if members.is_empty() || meta.is_empty() { "" } else { "," };
        format!("{{{members}{comma}{meta}}}")
    }

    fn request(&mut self, method: &str, members: &str) -> Option<Response> {
        self.request_with(method, members, "")
    }

    fn request_with(&mut self, method: &str, members: &str, meta: &str) -> Option<Response> {
        let params = self.params(members, meta);
        // In the handshake era, a request without parameters has no member `params`.
        let params = if params == "{}" { String::new() } else { params };
        self.connection.request(method, &params)
    }

    fn declares(&self, path: &str) -> bool {
        let declared = Json::parse(self.declared.as_bytes()).ok();
        path.split('.')
            .try_fold(declared.unwrap_or(Json::NULL), |value, key| value.get(key))
            .is_some_and(|value| !value.is_null() && value.boolean() != Some(false))
    }

    /// Requests every list. Then reads up to [`MAX_ENTRIES`] resources, and gets up to [`MAX_ENTRIES`] prompts.
    fn lists(&mut self) {
        self.list("tools/list", "tools");
        let resources = self.list("resources/list", "resources");
        self.list("resources/templates/list", "resourceTemplates");
        let prompts = self.list("prompts/list", "prompts");
        for resource in resources.iter().take(MAX_ENTRIES) {
            if let Some(uri) = text(resource, "uri") {
                self.request("resources/read", &format!("\"uri\":{}", quoted(&uri)));
            }
        }
        for prompt in prompts.iter().take(MAX_ENTRIES) {
            self.prompt(prompt);
        }
    }

    /// Requests up to [`MAX_ENTRIES`] pages of a list. Returns the entries as JSON.
    fn list(&mut self, method: &str, member: &str) -> Vec<String> {
        let mut entries = Vec::new();
        let mut cursor = String::new();
        for _ in 0..MAX_ENTRIES {
            let Some(response) = self.request(method, &cursor) else { break };
            let Some(result) = response.result() else { break };
            let page = result.get(member).unwrap_or(Json::NULL);
            entries.extend(page.elements().map(|entry| entry.to_string()));
            match result.get("nextCursor").filter(|next| next.string().is_some()) {
                Some(next) => cursor = format!("\"cursor\":{next}"),
                None => break,
            }
        }
        entries
    }

    /// Gets a prompt. If the server declares completions, also completes the prompt's first argument.
    fn prompt(&mut self, prompt: &str) {
        let Some(name) = text(prompt, "name").map(|name| quoted(&name)) else { return };
        let prompt = Json::parse(prompt.as_bytes()).unwrap_or(Json::NULL);
        let arguments = prompt.get("arguments").unwrap_or(Json::NULL);
        let arguments: Vec<String> =
            arguments.elements().filter_map(|it| it.get("name").map(|name| name.to_string())).collect();
        let given: Vec<String> = arguments.iter().map(|argument| format!("{argument}:\"1\"")).collect();
        self.request("prompts/get", &format!("\"name\":{name},\"arguments\":{{{}}}", given.join(",")));
        if let Some(argument) = arguments.first().filter(|_| self.declares("completions")) {
            let reference = format!(r#""ref":{{"type":"ref/prompt","name":{name}}}"#);
            let argument = format!(r#""argument":{{"name":{argument},"value":""}}"#);
            self.request("completion/complete", &format!("{reference},{argument}"));
        }
    }

    /// Sends messages with unknown methods, names, cursors and ids.
    fn refusals(&mut self) {
        self.request(UNKNOWN_NAME, "");
        self.connection.send(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/{UNKNOWN_NAME}"}}"#));
        if self.declares("tools") {
            self.request("tools/call", &format!("\"name\":\"{UNKNOWN_NAME}\",\"arguments\":{{}}"));
            self.request("tools/list", &format!("\"cursor\":\"{UNKNOWN_NAME}\""));
        }
        if self.declares("prompts") {
            self.request("prompts/get", &format!("\"name\":\"{UNKNOWN_NAME}\""));
        }
        if self.declares("resources") {
            self.request("resources/read", &format!("\"uri\":\"{UNKNOWN_NAME}:/\""));
        }
        let cancelled = format!(r#""requestId":"{UNKNOWN_NAME}""#);
        self.connection.send(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{{cancelled}}}}}"#
        ));
    }

    /// Sends requests in a session of the handshake era. One is `server/discover`, which this era does not have.
    fn session(&mut self, revision: Revision) {
        if self.declares("logging") {
            self.request("logging/setLevel", r#""level":"loud""#);
            self.request("logging/setLevel", r#""level":"error""#);
        }
        self.request("server/discover", "");
        if revision == Revision::V2025_03_26 {
            self.connection.batch();
        }
        self.connection.request("ping", "");
    }

    /// Sends requests of the stateless era, and requests that only the handshake era has.
    fn stateless(&mut self) {
        let filter = r#""notifications":{"toolsListChanged":true,"promptsListChanged":true}"#;
        let params = self.params(filter, "");
        let id = self.connection.begin("subscriptions/listen", &params);
        self.request("ping", "");
        self.request("logging/setLevel", r#""level":"info""#);
        let version = r#""io.modelcontextprotocol/protocolVersion""#;
        let capabilities = r#""io.modelcontextprotocol/clientCapabilities":{}"#;
        let current = self.connection.revision.as_str();
        self.connection
            .request("server/discover", &format!(r#"{{"_meta":{{{version}:"1900-01-01",{capabilities}}}}}"#));
        self.connection.request("tools/list", &format!(r#"{{"_meta":{{{version}:"{current}"}}}}"#));
        let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#;
        self.connection.send(&format!("{cancelled}{id}}}}}"));
    }

    /// Sends lines that are not valid messages. The server must survive these lines.
    fn bad_lines(&mut self) {
        let params = self.params("", "");
        for line in ["nonsense", r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, r#"{"jsonrpc":"2.0"}"#] {
            self.connection.send(line);
            match self.connection.revision.era() {
                Era::Handshake => self.connection.request("ping", ""),
                Era::Stateless => self.connection.request("server/discover", &params),
            };
        }
    }
}

/// Returns the text of a member of a JSON object, or `None` if there is no such text.
fn text(object: &str, member: &str) -> Option<String> {
    Json::parse(object.as_bytes()).ok()?.get(member)?.string().map(|text| text.to_string())
}
