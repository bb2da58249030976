//! Who is this server, and what can it do?
//!
//! ```sh
//! cargo run --example inspect -- COMMAND…
//! cargo run --example inspect -- --call add --args '{"a":2,"b":40}' --trace -- COMMAND…
//! ```
//!
//! Starts the command as a child process and speaks to it on its stdin and stdout. Shows who it is, what it can do and
//! its tools; with `--call` also what a tool answers, with `--trace` every message. The exit code is 0 if all that was
//! asked for worked.

mod options;
mod process;
mod show;
mod trace;

use std::process::ExitCode;

use mcp_proto::client::{ClientInfo, Event, Failure, Options, Outcome, Timeouts};
use mcp_proto::{Action, Buffer, Client, Clock, Millis, Ticket};

use options::{Arguments, USAGE};
use process::Process;
use trace::Trace;

/// The longest line that is taken from a server, in bytes.
const LINE: usize = 64 << 20;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(why) => {
            eprintln!("{why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match inspect(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("inspect: {why}");
            ExitCode::FAILURE
        }
    }
}

fn inspect(arguments: &Arguments) -> Result<(), String> {
    let timeouts = Timeouts { request: arguments.timeout, ..Timeouts::DEFAULT };
    let info =
        ClientInfo::new("inspect", env!("CARGO_PKG_VERSION")).connect(arguments.connect).timeouts(timeouts);
    let mut process = Process::start(&arguments.command)?;
    let mut trace = Trace::default();
    let mut client =
        Client::new(&info, Buffer::grown(LINE), Buffer::grown(LINE)).map_err(|why| why.to_string())?;
    client = client.in_flight_grown(4);
    if arguments.trace {
        client = client.observe(&mut trace);
    }
    let mut visit =
        Visit { arguments, tools: show::Table::new(["TOOL", "ARGUMENTS", "WHAT IT DOES"]), call: None };
    let outcome = visit.run(&mut client, &mut process);
    process.end();
    outcome
}

/// One visit to a server: connect, list, call, leave.
struct Visit<'v> {
    arguments: &'v Arguments,
    tools: show::Table<3>,
    call: Option<Ticket>,
}

/// Whether there is more to do.
#[derive(PartialEq)]
enum Next {
    More,
    Done,
}

impl Visit<'_> {
    fn run(&mut self, client: &mut Client<'_>, process: &mut Process) -> Result<(), String> {
        let clock = Clock::start();
        loop {
            match client.poll(clock.now()) {
                Action::Io(io) => process.move_bytes(io, &clock),
                Action::Closed => return Err("the server has ended the connection".into()),
                Action::Event => {
                    if self.hear(client)? == Next::Done {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn hear(&mut self, client: &mut Client<'_>) -> Result<Next, String> {
        let Some(event) = client.event() else { return Ok(Next::More) };
        match event {
            Event::Connected(server) => {
                show::server(&server);
                let tools = server.capabilities().has(mcp_proto::ServerCapabilities::TOOLS);
                if tools {
                    client
                        .list_tools(Options::DEFAULT)
                        .map_err(|why| format!("cannot list its tools: {why}"))?;
                    return Ok(Next::More);
                }
                return self.next(client);
            }
            Event::Failed(Failure::Closed) => return Err("the server ended before it answered".into()),
            Event::Failed(why) => return Err(why.to_string()),
            Event::Tools(page) => {
                page.tools().for_each(|tool| self.tools.row(show::tool(&tool)));
                if page.is_last() {
                    self.tools.print();
                    return self.next(client);
                }
            }
            Event::Progress(step) => show::progress(&step),
            Event::Log(message) => eprintln!("server: {}", message.data()),
            Event::Finished(end) => {
                let what = if Some(end.ticket()) == self.call { "the call" } else { "listing the tools" };
                match (end.tool_result(), end.outcome()) {
                    (Some(result), _) => {
                        show::result(&result);
                        return if result.is_error() {
                            Err("the tool failed".into())
                        } else {
                            Ok(Next::Done)
                        };
                    }
                    (None, Outcome::Error(error)) => return Err(format!("{what} was refused: {error}")),
                    (None, Outcome::Lost(why)) => return Err(format!("{what} has no answer: {why}")),
                    (None, _) => return Err(format!("{what} has an answer of an unknown kind")),
                }
            }
            Event::Fault(fault) => eprintln!("server: {fault}"),
            _ => {}
        }
        Ok(Next::More)
    }

    /// Everything is shown: makes the call that was asked for, if one was.
    fn next(&mut self, client: &mut Client<'_>) -> Result<Next, String> {
        let Some((tool, arguments)) = &self.arguments.call else { return Ok(Next::Done) };
        let ticket = client
            .call_json(tool, arguments, Options::DEFAULT.with_progress())
            .map_err(|why| format!("cannot call {tool}: {why}"))?;
        self.call = Some(ticket);
        Ok(Next::More)
    }
}

/// How long a server may take to end after its stdin was closed.
const PATIENCE: Millis = Millis::seconds(2);
