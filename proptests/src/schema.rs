//! Checks of values and lines against the official schemas.
//!
//! The environment variable `MCP_SPEC_DIR` names the folder that contains `schema/2024-11-05.json` and the other
//! schemas. The schemas allow additional members in almost every object, so a member of a later revision would pass.
//! The line checks therefore also reject members that the matching definition does not name. This rule does not apply
//! inside values that the application defines: `_meta`, capabilities, tool schemas and data. It does not apply to
//! messages of the extension *Tasks* either.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use jsonschema::Validator;
use serde_json::{Map, Value, json};

/// The revisions, oldest first.
pub const REVISIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// The schema of the extension *Tasks*.
pub const TASKS: &str = "ext-tasks";

/// Members with content that the protocol does not define. The checks skip names inside these members.
const FREE: [&str; 9] = [
    "_meta",
    "arguments",
    "capabilities",
    "data",
    "experimental",
    "inputSchema",
    "metadata",
    "outputSchema",
    "structuredContent",
];

/// The code of each error whose whole response has its own definition, and the name of this definition.
const TYPED_ERRORS: [(i64, &str); 4] = [
    (-32020, "HeaderMismatchError"),
    (-32021, "MissingRequiredClientCapabilityError"),
    (-32022, "UnsupportedProtocolVersionError"),
    (-32042, "URLElicitationRequiredError"),
];

/// Returns the folder of the official schemas and examples. The folder need not exist.
pub fn spec_dir() -> PathBuf {
    match std::env::var_os("MCP_SPEC_DIR") {
        Some(dir) => dir.into(),
        None => PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/spec")),
    }
}

/// The schemas of all revisions, with the validators compiled so far.
pub struct Schemas {
    revisions: HashMap<String, Value>,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Schemas {
    /// Loads the schemas from [`spec_dir`]. Returns `None` if the schema of a revision is missing.
    ///
    /// # Panics
    /// Panics if a file exists but is not JSON.
    pub fn load() -> Option<Self> {
        let mut revisions = HashMap::new();
        for revision in REVISIONS {
            let text = std::fs::read_to_string(spec_dir().join(format!("schema/{revision}.json"))).ok()?;
            revisions.insert(revision.to_owned(), serde_json::from_str(&text).expect("a schema is JSON"));
        }
        // Only newer versions of the folder contain the schema of the extension.
        if let Ok(text) = std::fs::read_to_string(spec_dir().join(format!("schema/{TASKS}.json"))) {
            revisions.insert(TASKS.to_owned(), serde_json::from_str(&text).expect("a schema is JSON"));
        }
        Some(Self { revisions, validators: Mutex::default() })
    }

    /// Loads the schemas like [`load`](Self::load), but prints a message if a schema is missing.
    ///
    /// # Panics
    /// Panics like [`load`](Self::load). Also panics if a schema is missing and the environment variable `CI` is
    /// `true`, so that CI does not skip checks silently.
    pub fn load_or_say() -> Option<Self> {
        let schemas = Schemas::load();
        if schemas.is_none() {
            let reason = format!("NOT RUN: no schemas in {} (set MCP_SPEC_DIR)", spec_dir().display());
            assert!(std::env::var("CI").as_deref() != Ok("true"), "{reason}");
            eprintln!("{reason}");
        }
        schemas
    }

    /// Checks that `value` matches `definition` of `revision`. The error names the position of
    /// each mismatch, or the missing definition.
    pub fn check(&self, revision: &str, definition: &str, value: &Value) -> Result<(), String> {
        let validator = self.validator(revision, definition)?;
        let errors: Vec<String> = validator
            .iter_errors(value)
            .map(|error| {
                format!("{revision} {definition} at {:?}: {error}", error.instance_path().to_string())
            })
            .collect();
        if errors.is_empty() { Ok(()) } else { Err(errors.join("\n")) }
    }

    /// Checks the framing, envelope, definition and members of a server's line. For a response, `answers` is the method
    /// of the request, if known.
    pub fn check_server_line(&self, revision: &str, answers: Option<&str>, line: &str) -> Result<(), String> {
        self.line(revision, answers, line, ["ServerRequest", "ServerNotification"])
    }

    /// Checks a line of a client. For a response, `answers` is the method of the server's request, if known.
    pub fn check_client_line(&self, revision: &str, answers: Option<&str>, line: &str) -> Result<(), String> {
        self.line(revision, answers, line, ["ClientRequest", "ClientNotification"])
    }

    fn line(
        &self,
        revision: &str,
        answers: Option<&str>,
        line: &str,
        unions: [&str; 2],
    ) -> Result<(), String> {
        let text = line.strip_suffix('\n').unwrap_or(line);
        if text.contains(['\n', '\r']) {
            return Err(format!("{revision}: a newline inside the line: {line:?}"));
        }
        let value: Value =
            serde_json::from_str(text).map_err(|error| format!("{revision}: {error}: {line:?}"))?;
        let found = match &value {
            Value::Array(batch) if revision == "2025-03-26" && !batch.is_empty() => {
                batch.iter().try_for_each(|message| self.message(revision, None, message, unions))
            }
            message => self.message(revision, answers, message, unions),
        };
        found.map_err(|error| format!("{error}\nin {text}"))
    }

    fn message(
        &self,
        revision: &str,
        answers: Option<&str>,
        message: &Value,
        unions: [&str; 2],
    ) -> Result<(), String> {
        let Some(object) = message.as_object() else {
            return Err(format!("{revision}: a message is an object, or a batch of them in 2025-03-26"));
        };
        if let Some(method) = object.get("method") {
            let method = method.as_str().ok_or_else(|| format!("{revision}: the method is not a string"))?;
            let (union, envelope) = match object.contains_key("id") {
                true => (unions[0], "JSONRPCRequest"),
                false => (unions[1], "JSONRPCNotification"),
            };
            if let Some(definition) = self.of_tasks(revision, method) {
                self.check(revision, envelope, message)?;
                return self.check(TASKS, &definition, message);
            }
            let definition = self.of_union(revision, union, method)?;
            self.check(revision, envelope, message)?;
            self.exactly(revision, &definition, message)
        } else if object.contains_key("error") {
            self.error(revision, object)
        } else {
            let stateless = revision == "2026-07-28";
            if stateless && unions[0] == "ClientRequest" {
                return Err(format!("{revision}: a client sends no responses"));
            }
            let envelope = self.first_of(revision, &["JSONRPCResultResponse", "JSONRPCResponse"])?;
            self.exactly_envelope(revision, envelope, message, &["jsonrpc", "id", "result"])?;
            let Some(method) = answers else { return Ok(()) };
            let result = object.get("result").unwrap_or(&Value::Null);
            if let Some(definition) = self.of_tasks(revision, method) {
                return self.check(TASKS, &definition.replace("Request", "Result"), result);
            }
            if stateless && result.get("resultType") == Some(&json!("task")) {
                return self.check(TASKS, "CreateTaskResult", result);
            }
            self.exactly(revision, &self.result_of(revision, method, result)?, result)
        }
    }

    /// Checks an error response. Up to 2025-06-18 an error without an id has `"id":null`, although the schemas of these
    /// revisions do not allow `null`. Later revisions omit the `id`.
    fn error(&self, revision: &str, object: &Map<String, Value>) -> Result<(), String> {
        let envelope = self.first_of(revision, &["JSONRPCErrorResponse", "JSONRPCError"])?;
        let mut message = object.clone();
        if revision <= "2025-06-18" && message.get("id") == Some(&Value::Null) {
            message.insert("id".into(), json!(0));
        }
        let message = Value::Object(message);
        self.exactly_envelope(revision, envelope, &message, &["jsonrpc", "id", "error"])?;
        let code = message.pointer("/error/code").and_then(Value::as_i64).unwrap_or(0);
        match TYPED_ERRORS.iter().find(|(typed, _)| *typed == code) {
            Some((_, definition)) if self.definition(revision, definition).is_some() => {
                self.check(revision, definition, &message)
            }
            _ if revision == "2026-07-28" && (-32099..=-32000).contains(&code) => {
                Err(format!("{revision}: error code {code} is reserved and has no meaning"))
            }
            _ => Ok(()),
        }
    }

    /// Finds the definition of a method of the extension *Tasks*. Returns `None` for other methods, for revisions
    /// other than 2026-07-28, and if the schema of the extension is not loaded.
    fn of_tasks(&self, revision: &str, method: &str) -> Option<String> {
        if revision != "2026-07-28" || !method.trim_start_matches("notifications/").starts_with("tasks") {
            return None;
        }
        let mut definitions = self.definitions(TASKS)?.iter();
        definitions
            .find(|(_, it)| {
                let constant = ["/properties/method/const", "/allOf/1/properties/method/const"];
                constant.iter().any(|path| it.pointer(path) == Some(&json!(method)))
            })
            .map(|(name, _)| name.clone())
    }

    /// Finds the definition of `method` among the requests or notifications of `union`.
    fn of_union(&self, revision: &str, union: &str, method: &str) -> Result<String, String> {
        let none = || format!("{revision}: {union} has no method {method:?}");
        let listed = self.definition(revision, union).ok_or_else(none)?;
        let own = [listed.clone()];
        listed
            .get("anyOf")
            .and_then(Value::as_array)
            .map_or(own.as_slice(), Vec::as_slice)
            .iter()
            .map(|entry| match entry.get("$ref").and_then(Value::as_str) {
                Some(reference) => reference.rsplit('/').next().unwrap_or(reference),
                None => union,
            })
            .find(|name| {
                let constant =
                    self.definition(revision, name).and_then(|it| it.pointer("/properties/method/const"));
                constant.and_then(Value::as_str) == Some(method)
            })
            .map(str::to_owned)
            .ok_or_else(none)
    }

    /// Finds the definition of the result of `method`.
    fn result_of(&self, revision: &str, method: &str, result: &Value) -> Result<String, String> {
        if result.get("resultType") == Some(&json!("input_required")) {
            if !["tools/call", "prompts/get", "resources/read"].contains(&method) {
                return Err(format!("{revision}: {method} cannot be answered with input_required"));
            }
            return Ok("InputRequiredResult".into());
        }
        if result.get("task").is_some() && self.definition(revision, "CreateTaskResult").is_some() {
            return Ok("CreateTaskResult".into());
        }
        // Search all definitions: either side may have sent the request, and the schema of 2026-07-28 has no union of
        // the requests of a server.
        let stem = self
            .definitions(revision)
            .and_then(|all| {
                all.iter().find(|(name, it)| {
                    name.ends_with("Request")
                        && it.pointer("/properties/method/const") == Some(&json!(method))
                })
            })
            .and_then(|(name, _)| name.strip_suffix("Request"))
            .ok_or_else(|| format!("{revision}: no request has the method {method:?}"))?;
        let named = format!("{stem}Result");
        Ok(if self.definition(revision, &named).is_some() { named } else { "EmptyResult".into() })
    }

    fn exactly(&self, revision: &str, definition: &str, value: &Value) -> Result<(), String> {
        self.check(revision, definition, value)?;
        let schema = self.definition(revision, definition).unwrap_or(&Value::Null);
        let mut extra = Vec::new();
        self.undeclared(revision, schema, value, definition, &mut extra);
        if extra.is_empty() {
            return Ok(());
        }
        Err(format!("{revision} {definition}: members this revision does not name: {}", extra.join(", ")))
    }

    fn exactly_envelope(
        &self,
        revision: &str,
        name: &str,
        message: &Value,
        members: &[&str],
    ) -> Result<(), String> {
        self.check(revision, name, message)?;
        match message
            .as_object()
            .into_iter()
            .flatten()
            .find(|(member, _)| !members.contains(&member.as_str()))
        {
            None => Ok(()),
            Some((member, _)) => Err(format!("{revision} {name}: an unknown member: {member}")),
        }
    }

    /// Collects the paths of members that `schema` does not declare.
    fn undeclared(&self, revision: &str, schema: &Value, value: &Value, path: &str, extra: &mut Vec<String>) {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str).and_then(|it| it.rsplit('/').next()) {
            if let Some(target) = self.definition(revision, name) {
                self.undeclared(revision, target, value, path, extra);
            }
            return;
        }
        for union in ["anyOf", "oneOf"] {
            let Some(branches) = schema.get(union).and_then(Value::as_array) else { continue };
            // Use the matching branch that leaves the fewest members undeclared.
            let best = branches
                .iter()
                .filter(|branch| self.inline(revision, branch).is_ok_and(|it| it.is_valid(value)))
                .map(|branch| {
                    let mut found = Vec::new();
                    self.undeclared(revision, branch, value, path, &mut found);
                    found
                })
                .min_by_key(Vec::len);
            extra.extend(best.into_iter().flatten());
            return;
        }
        match value {
            Value::Array(items) => {
                let Some(schema) = schema.get("items") else { return };
                for (at, item) in items.iter().enumerate() {
                    self.undeclared(revision, schema, item, &format!("{path}/{at}"), extra);
                }
            }
            Value::Object(members) => {
                let Some(known) = schema.get("properties").and_then(Value::as_object) else { return };
                let open = schema.get("additionalProperties").is_some_and(|it| *it != json!(false));
                let envelope = ["jsonrpc", "id"];
                for (name, member) in members {
                    let path = format!("{path}/{name}");
                    match known.get(name) {
                        Some(_) if FREE.contains(&name.as_str()) => {}
                        Some(schema) => self.undeclared(revision, schema, member, &path, extra),
                        // The older definitions of requests and notifications omit the envelope.
                        None if known.contains_key("method") && envelope.contains(&name.as_str()) => {}
                        // Every request and notification may have `_meta`. The older definitions do not name `_meta`.
                        None if name == "_meta" && path.ends_with("/params/_meta") => {}
                        None if open => {}
                        None => extra.push(path),
                    }
                }
            }
            _ => {}
        }
    }

    fn definitions(&self, revision: &str) -> Option<&Map<String, Value>> {
        let schema = self.revisions.get(revision)?;
        schema.get("$defs").or_else(|| schema.get("definitions"))?.as_object()
    }

    fn definition(&self, revision: &str, name: &str) -> Option<&Value> {
        self.definitions(revision)?.get(name)
    }

    fn first_of<'n>(&self, revision: &str, names: &[&'n str]) -> Result<&'n str, String> {
        let known = names.iter().find(|name| self.definition(revision, name).is_some());
        known.copied().ok_or_else(|| format!("{revision} has none of {names:?}"))
    }

    fn validator(&self, revision: &str, definition: &str) -> Result<Arc<Validator>, String> {
        if self.definition(revision, definition).is_none() {
            return Err(format!("{revision} has no definition {definition:?}"));
        }
        let schema = self.revisions.get(revision).unwrap_or(&Value::Null);
        let place = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
        self.inline(revision, &json!({ "$ref": format!("#/{place}/{definition}") }))
    }

    /// Compiles a part of the schema of `revision`.
    fn inline(&self, revision: &str, piece: &Value) -> Result<Arc<Validator>, String> {
        let key = format!("{revision} {piece}");
        if let Some(known) = self.validators.lock().expect("no test panics with the lock").get(&key) {
            return Ok(known.clone());
        }
        let mut root =
            self.revisions.get(revision).cloned().ok_or_else(|| format!("no revision {revision:?}"))?;
        if let (Some(root), Some(piece)) = (root.as_object_mut(), piece.as_object()) {
            root.extend(piece.clone());
        }
        let made =
            jsonschema::options().build(&root).map_err(|error| format!("{revision} {piece}: {error}"))?;
        let made = Arc::new(made);
        self.validators.lock().expect("no test panics with the lock").insert(key, made.clone());
        Ok(made)
    }
}
