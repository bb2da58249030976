//! Spans of requests, with the feature `tracing`.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{LazyLock, OnceLock};

use mcp_proto::server::ServerConfig;
use mcp_proto_handles::{Signal, block_on};
use mcp_proto_tokio::{Connector, Router, Serve, route, router, tool};
use tokio::io::duplex;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::registry::{LookupSpan, Registry};

use super::servers::{ADAPTERS, Limits, call, current_span};

/// The fields of a span.
#[derive(Debug, Clone, Default)]
struct Fields(BTreeMap<&'static str, String>);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.0.insert(field.name(), format!("{value:?}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.insert(field.name(), value.into());
    }
}

/// The ended spans of tools whose names begin with `span`.
static ENDED: LazyLock<Signal<Vec<Fields>>> = LazyLock::new(Signal::default);

/// Collects the fields of spans.
struct Collector;

impl<S: tracing::Subscriber + for<'s> LookupSpan<'s>> Layer<S> for Collector {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        context.span(id).unwrap().extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        values.record(context.span(id).unwrap().extensions_mut().get_mut::<Fields>().unwrap());
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        let span = context.span(&id).unwrap();
        let fields = span.extensions().get::<Fields>().unwrap().clone();
        // Other tests in this process call other tools.
        if fields.0.get("tool").is_some_and(|tool| tool.starts_with("span")) {
            ENDED.update(|ended| ended.push(fields));
        }
    }
}

/// Makes the collector the default subscriber.
fn install_collector() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        tracing::subscriber::set_global_default(Registry::default().with(Collector)).unwrap();
    });
}

#[test]
fn span_of_a_request_has_its_outcome_and_contains_its_work() {
    install_collector();
    for adapter in ADAPTERS {
        let running = adapter.listen_tcp(Limits::default());
        let client = running.client();
        // The tools respond with the name of the current span.
        for tool in ["span", "span_later"] {
            assert_eq!(call(&client, tool), "mcp_request", "{adapter:?} {tool}");
        }
        running.stop();
        let ended = block_on(ENDED.wait_until(|ended| (ended.len() >= 2).then(|| std::mem::take(ended))));
        assert_eq!(ended.len(), 2, "{adapter:?}: {ended:?}");
        for fields in ended {
            let names: Vec<_> = fields.0.keys().copied().collect();
            assert_eq!(names, ["elapsed_us", "id", "method", "outcome", "tool"], "{adapter:?}");
            assert_eq!(fields.0["method"], "tools/call");
            assert_eq!(fields.0["outcome"], "result");
            assert!(fields.0["id"].parse::<u64>().is_ok() && fields.0["elapsed_us"].parse::<u64>().is_ok());
        }
    }
}

/// Returns the name of the current span.
#[tool(blocking)]
fn name_span() -> &'static str {
    current_span()
}

#[tokio::test]
async fn blocking_function_runs_within_the_span_of_its_request() {
    static ROUTER: Router<()> = router![name_span];
    static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(ROUTER.features());
    install_collector();
    let (here, there) = duplex(4096);
    tokio::spawn(Serve::new(&CONFIG).stream(there, route(&ROUTER, ())));
    let client = Connector::new("test", "1").stream(here).await.unwrap();
    let result = client.call_json("name_span", "{}").await.unwrap();
    assert_eq!(result.text().as_deref(), Some("mcp_request"));
}
