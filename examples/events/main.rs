//! An extension outside of the crate: a source of events, in the manner of the draft *Events* (SEP-3415).
//!
//! ```text
//! events/list     the types of events, in pages
//! events/poll     the events since a cursor
//! events/stream   the events since a cursor as notifications, until the request ends
//! eventsListChanged   a member of the filter of subscriptions/listen (2026-07-28)
//! ```
//!
//! `source.rs` is the server side. This file runs a server with a client and checks what the client receives:
//! `cargo run --example events`.

mod source;

use std::error::Error;
use std::sync::Arc;

use mcp_proto::client::Connect;
use mcp_proto::server::{Event, ServerConfig, Subscriptions, Tool, Tools};
use mcp_proto_tokio::{CallError, CallOptions, ClientHandle, Connector, Notification, Serve, ServerHandle};
use source::{EVENTS, EventSource, EventType, UNKNOWN_CURSOR};

/// The name of the extension.
const EXTENSION: &str = "com.example/events";

static TOOLS: Tools = Tools::new(&[
    Tool::new("measure", "{}").description("Measures the temperature, which is an event"),
    Tool::new("add_sensor", "{}").description("Adds a type of events"),
    Tool::new("stop", "{}").description("Ends all streams"),
]);
static CONFIG: ServerConfig =
    ServerConfig::new("events", "1.0.0").features(&[&TOOLS, &EVENTS, &Subscriptions]);

const SENSORS: [EventType; 2] = [
    EventType { name: "temperature", description: "The temperature in degrees Celsius" },
    EventType { name: "pressure", description: "The pressure in hectopascals" },
];
const HUMIDITY: EventType = EventType { name: "humidity", description: "The humidity in percent" };

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    for connect in [Connect::Handshake, Connect::Stateless] {
        let (client_end, server_end) = tokio::io::duplex(4096);
        tokio::spawn(async move { Serve::new(&CONFIG).stream(server_end, handler()).await });
        let connector = Connector::new("events", "1.0.0").connect(connect).extensions(&[(EXTENSION, "{}")]);
        let client = connector.stream(client_end).await?;
        println!("== {}", client.server().revision);
        check_events(&client).await?;
        if connect == Connect::Stateless {
            check_list_changes(&client).await?;
        }
        client.close().await;
    }
    println!("All checks passed.");
    Ok(())
}

/// Returns the handler of a server with a source of events.
fn handler() -> impl FnMut(Event<'_>, &ServerHandle) {
    let source = Arc::new(EventSource::new(&SENSORS));
    move |event, server| match event {
        Event::Request(request) => source.handle(request, server),
        Event::Listening(listening) => source.add_listener(&listening),
        Event::Cancelled { ticket, .. } => source.remove_listener(ticket),
        Event::Call(call) => {
            let (name, source, handle) = (call.name().to_owned(), Arc::clone(&source), server.clone());
            server.run(call, move |answer| async move {
                match &*name {
                    "measure" => source.publish("temperature", 21.5),
                    "add_sensor" => source.add_type(HUMIDITY, &handle).await,
                    _ => source.close(),
                }
                answer.text("done");
            });
        }
        _ => {}
    }
}

async fn check_events(client: &ClientHandle) -> Result<(), Box<dyn Error>> {
    let page = client.request("events/list", "{}").await?;
    check("events/list", &page, r#""events":[{"name":"temperature""#)?;

    client.call_json("measure", "{}").await?;
    let polled = client.request("events/poll", "{}").await?;
    check("events/poll", &polled, r#""events":[{"name":"temperature","data":21.5}],"cursor":"1""#)?;
    match client.request("events/poll", r#"{"cursor":"7"}"#).await {
        Err(CallError::Server(error)) if error.code == i64::from(UNKNOWN_CURSOR) => {}
        other => return Err(format!("an unknown cursor: {other:?}").into()),
    }

    // The stream starts with the event that has already occurred, and stays open without a timeout.
    let options = CallOptions::new().without_timeout();
    let mut stream = client.begin_request("events/stream", "{}", options)?;
    client.call_json("measure", "{}").await?;
    for _ in 0..2 {
        check(
            "events/stream",
            &received(stream.notification().await)?,
            r#""name":"temperature","data":21.5"#,
        )?;
    }
    // A client cancels a stream, or the server ends it with a result.
    stream.cancel("enough");
    check("cancel", &format!("{:?}", stream.await), "Cancelled")?;
    let stream = client.begin_request("events/stream", r#"{"cursor":"2"}"#, options)?;
    client.call_json("stop", "{}").await?;
    check("end of the stream", &stream.await?, r#""cursor":"2""#)
}

async fn check_list_changes(client: &ClientHandle) -> Result<(), Box<dyn Error>> {
    let mut subscription = client.listen_with(&[], &[], &[("eventsListChanged", "true")]).await?;
    check("subscriptions/listen", &subscription.acknowledged().to_string(), r#"{"eventsListChanged":true}"#)?;
    client.call_json("add_sensor", "{}").await?;
    received(subscription.next().await)?;
    let cursor = client.request("events/list", "{}").await?;
    check("first page", &cursor, r#""nextCursor":"2""#)?;
    check("next page", &client.request("events/list", r#"{"cursor":"2"}"#).await?, "humidity")
}

/// Returns the parameters of a notification of the extension. Fails for any other notification, and for `None`.
fn received(notification: Option<Notification>) -> Result<String, Box<dyn Error>> {
    match notification {
        Some(Notification::Other { params, .. }) => Ok(params.unwrap_or_default()),
        other => Err(format!("no notification of the extension: {other:?}").into()),
    }
}

/// Prints a result. Fails if the result does not contain the expected text.
fn check(action: &str, result: &str, expected: &str) -> Result<(), Box<dyn Error>> {
    if !result.contains(expected) {
        return Err(format!("{action}: {result}").into());
    }
    println!("  ✓ {action}: {result}");
    Ok(())
}
