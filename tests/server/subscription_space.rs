//! Space for subscribed URIs, tested to the byte.

use crate::support::server::Setup;
use crate::support::server::catalog::EVERYTHING;
use crate::support::server::hello;
use mcp_proto::Revision;

/// Bytes of an entry besides its URI.
const HEAD: usize = 15;

/// Three URIs of different lengths.
const URIS: [&str; 3] = ["lib:log", "lib:book/1", "lib:shelf/a/b/c"];

fn room(uris: &[&str]) -> usize {
    uris.iter().map(|uri| HEAD + uri.len()).sum()
}

fn session(room: usize) -> Setup {
    Setup::new(EVERYTHING).subscription_buffer(room).session(Revision::V2025_11_25)
}

fn subscribe(uri: &str) -> String {
    format!("> call 1 resources/subscribe {{\"uri\":\"{uri}\"}}\n< result 1\n! subscribed {uri}\n")
}

fn full(uri: &str, limit: usize) -> String {
    format!(
        "> call 1 resources/subscribe {{\"uri\":\"{uri}\"}}\n\
         < error 1 -32603 Too many resource subscriptions: at most {limit} bytes of URIs\n\
         ! fault TooManySubscriptions\n"
    )
}

fn unsubscribe(uri: &str) -> String {
    format!("> call 1 resources/unsubscribe {{\"uri\":\"{uri}\"}}\n< result 1\n! unsubscribed {uri}\n")
}

fn told(uri: &str) -> String {
    format!("< note notifications/resources/updated {{\"uri\":\"{uri}\"}}\n")
}

/// Returns a script that shows that exactly these URIs are subscribed.
fn watched(uris: &[&str]) -> String {
    let all: String = URIS
        .iter()
        .chain(&["lib:x", "lib:book/2"])
        .map(|uri| {
            let heard = if uris.contains(uri) { told(uri) } else { String::new() };
            format!("* updated {uri}\n{heard}")
        })
        .collect();
    all
}

#[test]
fn full_table_refuses_one_more_and_keeps_the_others() {
    let all: String = URIS.map(subscribe).concat();
    let exact = room(&URIS);
    // A repeated subscription takes no more space.
    let again = format!("> call 1 resources/subscribe {{\"uri\":\"{}\"}}\n< result 1\n", URIS[1]);
    session(exact).check(&format!(
        "{all}{}{}{again}{}",
        watched(&URIS),
        full("lib:x/y", exact),
        watched(&URIS)
    ));
    for short in [1, HEAD, HEAD + URIS[2].len()] {
        let limit = exact - short;
        let two = [subscribe(URIS[0]), subscribe(URIS[1])].concat();
        session(limit).check(&format!("{two}{}{}", full(URIS[2], limit), watched(&URIS[..2])));
    }
}

#[test]
fn space_of_an_unsubscribed_resource_is_reused() {
    let all: String = URIS.map(subscribe).concat();
    let exact = room(&URIS);
    for out in URIS {
        let others: Vec<&str> = URIS.into_iter().filter(|uri| *uri != out).collect();
        // The new URI has the same length, or one byte more.
        let same = format!("lib:s/{}", "y".repeat(out.len() - 6));
        let longer = format!("{same}y");
        session(exact).check(&format!(
            "{all}{}{}{}{}* updated {same}\n{}{}{}{}{}",
            unsubscribe(out),
            watched(&others),
            full(&longer, exact),
            subscribe(&same),
            told(&same),
            watched(&others),
            full(out, exact),
            unsubscribe(&same) + &subscribe(out),
            watched(&URIS),
        ));
    }
}

#[test]
fn waiting_changes_survive_other_unsubscriptions() {
    // The server sends the notifications when the handshake is complete.
    let open = format!("> call 0 initialize {}\n< result 0 …\n! connected …\n", hello("2025-11-25"));
    let all: String = URIS.map(subscribe).concat();
    for out in URIS {
        for changed in URIS {
            let heard = if changed == out { String::new() } else { told(changed) };
            Setup::new(EVERYTHING).subscription_buffer(room(&URIS)).check(&format!(
                "{open}{all}* updated {changed}\n{}> note notifications/initialized\n! ready\n{heard}",
                unsubscribe(out),
            ));
        }
    }
}

#[test]
fn space_of_an_ended_subscription_is_reused() {
    let listen = |id: u32, uris: &[&str], taken: &[&str]| {
        format!(
            "> call {id} subscriptions/listen {{\"_meta\":{{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\
             \"io.modelcontextprotocol/clientCapabilities\":{{}}}},\"notifications\":{{\"resourceSubscriptions\":{uris:?}}}}}\n\
             < note notifications/subscriptions/acknowledged …\n! listening [] {taken:?}\n"
        )
    };
    let updated = |id: u32, uri: &str| {
        format!(
            "< note notifications/resources/updated {{\"_meta\":{{\"io.modelcontextprotocol/subscriptionId\":{id}}},\"uri\":\"{uri}\"}}\n"
        )
    };
    let [first, second, third] = URIS;
    let exact = room(&URIS);
    // The session's entry is between the entries of two subscriptions. The first subscription ends.
    session(exact).check(&format!(
        "{}{}{}{}> note notifications/cancelled {{\"requestId\":11}}\n! cancelled 0\n{}* updated {first}\n{}\
         * updated {second}\n{}* updated {third}\n{}{}",
        listen(11, &[first], &[first]),
        subscribe(second),
        listen(12, &[third, "lib:x/y"], &[third]),
        full("lib:x/y", exact),
        listen(13, &[first, "lib:x/y"], &[first]),
        updated(13, first),
        told(second),
        updated(12, third),
        full("lib:x/y", exact),
    ));
    // If the buffer has one byte less, the last URI does not fit.
    session(exact - 1).check(&format!(
        "{}* updated {second}\n{}* updated {third}\n",
        listen(11, &URIS, &[first, second]),
        updated(11, second),
    ));
}
