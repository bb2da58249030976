//! Parses the command line.

use std::time::Duration;

use mcp_proto::client::Connect;
use mcp_proto::json::{Json, Kind};
use mcp_proto::{Level, Revision, Revisions};

pub(crate) const USAGE: &str = "\
usage: inspect [OPTION...] [--] COMMAND...
       inspect [OPTION...] URL
       inspect --check [--call TOOL...] [--revision DATE] [--] COMMAND... (or a URL)
       inspect --tap [--log FILE] [--transcript FILE] [--] COMMAND...

  --call TOOL              call this tool (may be repeated)
  --prompt NAME            get this prompt
  --args JSON              with these arguments, for the last --call or --prompt: an object (none if not given)
  --task ID                get the result of this task, whose id an earlier --call has shown (may be repeated)
  --schema TOOL            show what this tool takes, as JSON Schema
  --read URI               read this resource
  --skill URI              load this skill: verify its files, and show its instructions
  --complete REF ARG TEXT  what may ARG be that begins with TEXT? REF is a prompt or a URI template
  --subscribe URI          hear when this resource changes (may be repeated)
  --listen SECONDS         wait so long in the end, and show what is heard (5 after --subscribe)
  --log-level LEVEL        show log messages from this level on: debug, info, notice, warning, error, ...

  --answer NAME=VALUE      what the server's forms ask for (may be repeated); open=yes agrees to open addresses.
                           Without it you are asked, if there is a terminal
  --roots DIR              a folder that the server may know of (may be repeated)
  --sample TEXT            what the model says when the server asks one

  --era WHICH              auto asks the server which era it is of, which is what happens if this is not given;
                           legacy shakes hands, modern does not
  --revision DATE          speak only this revision, such as 2025-06-18
  --timeout SECONDS        how long to wait for an answer (60, or 10 for --check); a server that starts gets 30 at least
  --header NAME=VALUE      add this field to every HTTP request (may be repeated)
  --trace                  show every message

  --check                  run a set of requests in every revision, and report the violations of the specification;
                           of the tools, only those of --call. The exit code is 1 if there is a violation
  --tap                    stand between a client and the server: the client starts `inspect --tap -- COMMAND`. All
                           bytes pass unchanged, and messages and violations are shown on stderr
  --log FILE               of --tap: write to this file instead of stderr
  --transcript FILE        of --tap: also write a transcript, in the format of tests/transcripts";

/// What the program does with the server.
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
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) command: Vec<String>,
}

impl Arguments {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let mut asked = Vec::new();
        let mut listen = None;
        let mut timeout = None;
        let mut arguments = Arguments::default();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--call" | "--prompt" => asked.push((word.clone(), value()?, String::from("{}"))),
                "--args" => match asked.last_mut() {
                    Some((_, _, json)) => *json = value()?,
                    None => return Err("--args must follow its --call or --prompt".into()),
                },
                "--task" => arguments.tasks.push(value()?),
                "--schema" => arguments.schema = Some(value()?),
                "--read" => arguments.read = Some(value()?),
                "--skill" => arguments.skill = Some(value()?),
                "--complete" => arguments.complete = Some([value()?, value()?, value()?]),
                "--subscribe" => arguments.subscribe.push(value()?),
                "--listen" => listen = Some(seconds(&value()?)?),
                "--log-level" => arguments.level = Some(level(&value()?)?),
                "--answer" => {
                    let answer = value()?;
                    let (name, value) = answer.split_once('=').ok_or("--answer needs NAME=VALUE")?;
                    arguments.answers.push((name.into(), value.into()));
                }
                "--header" => {
                    let header = value()?;
                    let (name, value) = header.split_once('=').ok_or("--header needs NAME=VALUE")?;
                    arguments.headers.push((name.into(), value.into()));
                }
                "--roots" => arguments.roots.push(value()?),
                "--sample" => arguments.sample = Some(value()?),
                "--trace" => arguments.trace = true,
                "--check" => arguments.mode = Mode::Check,
                "--tap" => arguments.mode = Mode::Tap,
                "--log" => arguments.log = Some(value()?),
                "--transcript" => arguments.transcript = Some(value()?),
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
                    let revision = Revision::parse(&date).ok_or(format!("{date} is not a revision"))?;
                    arguments.revisions = Some(Revisions::only(revision));
                }
                "--timeout" => timeout = Some(seconds(&value()?)?),
                "--help" | "-h" => return Err("inspect: a client for any server".into()),
                "--" => arguments.command.extend(words.by_ref()),
                option if option.starts_with('-') => return Err(format!("unknown option {option}")),
                _ => {
                    arguments.command.push(word);
                    arguments.command.extend(words.by_ref());
                }
            }
        }
        if arguments.command.is_empty() {
            return Err("the command or the URL of the server is missing".into());
        }
        for (option, name, json) in asked {
            match option.as_str() {
                "--call" => arguments.calls.push((name, json)),
                _ => arguments.prompt = Some((name, texts(&json)?)),
            }
        }
        // A check waits for each response that a server forgets.
        let default = if arguments.mode == Mode::Check { 10 } else { 60 };
        arguments.timeout = timeout.unwrap_or(Duration::from_secs(default));
        let default = if arguments.subscribe.is_empty() { 0 } else { 5 };
        arguments.listen = listen.unwrap_or(Duration::from_secs(default));
        Ok(arguments)
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or(format!("{text} is not a number of seconds"))
}

fn level(name: &str) -> Result<Level, String> {
    Level::ALL.into_iter().find(|level| level.as_str() == name).ok_or(format!("{name} is not a level"))
}

/// Returns the members of an object as strings.
///
/// Prompt arguments are strings.
fn texts(json: &str) -> Result<Vec<(String, String)>, String> {
    let object = Json::parse(json.as_bytes()).map_err(|error| format!("--args is not JSON: {error}"))?;
    if object.kind() != Kind::Object {
        return Err("--args is not a JSON object".into());
    }
    let text = |value: Json<'_>| value.string().map_or(value.to_string(), |text| text.to_string());
    Ok(object.members().map(|(name, value)| (name.to_string(), text(value))).collect())
}
