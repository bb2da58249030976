//! Checks responses: their ids, their errors, and the results of flawed requests.

use alloc::format;
use alloc::string::ToString;

use super::requests::{self, Flaw, Lookup, Request, other_type};
use super::rule::Rule;
use super::session::Session;
use super::violation::{Report, Sender};
use super::{Monitor, schema};
use crate::json::{Json, Kind};
use crate::protocol::methods;
use crate::protocol::objects::view::has_text;
use crate::protocol::revision::{Revision, WireFeature};
use crate::rpc::{code, is_id};

impl Monitor {
    pub(super) fn response(
        &mut self,
        id: Option<Json<'_>>,
        result: Option<Json<'_>>,
        error: Option<Json<'_>>,
        report: &mut Report<'_>,
    ) {
        report.id = id.map(|id| id.to_string());
        let Some(id) = id.filter(|id| !id.is_null()) else {
            return self.response_without_id(id, error, report);
        };
        if !is_id(id) {
            return report.add(Rule::ResponseId, format!("the id is {id}, not a string or an integer"));
        }
        let (mut key, window) = (requests::key(id), self.race_window);
        let requests = &self.dialogue.party(report.sender.peer()).requests;
        if requests.lookup(&key) == Lookup::OtherType
            && requests.lookup(&other_type(&key)) == Lookup::InFlight
        {
            report.add(Rule::ResponseId, "the id of the request has another type");
            key = other_type(&key);
        }
        let requests = &mut self.dialogue.party(report.sender.peer()).requests;
        let is_unclear = requests.is_unclear_response(&key, report.now, window);
        let Some(mut request) = requests.respond(&key) else {
            if !is_unclear {
                self.unexpected_response(&key, error, report);
            }
            return;
        };
        request.is_ambiguous |= is_unclear;
        report.method = Some(request.method.clone()).filter(|method| !method.is_empty());
        report.revision = request.revision.or(self.dialogue.session.revision());
        self.dialogue.serves_stateless |= shows_stateless(&request, result, error);
        // A task continues even if its request was cancelled.
        if result.is_some_and(|result| creates_task(&request, result, report.revision)) {
            self.dialogue.party(report.sender.peer()).requests.keep_token(&request.token);
        }
        // `initialize` cannot be cancelled, so its response opens the session.
        if let Some(at) = request.cancelled.filter(|_| request.method != methods::INITIALIZE.name) {
            if report.now.since(at) > self.race_window {
                report.add(Rule::CancelledAnswered, "the request was cancelled");
            }
            return;
        }
        match (result, error) {
            _ if request.is_ambiguous => {
                if let Some(result) = result.filter(|result| result.get("protocolVersion").is_some()) {
                    self.begin_session(result, report);
                }
            }
            (Some(result), None) => self.result(&request, id, result, report),
            (None, Some(error)) => self.error(&request, error, report),
            _ => report.add(Rule::ResponseShape, "the response has both a result and an error"),
        }
    }

    fn response_without_id(
        &mut self,
        id: Option<Json<'_>>,
        error: Option<Json<'_>>,
        report: &mut Report<'_>,
    ) {
        let Some(error) = error else {
            return report.add(Rule::ResponseId, "the response has no id");
        };
        if self.may_refuse_probe(report) {
            return;
        }
        check_error_shape(error, report);
        // Without a session, the revision of an unreadable message is unknown.
        let session = self.dialogue.session.revision();
        let omits = session.map(|revision| revision.has(WireFeature::OmittedErrorIds));
        match (omits, id) {
            (Some(false), None) => {
                report.add(Rule::ErrorId, "the error omits `id`, but `id` is null in this revision")
            }
            (Some(true), Some(_)) => report.add(Rule::ErrorId, "`id` is null, but this revision omits it"),
            _ => {}
        }
        let peer = self.dialogue.party(report.sender.peer());
        report.add_if(peer.unreadable == 0, Rule::ErrorId, "the error has no id, but every request had one");
        peer.unreadable = peer.unreadable.saturating_sub(1);
    }

    /// Returns whether an error without the id of a request may refuse stateless requests in flight. If so, records
    /// this for each of them. A server that knows only the handshake may refuse such a request before it reads the id,
    /// for example in HTTP.
    fn may_refuse_probe(&mut self, report: &Report<'_>) -> bool {
        let requests = &mut self.dialogue.client.requests;
        report.sender == Sender::Server
            && !self.dialogue.serves_stateless
            && requests.refuse_stateless(report.now)
    }

    fn unexpected_response(&mut self, key: &str, error: Option<Json<'_>>, report: &mut Report<'_>) {
        if report.sender == Sender::Client && self.dialogue.is_stateless() {
            return report.add(Rule::StatelessDirection, "the client sends a response");
        }
        let peer = self.dialogue.party(report.sender.peer());
        // The receiver may have read the id of a message that is otherwise unreadable.
        let is_refusal =
            |error: Json<'_>| matches!(error.get("code").and_then(Json::integer), Some(-32700 | -32600));
        if peer.unreadable > 0 && error.is_some_and(is_refusal) {
            peer.unreadable = peer.unreadable.saturating_sub(1);
            return;
        }
        match peer.requests.lookup(key) {
            Lookup::Finished => report.add(Rule::ResponseRepeated, "the request already has a response"),
            Lookup::OtherType => report.add(Rule::ResponseId, "the id of the request has another type"),
            Lookup::Unknown if error.is_some() && self.may_refuse_probe(report) => {}
            Lookup::Unknown => report.add(Rule::ResponseId, "no request has this id"),
            Lookup::InFlight | Lookup::Unclear => {}
        }
    }

    fn error(&mut self, request: &Request, error: Json<'_>, report: &mut Report<'_>) {
        if request.method == methods::INITIALIZE.name && self.dialogue.session == Session::Requested {
            self.dialogue.session = Session::None;
        }
        // A server that has not shown knowledge of the stateless era may ignore the metadata of the request.
        let is_probe = request.is_stateless && !self.dialogue.serves_stateless;
        if !check_error_shape(error, report) || request.is_era_unclear || is_probe {
            return;
        }
        let Some(code) = error.get("code").and_then(Json::integer) else { return };
        if let Some(revision) = report.revision {
            check_error_code(code, error, revision, report);
        }
        let flaw = request.flaw.filter(|flaw| self.is_proven(*flaw, request, report));
        let Some((rule, Some(expected), _)) = flaw.and_then(refusal) else { return };
        // Before a session, the error may report the missing session, and not the unknown method.
        if report.revision.is_none() && rule == Rule::UnknownMethodCode {
            return;
        }
        // A server may define the codes from -32099 to -32000, for example a code that reports that the server is busy.
        let is_other_refusal = matches!(code, -32700 | -32600 | -32099..=-32000);
        if code != i64::from(expected)
            && (!is_other_refusal || expected == code::UNSUPPORTED_PROTOCOL_VERSION)
        {
            report.add(rule, format!("the error is {code}, not {expected}"));
        }
    }

    /// Returns whether the request certainly has this flaw. Returns `false` if the server may have added the tool or
    /// prompt since the server sent the list.
    fn is_proven(&self, flaw: Flaw, request: &Request, report: &Report<'_>) -> bool {
        let (list, catalog) = match flaw {
            Flaw::Tool => ("tools", &self.dialogue.tools),
            Flaw::Prompt => ("prompts", &self.dialogue.prompts),
            _ => return true,
        };
        self.dialogue.is_current(list, request, report.now) && catalog.lacks(&request.target)
    }

    /// Reports the result of a request that the receiver had to refuse. Returns `false` if there is nothing to report.
    pub(super) fn check_accepted(&self, request: &Request, report: &mut Report<'_>) -> bool {
        let Some((flaw, (rule, _, reason))) = request.flaw.and_then(|flaw| Some((flaw, refusal(flaw)?)))
        else {
            return false;
        };
        // If the revision is unknown, the revision may have the method. A server may also have methods of its own.
        let is_known = || methods::ALL.iter().any(|method| method.name == request.method);
        if !self.is_proven(flaw, request, report)
            || flaw == Flaw::Method && (report.revision.is_none() || !is_known())
        {
            return false;
        }
        report.add(rule, format!("the request has a result, but {reason}"));
        true
    }
}

/// Returns whether a response shows that the server knows the stateless era.
fn shows_stateless(request: &Request, result: Option<Json<'_>>, error: Option<Json<'_>>) -> bool {
    let has_type = |result: Json<'_>| {
        result.get("resultType").is_some() || request.method == methods::SERVER_DISCOVER.name
    };
    let has_code =
        |error: Json<'_>| matches!(error.get("code").and_then(Json::integer), Some(-32022..=-32020));
    request.is_stateless && (result.is_some_and(has_type) || error.is_some_and(has_code))
}

/// Returns whether a result creates a task.
fn creates_task(request: &Request, result: Json<'_>, revision: Option<Revision>) -> bool {
    if revision.is_some_and(|revision| revision.has(WireFeature::ResultTypes)) {
        return has_text(result, "resultType", "task");
    }
    request.wants_task && result.get("task").is_some()
}

/// Returns the rule that requires an error for a flawed request, the code of this error, and the flaw in words. The
/// code is `None` if any code is right. Returns `None` if no rule requires an error.
fn refusal(flaw: Flaw) -> Option<(Rule, Option<i32>, &'static str)> {
    let invalid = Some(code::INVALID_PARAMS);
    Some(match flaw {
        Flaw::Message => return None,
        Flaw::Method => {
            (Rule::UnknownMethodCode, Some(code::METHOD_NOT_FOUND), "its revision has no such method")
        }
        Flaw::Meta => (Rule::RequestMeta, invalid, "its metadata is incomplete"),
        Flaw::Version => {
            let expected = Some(code::UNSUPPORTED_PROTOCOL_VERSION);
            (Rule::UnsupportedVersion, expected, "its revision does not exist")
        }
        Flaw::Capability => (Rule::Capability, None, "its capability was not declared"),
        Flaw::Cursor => (Rule::CursorCode, invalid, "the cursor is invalid"),
        Flaw::Level => (Rule::LogLevelCode, invalid, "the level is unknown"),
        Flaw::Tool => (Rule::UnknownToolCode, invalid, "the tool is not in the list"),
        Flaw::Prompt => (Rule::UnknownPromptCode, invalid, "the prompt is not in the list"),
    })
}

/// Checks the members of an error. Returns whether the members match the schema.
fn check_error_shape(error: Json<'_>, report: &mut Report<'_>) -> bool {
    let revision = report.revision.unwrap_or(Revision::OLDEST);
    report.check(Rule::ErrorShape, &schema::ERROR, error, revision)
}

/// Checks error codes of the stateless era, and the data that some codes require.
fn check_error_code(code: i64, error: Json<'_>, revision: Revision, report: &mut Report<'_>) {
    if !revision.has(WireFeature::MissingCapabilityCode) {
        return;
    }
    let is_removed =
        [code::RESOURCE_NOT_FOUND, code::URL_ELICITATION_REQUIRED].iter().any(|it| i64::from(*it) == code);
    let is_reserved = matches!(code, -32099..=-32020) && !matches!(code, -32022..=-32020);
    report.add_if(is_removed || is_reserved, Rule::ErrorCode, "the revision does not define this error code");
    for (_, shape) in schema::ERROR_DATA.iter().filter(|(row, _)| *row == code) {
        let data = error.get("data").filter(|data| data.kind() == Kind::Object).unwrap_or(Json::EMPTY_OBJECT);
        if let Err(wrong) = shape.check(data, revision) {
            report.add(Rule::ErrorCode, format!("in `data` of the error {code}, {wrong}"));
        }
    }
}
