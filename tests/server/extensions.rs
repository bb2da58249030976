//! Methods, notifications and filter members of extensions.

use crate::support::server::Setup;
use crate::support::server::tools::TOOLS;
use crate::support::transport::{feed, take};
use mcp_proto::server::{Event, Extensions, Feature, Server, ServerConfig, Subscriptions};
use mcp_proto::{Action, Buffer, ConfigError, Millis, Revision};

static OWN: Extensions<'static> = Extensions::new(&[("com.example/own", "{}")])
    .methods(&["own/one", "own/two", "tools/list"])
    .notifications(&["notifications/own"])
    .filter_members(&["ownListChanged", "ownNames"]);

static FEATURES: [&dyn Feature; 3] = [&TOOLS, &OWN, &Subscriptions];

const CONFIG: ServerConfig<'static> = ServerConfig::new("s", "1").features(&FEATURES);

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"com.example/own":{"k":1}}}}"#;

fn setup() -> Setup {
    Setup::new(CONFIG)
}

fn session() -> Setup {
    setup().session(Revision::V2025_11_25)
}

/// Returns a request of the stateless era.
fn request(id: &str, method: &str, params: &str) -> String {
    format!("> call {id} {method} {{{META}{params}}}\n")
}

#[test]
fn method_of_an_extension_is_an_event_in_both_eras() {
    for id in ["1", "\"x\""] {
        session().check(&format!(
            r#"> call {id} own/one {{"a":1}}
! request own/one {{"a":1}}
< result {id} {{"method":"own/one"}}
> call {id} own/two
! request own/two {{}}
< result {id} {{"method":"own/two"}}
"#
        ));
        setup().check(&format!(
            r#"{}! request own/one {{{META},"a":1}}
< result {id} {{"resultType":"complete","_meta":{{…}},"method":"own/one"}}
"#,
            request(id, "own/one", r#","a":1"#)
        ));
    }
    // JSON may escape the characters of a method.
    session().check(
        "> {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"own\\/one\"}\n! request own/one {}\n< result 1 {\"method\":\"own/one\"}\n",
    );
}

#[test]
fn own_method_needs_a_session_and_a_declaration() {
    setup().check("> call 1 own/one {}\n< error 1 -32602 …\n! fault InvalidParams\n");
    session().check("> call 1 own/three {}\n< error 1 -32601 …own/three\n! fault UnknownMethod\n");
    // `Tools` has precedence over an extension that names the same method.
    session().check("> call 1 tools/list {}\n< result 1 {\"tools\":…}\n");
}

#[test]
fn every_form_of_response_is_valid() {
    let head = r#"{"resultType":"complete","_meta":{…}"#;
    for (word, response) in [
        ("typed", format!("< result 1 {head}, \"a\":1}}\n")),
        ("empty", format!("< result 1 {head}}}\n")),
        (
            "error",
            r#"< {"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"no","data":1}}"#.to_owned() + "\n",
        ),
        ("array", "< error 1 -32603 …\n! fault InvalidReply\n".into()),
        ("unbalanced", "< error 1 -32603 …\n! fault InvalidReply\n".into()),
        ("drop", "< error 1 -32603 …\n! fault Unanswered\n".into()),
        ("type", r#"< result 1 {"resultType":"com.example/type","_meta":{…},"n":1}"#.to_owned() + "\n"),
        ("declared", format!("< result 1 {head},\"settings\":{{\"k\":1}}}}\n")),
        ("progress", format!("< result 1 {head},\"sent\":\"Err(NotWanted)\"}}\n")),
    ] {
        let sent = request("1", "own/one", &format!(",\"do\":\"{word}\""));
        setup().check(&format!("{sent}! request own/one {{…}}\n{response}"));
    }
    for (word, response) in [
        ("typed", "< result 1 { \"a\":1}\n"),
        ("empty", "< result 1 {}\n"),
        ("type", "< error 1 -32603 …\n! fault InvalidReply\n"),
        (
            "declared",
            "< {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32600,\"message\":\"Missing required client capability\",\"data\":{\"requiredCapabilities\":{\"extensions\":{\"com.example/own\":{}}}}}}\n",
        ),
    ] {
        let request = format!("> call 1 own/one {{\"do\":\"{word}\"}}\n! request own/one {{…}}\n");
        session().check(&format!("{request}{response}"));
    }
}

#[test]
fn call_responds_with_a_result_of_an_extension() {
    let mut server = Server::new(&CONFIG, Buffer::grown(4096), Buffer::grown(4096)).unwrap();
    let line =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{META},"name":"echo"}}}}"#)
            + "\n";
    feed(&mut server, Millis(0), line.as_bytes());
    assert!(matches!(server.poll(Millis(0)), Action::Event));
    let Some(Event::Call(call)) = server.event() else { panic!("a call") };
    call.result_of_type("com.example/type", |out| out.field_integer("n", 1));
    let sent = String::from_utf8(take(&mut server, Millis(0), usize::MAX)).unwrap();
    assert!(
        sent.starts_with(r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"com.example/type","#),
        "{sent}"
    );
    assert!(sent.contains(r#","n":1}"#), "{sent}");
}

#[test]
fn request_without_the_extension_is_refused_with_its_name() {
    let sent = request("1", "own/one", r#","do":"declared""#).replace("com.example/own", "com.example/x");
    let error = r#"< {"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"Missing required client capability","data":{"requiredCapabilities":{"extensions":{"com.example/own":{}}}}}}"#;
    setup().check(&format!("{sent}! request own/one {{…}}\n{error}\n"));
}

#[test]
fn deferred_request_is_a_subscription_of_the_extension() {
    let tag = r#""_meta":{"io.modelcontextprotocol/subscriptionId":"s"}"#;
    let open = request("\"s\"", "own/one", r#","do":"defer""#) + "! request own/one {…}\n";
    let head = r#"{"resultType":"complete","_meta":{…}"#;
    setup().check(&format!(
        r#"{open}* deferred 1
* notify-in 0 notifications/own {{"n":1}}
< note notifications/own {{{tag},"n":1}}
* notify-in 0 notifications/own {{}}
< note notifications/own {{{tag}}}
* result 0 {{"n":2}}
< result "s" {head},"n":2}}
* notify-in 0 notifications/own {{}}
! not now Gone
"#
    ));
    setup().check(&format!(
        r#"{open}> note notifications/cancelled {{"requestId":"s"}}
! cancelled 0
* notify-in 0 notifications/own {{}}
! not now Gone
"#
    ));
}

#[test]
fn notification_of_an_extension_passes_in_both_directions() {
    session().check(
        r#"> note notifications/own {"n":1}
! notified notifications/own {"n":1}
> note notifications/own
! notified notifications/own
> note notifications/other
! fault UnknownNotification
* notify notifications/own {"n":2}
< note notifications/own {"n":2}
* notify notifications/own {}
< note notifications/own
"#,
    );
    setup().check("* notify notifications/own {}\n! not now NotConnected\n");
}

#[test]
fn filter_member_of_an_extension_is_acknowledged() {
    let acknowledged = |filter: &str| {
        let tag = r#""_meta":{"io.modelcontextprotocol/subscriptionId":1}"#;
        format!(
            "< note notifications/subscriptions/acknowledged {{{tag},\"notifications\":{filter}}}\n! listening"
        )
    };
    for (requested, granted) in [
        (
            r#"{"ownListChanged":true,"toolsListChanged":true}"#,
            r#"{"toolsListChanged":true,"ownListChanged":true}"#,
        ),
        (r#"{"ownNames":["a"],"other":true}"#, r#"{"ownNames":["a"]}"#),
        (r#"{"ownListChanged":false,"ownNames":null}"#, "{}"),
    ] {
        let listen = request("1", "subscriptions/listen", &format!(",\"notifications\":{requested}"));
        setup().check(&format!("{listen}{} …\n", acknowledged(granted)));
    }
    // A member that does not fit is omitted.
    let long = format!("{{\"ownNames\":[\"{}\"],\"ownListChanged\":true}}", "x".repeat(2000));
    let listen = request("1", "subscriptions/listen", &format!(",\"notifications\":{long}"));
    setup().tx(1500).check(&format!("{listen}{} …\n", acknowledged(r#"{"ownListChanged":true}"#)));
}

#[test]
fn subscription_carries_notifications_of_an_extension() {
    let listen = request("1", "subscriptions/listen", r#","notifications":{"ownListChanged":true}"#);
    let tag = r#""_meta":{"io.modelcontextprotocol/subscriptionId":1}"#;
    setup().check(&format!(
        r#"{listen}< note notifications/subscriptions/acknowledged {{…}}
! listening [] []
* notify-in 0 notifications/own/list_changed {{}}
< note notifications/own/list_changed {{{tag}}}
* end 0
< result 1 {{…}}
< note notifications/cancelled {{"requestId":1}}
* notify-in 0 notifications/own/list_changed {{}}
! not now Gone
"#
    ));
}

#[test]
fn repeated_names_are_refused() {
    for own in [
        Extensions::new(&[]).methods(&["a", "b", "b"]),
        Extensions::new(&[]).notifications(&["a", "b", "b"]),
        Extensions::new(&[]).filter_members(&["a", "b", "b"]),
    ] {
        let features: [&dyn Feature; 1] = [&own];
        let info = ServerConfig::new("s", "1").features(&features);
        let (mut rx, mut tx) = ([0; 4096], [0; 4096]);
        let refused = Server::new(&info, &mut rx, &mut tx).map(drop);
        assert_eq!(refused, Err(ConfigError::DuplicateName { entry: 2 }));
    }
}
