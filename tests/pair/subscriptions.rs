//! Subscriptions of the stateless era between a client and a server.
use crate::support::pair::scenario::Scenario;
use mcp_proto::client::{Filter, Options};
use mcp_proto::server::Change;
use mcp_proto::{ClientCapabilities, Revisions, Ticket};

fn run(dialogue: impl Fn(&mut Scenario)) {
    Scenario::run(Revisions::STATELESS, ClientCapabilities::NONE, dialogue);
}

fn listen(pair: &mut Scenario, name: &str, filter: Filter<'_>) -> Ticket {
    pair.start(name, |client| client.listen(filter, Options::DEFAULT))
}

/// Opens two subscriptions, and waits for their acknowledgments.
fn two(pair: &mut Scenario) -> [Ticket; 2] {
    let one = listen(pair, "one", Filter::NOTHING.tools().uris(&["lib:n0"]));
    let other =
        listen(pair, "other", Filter::NOTHING.tools().prompts().resources().uris(&["lib:n0", "lib:n1"]));
    pair.run_until_idle();
    pair.expect_client_events(&[
        "one: subscribes to [tools, lib:n0]",
        "other: subscribes to [tools, prompts, resources, lib:n0, lib:n1]",
    ]);
    pair.expect_server_events(&["listening lib:n0", "listening lib:n0, lib:n1"]);
    [one, other]
}

/// Compares the sorted events with `expected`, because the order of subscriptions is not specified.
#[track_caller]
fn client_events(pair: &mut Scenario, expected: &[&str]) {
    pair.run_until_idle();
    let mut client_events = pair.take_client_events();
    client_events.sort();
    assert_eq!(client_events, expected);
}

#[test]
fn subscription_receives_what_its_filter_selects() {
    run(|pair| {
        two(pair);
        pair.server.changed(Change::Prompts);
        client_events(pair, &["other: changed Prompts"]);
        pair.server.changed(Change::Tools);
        pair.server.changed(Change::Tools);
        client_events(pair, &["one: changed Tools", "other: changed Tools"]);
        pair.server.changed(Change::Resource("lib:n0"));
        pair.server.changed(Change::Resource("lib:n1"));
        pair.server.changed(Change::Resource("lib:n2"));
        client_events(pair, &["one: updated lib:n0", "other: updated lib:n0", "other: updated lib:n1"]);
        pair.call("echo", "{}", Options::DEFAULT);
        client_events(pair, &["echo: {}"]);
    });
}

#[test]
fn nothing_is_received_before_the_acknowledgment() {
    run(|pair| {
        listen(pair, "one", Filter::NOTHING.tools());
        // A change during the request leads to a notification after the acknowledgment, or to none.
        pair.server.changed(Change::Tools);
        pair.run_until_idle().expect_server_events(&["listening "]);
        let client_events = pair.take_client_events();
        assert_eq!(client_events[0], "one: subscribes to [tools]");
        assert!(
            client_events.len() == 1 || client_events[1..] == ["one: changed Tools"],
            "{client_events:?}"
        );
    });
}

#[test]
fn either_side_can_end_a_subscription() {
    run(|pair| {
        let [one, _] = two(pair);
        pair.cancel(one);
        pair.run_until_idle().expect_client_events(&[]).expect_server_events(&["cancelled why"]);
        pair.server.changed(Change::Tools);
        client_events(pair, &["other: changed Tools"]);
        // Pending notifications precede the end of the subscription.
        pair.server.changed(Change::Prompts);
        let other = pair.listening[1];
        pair.server.end_subscription(other).unwrap();
        let end =
            r#"other: result {"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"#;
        let client_events = pair.run_until_idle().take_client_events();
        assert_eq!(client_events[0], "other: changed Prompts");
        assert!(client_events.len() == 2 && client_events[1].starts_with(end), "{client_events:?}");
        assert_eq!(pair.client.pending(), 0);
        pair.server.changed(Change::Tools);
        pair.run_until_idle();
    });
    // If both sides end the subscription, it ends only once.
    run(|pair| {
        let [one, other] = two(pair);
        for (ticket, at) in [(one, 0), (other, 1)] {
            pair.server.end_subscription(pair.listening[at]).unwrap();
            pair.cancel(ticket);
        }
        pair.run_until_idle().expect_client_events(&[]);
        pair.take_server_events();
        assert_eq!(pair.client.pending(), 0);
    });
}

#[test]
fn reconnect_renews_subscriptions_and_ends_requests() {
    run(|pair| {
        let [one, _] = two(pair);
        pair.call("later", "{}", Options::DEFAULT);
        pair.run_until_idle().expect_client_events(&[]);
        for _ in 0..3 {
            pair.reconnect();
            let mut client_events = pair.take_client_events();
            client_events.retain(|it| !it.starts_with("later: "));
            assert_eq!(
                client_events,
                [
                    "connected 2026-07-28",
                    "one: subscribes to [tools, lib:n0]",
                    "other: subscribes to [tools, prompts, resources, lib:n0, lib:n1]",
                ]
            );
            pair.expect_server_events(&["listening lib:n0", "listening lib:n0, lib:n1"]);
            assert_eq!(pair.client.pending(), 2, "only the subscriptions are pending");
            pair.server.changed(Change::Resource("lib:n0"));
            self::client_events(pair, &["one: updated lib:n0", "other: updated lib:n0"]);
        }
        pair.cancel(one);
        pair.run_until_idle().expect_server_events(&["cancelled why"]);
        pair.reconnect().expect_client_events(&[
            "connected 2026-07-28",
            "other: subscribes to [tools, prompts, resources, lib:n0, lib:n1]",
        ]);
        pair.expect_server_events(&["listening lib:n0, lib:n1"]);
    });
}

/// Breaks the connection at random moments. Each subscription still gets its notification in the end.
#[test]
fn broken_connections_lose_no_subscription() {
    run(|pair| {
        two(pair);
        for moment in 0..40 {
            pair.server.changed(Change::Tools);
            for _ in 0..moment {
                pair.step();
            }
            pair.break_connection();
        }
        pair.run_until_idle();
        pair.take_client_events();
        pair.take_server_events();
        assert_eq!(pair.client.pending(), 2);
        pair.server.changed(Change::Prompts);
        pair.server.changed(Change::Resource("lib:n0"));
        client_events(pair, &["one: updated lib:n0", "other: changed Prompts", "other: updated lib:n0"]);
    });
}
