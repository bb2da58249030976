//! Requests and notifications of extensions in scripts.

use super::ServerHarness;
use super::tools::Record;
use mcp_proto::json::{Json, Writer};
use mcp_proto::server::ExtensionRequest;
use mcp_proto::{Millis, SendError};

/// Responds as the member `do` of the parameters requires.
pub(crate) fn respond(mut request: ExtensionRequest<'_>, record: &mut Record) {
    let (method, params) = (request.method(), request.params());
    record.events.push(format!("request {method} {params}"));
    let word = params.get("do").and_then(Json::string).map(|word| word.to_string()).unwrap_or_default();
    match &*word {
        "defer" => match request.defer(Some(Millis::MAX)) {
            Ok(ticket) => record.tickets.push(ticket),
            Err(request) => request.busy(),
        },
        "error" => request.error_with(7, "no", |out| out.integer(1)),
        "drop" => drop(request),
        "typed" => request.result(&std::collections::BTreeMap::from([("a", 1)])),
        "empty" => request.result(&std::collections::BTreeMap::<&str, u8>::new()),
        "array" => request.result(&[1]),
        "unbalanced" => request.result_with(|out| out.begin_object()),
        "type" => request.result_of_type("com.example/type", |out| out.field_integer("n", 1)),
        "declared" => match request.extension("com.example/own") {
            Some(settings) => request.result_with(|out| out.field_json("settings", settings)),
            None => request.require_extension("com.example/own"),
        },
        "progress" => {
            let sent = request.progress(1, None, "");
            request.result_with(|out| out.field_string("sent", &format!("{sent:?}")));
        }
        _ => request.result_with(|out| out.field_string("method", method)),
    }
}

/// Writes the members of a JSON object.
fn members(params: &str, out: &mut Writer<'_>) {
    for (name, value) in Json::parse(params.as_bytes()).expect("JSON").members() {
        out.field_json(&name.to_string(), value);
    }
}

impl ServerHarness<'_> {
    /// Runs `notify METHOD PARAMS`.
    pub(crate) fn notify(&mut self, method: &str, params: &str) -> Result<(), SendError> {
        self.server.notify(method, |out| members(params, out))
    }

    /// Runs `notify-in N METHOD PARAMS`: a notification that belongs to a request in flight.
    pub(crate) fn notify_in(&mut self, number: &str, rest: &str) -> Result<(), SendError> {
        let (method, params) = rest.split_once(' ').expect("a method and parameters");
        let ticket = self.record.ticket(number);
        self.server.notify_subscription(ticket, method, |out| members(params, out))
    }

    /// Runs `result N RESULT`: responds to a deferred request with these members.
    pub(crate) fn result(&mut self, number: &str, result: &str) -> Result<(), SendError> {
        let reply = self.server.reply(self.record.ticket(number))?;
        reply.result_with(|out| members(result, out));
        Ok(())
    }
}
