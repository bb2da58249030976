//! Methods, notifications, result types and filter members of extensions.
use crate::support::client::{ClientHarness, Setup};
use mcp_proto::client::{Filter, InputRequest, Options};
use mcp_proto::json::Writer;
use mcp_proto::{Millis, SendError};

const NAME: &str = "com.example/own";

fn setup(setup: Setup) -> Setup {
    let info = setup
        .info
        .methods(&["own/measure", "ping", "roots/list"])
        .result_types(&["com.example/later", "com.example/other"]);
    Setup { info, ..setup }
}

fn run(setup: Setup, dialogue: impl Fn(&mut ClientHarness)) {
    setup.run(|harness| {
        harness.connect();
        dialogue(harness);
    });
}

fn nothing(_: &mut Writer<'_>) {}

#[test]
fn server_request_of_an_extension_is_answered() {
    type Case = (&'static str, fn(mcp_proto::client::ServerRequest<'_>), &'static str);
    let cases: [Case; 6] = [
        (r#""params":{"n":1}"#, |it| it.result_with(|out| out.field_integer("n", 2)), r#""result":{"n":2}"#),
        (
            r#""params":{}"#,
            |it| it.result(&std::collections::BTreeMap::from([("a", 1)])),
            r#""result":{ "a":1}"#,
        ),
        (
            r#""params":{}"#,
            |it| it.error_with(7, "no", |out| out.boolean(true)),
            r#""error":{"code":7,"message":"no","data":true}"#,
        ),
        (r#""params":{}"#, |it| it.error(8, "no"), r#""error":{"code":8,"message":"no"}"#),
        (r#""params":{}"#, |it| it.decline(), r#""error":{"code":-1,"message":"The user said no"}"#),
        (r#""params":{}"#, |it| it.cancel(), r#""error":{"code":-1,"message":"The user gave no answer"}"#),
    ];
    for (params, handle, answer) in cases {
        run(setup(Setup::handshake()), |harness| {
            harness.on_server_request(move |it| {
                let InputRequest::Other { method, .. } = it.input() else { panic!("the request is another") };
                assert_eq!((method, it.input().method()), ("own/measure", "own/measure"));
                handle(it);
                None
            });
            let (_, shown) = params.split_once(':').unwrap();
            harness
                .server_sends(&format!(r#"{{"id":1,"method":"own\/measure",{params}}}"#))
                .events(&[&format!("asked own/measure {shown}")])
                .sent(&[&format!(r#"{{"id":1,{answer}}}"#)]);
        });
    }
}

#[test]
fn other_methods_of_a_server_are_refused() {
    run(setup(Setup::handshake()), |harness| {
        let refused = r#"{"id":1,"error":{"code":-32601,"message":"Method not found"}}"#;
        harness
            .server_sends(r#"{"id":1,"method":"own/other"}"#)
            .events(&["fault UnknownMethod"])
            .sent(&[refused]);
    });
    // In the stateless era, servers may send no requests.
    run(setup(Setup::automatic()), |harness| {
        harness.server_sends(r#"{"id":1,"method":"own/measure"}"#).events(&["fault UnknownMethod"]).sent(&[]);
    });
}

#[test]
fn response_of_another_kind_is_refused() {
    run(setup(Setup::handshake()), |harness| {
        harness.on_server_request(|it| {
            it.roots(|_| {});
            None
        });
        harness.server_sends(r#"{"id":1,"method":"own/measure"}"#);
        harness.events(&["asked own/measure {}", "fault InvalidReply"]);
        harness.sent(&[
            r#"{"id":1,"error":{"code":-32603,"message":"Internal error: the response is invalid"}}"#,
        ]);
    });
}

#[test]
fn deferred_request_of_an_extension_is_answered_later() {
    run(setup(Setup::handshake()), |harness| {
        let ticket = std::rc::Rc::new(std::cell::Cell::new(None));
        let stored = std::rc::Rc::clone(&ticket);
        harness.on_server_request(move |it| {
            stored.set(it.defer(None).ok());
            stored.get()
        });
        harness
            .server_sends(r#"{"id":"x","method":"own/measure","params":{}}"#)
            .events(&["asked own/measure {}"]);
        let reply = harness.client.reply(ticket.get().unwrap()).unwrap();
        reply.result_with(|out| out.field_integer("n", 2));
        harness.at(1).sent(&[r#"{"id":"x","result":{"n":2}}"#]);
        harness
            .server_sends(r#"{"id":"y","method":"own/measure","params":{}}"#)
            .events(&["asked own/measure {}"]);
        harness
            .server_sends(r#"{"method":"notifications/cancelled","params":{"requestId":"y"}}"#)
            .events(&["cancelled"])
            .sent(&[]);
    });
}

#[test]
fn foreign_result_type_passes_if_it_is_declared() {
    for (result_type, event) in [
        ("com.example/later", r#"own: result of com.example/later {"resultType":"com.example/later","n":1}"#),
        ("com.example/unknown", "own: lost Invalid"),
        ("task", "own: lost Invalid"),
    ] {
        run(setup(Setup::automatic()), |harness| {
            for method in ["tools/call", "own/start"] {
                let ticket = harness.client.request(method, Options::DEFAULT, nothing).unwrap();
                harness.name(ticket, "own");
                harness
                    .at(1)
                    .sent(&[&format!(r#"{{"id":@,"method":"{method}","params":{{"_meta":{{..}}}}}}"#)]);
                let id = if method == "tools/call" { "@call" } else { "@start" };
                harness
                    .server_sends(&format!(
                        r#"{{"id":{id},"result":{{"resultType":"{result_type}","n":1}}}}"#
                    ))
                    .events(&[event]);
            }
        });
    }
}

#[test]
fn notification_names_the_request_that_it_belongs_to() {
    let notification = |id: &str| {
        format!(
            r#"{{"method":"own/event","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
        )
    };
    for base in [Setup::automatic(), Setup::handshake()] {
        run(setup(base), |harness| {
            let options = Options::DEFAULT.without_timeout();
            let ticket = harness.client.request("own/stream", options, nothing).unwrap();
            harness.name(ticket, "stream");
            let meta = if harness.is_handshake() { "" } else { r#","params":{"_meta":{..}}"# };
            harness.at(1_000_000).sent(&[&format!(r#"{{"id":@,"method":"own/stream"{meta}}}"#)]);
            let message = notification("@stream");
            let params = harness.message(&message);
            let (_, params) = params.split_once(r#""params":"#).unwrap();
            let expected = format!("stream: notified own/event {}", params.strip_suffix('}').unwrap());
            harness.server_sends(&message).events(&[&expected]);
            for unknown in ["77", "\"@stream\"", "null"] {
                harness.server_sends(&notification(unknown));
                let events = harness.take_events();
                let is_fault = events == ["fault UnknownSubscription"];
                assert_eq!(is_fault, !harness.is_handshake(), "{events:?}");
                assert!(is_fault || events[0].starts_with("notified own/event"), "{events:?}");
            }
            harness.server_sends(r#"{"method":"own/event"}"#).events(&["notified own/event"]);
            // The request has no timeout.
            harness.at(u64::from(u32::MAX) * 10).events(&[]);
            harness.server_sends(r#"{"id":@stream,"result":{}}"#).events(&["stream: result {}"]);
            harness.server_sends(&message);
            let events = harness.take_events();
            // In the stateless era, the notification is late. In the handshake era, a subscription id has no meaning.
            let is_late = events.is_empty() && harness.client.late_messages() == 1;
            assert_eq!(is_late, !harness.is_handshake(), "{events:?}");
            assert!(is_late || events[0].starts_with("notified own/event"), "{events:?}");
        });
    }
}

#[test]
fn filter_contains_the_members_of_extensions() {
    run(setup(Setup::automatic()), |harness| {
        let filter = Filter::NOTHING.tools().members(&[("ownListChanged", "true"), ("names", "[\"a\"]")]);
        harness.client.listen(filter, Options::DEFAULT).unwrap();
        harness.at(1).sent(&[
            r#"{"id":@,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"ownListChanged":true,"names":["a"]},"_meta":{..}}}"#,
        ]);
        let invalid = Filter::NOTHING.members(&[("ownListChanged", "yes")]);
        assert_eq!(harness.client.listen(invalid, Options::DEFAULT), Err(SendError::Invalid));
        harness.at(2).sent(&[]);
    });
}

#[test]
fn only_a_client_with_extensions_notifies_in_the_stateless_era() {
    let notify =
        |harness: &mut ClientHarness| harness.client.notify("own/opened", |out| out.field_integer("n", 1));
    run(Setup::automatic(), |harness| assert_eq!(notify(harness), Err(SendError::Unsupported)));
    let with = Setup::automatic();
    let with = Setup { info: with.info.extensions(&[(NAME, "{}")]), ..with };
    for setup in [Setup::handshake(), with] {
        run(setup, |harness| {
            assert_eq!(notify(harness), Ok(()));
            harness.at(1).sent(&[r#"{"method":"own/opened","params":{"n":1}}"#]);
        });
    }
    assert_eq!(Options::DEFAULT.without_timeout().timeout, Some(Millis::MAX));
}
