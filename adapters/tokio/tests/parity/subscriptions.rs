//! Subscriptions to resources, some of which the handler or a hook refuses.

use std::os::unix::net::UnixStream;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mcp_proto::client::{Connect, Listed};
use mcp_proto::server::{AuthorizedSubscriptions, Change, Event, Resource, Resources, ServerConfig};
use mcp_proto_handles::{Refusal, RequestHook, RequestInfo, RequestOutcome};
use mcp_proto_std::{CallError, ClientHandle, Connector, Notification};

use super::servers::{ADAPTERS, Adapter};

static RESOURCES: Resources = Resources::new(&[
    Resource::new("log://public", "public"),
    Resource::new("log://audit", "audit"),
    Resource::new("log://hooked", "hooked"),
])
.subscribe()
.list_changed();
static CONFIG: ServerConfig =
    ServerConfig::new("test", "1").features(&[&RESOURCES, &AuthorizedSubscriptions]);
const SOON: Duration = Duration::from_secs(60);

/// A hook that refuses one resource, and records the requests.
#[derive(Default)]
struct Hook(Mutex<Vec<String>>);

impl RequestHook for Hook {
    fn before(&self, request: &RequestInfo) -> Result<(), Refusal> {
        match request.name() {
            Some("log://hooked") => Err(Refusal::new(-31_001, "not permitted")),
            _ => Ok(()),
        }
    }

    fn after(&self, request: &RequestInfo, outcome: RequestOutcome, _: Duration) {
        let name = request.name().unwrap_or("several");
        self.0.lock().unwrap().push(format!("{} {name}: {outcome}", request.method()));
    }
}

/// Accepts subscriptions to all resources but one. If the event reads a resource, returns its URI: the caller then
/// reports a change of this resource. Returns `None` for other events.
fn handle(event: Event<'_>) -> Option<String> {
    match event {
        Event::SubscriptionRequest(request) => {
            request.accept_if(|uri| uri != "log://audit");
            None
        }
        Event::ReadResource(read) => {
            let uri = read.uri().to_owned();
            read.text("new");
            Some(uri)
        }
        _ => None,
    }
}

fn connect(adapter: Adapter, era: Connect, hook: Arc<Hook>) -> ClientHandle {
    let (here, there) = UnixStream::pair().unwrap();
    thread::spawn(move || match adapter {
        Adapter::Threads => mcp_proto_std::Serve::new(&CONFIG).hook(hook).stream(there, |event, server| {
            if let Some(uri) = handle(event) {
                server.changed(Change::Resource(&uri));
            }
        }),
        Adapter::Tokio => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                there.set_nonblocking(true).unwrap();
                let there = tokio::net::UnixStream::from_std(there).unwrap();
                let serve = mcp_proto_tokio::Serve::new(&CONFIG).hook(hook);
                serve
                    .stream(there, |event, server| {
                        if let Some(uri) = handle(event) {
                            server.changed(Change::Resource(&uri));
                        }
                    })
                    .await
            })
        }
    });
    Connector::new("test", "1").connect(era).stream(here).unwrap()
}

#[test]
fn session_gets_changes_of_accepted_resources() {
    for adapter in ADAPTERS {
        let hook = Arc::<Hook>::default();
        let client = connect(adapter, Connect::Handshake, Arc::clone(&hook));
        let mut notifications = client.notifications();
        for (uri, expected) in
            [("log://public", None), ("log://audit", Some(-32002)), ("log://hooked", Some(-31001))]
        {
            let code = match client.subscribe(uri) {
                Ok(()) => None,
                Err(CallError::Server(error)) => Some(error.code),
                Err(error) => panic!("{error}"),
            };
            assert_eq!(code, expected, "{adapter:?} {uri}");
        }
        for uri in ["log://audit", "log://public"] {
            client.read_resource(uri).unwrap();
        }
        let first = notifications.next_within(SOON).unwrap();
        assert!(matches!(&first, Notification::Updated(uri) if uri == "log://public"), "{first:?}");
        let requests = hook.0.lock().unwrap();
        assert_eq!(
            requests[..3],
            [
                "resources/subscribe log://public: result",
                "resources/subscribe log://audit: error -32002",
                "resources/subscribe log://hooked: error -31001",
            ],
            "{adapter:?}"
        );
    }
}

#[test]
fn listener_gets_changes_of_accepted_resources() {
    for adapter in ADAPTERS {
        let hook = Arc::<Hook>::default();
        let client = connect(adapter, Connect::Stateless, Arc::clone(&hook));
        let mut changes =
            client.listen(&[Listed::Resources], &["log://audit", "log://public", "log://other"]).unwrap();
        assert_eq!(
            changes.acknowledged().raw(),
            r#"{"resourcesListChanged":true,"resourceSubscriptions":["log://public"]}"#
        );
        for uri in ["log://audit", "log://public"] {
            client.read_resource(uri).unwrap();
        }
        let first = changes.next_within(SOON).unwrap();
        assert!(matches!(&first, Notification::Updated(uri) if uri == "log://public"), "{first:?}");
        assert_eq!(hook.0.lock().unwrap()[0], "subscriptions/listen several: result", "{adapter:?}");
    }
}
