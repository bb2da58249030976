//! Checks requests.

use alloc::format;
use alloc::string::{String, ToString};

use super::requests::{self, Flaw, Request, Subscription};
use super::rule::Rule;
use super::session::{Session, declares_extensions, is_declared, required_capability};
use super::violation::{Report, Sender};
use super::{Monitor, schema};
use crate::json::Json;
use crate::protocol::level::Level;
use crate::protocol::meta::{CLIENT_CAPABILITIES, PROGRESS_TOKEN, PROTOCOL_VERSION, RequestMeta};
use crate::protocol::methods;
use crate::protocol::objects::view::{has_text, member, text};
use crate::protocol::revision::{Revision, WireFeature};
use crate::rpc::is_id;

/// A received request.
pub(super) struct Received<'m> {
    pub(super) id: Json<'m>,
    pub(super) method: String,
    pub(super) params: Json<'m>,
    /// Whether `jsonrpc` and `params` are valid.
    pub(super) is_valid: bool,
}

impl Monitor {
    pub(super) fn request(&mut self, received: Received<'_>, report: &mut Report<'_>) {
        let Received { id, ref method, params, is_valid } = received;
        let meta = member(params, "_meta");
        // Only a client sends requests in the stateless era, with the revision in `_meta`.
        let stateless = RequestMeta::from_json(meta).filter(|_| report.sender == Sender::Client);
        report.revision = match &stateless {
            Some(meta) => meta.revision.filter(|revision| revision.has(WireFeature::StatelessRequests)),
            None => self.dialogue.session.revision(),
        };
        let mut request = Request {
            id: id.to_string(),
            method: method.clone(),
            revision: report.revision,
            is_stateless: stateless.is_some(),
            is_era_unclear: stateless.is_some()
                && self.dialogue.session.revision().is_some()
                && self.dialogue.discovered.is_none(),
            cursor: text(params, "cursor").map(|cursor| cursor.to_string()),
            flaw: (!is_valid).then_some(Flaw::Message),
            ..Request::default()
        };
        self.check_id(id, &request, report);
        match &stateless {
            Some(meta) => self.check_meta(meta, params, &mut request, report),
            None if report.sender == Sender::Client => self.check_client_order(method, &mut request, report),
            None => self.check_server_order(method, report),
        }
        self.check_method(method, true, &mut request, report);
        if request.flaw.is_none() {
            self.check_capability(params, &mut request, report);
            self.check_params(params, &mut request, report);
        }
        // A server checks the method and its capability before the log level.
        if stateless.is_some_and(|meta| meta.level == Some(Err(()))) {
            report.add(Rule::ParamsShape, "the log level is unknown");
            request.flaw = request.flaw.or(Some(Flaw::Level));
        }
        self.check_token(meta, &mut request, report);
        self.record(&mut request, params, report);
        if request.is_era_unclear {
            request.flaw = None;
        }
        self.dialogue.party(report.sender).requests.insert(requests::key(id), request);
    }

    fn check_id(&mut self, id: Json<'_>, request: &Request, report: &mut Report<'_>) {
        let key = requests::key(id);
        let in_session = !request.is_stateless && !self.dialogue.is_stateless();
        // An unread message may be the response to the earlier request.
        let has_unread = self.dialogue.has_unread;
        let requests = &mut self.dialogue.party(report.sender).requests;
        let (is_in_flight, was_in_session) = match requests.get_mut(&key) {
            Some(earlier) => {
                let was_in_session = !earlier.is_stateless && earlier.refused.is_none();
                (earlier.freed_at().is_none() && !has_unread, was_in_session)
            }
            None => (false, requests.had_session_id(&key)),
        };
        if is_in_flight {
            report.add(Rule::IdReused, "a request with this id is in flight");
        } else if in_session && was_in_session {
            report.add(Rule::IdReused, "an earlier request of the session had this id");
        }
    }

    fn check_meta(
        &mut self,
        meta: &RequestMeta,
        params: Json<'_>,
        request: &mut Request,
        report: &mut Report<'_>,
    ) {
        // A server checks that `_meta` is complete before it checks the revision.
        if meta.capabilities.is_none() {
            report.add(Rule::RequestMeta, "`_meta` lacks the capabilities of the client");
            request.flaw = request.flaw.or(Some(Flaw::Meta));
        }
        match meta.revision {
            _ if text(member(params, "_meta"), PROTOCOL_VERSION).is_none() => {
                report.add(Rule::RequestMeta, "the revision in `_meta` is not a string");
                request.flaw = request.flaw.or(Some(Flaw::Meta));
            }
            None => request.flaw = request.flaw.or(Some(Flaw::Version)),
            Some(_) if report.revision.is_some() => self.dialogue.stateless = report.revision,
            Some(_) => {}
        }
        request.level = meta.level.and_then(Result::ok);
        let capabilities = member(params, "_meta").get(CLIENT_CAPABILITIES);
        request.capabilities = capabilities.map(|json| json.to_string()).unwrap_or_default();
    }

    fn check_client_order(&mut self, method: &str, request: &mut Request, report: &mut Report<'_>) {
        if method == methods::PING.name {
            return;
        }
        let is_initialize = method == methods::INITIALIZE.name;
        match self.dialogue.session {
            Session::None if is_initialize => {}
            Session::None | Session::Requested if self.dialogue.has_unread => {}
            Session::None if self.dialogue.is_stateless() || method == methods::SERVER_DISCOVER.name => {
                report.add(Rule::RequestMeta, "`_meta` lacks the revision of the request");
                request.flaw = request.flaw.or(Some(Flaw::Meta));
            }
            Session::None => report.add(Rule::InitializeFirst, "the request comes before `initialize`"),
            _ if is_initialize => report.add(Rule::InitializeFirst, "the session already exists"),
            Session::Requested => {
                report
                    .add(Rule::ClientBeforeResponse, "the request comes before the response to `initialize`");
            }
            Session::Answered(_) => {
                report.add(Rule::Initialized, "the request comes before `notifications/initialized`");
            }
            Session::Ready(_) => {}
        }
    }

    fn check_server_order(&mut self, method: &str, report: &mut Report<'_>) {
        if self.dialogue.is_stateless() {
            return report.add(Rule::StatelessDirection, "the server sends a request");
        }
        let is_early = match self.dialogue.session {
            Session::None | Session::Requested => !self.dialogue.has_unread,
            Session::Answered(_) => true,
            Session::Ready(_) => false,
        };
        if is_early && method != methods::PING.name {
            let text = "the request comes before `notifications/initialized`";
            report.add(Rule::ServerBeforeInitialized, text);
        }
    }

    /// Checks that the sender may send the method in the revision of the message.
    pub(super) fn check_method(
        &mut self,
        name: &str,
        is_request: bool,
        request: &mut Request,
        report: &mut Report<'_>,
    ) {
        let known = methods::ALL.iter().find(|method| method.name == name);
        let Some(method) = known.filter(|method| method.is_request == is_request) else {
            if known.is_some() {
                let kind = if is_request { "a notification" } else { "a request" };
                report.add(Rule::MessageShape, format!("the method is {kind}"));
            } else if !self.dialogue.has_extensions() && !declares_extensions(&request.capabilities) {
                report.add(
                    Rule::MethodUnknown,
                    "neither the specification nor a declared extension has the method",
                );
            } else {
                return;
            }
            request.flaw = request.flaw.or(Some(Flaw::Method));
            return;
        };
        let Some(revision) = report.revision else { return };
        let in_core = match report.sender {
            Sender::Client => method.by_client,
            Sender::Server => method.by_server,
        };
        // Servers of earlier revisions declare extensions too.
        let in_extension = !method.by_extension.is_empty()
            && is_request == (report.sender == Sender::Client)
            && (method.by_extension.contains(revision) || self.dialogue.has_extensions());
        if !in_core.contains(revision) && !in_extension {
            let side = report.sender.name();
            report.add(Rule::MethodRevision, format!("the revision has no such message of a {side}"));
            request.flaw = request.flaw.or(Some(Flaw::Method));
        }
    }

    fn check_capability(&mut self, params: Json<'_>, request: &mut Request, report: &mut Report<'_>) {
        let Some(revision) = report.revision else { return };
        let Some(method) = methods::ALL.iter().find(|method| method.name == request.method) else { return };
        if request.is_stateless && !method.by_client.contains(revision) {
            // An extension has its own rules for capabilities.
            return;
        }
        let required = required_capability(method, report.sender, revision);
        let mut missing = None;
        if let Some((side, path)) = required
            && let Some(declared) = self.dialogue.capabilities(side, request.is_stateless)
            && !is_declared(declared, path)
        {
            request.flaw = Some(Flaw::Capability);
            missing = Some((side, path.to_string()));
        }
        request.wants_task = revision.has(WireFeature::Tasks) && params.get("task").is_some();
        let receiver = self.dialogue.capabilities(report.sender.peer(), false).unwrap_or("{}");
        let path = format!("tasks.requests.{}", request.method.replace('/', "."));
        if request.wants_task && !is_declared(receiver, &path) {
            missing = Some((report.sender.peer(), path));
        }
        if report.sender == Sender::Server {
            let declared = self.dialogue.capabilities(Sender::Client, false).unwrap_or("{}");
            let found = missing_for_input(&request.method, params, declared, revision);
            missing = missing.or(found.map(|path| (Sender::Client, path.to_string())));
        }
        // A stateless client may try any method. If the capability is missing, the server responds with an error.
        if let Some((side, path)) = missing.filter(|_| !request.is_stateless) {
            report.add(Rule::Capability, format!("the {} has not declared `{path}`", side.name()));
        }
    }

    fn check_params(&mut self, params: Json<'_>, request: &mut Request, report: &mut Report<'_>) {
        let (method, target) = (&*request.method, params.get("name").or(params.get("uri")));
        request.target = target.and_then(Json::string).map(|text| text.to_string()).unwrap_or_default();
        let is_initialize = method == methods::INITIALIZE.name;
        let revision = report.revision.or_else(|| initial_revision(params).filter(|_| is_initialize));
        if let (Some(revision), Some(shapes)) = (revision, schema::shapes(method)) {
            report.check(Rule::ParamsShape, &shapes.params, params, revision);
        }
        if method == methods::LOGGING_SET_LEVEL.name {
            request.level = text(params, "level").and_then(Level::from_json);
            request.flaw = request.flaw.or(request.level.is_none().then_some(Flaw::Level));
        }
        if method == methods::TOOLS_CALL.name && self.dialogue.tools.lacks(&request.target) {
            request.flaw = request.flaw.or(Some(Flaw::Tool));
        }
        if method == methods::PROMPTS_GET.name && self.dialogue.prompts.lacks(&request.target) {
            request.flaw = request.flaw.or(Some(Flaw::Prompt));
        }
        // A cursor of a stateless server may come from an earlier connection.
        if report.sender == Sender::Client
            && !request.is_stateless
            && let Some(cursor) = params.get("cursor").filter(|cursor| cursor.string().is_some())
            && !self.dialogue.may_have_issued(method, cursor)
        {
            report.add(Rule::CursorOpaque, "the server has not issued this cursor");
            // If the server issues cursors, it may accept this cursor too, so the monitor expects no error.
            let is_refused = !self.dialogue.issues_cursors(method);
            request.flaw = request.flaw.or(is_refused.then_some(Flaw::Cursor));
        }
    }

    fn check_token(&mut self, meta: Json<'_>, request: &mut Request, report: &mut Report<'_>) {
        let Some(token) = meta.get(PROGRESS_TOKEN) else { return };
        if !is_id(token) {
            return report.add(Rule::ProgressToken, "the progress token is not a string or an integer");
        }
        let (token, has_unread) = (requests::key(token), self.dialogue.has_unread);
        let requests = &mut self.dialogue.party(report.sender).requests;
        if !has_unread && requests.by_token(&token).is_some_and(|other| other.cancelled.is_none()) {
            report.add(Rule::ProgressToken, "a request in flight has the same progress token");
        }
        request.token = Some(token);
    }

    /// Records the effects of a request.
    fn record(&mut self, request: &mut Request, params: Json<'_>, report: &Report<'_>) {
        // Record the effects before the response, because a request may take effect even if it is cancelled.
        self.dialogue.has_subscribed |= request.method == methods::RESOURCES_SUBSCRIBE.name;
        if let (Some(level), false) = (request.level, request.is_stateless) {
            self.dialogue.level = self.dialogue.level.map(|earlier| earlier.min(level));
            // The last of several requests in flight decides the level, but their order on the server is unknown. Each
            // of them therefore gets the lowest level.
            request.level = Some(self.dialogue.client.requests.lower_levels(level));
        }
        if report.sender != Sender::Client || request.flaw.is_some() {
            return;
        }
        if request.method == methods::INITIALIZE.name && !request.is_stateless {
            if self.dialogue.session == Session::None {
                self.dialogue.session = Session::Requested;
            }
            self.dialogue.client.capabilities = params.get("capabilities").map(|json| json.to_string());
        }
        if request.method == methods::SUBSCRIPTIONS_LISTEN.name {
            let filter = params.get("notifications").map(|json| json.to_string()).unwrap_or_default();
            request.subscription = Some(Subscription { filter, acknowledged: None, ended: None });
        }
    }
}

/// Returns the revision that a client proposes, if the revision has a handshake.
fn initial_revision(params: Json<'_>) -> Option<Revision> {
    let proposed = text(params, "protocolVersion").and_then(Revision::from_json);
    proposed.filter(|revision| revision.has(WireFeature::Handshake))
}

/// Returns the first capability that a request for input requires, but that the client has not declared.
pub(super) fn missing_for_input(
    method: &str,
    params: Json<'_>,
    declared: &str,
    revision: Revision,
) -> Option<&'static str> {
    let required = match method {
        "roots/list" => [Some("roots"), None],
        "sampling/createMessage" => {
            let uses_tools = params.get("tools").is_some() || params.get("toolChoice").is_some();
            let needs_tools = uses_tools && revision.has(WireFeature::SamplingTools);
            [Some("sampling"), needs_tools.then_some("sampling.tools")]
        }
        "elicitation/create" => {
            let mode = if has_text(params, "mode", "url") { "elicitation.url" } else { "elicitation.form" };
            [Some("elicitation"), revision.has(WireFeature::ElicitationModes).then_some(mode)]
        }
        _ => [None, None],
    };
    required.into_iter().flatten().find(|path| !is_declared(declared, path))
}
