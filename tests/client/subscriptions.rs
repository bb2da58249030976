//! Subscriptions of the stateless era: requests, notifications, and ends.
use crate::support::FailureContext;
use crate::support::client::{ClientHarness, Setup};
use mcp_proto::client::{Filter, Options};
use mcp_proto::{Millis, SendError, Ticket};

const DEFAULT: Options = Options::DEFAULT;

fn run(setup: Setup, dialogue: impl Fn(&mut ClientHarness)) {
    setup.run(|harness| {
        harness.connect();
        dialogue(harness);
    });
}

fn listen(harness: &mut ClientHarness, filter: Filter<'_>, name: &str) -> Ticket {
    // A subscription has no progress, whatever the options say.
    let ticket = harness.client.listen(filter, DEFAULT.with_progress()).unwrap();
    harness.name(ticket, name)
}

/// Returns a server notification for a subscription.
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
    run(Setup::automatic(), |harness| {
        let filter = Filter::NOTHING.tools().prompts().resources().uris(&["file:///a", "x:\"b\""]);
        let ticket = listen(harness, filter, "all");
        harness.sent(&[concat!(
            r#"{"id":@,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true,"#,
            r#""promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["file:///a","x:\"b\""]},"_meta":{..}}}"#
        )]);
        let filter = r#"{"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["file:\/\/\/a"]}"#;
        harness
            .server_sends(&acknowledged("@listen", filter))
            .events(&["all: subscribes to [tools, file:///a]"]);
        assert_eq!(harness.deadline, None, "an acknowledged subscription has no deadline");
        let cases = [
            (tagged("tools/list_changed", "@listen", ""), "all: changed Tools"),
            (tagged("prompts/list_changed", "@listen", ""), "all: changed Prompts"),
            (tagged("resources/list_changed", "@listen", ""), "all: changed Resources"),
            (tagged("resources/updated", "@listen", r#""uri":"file:///\u0061","#), "all: updated file:///a"),
        ];
        for (message, events) in cases {
            harness.server_sends(&message).events(&[events]);
        }
        assert!(harness.client.is_pending(ticket));
        harness.at(1_000_000).events(&[]).sent(&[]);
        harness.cancel(ticket, "enough");
        harness.sent(&[
            r#"{"method":"notifications/cancelled","params":{"requestId":@listen,"reason":"enough"}}"#,
        ]);
        // These messages may still arrive after the cancellation.
        harness.server_sends(&tagged("tools/list_changed", "@listen", "")).events(&[]);
        harness.server_sends(r#"{"id":@listen,"result":{}}"#).events(&[]);
        harness
            .server_sends(r#"{"method":"notifications/cancelled","params":{"requestId":@listen}}"#)
            .events(&[]);
        assert_eq!(harness.client.pending(), 0);
    });
}

#[test]
fn notification_of_no_open_subscription_is_dropped() {
    run(Setup::automatic(), |harness| {
        let ticket = listen(harness, TOOLS, "tools");
        harness.call("add", DEFAULT).unwrap();
        harness.discard();
        let unknown: &[&str] = &["fault UnknownSubscription"];
        let change = |id: &str| tagged("tools/list_changed", id, "");
        // The client drops notifications that precede the acknowledgment.
        harness.server_sends(&change("@listen")).events(unknown);
        harness.server_sends(&acknowledged("@add", "{}")).events(unknown);
        harness.server_sends(&acknowledged("777", "{}")).events(unknown);
        harness.server_sends(&acknowledged(r#""@listen""#, "{}")).events(unknown);
        harness.server_sends(r#"{"method":"notifications/subscriptions/acknowledged"}"#).events(unknown);
        harness.server_sends(&acknowledged("@listen", "{}")).events(&["tools: subscribes to []"]);
        harness.server_sends(&acknowledged("@listen", "{}")).events(unknown);
        for message in [
            change(r#""@listen""#),
            change("@add"),
            change("null"),
            change("777"),
            r#"{"method":"notifications/tools/list_changed"}"#.to_owned(),
            r#"{"method":"notifications/prompts/list_changed","params":{}}"#.to_owned(),
            r#"{"method":"notifications/resources/updated","params":{"uri":"a"}}"#.to_owned(),
        ] {
            let _context = FailureContext(message.clone());
            harness.server_sends(&message).events(unknown);
        }
        harness.server_sends(&tagged("resources/updated", "@listen", "")).events(&["fault InvalidParams"]);
        harness.server_sends(&change("@listen")).events(&["tools: changed Tools"]);
        harness.cancel(ticket, "");
        harness.discard().server_sends(r#"{"id":@add,"result":{}}"#).events(&["add: result {}"]);
    });
}

#[test]
fn notifications_of_several_subscriptions_are_separate() {
    run(Setup::automatic(), |harness| {
        listen(harness, TOOLS, "one");
        let one = harness.message("@listen");
        listen(harness, Filter::NOTHING.uris(&["a"]), "two");
        let two = harness.message("@listen");
        harness.discard();
        harness.server_sends(&acknowledged(&two, "{}")).events(&["two: subscribes to []"]);
        harness.server_sends(&acknowledged(&one, "{}")).events(&["one: subscribes to []"]);
        harness.server_sends(&tagged("tools/list_changed", &one, "")).events(&["one: changed Tools"]);
        harness.server_sends(&tagged("resources/updated", &two, r#""uri":"a","#)).events(&["two: updated a"]);
        // The first subscription ends, and the second continues.
        harness.server_sends(&format!(r#"{{"id":{one},"result":{{"resultType":"complete"}}}}"#));
        harness.events(&[r#"one: result {"resultType":"complete"}"#]);
        harness
            .server_sends(&format!(
                r#"{{"method":"notifications/cancelled","params":{{"requestId":{one}}}}}"#
            ))
            .events(&[]);
        harness.server_sends(&tagged("resources/updated", &two, r#""uri":"b","#)).events(&["two: updated b"]);
        harness.server_sends(&format!(
            r#"{{"method":"notifications/cancelled","params":{{"requestId":{two}}}}}"#
        ));
        harness.events(&["two: lost Ended"]).sent(&[]);
        assert_eq!(harness.client.pending(), 0);
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
    for (message, events) in cases {
        for acknowledges in [false, true] {
            run(Setup::automatic(), |harness| {
                listen(harness, TOOLS, "tools");
                if acknowledges {
                    harness.server_sends(&acknowledged("@listen", "{}"));
                }
                harness.discard().server_sends(message).events(&[events]).sent(&[]);
                assert_eq!((harness.client.pending(), harness.deadline), (0, None));
            });
        }
    }
}

#[test]
fn server_cannot_cancel_any_other_request() {
    run(Setup::automatic(), |harness| {
        harness.call("add", DEFAULT).unwrap();
        harness.discard().server_sends(r#"{"method":"notifications/cancelled","params":{"requestId":@add}}"#);
        harness.events(&[]);
        harness.server_sends(r#"{"method":"notifications/cancelled","params":{"requestId":777}}"#);
        harness.events(&[]);
        harness.server_sends(r#"{"id":@add,"result":{}}"#).events(&["add: result {}"]);
    });
}

#[test]
fn only_the_acknowledgment_has_a_deadline() {
    run(Setup::automatic(), |harness| {
        let ticket = harness.client.listen(TOOLS, DEFAULT.timeout(Millis(9000)).maximum(Millis(1))).unwrap();
        harness.name(ticket, "tools");
        assert_eq!(harness.deadline, Some(9000));
        harness.discard().at(8999).events(&[]).at(9000).events(&["tools: lost TimedOut"]);
        harness.sent(&[
            r#"{"method":"notifications/cancelled","params":{"requestId":@listen,"reason":"timeout"}}"#,
        ]);
    });
}

#[test]
fn handshake_era_refuses_listen_subscriptions() {
    Setup::handshake().run(|harness| {
        assert_eq!(harness.client.listen(TOOLS, DEFAULT), Err(SendError::NotConnected));
        harness.connect();
        assert_eq!(harness.client.listen(TOOLS, DEFAULT), Err(SendError::Unsupported));
        harness.server_sends(r#"{"method":"notifications/tools/list_changed"}"#).events(&["changed Tools"]);
        harness.server_sends(r#"{"method":"notifications/resources/updated","params":{"uri":"a"}}"#);
        harness.events(&["updated a"]);
        harness
            .server_sends(r#"{"method":"notifications/resources/updated"}"#)
            .events(&["fault InvalidParams"]);
        harness.server_sends(&acknowledged("1", "{}"));
        assert!(harness.take_events()[0].starts_with("notified notifications/subscriptions/acknowledged"));
    });
}
