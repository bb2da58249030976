//! Checks notifications.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cmp::Ordering;

use super::requests::{self, Lookup, Request};
use super::rule::Rule;
use super::session::{Catalog, Session, is_declared, required_capability};
use super::violation::{Report, Sender};
use super::{Monitor, schema};
use crate::json::{Decimal, Json, Str};
use crate::protocol::level::Level;
use crate::protocol::meta::SUBSCRIPTION_ID;
use crate::protocol::methods;
use crate::protocol::objects::view::{member, text};
use crate::protocol::revision::Revision;
use crate::rpc::is_id;
use crate::time::Millis;

impl Monitor {
    pub(super) fn notification(&mut self, method: &str, params: Json<'_>, report: &mut Report<'_>) {
        let tag = params.get("_meta").and_then(|meta| meta.get(SUBSCRIPTION_ID));
        self.dialogue.serves_stateless |= report.sender == Sender::Server && tag.is_some();
        report.revision = match (method, tag) {
            ("notifications/progress", _) => {
                self.revision_of(report.sender.peer(), params.get("progressToken"), true)
            }
            ("notifications/cancelled", _) => self.revision_of(report.sender, params.get("requestId"), false),
            (_, Some(_)) => self.dialogue.stateless,
            _ => None,
        }
        .or(self.dialogue.revision());
        self.check_notification_order(method, tag.is_some(), report);
        let mut message = Request::default();
        self.check_method(method, false, &mut message, report);
        if message.flaw.is_some() {
            return;
        }
        // Without a known revision, check the members of the oldest revision, because all revisions have its required
        // members.
        let revision = report.revision.unwrap_or(Revision::OLDEST);
        if let Some(shapes) = schema::shapes(method)
            && !report.check(Rule::ParamsShape, &shapes.params, params, revision)
        {
            return;
        }
        self.check_declared(method, tag.is_some(), report);
        match method {
            "notifications/initialized" => {
                if let Session::Answered(revision) = self.dialogue.session {
                    self.dialogue.session = Session::Ready(revision);
                }
            }
            "notifications/cancelled" => self.cancelled(params, report),
            "notifications/progress" => self.progress(params, report),
            "notifications/message" => self.log_message(params, report),
            "notifications/subscriptions/acknowledged" => self.acknowledged(tag, params, report),
            "notifications/tools/list_changed" => self.change(tag, "toolsListChanged", params, report),
            "notifications/prompts/list_changed" => self.change(tag, "promptsListChanged", params, report),
            "notifications/resources/list_changed" => {
                self.change(tag, "resourcesListChanged", params, report)
            }
            "notifications/resources/updated" => self.change(tag, "resourceSubscriptions", params, report),
            _ => {}
        }
    }

    /// Returns the revision of the request in flight that `sender` has sent with this id or progress token.
    fn revision_of(&mut self, sender: Sender, id: Option<Json<'_>>, is_token: bool) -> Option<Revision> {
        let key = requests::key(id?);
        let requests = &mut self.dialogue.party(sender).requests;
        let request = if is_token { requests.by_token(&key) } else { requests.get_mut(&key) };
        request.and_then(|request| request.revision)
    }

    fn check_notification_order(&mut self, method: &str, has_tag: bool, report: &mut Report<'_>) {
        // A notification with the id of a subscription does not belong to the session.
        let is_allowed = has_tag
            || matches!(
                method,
                "notifications/message" | "notifications/progress" | "notifications/cancelled"
            );
        match (report.sender, self.dialogue.session) {
            // The handshake may be unread.
            (_, Session::None | Session::Requested) if self.dialogue.has_unread => {}
            (Sender::Server, Session::Requested | Session::Answered(_)) if !is_allowed => {
                report.add(
                    Rule::ServerBeforeInitialized,
                    "the notification comes before `notifications/initialized`",
                );
            }
            (Sender::Client, Session::None | Session::Requested) if method == methods::INITIALIZED.name => {
                report.add(Rule::Initialized, "no response to `initialize` precedes the notification");
            }
            (Sender::Client, Session::Ready(_)) if method == methods::INITIALIZED.name => {
                report.add(Rule::Initialized, "the session is already initialized");
            }
            _ => {}
        }
    }

    fn check_declared(&mut self, name: &str, has_tag: bool, report: &mut Report<'_>) {
        let Some(revision) = report.revision else { return };
        let Some(method) = methods::ALL.iter().find(|method| method.name == name) else { return };
        let Some((side, path)) = required_capability(method, report.sender, revision) else { return };
        if method.by_extension.contains(revision) {
            return;
        }
        let is_stateless = has_tag || self.dialogue.is_stateless();
        let declared = self.dialogue.capabilities(side, is_stateless);
        if declared.is_some_and(|declared| !is_declared(declared, path)) {
            report.add(Rule::Capability, format!("the {} has not declared `{path}`", side.name()));
        }
    }

    fn cancelled(&mut self, params: Json<'_>, report: &mut Report<'_>) {
        let Some(id) = params.get("requestId").filter(|id| is_id(*id)) else { return };
        let (key, now) = (requests::key(id), report.now);
        report.id = Some(id.to_string());
        if report.sender == Sender::Server && self.dialogue.stateless.is_some() {
            // A server may cancel a subscription before or after its result.
            let requests = &mut self.dialogue.client.requests;
            let request = requests.get_mut(&key);
            let is_other = request.is_some_and(|request| match &mut request.subscription {
                Some(subscription) => {
                    subscription.ended = subscription.ended.or(Some(now));
                    false
                }
                None => true,
            });
            let is_known = matches!(requests.lookup(&key), Lookup::InFlight | Lookup::Finished);
            if self.dialogue.is_stateless() || is_known && !is_other {
                return report.add_if(is_other, Rule::CancelRequest, "the request is not a subscription");
            }
        }
        let requests = &mut self.dialogue.party(report.sender).requests;
        match requests.lookup(&key) {
            Lookup::InFlight => {
                let Some(request) = requests.get_mut(&key) else { return };
                request.cancelled = request.cancelled.or(Some(now));
                let is_initialize = request.method == methods::INITIALIZE.name;
                report.add_if(is_initialize, Rule::CancelInitialize, "`initialize` cannot be cancelled");
            }
            Lookup::OtherType => report.add(Rule::CancelRequest, "the id of the request has another type"),
            Lookup::Unknown => {
                let text = format!("the {} has sent no such request", report.sender.name());
                report.add(Rule::CancelRequest, text);
            }
            Lookup::Finished | Lookup::Unclear => {}
        }
    }

    fn progress(&mut self, params: Json<'_>, report: &mut Report<'_>) {
        let Some(token) = params.get("progressToken").filter(|token| is_id(*token)) else { return };
        let (key, now, window) = (requests::key(token), report.now, self.race_window);
        let requests = &mut self.dialogue.party(report.sender.peer()).requests;
        let Some(request) = requests.by_token(&key) else {
            return match requests.had_token(&key) {
                Some(true) => report.add(Rule::ProgressAfterEnd, "the request already has a response"),
                Some(false) => report.add(Rule::ProgressRequest, format!("no request has the token {token}")),
                None => {}
            };
        };
        if request.cancelled.is_some_and(|at| now.since(at) > window) {
            report.add(Rule::CancelledAnswered, "the request was cancelled");
        }
        let Some(progress) = params.get("progress").and_then(Json::number) else { return };
        if request.progress.as_deref().is_some_and(|earlier| !may_be_greater(progress, earlier)) {
            report.add(
                Rule::ProgressIncreases,
                format!("the progress {progress} is not greater than the last one"),
            );
        }
        request.progress = Some(progress.to_string());
    }

    fn log_message(&mut self, params: Json<'_>, report: &mut Report<'_>) {
        let Some(level) = text(params, "level").and_then(Level::from_json) else {
            return;
        };
        if self.dialogue.is_stateless() {
            let requests = self.dialogue.client.requests.in_flight();
            let lowest = requests.filter_map(|request| request.level).min();
            match lowest {
                _ if self.dialogue.has_unread => {}
                None => report.add(Rule::LogLevel, "no request in flight asks for log messages"),
                Some(lowest) if level < lowest => {
                    report.add(Rule::LogLevel, "no request in flight asks for messages of this level");
                }
                Some(_) => {}
            }
        } else if self.dialogue.level.is_some_and(|lowest| level < lowest)
            && self.dialogue.stateless.is_none()
            && !self.dialogue.has_unread
        {
            report.add(Rule::LogLevel, "the client has set a higher level");
        }
    }

    /// Returns whether a notification may belong to a subscription that was cancelled within the race window, and whose
    /// id another request has used again. Also returns `true` after an unread message, because that message may be the
    /// subscription or its acknowledgment.
    fn is_unclear(&self, tag: Json<'_>, now: Millis) -> bool {
        self.dialogue.has_unread
            || self.dialogue.client.requests.crosses_cancellation(&requests::key(tag), now, self.race_window)
    }

    fn acknowledged(&mut self, tag: Option<Json<'_>>, params: Json<'_>, report: &mut Report<'_>) {
        let is_late = tag.is_some_and(|tag| self.is_unclear(tag, report.now));
        let request = tag.and_then(|tag| self.dialogue.client.requests.get_mut(&requests::key(tag)));
        match request.and_then(|request| request.subscription.as_mut()) {
            Some(subscription) => {
                let filter = member(params, "notifications");
                let requested = filter_entries(Json::trusted(subscription.filter.as_bytes()));
                let exceeds = !is_late && !filter_entries(filter).is_subset(&requested);
                let text = "the acknowledgment includes changes that the subscription does not request";
                report.add_if(exceeds, Rule::Subscription, text);
                subscription.acknowledged = Some(filter.to_string());
            }
            None => {
                let text = "the acknowledgment belongs to no subscription";
                report.add_if(!is_late, Rule::Subscription, text);
            }
        }
    }

    /// Forgets the list of tools or prompts if that list has changed. If the change requires a subscription, checks
    /// that the client has subscribed.
    fn change(&mut self, tag: Option<Json<'_>>, filter: &str, params: Json<'_>, report: &mut Report<'_>) {
        match filter {
            "toolsListChanged" => self.dialogue.tools = Catalog::default(),
            "promptsListChanged" => self.dialogue.prompts = Catalog::default(),
            _ => {}
        }
        let Some(tag) = tag else {
            if self.dialogue.is_stateless() {
                report.add(Rule::Subscription, "the notification lacks the id of a subscription");
            } else if params.get("uri").is_some()
                && !self.dialogue.has_subscribed
                && !self.dialogue.has_unread
            {
                report.add(Rule::ResourceUpdated, "the client has subscribed to no resource");
            }
            return;
        };
        let (now, window) = (report.now, self.race_window);
        if self.is_unclear(tag, now) {
            return;
        }
        let Some(request) = self.dialogue.client.requests.get_mut(&requests::key(tag)) else {
            return report.add(Rule::Subscription, format!("no subscription has the id {tag}"));
        };
        let Some(subscription) = &request.subscription else {
            return report.add(Rule::Subscription, format!("the request {tag} is not a subscription"));
        };
        let wanted = Json::trusted(subscription.filter.as_bytes()).get(filter);
        let is_wanted = wanted.is_some_and(|it| it.boolean() == Some(true) || it.elements().next().is_some());
        report.add_if(!is_wanted, Rule::Subscription, "the subscription does not include such changes");
        // The server has sent both the cancellation and this notification, so the two cannot cross.
        let has_ended = subscription.ended.is_some();
        report.add_if(has_ended, Rule::Subscription, "the server has cancelled the subscription");
        let is_early = subscription.acknowledged.is_none();
        report.add_if(is_early, Rule::Subscription, "the notification precedes the acknowledgment");
        let is_late = request.cancelled.is_some_and(|at| now.since(at) > window);
        report.add_if(is_late, Rule::CancelledAnswered, "the subscription was cancelled");
    }
}

/// Returns the content of a filter as pairs of a kind of change and an entry. A kind that is `true` has one pair, with
/// an empty entry. A kind that is a list, such as `resourceSubscriptions`, has one pair for each element.
fn filter_entries(filter: Json<'_>) -> BTreeSet<(String, String)> {
    let entries = |(kind, value): (Str<'_>, Json<'_>)| {
        let whole = value.boolean().filter(|is_on| *is_on).map(|_| String::new());
        let entries = whole.into_iter().chain(value.elements().map(requests::key));
        entries.map(|entry| (kind.to_string(), entry)).collect::<Vec<_>>()
    };
    filter.members().flat_map(entries).collect()
}

/// Returns whether `number` may be greater than `other`. A `Decimal` keeps at least the first 18 digits of a number.
/// Longer numbers with equal `Decimal` values may differ in the other digits.
fn may_be_greater(number: &str, other: &str) -> bool {
    let is_exact = number.len().max(other.len()) <= 18;
    match Decimal::parse(number).cmp(&Decimal::parse(other)) {
        Ordering::Equal => !is_exact && number != other,
        order => order.is_gt(),
    }
}
