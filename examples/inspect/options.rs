//! The command line.

use mcp_proto::Millis;
use mcp_proto::client::Connect;

pub(crate) const USAGE: &str = "\
usage: inspect [--call TOOL] [--args JSON] [--era auto|legacy|modern] [--timeout SECONDS] [--trace] [--] COMMAND...

  --call TOOL         call this tool
  --args JSON         with these arguments: an object (none if not given)
  --era WHICH         auto asks the server which era it is of, which is what happens if this is not given;
                      legacy shakes hands, modern does not
  --timeout SECONDS   how long to wait for an answer (60)
  --trace             show every message";

#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) call: Option<(String, String)>,
    pub(crate) connect: Connect,
    pub(crate) timeout: Millis,
    pub(crate) trace: bool,
    pub(crate) command: Vec<String>,
}

impl Arguments {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let (mut tool, mut json) = (None, None);
        let mut arguments = Arguments {
            call: None,
            connect: Connect::Automatic,
            timeout: Millis::seconds(60),
            trace: false,
            command: Vec::new(),
        };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--call" => tool = Some(value()?),
                "--args" => json = Some(value()?),
                "--trace" => arguments.trace = true,
                "--era" => {
                    arguments.connect = match value()?.as_str() {
                        "auto" => Connect::Automatic,
                        "legacy" => Connect::Handshake,
                        "modern" => Connect::Stateless,
                        other => return Err(format!("{other} is no era: auto, legacy or modern")),
                    }
                }
                "--timeout" => {
                    let seconds = value()?;
                    let seconds =
                        seconds.parse().map_err(|_| format!("{seconds} is no number of seconds"))?;
                    arguments.timeout = Millis::seconds(seconds);
                }
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
            return Err("which server? Its command is missing".into());
        }
        arguments.call = match (tool, json) {
            (Some(tool), json) => Some((tool, json.unwrap_or("{}".into()))),
            (None, Some(_)) => return Err("--args needs --call".into()),
            (None, None) => None,
        };
        Ok(arguments)
    }
}
