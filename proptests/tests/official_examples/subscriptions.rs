//! Examples of subscriptions and cancellations, whose request id the client chooses.

use mcp_proto::client::{Event, Filter, Listed, Options};
use mcp_proto::{Client, Outcome, SendError, Ticket};
use serde_json::{Value, json};

use super::peer::Peer;
use super::rebuild::{object, open, some, string};

const ID: &str = "io.modelcontextprotocol/subscriptionId";

/// Subscribes with the params of an example.
pub(crate) fn listen(client: &mut Client<'_>, params: &Value) -> Result<Ticket, SendError> {
    let wanted = &params["notifications"];
    let uris = wanted["resourceSubscriptions"].as_array().map_or(&[][..], Vec::as_slice);
    let uris: Vec<&str> = uris.iter().map(|uri| uri.as_str().unwrap()).collect();
    let mut filter = Filter::NOTHING.uris(&uris);
    if wanted["toolsListChanged"] == true {
        filter = filter.tools();
    }
    if wanted["promptsListChanged"] == true {
        filter = filter.prompts();
    }
    if wanted["resourcesListChanged"] == true {
        filter = filter.resources();
    }
    client.listen(filter, Options::DEFAULT)
}

/// Creates a client with an unacknowledged subscription. Returns the client, and the ticket and id of the subscription.
fn listening() -> (Peer, Ticket, Value) {
    let mut peer = Peer::connected();
    let ticket = peer.client.listen(Filter::NOTHING.tools(), Options::DEFAULT).unwrap();
    let id = peer.sent().pop().unwrap()["id"].clone();
    (peer, ticket, id)
}

/// Sends a notification with these params for a subscription, and rebuilds the params from its view. The view has a
/// ticket in place of the subscription id, so the id is restored.
pub(crate) fn notification(method: &str, params: &Value) -> Value {
    let (mut peer, ticket, id) = listening();
    let mut params = params.clone();
    let under = params["_meta"].get(ID).cloned();
    params["_meta"][ID] = id.clone();
    let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
    if method != "notifications/subscriptions/acknowledged" {
        let taken_up = json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {"_meta": {ID: id}, "notifications": {}}});
        peer.receive(&taken_up, |_| Value::Null);
    }
    let mut found = peer.receive(&message, |event| read(event, method, ticket));
    match under {
        Some(under) => found["_meta"] = json!({ID: under}),
        None => _ = found.as_object_mut().unwrap().remove("_meta"),
    }
    found
}

fn read(event: &Event<'_>, method: &str, ticket: Ticket) -> Value {
    match event {
        Event::Acknowledged(it) => {
            assert_eq!(it.ticket(), ticket);
            let flag = |on: bool| on.then_some(Value::Bool(true));
            let told = object([
                ("toolsListChanged", flag(it.tools())),
                ("promptsListChanged", flag(it.prompts())),
                ("resourcesListChanged", flag(it.resources())),
                ("resourceSubscriptions", some(it.uris().map(string))),
            ]);
            json!({"notifications": told})
        }
        Event::Changed { listed, subscription } => {
            assert_eq!(*subscription, Some(ticket));
            let name = match listed {
                Listed::Tools => "tools",
                Listed::Resources => "resources",
                Listed::Prompts => "prompts",
                other => panic!("{other:?}"),
            };
            assert_eq!(method, format!("notifications/{name}/list_changed"));
            json!({})
        }
        Event::Updated { resource, subscription } => {
            assert_eq!(*subscription, Some(ticket));
            object([("uri", resource.uri().map(string)), ("_meta", resource.meta().map(open))])
        }
        other => panic!("{other:?}"),
    }
}

/// Ends a subscription with a result. Returns the result that the client reads.
pub(crate) fn end(result: &Value) -> Value {
    let (mut peer, ticket, id) = listening();
    peer.receive(&json!({"jsonrpc": "2.0", "id": id, "result": result}), |event| {
        let Event::Response(end) = event else { panic!("{event:?}") };
        let Outcome::Result(result) = end.outcome() else { panic!("{end:?}") };
        assert_eq!(end.ticket(), ticket);
        open(result)
    })
}

/// Cancels a request with the reason of the example. Returns the sent parameters, with the id of the example.
pub(crate) fn cancelled(params: &Value) -> Value {
    let mut peer = Peer::connected();
    let ticket = peer.client.call_json("t", "{}", Options::DEFAULT).unwrap();
    let id = peer.sent().pop().unwrap()["id"].clone();
    peer.client.cancel(ticket, params["reason"].as_str().unwrap()).unwrap();
    let mut sent = peer.sent().pop().unwrap();
    assert_eq!(sent["method"], "notifications/cancelled");
    assert_eq!(sent["params"]["requestId"], id);
    sent["params"]["requestId"] = params["requestId"].clone();
    sent["params"].take()
}
