//! A server with every feature of the protocol, on stdin and stdout or over HTTP.
//!
//! The server supports every revision. The features are tools of every kind, changing resources, subscriptions,
//! prompts, completion, log messages, requests to the client, tasks, and skills.
//!
//! ```text
//! cargo build --example everything_server
//! cargo run --example inspect -- target/debug/examples/everything_server
//! cargo run --example everything_server -- --http 127.0.0.1:8080
//! ```
//!
//! The official conformance suite requires the tools and prompts whose names begin with `test_`. The script
//! `.ci/interop/conformance` runs the suite.

mod catalogue;
mod content;
mod input_requests;
mod multi_round;
mod prompts;
mod resources;
mod skills;
mod tasks;
mod tools;

use std::net::TcpListener;
use std::sync::{Mutex, PoisonError};

use mcp_proto::input::ListRoots;
use mcp_proto::server::{Completion, Event, Logging, ServerConfig, Subscriptions, Tasks};
use mcp_proto_std::http::{HttpAccess, HttpConfig, SessionMode};
use mcp_proto_std::{Serve, ServerHandle, serve};

static INFO: ServerConfig = ServerConfig::new("everything_server", env!("CARGO_PKG_VERSION"))
    .title("Everything")
    .description("Shows what a server can do")
    .instructions("Write notes, read them, watch them. The other tools are for trying out a client.")
    .features(&[
        &catalogue::TOOLS,
        &skills::SKILLS,
        &catalogue::RESOURCES,
        &prompts::PROMPTS,
        &Completion,
        &Subscriptions,
        &Logging,
        &Tasks::new().list(),
    ]);

/// The state of the connection.
#[derive(Default)]
struct World {
    notes: resources::Notes,
    ticks: u64,
    seal: multi_round::Seal,
    tasks: tasks::OpenTasks,
}

static HTTP: HttpConfig = HttpConfig::new().path("/mcp").sessions(SessionMode::Sessions);

fn main() -> Result<(), mcp_proto_std::ServeError> {
    let mut world = World::default();
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() != Some("--http") {
        return serve(&INFO, |event, server| handle_event(event, server, &mut world));
    }
    let listener = TcpListener::bind(arguments.next().unwrap_or("127.0.0.1:8080".into()))?;
    eprintln!("everything_server: http://{}/mcp", listener.local_addr()?);
    let world = Mutex::new(world);
    let access = HttpAccess::new(&HTTP).check_parameters(&catalogue::TOOLS);
    Serve::new(&INFO).http(listener, access, |event, server| {
        handle_event(event, server, &mut world.lock().unwrap_or_else(PoisonError::into_inner));
    })
}

fn handle_event(event: Event<'_>, server: &ServerHandle, world: &mut World) {
    let Some(event) = prompts::ROUTER.handle(world, event) else { return };
    match event {
        Event::Call(call) => tools::answer(call, server, world),
        Event::ListResources(list) => resources::list(list, world),
        Event::ReadResource(read) => resources::read(read, world),
        Event::Complete(request) => prompts::complete_note(request, world),
        Event::TaskInput(input) => tasks::take_input(&input, server, &mut world.tasks),
        Event::TaskCancelled(ticket) | Event::TaskExpired(ticket) => world.tasks.remove(ticket),
        Event::RootsChanged => list_roots(server.clone()),
        // Log to stderr, because stdout belongs to the protocol.
        Event::Subscribed(uri) => eprintln!("everything_server: {uri} is watched"),
        Event::Unsubscribed(uri) => eprintln!("everything_server: {uri} is no longer watched"),
        Event::ProtocolError(fault) => eprintln!("everything_server: {fault}"),
        _ => {}
    }
}

/// Requests the roots again, on another thread.
///
/// The event handler must return before the server can receive the response.
fn list_roots(server: ServerHandle) {
    std::thread::spawn(move || match server.request(&ListRoots) {
        Ok(answer) => {
            let count = answer.roots().map_or(0, Iterator::count);
            eprintln!("everything_server: there are {count} roots now");
        }
        Err(why) => eprintln!("everything_server: no roots: {why}"),
    });
}
