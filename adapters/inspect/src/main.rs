//! A command-line client that inspects any server.
//!
//! ```sh
//! mcp-inspect COMMAND…
//! mcp-inspect https://example.com/mcp
//! mcp-inspect --call add --args '{"a":2,"b":40}' --trace -- COMMAND…
//! mcp-inspect --check -- COMMAND…
//! mcp-inspect --tap --web -- COMMAND…
//! ```
//!
//! The program starts the command as a child process, and connects to the stdin and stdout of the child. If the command
//! is a URL with `http://` or `https://`, the program starts no process, and connects to this URL. The program selects
//! an era that the server supports, and shows the server and its features. Then the program performs the options: it
//! calls a tool, reads a resource, gets a prompt, or listens. The user responds to the server's requests with options,
//! or on the terminal. The exit code is 0 if every option succeeded.
//!
//! With `--check`, the program runs a set of requests, and a monitor reports the violations of the specification. With
//! `--tap`, the program forwards the messages between another client and the server, and records them. With `--web`, a
//! page shows the session live.

#[macro_use]
mod terminal;

mod check;
mod content;
mod host;
mod observed;
mod options;
mod results;
mod schema_type;
mod show;
mod skill;
mod table;
mod tap;
mod trace;
mod web;

use std::process::{Command, ExitCode};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use mcp_proto::client::{Listed, Reference, TaskLimits, Timeouts};
use mcp_proto::{Era, Level, Millis, Revisions, ServerCapabilities, TaskSupport, json};
use mcp_proto_std::{
    CallError, CallOptions, ClientHandle, Connector, HttpEndpoint, PeerError, PendingCall, Subscription,
};

use observed::Observed;
use options::{Arguments, Mode, Parsed};
use web::Web;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(Parsed::Run(arguments)) => arguments,
        Ok(Parsed::Text(text)) => {
            terminal::write(&format!("{text}\n"));
            return ExitCode::SUCCESS;
        }
        Err(why) => {
            note!("mcp-inspect: {why}\n\n{}", options::SHORT_USAGE);
            return ExitCode::from(2);
        }
    };
    arguments.output.set();
    let outcome = match arguments.mode {
        Mode::Inspect => inspect(&arguments),
        Mode::Check if arguments.is_url() => check::check_url(&arguments),
        Mode::Check => check::check(&arguments),
        Mode::Tap => tap::tap(&arguments),
    };
    match outcome {
        Ok(code) => code,
        Err(why) => {
            terminal::fail(&why);
            ExitCode::FAILURE
        }
    }
}

/// Connects to the server, and performs the options. With `--web`, the page stays until the user presses Enter.
fn inspect(arguments: &Arguments) -> Result<ExitCode, String> {
    let web = arguments.web.map(|address| Web::start(address, &arguments.command)).transpose()?;
    if let Some(web) = &web {
        note!("mcp-inspect: the session is shown at {}", web.url());
    }
    let observed = Observed::new(arguments.trace, web.as_ref().map(Web::feed));
    let outcome = connect(arguments, observed).map(|()| ExitCode::SUCCESS);
    let Some(web) = web else { return outcome };
    web.close();
    let code = outcome.unwrap_or_else(|why| {
        terminal::fail(&why);
        ExitCode::FAILURE
    });
    note!("mcp-inspect: the session has ended; press Enter to close its page");
    let _ = std::io::stdin().read_line(&mut String::new());
    Ok(code)
}

/// Connects to the server, and performs the options. The observer receives every message. Returns the reason of a
/// failure.
fn connect(arguments: &Arguments, observed: Observed) -> Result<(), String> {
    let (shown, all_shown) = channel::<()>();
    let answers = host::Answers::new(&arguments.answers);
    let (declared, handler) = host::server_request_handler(arguments, answers.clone());
    let timeout = Millis(u64::try_from(arguments.timeout.as_millis()).unwrap_or(u64::MAX));
    let connector = Connector::new("mcp-inspect", env!("CARGO_PKG_VERSION"))
        .connect(arguments.connect)
        .revisions(arguments.revisions.unwrap_or(Revisions::ALL))
        .timeouts(Timeouts { initialize: timeout.max(Timeouts::DEFAULT.initialize), ..Timeouts::DEFAULT })
        .longest_line(64 << 20)
        .tasks(TaskLimits::DEFAULT)
        .on_server_request(declared, handler)
        .on_notification(move |notice| {
            // The closure owns the sender, so that the sender is dropped after the last notification was shown.
            let _shown = &shown;
            show::notice(&notice);
        })
        .observe(observed);
    let client = match &arguments.command[..] {
        [] => return Err("no command".into()),
        [url] if arguments.is_url() => {
            let endpoint = arguments
                .headers
                .iter()
                .fold(HttpEndpoint::new(url), |endpoint, (name, value)| endpoint.header(name, value));
            connector.http(endpoint).map_err(|error| format!("cannot connect: {error}"))?
        }
        [program, rest @ ..] => {
            let mut command = Command::new(program);
            command.args(rest);
            connector.spawn(command).map_err(|error| format!("cannot connect to {program}: {error}"))?
        }
    };
    let outcome = run_options(&client, arguments).and_then(|()| answers.check_use());
    client.close();
    drop(client);
    let _ = all_shown.recv();
    outcome
}

/// Shows the server, then performs the options in a fixed order. Stops at the first failure, and returns the reason.
fn run_options(client: &ClientHandle, arguments: &Arguments) -> Result<(), String> {
    let mut options = CallOptions::new().timeout(arguments.timeout).with_progress();
    if let Some(level) = arguments.level {
        options = options.log_level(level);
    }
    let client = &client.with_options(options);
    show::server(client.server());
    show::lists(client)?;
    if let Some(level) = arguments.level {
        set_log_level(client, level)?;
    }
    // Subscribe before any call that may change a resource.
    let _subscription = subscribe(client, arguments)?;
    if let Some(uri) = &arguments.read {
        content::read(&client.read_resource(uri).map_err(failed(uri, "resources"))?);
    }
    if let Some(uri) = &arguments.skill {
        skill::load(client, uri)?;
    }
    if let Some((name, given)) = &arguments.prompt {
        let given: Vec<_> = given.iter().map(|(name, value)| (&**name, &**value)).collect();
        content::prompt(&client.get_prompt(name, &given).map_err(failed(name, "prompts"))?);
    }
    if let Some([name, argument, value]) = &arguments.complete {
        // A reference with a colon is taken as a URI template, and one without a colon as the name of a prompt.
        let reference = if name.contains(':') { Reference::Resource(name) } else { Reference::Prompt(name) };
        let proposed =
            client.complete(reference, argument, value, &[]).map_err(failed(name, "completions"))?;
        match &proposed.values()[..] {
            [] => say!("{argument} has no completions"),
            values => say!("{argument} may be: {}", values.join(", ")),
        }
    }
    if let Some(tool) = &arguments.schema {
        let listed = client.list_tools().map_err(failed("listing the tools", "tools"))?;
        let found = listed
            .iter()
            .find(|listed| listed.name == *tool)
            .ok_or(format!("the server has no tool {tool}"))?;
        say!("{tool} takes {}", found.view().input_schema());
    }
    for (tool, given) in &arguments.calls {
        let options = if supports_tasks(client, tool)? { options.task(TASK_TTL) } else { options };
        wait(client.begin_json(tool, given, options), tool, "tools")?;
    }
    for id in &arguments.tasks {
        wait(client.resume_task(id, options), &format!("task {id}"), "tasks")?;
    }
    let arrives_late = arguments.level.is_some() && arguments.is_url() && is_of(client, Era::Handshake);
    thread::sleep(arguments.listen.max(if arrives_late { LOG_DELAY } else { Duration::ZERO }));
    Ok(())
}

/// Sets the level of log messages in the handshake era. In the stateless era, each request contains the level.
fn set_log_level(client: &ClientHandle, level: Level) -> Result<(), String> {
    if is_of(client, Era::Handshake) {
        return client.set_log_level(level).map_err(failed("setting the level of log messages", "logging"));
    }
    if !client.server().capabilities.has(ServerCapabilities::LOGGING) {
        note!("mcp-inspect: the server may ignore --log-level, because it has not declared `logging`");
    }
    Ok(())
}

/// Waits for the result of a call, and shows its progress and its result. A failure of the tool is an error.
fn wait(call: Result<PendingCall, CallError>, what: &str, capability: &str) -> Result<(), String> {
    let result = call.and_then(|call| call.wait_with(|step| show::progress(&step)));
    let result = result.map_err(failed(what, capability))?;
    content::result(&result.view());
    if result.is_error() { Err("the tool failed".into()) } else { Ok(()) }
}

/// The minimum time to wait for log messages after the last result. Over HTTP, a server of the handshake era may send
/// these messages on the stream of notifications. The messages then arrive after the result of the call that logged
/// them.
const LOG_DELAY: Duration = Duration::from_millis(500);

/// The time for which the client asks a server to keep a task (`2025-11-25`).
const TASK_TTL: Duration = Duration::from_secs(600);

/// Returns `true` if the revision is `2025-11-25`, and the server and the tool support tasks: the client then requests
/// a task. In later revisions, the server decides.
fn supports_tasks(client: &ClientHandle, tool: &str) -> Result<bool, String> {
    if !is_of(client, Era::Handshake) || !client.server().capabilities.has(ServerCapabilities::TASKS) {
        return Ok(false);
    }
    let found = client.find_tool(tool).map_err(failed("listing the tools", "tools"))?;
    Ok(found.is_some_and(|tool| tool.view().task_support() != TaskSupport::Forbidden))
}

/// Subscribes to resources and, in the stateless era, to all lists.
///
/// In the stateless era, the subscription ends when the returned value is dropped. Returns `None` in the handshake era.
/// If the time of `--listen` is zero, does not subscribe in the stateless era, and also returns `None`.
fn subscribe(client: &ClientHandle, arguments: &Arguments) -> Result<Option<Subscription>, String> {
    let uris: Vec<&str> = arguments.subscribe.iter().map(String::as_str).collect();
    if is_of(client, Era::Handshake) {
        uris.iter().try_for_each(|uri| client.subscribe(uri).map_err(failed(uri, "resources.subscribe")))?;
        return Ok(None);
    }
    if arguments.listen.is_zero() {
        return Ok(None);
    }
    let lists = [Listed::Tools, Listed::Resources, Listed::Prompts];
    let subscription = client.listen(&lists, &uris).map_err(failed("subscribing", "resources.subscribe"))?;
    say!("listening to {}\n", subscription.acknowledged());
    Ok(Some(subscription))
}

/// Encodes a text as a JSON string.
fn quoted(text: &str) -> String {
    json::to_string(text).unwrap_or_default()
}

fn is_of(client: &ClientHandle, era: Era) -> bool {
    client.server().revision.era() == era
}

/// Returns a function that converts an error to text. `what` is the failed action, and `capability` is the capability
/// that the server must declare.
fn failed(what: &str, capability: &str) -> impl FnOnce(CallError) -> String {
    move |why| match &why {
        CallError::Server(PeerError { data: Some(data), .. }) => format!("{what}: {why}\n{data}"),
        CallError::Unsupported => format!("{what}: {why}, which needs the capability `{capability}`"),
        _ => format!("{what}: {why}"),
    }
}
