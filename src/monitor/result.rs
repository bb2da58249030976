//! Checks results by the method of their request.

use alloc::format;
use alloc::string::{String, ToString};

use super::request::missing_for_input;
use super::requests::{self, Request};
use super::rule::Rule;
use super::session::is_declared;
use super::violation::Report;
use super::{Monitor, schema};
use crate::json::{Json, Kind, schema_check};
use crate::protocol::meta::SUBSCRIPTION_ID;
use crate::protocol::methods;
use crate::protocol::objects::task::EXTENSION;
use crate::protocol::objects::view::{is_true, list, member, text};
use crate::protocol::revision::{Revision, WireFeature};
use crate::time::Millis;

impl Monitor {
    pub(super) fn result(
        &mut self,
        request: &Request,
        id: Json<'_>,
        result: Json<'_>,
        report: &mut Report<'_>,
    ) {
        if result.kind() != Kind::Object {
            return report
                .add(Rule::ResponseShape, format!("the result is {}, not an object", result.kind()));
        }
        if self.check_accepted(request, report) {
            return;
        }
        if request.method == methods::INITIALIZE.name && !request.is_stateless {
            self.begin_session(result, report);
        }
        if request.is_era_unclear && result.get("resultType").is_none() {
            report.revision = self.dialogue.session.revision().or(report.revision);
        }
        let Some(revision) = report.revision else { return };
        if revision.has(WireFeature::ResultTypes) {
            match text(result, "resultType") {
                None => return report.add(Rule::ResultType, "the result lacks `resultType`"),
                Some(kind) if kind == "complete" => {}
                Some(kind) if kind == "input_required" => {
                    return check_input(request, result, revision, report);
                }
                Some(kind) if kind == "task" => return self.task(request, result, revision, report),
                Some(kind) if !is_declared(&request.capabilities, "extensions") => {
                    return report.add(Rule::ResultType, format!("the type \"{kind}\" is unknown"));
                }
                Some(_) => return,
            }
        } else if request.wants_task && result.get("task").is_some() {
            return self.task(request, result, revision, report);
        }
        if let Some(cursor) = result.get("nextCursor") {
            self.dialogue.add_cursor(&request.method, cursor);
        }
        let Some(shapes) = schema::shapes(&request.method) else { return };
        if report.check(Rule::ResultShape, &shapes.result, result, revision) {
            self.check_content(request, id, result, revision, report);
        }
    }

    pub(super) fn begin_session(&mut self, result: Json<'_>, report: &mut Report<'_>) {
        let name = text(result, "protocolVersion");
        let revision = name.and_then(Revision::from_json).filter(|it| it.has(WireFeature::Handshake));
        match revision {
            Some(revision) => self.dialogue.begin(revision, result.get("capabilities")),
            None => {
                let name = name.map(|name| name.to_string()).unwrap_or_default();
                report.add(Rule::NegotiatedVersion, format!("\"{name}\" is no revision with a handshake"));
            }
        }
        report.revision = revision;
    }

    /// Checks a result that creates a task.
    fn task(&self, request: &Request, result: Json<'_>, revision: Revision, report: &mut Report<'_>) {
        let is_extension = revision.has(WireFeature::TasksExtension);
        let declares =
            Json::trusted(request.capabilities.as_bytes()).get("extensions").and_then(|it| it.get(EXTENSION));
        if is_extension && (request.method != methods::TOOLS_CALL.name || declares.is_none()) {
            return report.add(Rule::ResultType, "the request does not allow a task");
        }
        let [core, extension] = &schema::CREATED_TASK;
        let shape = if is_extension { extension } else { core };
        report.check(Rule::ResultShape, shape, result, revision);
    }

    /// Checks rules beyond the schema, and records the effects of a result.
    fn check_content(
        &mut self,
        request: &Request,
        id: Json<'_>,
        result: Json<'_>,
        revision: Revision,
        report: &mut Report<'_>,
    ) {
        match &*request.method {
            "server/discover" => {
                self.dialogue.discovered = result.get("capabilities").map(|json| json.to_string());
                let mut names = list(result, "supportedVersions").filter_map(Json::string);
                let is_supported = names.any(|name| name == *revision.as_str());
                let text = "`supportedVersions` lacks the revision of the request";
                report.add_if(!is_supported, Rule::UnsupportedVersion, text);
            }
            "tools/list" => self.tools(request, result, revision, report),
            "prompts/list" => {
                let names = list(result, "prompts");
                let names = names.filter_map(|entry| Some((text(entry, "name")?.to_string(), None)));
                let is_announced = self.dialogue.announces("prompts", request.is_stateless);
                self.dialogue.prompts.add_page(request, names, result, is_announced, report.now);
            }
            "tools/call" if revision.has(WireFeature::OutputSchemas) => {
                self.check_structured(request, result, report);
            }
            "completion/complete" => {
                let count = list(member(result, "completion"), "values").count();
                report.add_if(count > 100, Rule::CompletionValues, "the completion has more than 100 values");
            }
            "roots/list" => check_roots(result, report),
            "logging/setLevel" => self.dialogue.level = request.level,
            "subscriptions/listen" => {
                let tag = result.get("_meta").and_then(|meta| meta.get(SUBSCRIPTION_ID));
                let is_same = tag.is_some_and(|tag| requests::key(tag) == requests::key(id));
                report.add_if(!is_same, Rule::Subscription, "the result lacks the id of the subscription");
            }
            _ => {}
        }
    }

    fn tools(&mut self, request: &Request, result: Json<'_>, revision: Revision, report: &mut Report<'_>) {
        let mut seen = alloc::collections::BTreeSet::new();
        for entry in list(result, "tools") {
            let name = text(entry, "name").unwrap_or_default().to_string();
            let is_plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
            let is_named = (1..=128).contains(&name.len()) && name.chars().all(is_plain);
            // The revision that introduced icons also introduced the recommendation for names of tools.
            if revision.has(WireFeature::Icons) && !is_named {
                report.add(Rule::ToolName, format!("\"{name}\" is not a name of 1 to 128 plain characters"));
            }
            if !seen.insert(name.clone()) {
                report.add(Rule::ToolName, format!("two tools have the name \"{name}\""));
            }
        }
        let tool = |entry: Json<'_>| -> Option<(String, Option<String>)> {
            let schema = entry.get("outputSchema").map(|schema| schema.to_string());
            Some((text(entry, "name")?.to_string(), schema))
        };
        let is_announced = self.dialogue.announces("tools", request.is_stateless);
        let names = list(result, "tools").filter_map(tool);
        self.dialogue.tools.add_page(request, names, result, is_announced, report.now);
    }

    fn check_structured(&self, request: &Request, result: Json<'_>, report: &mut Report<'_>) {
        let Some(Some(schema)) = self.dialogue.tools.names.get(&request.target) else { return };
        if is_true(result, "isError") || !self.dialogue.is_current("tools", request, report.now) {
            return;
        }
        let Some(content) = result.get("structuredContent") else {
            let text = "the tool has an output schema, but the result is not structured";
            return report.add(Rule::StructuredContent, text);
        };
        if let Err(wrong) = schema_check::check(Json::trusted(schema.as_bytes()), content) {
            let text = format!("the structured content does not match the output schema: {wrong}");
            report.add(Rule::StructuredContent, text);
        }
    }
}

/// The maximum length of all output schemas in a list, in bytes.
const SCHEMA_LIMIT: usize = 1 << 20;

impl super::session::Catalog {
    /// Adds a page of a list. The page of a request without a cursor starts a list. The last page completes the list if
    /// the list has fewer than `LIMIT` names. Beyond [`SCHEMA_LIMIT`], an entry has the schema `{}`, which every value
    /// matches. If the page does not continue the list, the catalog becomes empty and incomplete.
    fn add_page(
        &mut self,
        request: &Request,
        names: impl Iterator<Item = (String, Option<String>)>,
        result: Json<'_>,
        is_announced: bool,
        now: Millis,
    ) {
        const LIMIT: usize = 100_000;
        let earlier = core::mem::take(self);
        let lifetime = result.get("ttlMs").and_then(Json::integer).unwrap_or_default();
        self.expires = now.plus(Millis(u64::try_from(lifetime).unwrap_or_default()));
        self.is_announced = is_announced;
        if request.cursor.is_some() {
            if request.cursor != earlier.next_cursor {
                return;
            }
            (self.names, self.schema_bytes) = (earlier.names, earlier.schema_bytes);
            self.expires = self.expires.min(earlier.expires);
            self.is_announced &= earlier.is_announced;
        }
        for (name, mut schema) in names.take(LIMIT.saturating_sub(self.names.len())) {
            if let Some(schema) = &mut schema {
                let total = self.schema_bytes.saturating_add(schema.len());
                if total > SCHEMA_LIMIT {
                    *schema = "{}".into();
                } else {
                    self.schema_bytes = total;
                }
            }
            self.names.insert(name, schema);
        }
        self.next_cursor = text(result, "nextCursor").map(|cursor| cursor.to_string());
        self.is_complete = result.get("nextCursor").is_none() && self.names.len() < LIMIT;
    }
}

fn check_roots(result: Json<'_>, report: &mut Report<'_>) {
    for root in list(result, "roots") {
        let uri = text(root, "uri").unwrap_or_default().to_string();
        if !uri.starts_with("file://") {
            report.add(Rule::RootUri, format!("\"{uri}\" is not a `file://` URI"));
        }
    }
}

/// Checks a result that requires input.
fn check_input(request: &Request, result: Json<'_>, revision: Revision, report: &mut Report<'_>) {
    if !report.check(Rule::ResultShape, &schema::REQUIRED_INPUT, result, revision) {
        return;
    }
    if !matches!(&*request.method, "tools/call" | "prompts/get" | "resources/read") {
        return report.add(Rule::InputRequired, "this method never requires input");
    }
    let [requests, state] = result.pick(["inputRequests", "requestState"]);
    if requests.is_none() && state.is_none() {
        report.add(Rule::InputRequired, "the result has neither `inputRequests` nor `requestState`");
    }
    for (name, input) in requests.unwrap_or(Json::EMPTY_OBJECT).members() {
        let method = text(input, "method").unwrap_or_default().to_string();
        let known = methods::ALL.iter().find(|row| row.name == method && row.in_results.contains(revision));
        if known.is_none() {
            report.add(
                Rule::InputRequired,
                format!("`{name}` has the method \"{method}\", which is no request for input"),
            );
            continue;
        }
        let params = input.get("params").unwrap_or(Json::EMPTY_OBJECT);
        if let Some(path) = missing_for_input(&method, params, &request.capabilities, revision) {
            report.add(
                Rule::InputRequired,
                format!("`{name}` requires `{path}`, which the request does not declare"),
            );
        }
        if let Some(Err(wrong)) = schema::shapes(&method).map(|shapes| shapes.params.check(params, revision))
        {
            report.add(Rule::ParamsShape, format!("in `{name}`, {wrong}"));
        }
    }
}
