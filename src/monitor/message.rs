//! Classifies a message: a request, a notification, a response or a batch.

use alloc::string::ToString;

use super::Monitor;
use super::request::Received;
use super::requests::{self, Flaw, Request};
use super::rule::Rule;
use super::violation::Report;
use crate::json::{Json, Kind};
use crate::protocol::objects::view::has_text;
use crate::protocol::revision::WireFeature;
use crate::rpc::is_id;

impl Monitor {
    pub(super) fn message(&mut self, message: Json<'_>, report: &mut Report<'_>) {
        match message.kind() {
            Kind::Object => self.object(message, report),
            Kind::Array => self.batch(message, report),
            _ => {
                self.add_unreadable(report);
                report.add(Rule::MessageShape, "the message is not a JSON object");
            }
        }
    }

    fn add_unreadable(&mut self, report: &Report<'_>) {
        self.dialogue.party(report.sender).add_unreadable();
    }

    fn batch(&mut self, batch: Json<'_>, report: &mut Report<'_>) {
        // A receiver may refuse a whole batch with one error without an id.
        self.add_unreadable(report);
        let has_batches = self.dialogue.session.revision().is_some_and(|it| it.has(WireFeature::Batches));
        if !has_batches {
            for message in batch.elements() {
                self.add_rejected(message, report);
            }
            return report.add(Rule::Batch, "the revision of the session has no batches");
        }
        report.add_if(batch.elements().next().is_none(), Rule::Batch, "the batch is empty");
        for message in batch.elements() {
            (report.id, report.method) = (None, None);
            report.revision = self.dialogue.revision();
            if has_text(message, "method", "initialize") {
                report.add(Rule::BatchInitialize, "`initialize` is in a batch");
            }
            match message.kind() {
                Kind::Object => self.object(message, report),
                _ => {
                    self.add_unreadable(report);
                    report.add(Rule::MessageShape, "an element of the batch is not a JSON object");
                }
            }
        }
    }

    fn object(&mut self, message: Json<'_>, report: &mut Report<'_>) {
        let [version, id, method, params, result, error] =
            message.pick(["jsonrpc", "id", "method", "params", "result", "error"]);
        let is_current = version.and_then(Json::string).is_some_and(|version| version == "2.0");
        let Some(method) = method else {
            report.add_if(!is_current, Rule::JsonRpcVersion, "`jsonrpc` is not \"2.0\"");
            if result.is_some() || error.is_some() {
                return self.response(id, result, error, report);
            }
            // The message may be a response, so the monitor records no request. The receiver may still respond without
            // an id.
            report.add(Rule::MessageShape, "the message has no method, no result and no error");
            return self.add_unreadable(report);
        };
        let Some(method) = method.string() else {
            report.add(Rule::MessageShape, "the method is not a string");
            return self.invalid(id, report);
        };
        report.method = Some(method.to_string());
        report.id = id.map(|id| id.to_string());
        report.add_if(!is_current, Rule::JsonRpcVersion, "`jsonrpc` is not \"2.0\"");
        if result.is_some() || error.is_some() {
            report.add(Rule::MessageShape, "the message has a method, and also a result or an error");
        }
        let object = params.filter(|params| params.kind() == Kind::Object);
        report.add_if(params.is_some() && object.is_none(), Rule::MessageShape, "`params` is not an object");
        let is_valid = is_current && (object.is_some() || params.is_none());
        let params = object.unwrap_or(Json::EMPTY_OBJECT);
        match id {
            None => {
                if !is_valid {
                    // The receiver may treat the message as an invalid request, and respond without an id.
                    self.add_unreadable(report);
                }
                self.notification(&method.to_string(), params, report)
            }
            Some(id) if is_id(id) => {
                self.request(Received { id, method: method.to_string(), params, is_valid }, report);
            }
            Some(id) => {
                report.add(Rule::IdType, alloc::format!("the id is {id}, not a string or an integer"));
                self.add_unreadable(report);
            }
        }
    }

    /// Records that the receiver may respond to a request in an invalid batch, or may refuse the whole batch.
    fn add_rejected(&mut self, message: Json<'_>, report: &Report<'_>) {
        let [id, method] = message.pick(["id", "method"]);
        if let (Some(id), Some(_)) = (id.filter(|id| is_id(*id)), method) {
            let refused = Some(report.now);
            let request =
                Request { id: id.to_string(), flaw: Some(Flaw::Message), refused, ..Request::default() };
            self.dialogue.party(report.sender).requests.insert(requests::key(id), request);
        }
    }

    /// Records that the receiver may respond to an invalid message: without an id, or with the id of the message if
    /// that id is valid.
    fn invalid(&mut self, id: Option<Json<'_>>, report: &Report<'_>) {
        self.add_unreadable(report);
        if let Some(id) = id.filter(|id| is_id(*id)) {
            let request = Request { id: id.to_string(), flaw: Some(Flaw::Message), ..Request::default() };
            let party = self.dialogue.party(report.sender);
            party.requests.insert(requests::key(id), request);
        }
    }
}
