//! Subscriptions of the stateless era between a client and a server.
use crate::support::pair::scenario::Both;
use mcp_proto::client::{Filter, Options};
use mcp_proto::server::Change;
use mcp_proto::{ClientCapabilities, Revisions, Ticket};

fn run(dialogue: impl Fn(&mut Both)) {
    Both::run(Revisions::STATELESS, ClientCapabilities::NONE, dialogue);
}

fn listen(both: &mut Both, name: &str, filter: Filter<'_>) -> Ticket {
    both.start(name, |client| client.listen(filter, Options::DEFAULT))
}

/// Two subscriptions, acknowledged.
fn two(both: &mut Both) -> [Ticket; 2] {
    let one = listen(both, "one", Filter::NOTHING.tools().uris(&["lib:n0"]));
    let other =
        listen(both, "other", Filter::NOTHING.tools().prompts().resources().uris(&["lib:n0", "lib:n1"]));
    both.settle();
    both.heard(&[
        "one: listens to [tools, lib:n0]",
        "other: listens to [tools, prompts, resources, lib:n0, lib:n1]",
    ]);
    both.told(&["listening lib:n0", "listening lib:n0, lib:n1"]);
    [one, other]
}

/// Expects these events in any order, because the server chooses the order of subscriptions.
#[track_caller]
fn heard(both: &mut Both, expected: &[&str]) {
    both.settle();
    let mut heard = both.heard_now();
    heard.sort();
    assert_eq!(heard, expected);
}

#[test]
fn subscription_receives_what_its_filter_selects() {
    run(|both| {
        two(both);
        both.server.changed(Change::Prompts);
        heard(both, &["other: changed Prompts"]);
        both.server.changed(Change::Tools);
        both.server.changed(Change::Tools);
        heard(both, &["one: changed Tools", "other: changed Tools"]);
        both.server.changed(Change::Resource("lib:n0"));
        both.server.changed(Change::Resource("lib:n1"));
        both.server.changed(Change::Resource("lib:n2"));
        heard(both, &["one: updated lib:n0", "other: updated lib:n0", "other: updated lib:n1"]);
        both.call("echo", "{}", Options::DEFAULT);
        heard(both, &["echo: {}"]);
    });
}

#[test]
fn nothing_is_received_before_the_acknowledgment() {
    run(|both| {
        listen(both, "one", Filter::NOTHING.tools());
        // A change during the request is notified after the acknowledgment, or not at all.
        both.server.changed(Change::Tools);
        both.settle().told(&["listening "]);
        let heard = both.heard_now();
        assert_eq!(heard[0], "one: listens to [tools]");
        assert!(heard.len() == 1 || heard[1..] == ["one: changed Tools"], "{heard:?}");
    });
}

#[test]
fn either_side_can_end_a_subscription() {
    run(|both| {
        let [one, _] = two(both);
        both.cancel(one);
        both.settle().heard(&[]).told(&["cancelled why"]);
        both.server.changed(Change::Tools);
        heard(both, &["other: changed Tools"]);
        // Pending notifications come first.
        both.server.changed(Change::Prompts);
        let other = both.listening[1];
        both.server.end_subscription(other).unwrap();
        let end =
            r#"other: result {"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":"#;
        let heard = both.settle().heard_now();
        assert_eq!(heard[0], "other: changed Prompts");
        assert!(heard.len() == 2 && heard[1].starts_with(end), "{heard:?}");
        assert_eq!(both.client.pending(), 0);
        both.server.changed(Change::Tools);
        both.settle();
    });
    // Both at once: one end, whichever is first.
    run(|both| {
        let [one, other] = two(both);
        for (ticket, at) in [(one, 0), (other, 1)] {
            both.server.end_subscription(both.listening[at]).unwrap();
            both.cancel(ticket);
        }
        both.settle().heard(&[]);
        both.told_now();
        assert_eq!(both.client.pending(), 0);
    });
}

#[test]
fn reconnect_renews_subscriptions_and_ends_requests() {
    run(|both| {
        let [one, _] = two(both);
        both.call("later", "{}", Options::DEFAULT);
        both.settle().heard(&[]);
        for _ in 0..3 {
            both.reconnect();
            let mut heard = both.heard_now();
            heard.retain(|it| !it.starts_with("later: "));
            assert_eq!(
                heard,
                [
                    "connected 2026-07-28",
                    "one: listens to [tools, lib:n0]",
                    "other: listens to [tools, prompts, resources, lib:n0, lib:n1]",
                ]
            );
            both.told(&["listening lib:n0", "listening lib:n0, lib:n1"]);
            assert_eq!(both.client.pending(), 2, "the call has ended");
            both.server.changed(Change::Resource("lib:n0"));
            self::heard(both, &["one: updated lib:n0", "other: updated lib:n0"]);
        }
        both.cancel(one);
        both.settle().told(&["cancelled why"]);
        both.reconnect().heard(&[
            "connected 2026-07-28",
            "other: listens to [tools, prompts, resources, lib:n0, lib:n1]",
        ]);
        both.told(&["listening lib:n0, lib:n1"]);
    });
}

/// Breaks the connection at random moments: each subscription is notified in the end.
#[test]
fn broken_connections_lose_no_subscription() {
    run(|both| {
        two(both);
        for moment in 0..40 {
            both.server.changed(Change::Tools);
            for _ in 0..moment {
                both.step();
            }
            both.cut();
        }
        both.settle();
        both.heard_now();
        both.told_now();
        assert_eq!(both.client.pending(), 2);
        both.server.changed(Change::Prompts);
        both.server.changed(Change::Resource("lib:n0"));
        heard(both, &["one: updated lib:n0", "other: changed Prompts", "other: updated lib:n0"]);
    });
}
