//! Subscriptions that the application accepts or refuses before the server responds.

use crate::support::server::{Setup, hello};
use crate::support::transport::exchange;
use mcp_proto::server::{
    AuthorizedSubscriptions, Event, Feature, Resource, ResourceTemplate, Resources, Server, ServerConfig,
    Tools,
};
use mcp_proto::{Action, Buffer, ClientCapabilities, Millis, Revision, Revisions, StreamId};

static TOOLS: Tools<'static> = Tools::new(&[]).list_changed();
static RESOURCES: Resources<'static> = Resources::new(&[
    Resource::new("lib:log", "log"),
    Resource::new("lib:error", "error"),
    Resource::new("lib:drop", "drop"),
])
.templates(&[ResourceTemplate::new("lib:book/{id}", "book")])
.subscribe();
static FEATURES: [&dyn Feature; 3] = [&TOOLS, &RESOURCES, &AuthorizedSubscriptions];
const CONFIG: ServerConfig<'static> = ServerConfig::new("s", "1").features(&FEATURES);

fn setup() -> Setup {
    Setup::new(CONFIG).subscription_buffer(200)
}

fn session() -> Setup {
    setup().session(Revision::V2025_11_25)
}

fn subscribe(id: u8, uri: &str, revision: &str) -> String {
    let decoded = uri.replace("\\u006f", "o");
    format!(
        "> call {id} resources/subscribe {{\"uri\":\"{uri}\",\"_meta\":{{}}}}\n\
         ! resources/subscribe {id} [{decoded:?}] {revision} false\n"
    )
}

fn not_found(id: u8, uri: &str) -> String {
    format!("< error {id} -32002 Resource not found data {{\"uri\":\"{uri}\"}}\n")
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

fn listen(id: u8, filter: &str, uris: &str) -> String {
    format!(
        "> call {id} subscriptions/listen {{{META},\"notifications\":{filter}}}\n\
         ! subscriptions/listen {id} [{uris}] 2026-07-28 true{filter}\n"
    )
}

fn tagged(id: u8, method: &str, members: &str) -> String {
    let tag = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}"#);
    format!("< note notifications/{method} {{{tag}{members}}}\n")
}

fn acknowledged(id: u8, filter: &str) -> String {
    tagged(id, "subscriptions/acknowledged", &format!(",\"notifications\":{filter}"))
}

#[test]
fn session_subscribes_only_to_accepted_resources() {
    for revision in Revision::ALL.into_iter().filter(|revision| Revisions::HANDSHAKE.contains(*revision)) {
        let name = revision.as_str();
        let updated = "< note notifications/resources/updated {\"uri\":\"lib:log\"}\n";
        setup().session(revision).check(&format!(
            "* refuse lib:book/7\n{}< result 1\n{}{}{}< result 3\n* updated lib:log\n{updated}* updated lib:book/7\n\
             > call 4 resources/unsubscribe {{\"uri\":\"lib:log\"}}\n< result 4\n! unsubscribed lib:log\n* updated lib:log\n",
            subscribe(1, "lib:l\\u006fg", name),
            subscribe(2, "lib:book/7", name),
            not_found(2, "lib:book/7"),
            subscribe(3, "lib:book/8", name),
        ));
    }
}

#[test]
fn refusal_ends_an_earlier_subscription() {
    let accepted = |id: u8| format!("{}< result {id}\n", subscribe(id, "lib:log", "2025-11-25"));
    let refused = |id: u8| format!("{}{}", subscribe(id, "lib:log", "2025-11-25"), not_found(id, "lib:log"));
    session().check(&format!(
        "{}{}* refuse lib:log\n{}* updated lib:log\n{}",
        accepted(1),
        accepted(2),
        refused(3),
        // The buffer still contains the entry of the earlier subscription, marked as removed.
        refused(4)
    ));
}

#[test]
fn unanswered_and_refused_requests_get_an_error() {
    session().check(&format!(
        "{}< error 1 7 not permitted\n{}< error 2 -32603 …\n! fault Unanswered\n* updated lib:error\n* updated lib:drop\n",
        subscribe(1, "lib:error", "2025-11-25"),
        subscribe(2, "lib:drop", "2025-11-25"),
    ));
    let filter = |uri: &str| format!(r#"{{"toolsListChanged":true,"resourceSubscriptions":["{uri}"]}}"#);
    setup().check(&format!(
        "{}< error 1 7 not permitted\n{}< error 2 -32603 …\n! fault Unanswered\n* deferred 0\n* changed\n",
        listen(1, &filter("lib:error"), "\"lib:error\""),
        listen(2, &filter("lib:drop"), "\"lib:drop\""),
    ));
}

#[test]
fn invalid_requests_do_not_reach_the_application() {
    session().check(&format!(
        "> call 1 resources/subscribe {{}}\n< error 1 -32602 Invalid params: `uri` must be a string\n\
         ! fault InvalidParams\n> call 2 resources/subscribe {{\"uri\":\"none:\"}}\n{}! fault UnknownResource\n",
        not_found(2, "none:")
    ));
    setup().check(&format!(
        "> call 1 subscriptions/listen {{{META}}}\n\
         < error 1 -32602 Invalid params: `notifications` must be an object\n! fault InvalidParams\n"
    ));
    static SILENT: Resources<'static> = Resources::new(&[Resource::new("lib:log", "log")]);
    static WITHOUT_WATCHING: [&dyn Feature; 2] = [&SILENT, &AuthorizedSubscriptions];
    let info = ServerConfig::new("s", "1").features(&WITHOUT_WATCHING);
    Setup::new(info).session(Revision::V2025_11_25).check(
        "> call 1 resources/subscribe {\"uri\":\"lib:log\"}\n\
         < error 1 -32601 Method not found: the server does not support resource subscriptions\n! fault UnknownMethod\n",
    );
}

#[test]
fn acknowledgment_lists_only_accepted_resources() {
    let uris = r#"["lib:book/1","lib:l\u006fg","none:","lib:book/2","lib:log"]"#;
    let decoded = r#""lib:book/1", "lib:log", "none:", "lib:book/2", "lib:log""#;
    let filter = format!(r#"{{"toolsListChanged":true,"resourceSubscriptions":{uris}}}"#);
    let updated = |uri: &str| tagged(1, "resources/updated", &format!(",\"uri\":\"{uri}\""));
    setup().check(&format!(
        "* refuse lib:book/1\n{}{}* updated lib:book/1\n* updated lib:book/2\n{}* updated lib:log\n{}* changed\n{}* deferred 1\n\
         * end 0\n< result 1 …\n< note notifications/cancelled {{\"requestId\":1}}\n* deferred 0\n",
        listen(1, &filter, decoded),
        acknowledged(1, r#"{"toolsListChanged":true,"resourceSubscriptions":["lib:l\u006fg","lib:book/2"]}"#),
        updated("lib:book/2"),
        updated("lib:log"),
        tagged(1, "tools/list_changed", ""),
    ));
    // If the application refuses all resources, the acknowledgment has no member for resources.
    setup().check(&format!(
        "* refuse lib:log\n{}{}* updated lib:log\n* deferred 1\n",
        listen(1, r#"{"resourceSubscriptions":["lib:log"]}"#, "\"lib:log\""),
        acknowledged(1, "{}"),
    ));
}

#[test]
fn several_subscriptions_are_decided_separately() {
    let filter = r#"{"resourceSubscriptions":["lib:log"]}"#;
    setup().check(&format!(
        "{}{}* refuse lib:log\n{}{}* updated lib:log\n{}",
        listen(1, filter, "\"lib:log\""),
        acknowledged(1, filter),
        listen(2, filter, "\"lib:log\""),
        acknowledged(2, "{}"),
        tagged(1, "resources/updated", ",\"uri\":\"lib:log\""),
    ));
}

#[test]
fn accepted_subscription_without_a_slot_is_refused() {
    setup().slots(1, 64).check(&format!(
        "{}{}{}< error 2 -32603 …\n! fault TooManyInFlight\n",
        listen(1, "{}", ""),
        acknowledged(1, "{}"),
        listen(2, "{}", ""),
    ));
    // The buffer for URIs has no space, so the server refuses the request although the application accepts it.
    Setup::new(CONFIG).session(Revision::V2025_11_25).check(&format!(
        "{}< error 1 -32603 …\n! fault TooManySubscriptions\n",
        subscribe(1, "lib:log", "2025-11-25")
    ));
}

#[test]
fn request_has_its_client_and_stream_and_is_accepted_whole() {
    let server = Server::new(&CONFIG, Buffer::grown(4096), Buffer::grown(4096)).unwrap();
    let mut server =
        server.message_mode().unwrap().in_flight_grown(2).unwrap().subscription_buffer(Buffer::grown(200));
    let filter = r#"{"toolsListChanged":true,"resourceSubscriptions":["lib:log"]}"#;
    let meta = META.replace("Capabilities\":{}", "Capabilities\":{\"roots\":{}}");
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{{{meta},"notifications":{filter}}}}}"#
    );
    let Action::Io(io) = server.poll(Millis(0)) else { panic!("no event") };
    io.split().1.message(line.as_bytes(), StreamId(7)).unwrap();
    assert!(matches!(server.poll(Millis(0)), Action::Event));
    let Some(Event::SubscriptionRequest(request)) = server.event() else { panic!("a request") };
    assert!(request.client().has(ClientCapabilities::ROOTS));
    assert_eq!(request.stream(), StreamId(7));
    let ticket = request.accept().expect("a subscription");
    let Action::Io(io) = server.poll(Millis(0)) else { panic!("no event") };
    let sent = String::from_utf8(io.split().0.bytes().to_vec()).unwrap();
    assert!(sent.contains(filter), "{sent}");
    server.end_subscription(ticket).unwrap();
}

#[test]
fn accepted_request_of_a_session_has_no_ticket() {
    let server = Server::new(&CONFIG, Buffer::grown(4096), Buffer::grown(4096)).unwrap();
    let mut server = server.in_flight_grown(2).unwrap().subscription_buffer(Buffer::grown(200));
    let initialize = hello("2025-11-25");
    let lines = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{initialize}}}\n\
         {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}}\n\
         {{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/subscribe\",\"params\":{{\"uri\":\"lib:log\"}}}}\n"
    );
    let (mut input, mut output) = (lines.as_bytes(), Vec::new());
    loop {
        match server.poll(Millis(0)) {
            Action::Event => {
                if let Some(Event::SubscriptionRequest(request)) = server.event() {
                    break assert_eq!(request.accept(), None);
                }
            }
            Action::Io(io) => assert!(exchange(io, &mut input, &mut output), "no request"),
            Action::Closed => panic!("closed"),
        }
    }
}
