//! Parses the command line.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use mcp_proto::client::Connect;
use mcp_proto::json::{Json, Kind};
use mcp_proto::{Era, Level, Revision, Revisions};

use crate::terminal::Output;
use crate::web::parse_address;

/// The usage text below an error in the command line.
pub(crate) const SHORT_USAGE: &str = "\
usage: mcp-inspect [OPTION...] [--] COMMAND... (or a URL)
`mcp-inspect --help` lists the options.";

const USAGE: &str = "\
Inspects a server of the Model Context Protocol.

usage: mcp-inspect [OPTION...] [--] COMMAND... (or a URL)
       mcp-inspect --check [--call TOOL...] [--revision DATE] [--] COMMAND... (or a URL)
       mcp-inspect --tap [--web [ADDRESS]] [--log FILE] [--transcript FILE] [--] COMMAND...

COMMAND starts a server on stdin and stdout. Without options, its tools, resources and prompts are listed.

Requests, performed in this order:
  --subscribe URI          subscribe to changes of this resource (may be repeated)
  --read URI               read this resource
  --skill URI              load this skill: verify its files, and show its instructions
  --prompt NAME            get this prompt
  --complete REF ARG TEXT  show the completions of TEXT for the argument ARG. REF is a prompt or a URI template
  --schema TOOL            show the JSON Schema of this tool's arguments
  --call TOOL              call this tool (may be repeated)
  --args JSON              an object with the arguments of the last --call or --prompt (default: none)
  --task ID                get the result of this task, whose id an earlier --call has shown (may be repeated)
  --listen SECONDS         show notifications for this time, at the end (default: 0, or 5 after --subscribe)
  --log-level LEVEL        request log messages of this level and above: debug, info, notice, warning, error, ...

Responses to requests of the server:
  --answer NAME=VALUE      fill in this field of forms (may be repeated); open=yes agrees to open addresses.
                           Without this option, the terminal asks for the value. A field that the server does not
                           request is an error
  --roots DIR              report this folder as a root (may be repeated)
  --sample TEXT            answer requests for a model response with this text

Connection:
  --era ERA                legacy: with a handshake; modern: without; auto: what the server supports (default)
  --revision DATE          use only this revision of the specification, such as 2025-06-18
  --timeout SECONDS        wait this long for a response (default: 60, or 10 for --check). A server has at least
                           30 seconds to start
  --header NAME=VALUE      add this field to every HTTP request (may be repeated)

Diagnosis:
  --json                   print one JSON object a line to stdout: results, notifications, violations and the reason
                           of a failure. The terminal is not asked for values
  --quiet, -q              print only violations and the reason of a failure, also with --json
  --trace                  show every message on stderr, but only its first 160 characters if stderr is a terminal
  --check                  run a set of requests in every revision, and report violations of the specification. Calls
                           only the tools of --call. The exit code is 1 if there is a violation. For a URL, check the
                           lists and the requests of the other options
  --tap                    connect a client with a server: the client starts `mcp-inspect --tap -- COMMAND` instead of
                           COMMAND. All bytes pass unchanged. Messages and violations are shown on stderr
  --log FILE               with --tap: append to this file instead of stderr
  --transcript FILE        with --tap: also write a transcript of the session
  --web [ADDRESS]          show the session live on a web page, with or without --tap. The address of the page is
                           shown on stderr, and in the file of --log. ADDRESS is a port, or a loopback address with a
                           port (default: a free port; also used if another program has the port)

  --help, -h               show this text
  --version, -V            show the version

Examples:
  mcp-inspect npx -y @modelcontextprotocol/server-everything
  mcp-inspect --call add --args '{\"a\":2,\"b\":40}' https://example.com/mcp
  mcp-inspect --check -- target/debug/my-server
  mcp-inspect --tap --web 8080 --log session.log -- target/debug/my-server";

/// The parsed command line.
#[derive(Debug)]
pub(crate) enum Parsed {
    /// Run with these arguments.
    Run(Box<Arguments>),
    /// Print this text only.
    Text(String),
}

/// The mode of the program.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Shows the server, and performs the options.
    #[default]
    Inspect,
    /// Reports the violations of the server.
    Check,
    /// Records the dialogue of the server with another client.
    Tap,
}

#[derive(Debug, Default)]
pub(crate) struct Arguments {
    pub(crate) mode: Mode,
    pub(crate) log: Option<String>,
    pub(crate) transcript: Option<String>,
    pub(crate) web: Option<SocketAddr>,
    pub(crate) calls: Vec<(String, String)>,
    pub(crate) tasks: Vec<String>,
    pub(crate) prompt: Option<(String, Vec<(String, String)>)>,
    pub(crate) schema: Option<String>,
    pub(crate) read: Option<String>,
    pub(crate) skill: Option<String>,
    pub(crate) complete: Option<[String; 3]>,
    pub(crate) subscribe: Vec<String>,
    pub(crate) listen: Duration,
    pub(crate) level: Option<Level>,
    pub(crate) answers: Vec<(String, String)>,
    pub(crate) roots: Vec<String>,
    pub(crate) sample: Option<String>,
    pub(crate) connect: Connect,
    pub(crate) revisions: Option<Revisions>,
    pub(crate) timeout: Duration,
    pub(crate) trace: bool,
    pub(crate) output: Output,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) command: Vec<String>,
}

impl Arguments {
    pub(crate) fn parse(words: impl Iterator<Item = String>) -> Result<Parsed, String> {
        let mut words = words.peekable();
        let (mut requests, mut given) = (Vec::new(), Vec::new());
        let mut listen = None;
        let mut timeout = None;
        let mut arguments = Arguments::default();
        while let Some(mut word) = words.next() {
            if word == "-q" {
                word = "--quiet".into();
            }
            if word.starts_with("--") {
                given.push(word.clone());
            }
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--call" | "--prompt" => requests.push((word.clone(), value()?, String::from("{}"))),
                "--args" => match requests.last_mut() {
                    // A message must be one line. In valid JSON, line ends stand only between tokens, so spaces can
                    // replace them.
                    Some((_, _, json)) => *json = value()?.replace(['\n', '\r'], " "),
                    None => return Err("--args must follow its --call or --prompt".into()),
                },
                "--task" => arguments.tasks.push(value()?),
                "--schema" => once(&mut arguments.schema, &word, value()?)?,
                "--read" => once(&mut arguments.read, &word, value()?)?,
                "--skill" => once(&mut arguments.skill, &word, value()?)?,
                "--complete" => {
                    once(&mut arguments.complete, &word, [value()?, value()?, value()?])?;
                }
                "--subscribe" => arguments.subscribe.push(value()?),
                "--listen" => listen = Some(seconds(&value()?)?),
                "--log-level" => arguments.level = Some(level(&value()?)?),
                "--answer" => arguments.answers.push(pair(&word, &value()?)?),
                "--header" => arguments.headers.push(pair(&word, &value()?)?),
                "--roots" => arguments.roots.push(value()?),
                "--sample" => arguments.sample = Some(value()?),
                "--trace" => arguments.trace = true,
                "--json" => arguments.output.json = true,
                "--quiet" => arguments.output.quiet = true,
                "--check" => arguments.mode = Mode::Check,
                "--tap" => arguments.mode = Mode::Tap,
                "--log" => arguments.log = Some(value()?),
                "--transcript" => arguments.transcript = Some(value()?),
                "--web" => {
                    let given = words.peek().and_then(|word| parse_address(word)).transpose()?;
                    let _ = words.next_if(|_| given.is_some());
                    arguments.web = Some(given.unwrap_or((Ipv4Addr::LOCALHOST, 0).into()));
                }
                "--era" => {
                    arguments.connect = match value()?.as_str() {
                        "auto" => Connect::Automatic,
                        "legacy" => Connect::Handshake,
                        "modern" => Connect::Stateless,
                        other => return Err(format!("{other} is not an era: auto, legacy or modern")),
                    }
                }
                "--revision" => {
                    let date = value()?;
                    arguments.revisions = Some(Revisions::only(revision(&date)?));
                }
                "--timeout" => timeout = Some(seconds(&value()?)?),
                "--help" | "-h" => return Ok(Parsed::Text(USAGE.into())),
                "--version" | "-V" => {
                    return Ok(Parsed::Text(concat!("mcp-inspect ", env!("CARGO_PKG_VERSION")).into()));
                }
                "--" => arguments.command.extend(words.by_ref()),
                option if option.starts_with('-') => return Err(format!("{option} is not an option")),
                _ => {
                    arguments.command.push(word);
                    arguments.command.extend(words.by_ref());
                }
            }
        }
        if arguments.command.is_empty() {
            return Err("the command or the URL of the server is missing".into());
        }
        arguments.check_combination()?;
        arguments.check_effects(&given)?;
        for (option, name, json) in requests {
            match option.as_str() {
                "--call" => {
                    object(&json)?;
                    arguments.calls.push((name, json));
                }
                _ => once(&mut arguments.prompt, &option, (name, texts(&json)?))?,
            }
        }
        // A check waits the whole timeout for each response that the server does not send, so the default timeout of a
        // check is shorter.
        let default = if arguments.mode == Mode::Check { 10 } else { 60 };
        arguments.timeout = timeout.unwrap_or(Duration::from_secs(default));
        let default = if arguments.subscribe.is_empty() { 0 } else { 5 };
        arguments.listen = listen.unwrap_or(Duration::from_secs(default));
        Ok(Parsed::Run(Box::new(arguments)))
    }

    /// Refuses `--web`, `--log`, `--transcript`, and a URL in the modes that do not support them. Refuses `--header`
    /// without a URL, words after a URL, and a `--revision` that is not in the era of `--era`.
    fn check_combination(&self) -> Result<(), String> {
        let is_tap = self.mode == Mode::Tap;
        if self.web.is_some() && self.mode == Mode::Check {
            return Err("--web shows one session, but --check has several: use --web without --check".into());
        }
        if is_tap && self.is_url() {
            return Err("--tap needs the command of a server, not a URL".into());
        }
        if !is_tap && (self.log.is_some() || self.transcript.is_some()) {
            return Err("--log and --transcript need --tap".into());
        }
        if self.command.len() > 1 && is_url(&self.command[0]) {
            return Err(format!("the options must precede the URL {}", self.command[0]));
        }
        if !self.headers.is_empty() && !self.is_url() {
            return Err("--header needs a URL".into());
        }
        let (name, era) = match self.connect {
            Connect::Handshake => ("legacy", Era::Handshake),
            Connect::Stateless => ("modern", Era::Stateless),
            Connect::Automatic => return Ok(()),
        };
        match self.revisions.and_then(|revisions| revisions.latest()).filter(|revision| revision.era() != era)
        {
            Some(revision) => Err(format!("--era {name} has no revision {}", revision.as_str())),
            None => Ok(()),
        }
    }

    /// Refuses options that have no effect with `--tap`, or with `--check` of a command.
    fn check_effects(&self, given: &[String]) -> Result<(), String> {
        let (mode, effective) = match self.mode {
            Mode::Check if !self.is_url() => (
                "--check of a command",
                &[
                    "--check",
                    "--call",
                    "--args",
                    "--revision",
                    "--timeout",
                    "--json",
                    "--quiet",
                    "--trace",
                    "--",
                ][..],
            ),
            Mode::Tap => ("--tap", &["--tap", "--web", "--log", "--transcript", "--trace", "--"][..]),
            Mode::Inspect | Mode::Check => return Ok(()),
        };
        match given.iter().find(|option| !effective.contains(&option.as_str())) {
            Some(option) => Err(format!("{option} has no effect with {mode}")),
            None => Ok(()),
        }
    }

    /// Returns whether the command is one word, the URL of a server.
    pub(crate) fn is_url(&self) -> bool {
        matches!(&self.command[..], [url] if is_url(url))
    }
}

fn is_url(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://")
}

/// Stores the value of an option that may be given once. A second value is an error, because it would replace the first
/// value.
fn once<T>(target: &mut Option<T>, option: &str, value: T) -> Result<(), String> {
    match target.replace(value) {
        Some(_) => Err(format!("{option} may be given once")),
        None => Ok(()),
    }
}

/// Splits the value `NAME=VALUE` of an option.
fn pair(option: &str, value: &str) -> Result<(String, String), String> {
    let (name, value) = value.split_once('=').ok_or(format!("{option} needs NAME=VALUE"))?;
    Ok((name.into(), value.into()))
}

/// The longest time of an option: more than a century. An `Instant` can represent the sum of this time and the present.
const MAX_TIME: Duration = Duration::from_secs(u32::MAX as u64);

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.map(|time| time.min(MAX_TIME)).ok_or(format!("{text} is not a number of seconds"))
}

fn level(name: &str) -> Result<Level, String> {
    let known = || Level::ALL.map(Level::as_str).join(", ");
    Level::ALL
        .into_iter()
        .find(|level| level.as_str() == name)
        .ok_or_else(|| format!("{name} is not a level: {}", known()))
}

fn revision(date: &str) -> Result<Revision, String> {
    let known = || Revision::ALL.map(Revision::as_str).join(", ");
    Revision::parse(date).ok_or_else(|| format!("{date} is not a revision: {}", known()))
}

/// Parses the value of `--args`. Returns an error for a text that is not a JSON object.
fn object(text: &str) -> Result<Json<'_>, String> {
    let json = Json::parse(text.as_bytes()).map_err(|error| format!("--args is not JSON: {error}"))?;
    if json.kind() == Kind::Object { Ok(json) } else { Err("--args is not a JSON object".into()) }
}

/// Returns the names and values of a JSON object, with each value as a string, because prompt arguments are strings.
fn texts(json: &str) -> Result<Vec<(String, String)>, String> {
    let text = |value: Json<'_>| value.string().map_or(value.to_string(), |text| text.to_string());
    Ok(object(json)?.members().map(|(name, value)| (name.to_string(), text(value))).collect())
}
