//! Subscriptions of the stateless era: requests, notifications, and ends.
use crate::support::ShownOnFailure;
use crate::support::client::{Setup, Wire};
use mcp_proto::client::{Filter, Options};
use mcp_proto::{Millis, SendError, Ticket};

const DEFAULT: Options = Options::DEFAULT;

fn run(setup: Setup, dialogue: impl Fn(&mut Wire)) {
    setup.run(|wire| {
        wire.connect();
        dialogue(wire);
    });
}

fn listen(wire: &mut Wire, filter: Filter<'_>, name: &str) -> Ticket {
    let ticket = wire.client.listen(filter, DEFAULT).unwrap();
    wire.name(ticket, name)
}

/// A server notification for a subscription.
fn tagged(method: &str, id: &str, more: &str) -> String {
    format!(
        r#"{{"method":"notifications/{method}","params":{{{more}"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
    )
}

fn acknowledged(id: &str, filter: &str) -> String {
    tagged("subscriptions/acknowledged", id, &format!(r#""notifications":{filter},"#))
}

const TOOLS: Filter<'static> = Filter::NOTHING.tools();

#[test]
fn subscription_is_acknowledged_notified_and_cancelled() {
    run(Setup::automatic(), |wire| {
        let filter = Filter::NOTHING.tools().prompts().resources().uris(&["file:///a", "x:\"b\""]);
        let ticket = listen(wire, filter, "all");
        wire.sent(&[concat!(
            r#"{"id":@,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"#,
            r#""promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["file:///a","x:\"b\""]},"_meta":{..}}}"#
        )]);
        let filter = r#"{"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["file:\/\/\/a"]}"#;
        wire.server(&acknowledged("@listen", filter)).heard(&["all: listens to [tools, file:///a]"]);
        assert_eq!(wire.deadline, None, "it stays open for as long as it takes");
        let cases = [
            (tagged("tools/list_changed", "@listen", ""), "all: changed Tools"),
            (tagged("prompts/list_changed", "@listen", ""), "all: changed Prompts"),
            (tagged("resources/list_changed", "@listen", ""), "all: changed Resources"),
            (tagged("resources/updated", "@listen", r#""uri":"file:///\u0061","#), "all: updated file:///a"),
        ];
        for (message, heard) in cases {
            wire.server(&message).heard(&[heard]);
        }
        assert!(wire.client.is_pending(ticket));
        wire.at(1_000_000).heard(&[]).sent(&[]);
        wire.cancel(ticket, "enough");
        wire.sent(&[
            r#"{"method":"notifications/cancelled","params":{"requestId":@listen,"reason":"enough"}}"#,
        ]);
        wire.server(&tagged("tools/list_changed", "@listen", "")).heard(&["fault UnknownSubscription"]);
        // Both of these may still arrive.
        wire.server(r#"{"id":@listen,"result":{}}"#).heard(&[]);
        wire.server(r#"{"method":"notifications/cancelled","params":{"requestId":@listen}}"#).heard(&[]);
        assert_eq!(wire.client.pending(), 0);
    });
}

#[test]
fn notification_of_no_open_subscription_is_dropped() {
    run(Setup::automatic(), |wire| {
        let ticket = listen(wire, TOOLS, "tools");
        wire.call("add", DEFAULT).unwrap();
        wire.forget();
        let unknown: &[&str] = &["fault UnknownSubscription"];
        let change = |id: &str| tagged("tools/list_changed", id, "");
        // No notification before the acknowledgment.
        wire.server(&change("@listen")).heard(unknown);
        wire.server(&acknowledged("@add", "{}")).heard(unknown);
        wire.server(&acknowledged("777", "{}")).heard(unknown);
        wire.server(&acknowledged(r#""@listen""#, "{}")).heard(unknown);
        wire.server(r#"{"method":"notifications/subscriptions/acknowledged"}"#).heard(unknown);
        wire.server(&acknowledged("@listen", "{}")).heard(&["tools: listens to []"]);
        wire.server(&acknowledged("@listen", "{}")).heard(unknown);
        for message in [
            change(r#""@listen""#),
            change("@add"),
            change("null"),
            change("777"),
            r#"{"method":"notifications/tools/list_changed"}"#.to_owned(),
            r#"{"method":"notifications/prompts/list_changed","params":{}}"#.to_owned(),
            r#"{"method":"notifications/resources/updated","params":{"uri":"a"}}"#.to_owned(),
        ] {
            let _shown = ShownOnFailure(message.clone());
            wire.server(&message).heard(unknown);
        }
        wire.server(&tagged("resources/updated", "@listen", "")).heard(&["fault InvalidParams"]);
        wire.server(&change("@listen")).heard(&["tools: changed Tools"]);
        wire.cancel(ticket, "");
        wire.forget().server(r#"{"id":@add,"result":{}}"#).heard(&["add: result {}"]);
    });
}

#[test]
fn notifications_of_several_subscriptions_are_separate() {
    run(Setup::automatic(), |wire| {
        listen(wire, TOOLS, "one");
        let one = wire.message("@listen");
        listen(wire, Filter::NOTHING.uris(&["a"]), "two");
        let two = wire.message("@listen");
        wire.forget();
        wire.server(&acknowledged(&two, "{}")).heard(&["two: listens to []"]);
        wire.server(&acknowledged(&one, "{}")).heard(&["one: listens to []"]);
        wire.server(&tagged("tools/list_changed", &one, "")).heard(&["one: changed Tools"]);
        wire.server(&tagged("resources/updated", &two, r#""uri":"a","#)).heard(&["two: updated a"]);
        // The first ends, the second continues.
        wire.server(&format!(r#"{{"id":{one},"result":{{"resultType":"complete"}}}}"#));
        wire.heard(&[r#"one: result {"resultType":"complete"}"#]);
        wire.server(&format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{one}}}}}"#))
            .heard(&[]);
        wire.server(&tagged("resources/updated", &two, r#""uri":"b","#)).heard(&["two: updated b"]);
        wire.server(&format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":{two}}}}}"#));
        wire.heard(&["two: lost Ended"]).sent(&[]);
        assert_eq!(wire.client.pending(), 0);
    });
}

#[test]
fn server_can_end_or_refuse_a_subscription() {
    let cases = [
        (r#"{"id":@listen,"error":{"code":-32601,"message":"no"}}"#, "tools: error no (-32601)"),
        (r#"{"id":@listen,"result":{}}"#, "tools: result {}"),
        (
            r#"{"id":@listen,"result":{"resultType":"input_required","requestState":"s"}}"#,
            "tools: lost Invalid",
        ),
        (r#"{"id":@listen}"#, "tools: lost Invalid"),
        (r#"{"method":"notifications/cancelled","params":{"requestId":@listen}}"#, "tools: lost Ended"),
    ];
    for (message, heard) in cases {
        for acknowledges in [false, true] {
            run(Setup::automatic(), |wire| {
                listen(wire, TOOLS, "tools");
                if acknowledges {
                    wire.server(&acknowledged("@listen", "{}"));
                }
                wire.forget().server(message).heard(&[heard]).sent(&[]);
                assert_eq!((wire.client.pending(), wire.deadline), (0, None));
            });
        }
    }
}

#[test]
fn server_cannot_cancel_any_other_request() {
    run(Setup::automatic(), |wire| {
        wire.call("add", DEFAULT).unwrap();
        wire.forget().server(r#"{"method":"notifications/cancelled","params":{"requestId":@add}}"#);
        wire.heard(&["fault UnknownCancel"]);
        wire.server(r#"{"method":"notifications/cancelled","params":{"requestId":777}}"#);
        wire.heard(&["fault UnknownCancel"]);
        wire.server(r#"{"id":@add,"result":{}}"#).heard(&["add: result {}"]);
    });
}

#[test]
fn only_the_acknowledgment_has_a_deadline() {
    run(Setup::automatic(), |wire| {
        let ticket = wire.client.listen(TOOLS, DEFAULT.timeout(Millis(9000)).maximum(Millis(1))).unwrap();
        wire.name(ticket, "tools");
        assert_eq!(wire.deadline, Some(9000));
        wire.forget().at(8999).heard(&[]).at(9000).heard(&["tools: lost TimedOut"]);
        wire.sent(&[
            r#"{"method":"notifications/cancelled","params":{"requestId":@listen,"reason":"timeout"}}"#,
        ]);
    });
}

#[test]
fn handshake_era_refuses_listen_subscriptions() {
    Setup::handshake().run(|wire| {
        assert_eq!(wire.client.listen(TOOLS, DEFAULT), Err(SendError::NotConnected));
        wire.connect();
        assert_eq!(wire.client.listen(TOOLS, DEFAULT), Err(SendError::Unsupported));
        wire.server(r#"{"method":"notifications/tools/list_changed"}"#).heard(&["changed Tools"]);
        wire.server(r#"{"method":"notifications/resources/updated","params":{"uri":"a"}}"#);
        wire.heard(&["updated a"]);
        wire.server(r#"{"method":"notifications/resources/updated"}"#).heard(&["fault InvalidParams"]);
        wire.server(&acknowledged("1", "{}"));
        assert!(wire.heard_now()[0].starts_with("notified notifications/subscriptions/acknowledged"));
    });
}
