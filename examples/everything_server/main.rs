//! A server on stdin and stdout with everything that the protocol has: tools of every kind, resources that change and
//! can be watched, prompts, completion, log messages, and questions to the client, in every revision.
//!
//! ```text
//! cargo build --example everything_server
//! cargo run --example inspect -- target/debug/examples/everything_server
//! ```
//!
//! What begins with `test_` is what the official conformance suite wants to see; `.ci/interop/conformance` runs it.

mod asking;
mod catalogue;
mod content;
mod prompts;
mod resources;
mod rounds;
mod tools;

use mcp_proto::input::ListRoots;
use mcp_proto::server::{Completion, Event, Logging, ServerConfig, Subscriptions};
use mcp_proto_std::{ServerHandle, serve};

static INFO: ServerConfig = ServerConfig::new("everything_server", env!("CARGO_PKG_VERSION"))
    .title("Everything")
    .description("Shows what a server can do")
    .instructions("Write notes, read them, watch them. The other tools are for trying out a client.")
    .features(&[
        &catalogue::TOOLS,
        &catalogue::RESOURCES,
        &catalogue::PROMPTS,
        &Completion,
        &Subscriptions,
        &Logging,
    ]);

/// What lives as long as the connection.
#[derive(Default)]
struct World {
    notes: resources::Notes,
    ticks: u64,
    seal: rounds::Seal,
}

fn main() -> Result<(), mcp_proto_std::ServeError> {
    let mut world = World::default();
    serve(&INFO, |event, server| hear(event, server, &mut world))
}

fn hear(event: Event<'_>, server: &ServerHandle, world: &mut World) {
    match event {
        Event::Call(call) => tools::answer(call, server, world),
        Event::ListResources(list) => resources::list(list, world),
        Event::ReadResource(read) => resources::read(read, world),
        Event::GetPrompt(prompt) => prompts::answer(prompt, world),
        Event::Complete(request) => prompts::complete(request, world),
        Event::RootsChanged => look_at_roots(server.clone()),
        // Whatever is to be logged goes to stderr: stdout belongs to the protocol.
        Event::Subscribed(uri) => eprintln!("everything_server: {uri} is watched"),
        Event::Unsubscribed(uri) => eprintln!("everything_server: {uri} is watched no more"),
        Event::ProtocolError(fault) => eprintln!("everything_server: {fault}"),
        _ => {}
    }
}

/// Asks for the roots again. The handler goes on: it has to hear the answer.
fn look_at_roots(server: ServerHandle) {
    std::thread::spawn(move || match server.request(&ListRoots) {
        Ok(answer) => {
            let count = answer.roots().map_or(0, Iterator::count);
            eprintln!("everything_server: there are {count} roots now");
        }
        Err(why) => eprintln!("everything_server: no roots: {why}"),
    });
}
