//! A server with every feature of the protocol, on stdin and stdout or over HTTP.
//!
//! The server supports every revision. The features are tools of every kind, changing resources, subscriptions,
//! prompts, completion, log messages, requests to the client, tasks, and skills.
//!
//! ```text
//! cargo build --example everything_server
//! cargo run -p mcp-inspect -- target/debug/examples/everything_server
//! cargo run --example everything_server -- --http 127.0.0.1:8080
//! ```
//!
//! The official conformance suite requires the tools and prompts whose names begin with `test_`. The script
//! `.ci/interop/conformance` runs the suite.

mod catalog;
mod content;
mod input_requests;
mod multi_round;
mod prompts;
mod resources;
mod skills;
mod tasks;
mod tools;

use std::error::Error;
use std::net::TcpListener;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use mcp_proto::input::ListRoots;
use mcp_proto::server::{Completion, Event, Logging, ServerConfig, Subscriptions, Tasks};
use mcp_proto_std::http::{HttpAccess, HttpConfig, SessionMode};
use mcp_proto_std::{Serve, ServerHandle, serve};

static CONFIG: ServerConfig = ServerConfig::new("everything_server", env!("CARGO_PKG_VERSION"))
    .title("Everything")
    .description("Shows what a server can do")
    .instructions("Write notes, read them, watch them. The other tools are for trying out a client.")
    .features(&[
        &catalog::TOOLS,
        &skills::SKILLS,
        &catalog::RESOURCES,
        &prompts::PROMPTS,
        &Completion,
        &Subscriptions,
        &Logging,
        &Tasks::new().list(),
    ]);

/// The state of the application. Over HTTP, all sessions share the state.
#[derive(Default)]
struct World {
    notes: resources::Notes,
    ticks: u64,
    seal: multi_round::Seal,
    tasks: tasks::OpenTasks,
}

static HTTP: HttpConfig = HttpConfig::new().path("/mcp").sessions(SessionMode::Sessions);

const USAGE: &str = "usage: everything_server [--http [HOST:PORT]]
Serves stdin and stdout. With --http, it serves http://HOST:PORT/mcp. Without an address, it is 127.0.0.1:8080.";

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let result = match arguments.next().as_deref() {
        None => serve_stdio(),
        Some("--http") => serve_http(&arguments.next().unwrap_or("127.0.0.1:8080".into())),
        Some("--help") => {
            println!("{USAGE}");
            Ok(())
        }
        Some(other) => Err(format!("{other} is not an option\n{USAGE}").into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("everything_server: {error}");
            ExitCode::FAILURE
        }
    }
}

fn serve_stdio() -> Result<(), Box<dyn Error>> {
    let mut world = World::default();
    Ok(serve(&CONFIG, |event, server| match event {
        Event::RootsChanged => list_roots(server.clone()),
        event => handle_event(event, server, &mut world),
    })?)
}

fn serve_http(address: &str) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(address)
        .map_err(|error| format!("cannot listen on {address}: {error}\n{USAGE}"))?;
    eprintln!("everything_server: http://{}/mcp", listener.local_addr()?);
    let world = Mutex::new(World::default());
    let access = HttpAccess::new(&HTTP).check_parameters(&catalog::TOOLS);
    Ok(Serve::new(&CONFIG).http(listener, access, |event, server| {
        handle_event(event, server, &mut world.lock().unwrap_or_else(PoisonError::into_inner));
    })?)
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
        // Log to stderr, because stdout belongs to the protocol.
        Event::Subscribed(uri) => eprintln!("everything_server: {uri} is watched"),
        Event::Unsubscribed(uri) => eprintln!("everything_server: {uri} is no longer watched"),
        Event::ProtocolError(fault) => eprintln!("everything_server: {fault}"),
        _ => {}
    }
}

/// Requests the changed roots on another thread, because the event handler must return before the server can receive
/// the response.
///
/// Only `serve_stdio` calls this function. Over HTTP, the server can request roots only during a client's request.
fn list_roots(server: ServerHandle) {
    std::thread::spawn(move || match server.request(&ListRoots) {
        Ok(answer) => {
            let count = answer.roots().map_or(0, Iterator::count);
            eprintln!("everything_server: there are {count} roots now");
        }
        Err(why) => eprintln!("everything_server: no roots: {why}"),
    });
}
