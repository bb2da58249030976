//! Parses the command line.

use mcp_proto_std::HttpEndpoint;

pub(crate) const USAGE: &str = "\
usage: bridge URL [--header NAME=VALUE]... [--token-from VARIABLE]
       bridge --http ADDRESS [--host NAME]... [--origin ORIGIN]... -- COMMAND [ARGUMENT...]

With a URL, the bridge is a server on stdin and stdout, and passes its messages on to the server at the URL.

  --header NAME=VALUE     add a field to every HTTP request
  --token-from VARIABLE   add `Authorization: Bearer` with the token in this environment variable

With --http, the bridge serves http://ADDRESS/mcp, and passes messages on to processes of COMMAND: one for each session,
and one for all clients of 2026-07-28.

  --host NAME             accept this `Host` beside those of the own computer
  --origin ORIGIN         accept web pages of this origin beside those of the own computer";

pub(crate) enum Options {
    Help,
    /// Relay from stdin and stdout to this endpoint.
    Relay(HttpEndpoint),
    Serve(Served),
}

/// A server on stdio to serve over HTTP.
pub(crate) struct Served {
    pub(crate) address: String,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
}

impl Options {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Options, String> {
        let (mut url, mut fields) = (None, Vec::new());
        let mut served =
            Served { address: String::new(), hosts: Vec::new(), origins: Vec::new(), command: Vec::new() };
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word.as_str() {
                "--help" | "-h" => return Ok(Options::Help),
                "--http" => served.address = value()?,
                "--host" => served.hosts.push(value()?),
                "--origin" => served.origins.push(value()?),
                "--header" => fields.push(parse_field(&value()?)?),
                "--token-from" => fields.push(("Authorization".into(), bearer(&value()?)?)),
                "--" => served.command.extend(words.by_ref()),
                option if option.starts_with('-') => return Err(format!("{option} is not an option")),
                _ if url.is_some() => {
                    return Err(format!("{word} is a second URL, but only one is possible"));
                }
                _ => url = Some(word),
            }
        }
        match (url, served.address.is_empty()) {
            (Some(url), true) if served.command.is_empty() => {
                let endpoint = HttpEndpoint::new(url);
                let add =
                    |endpoint: HttpEndpoint, (name, value): (String, String)| endpoint.header(name, value);
                Ok(Options::Relay(fields.into_iter().fold(endpoint, add)))
            }
            (None, false) if !served.command.is_empty() => Ok(Options::Serve(served)),
            (None, false) => Err("--http needs `--` and a command".into()),
            _ => Err("either a URL, or --http and a command".into()),
        }
    }
}

fn parse_field(field: &str) -> Result<(String, String), String> {
    let (name, value) = field.split_once('=').ok_or(format!("{field} is not NAME=VALUE"))?;
    Ok((name.into(), value.into()))
}

/// Returns the credentials in an environment variable. Other users of the computer can see arguments, but not the
/// environment.
fn bearer(variable: &str) -> Result<String, String> {
    let token = std::env::var(variable).map_err(|why| format!("the token in {variable}: {why}"))?;
    Ok(format!("Bearer {token}"))
}
