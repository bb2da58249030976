//! Client requests: parameters and sending.

use mcp_proto::client::{Filter, Listed, Options, Reference};
use mcp_proto::json::{Json, Kind, Writer};
use mcp_proto::{Client, Level, SendError, Ticket};

use crate::owned::{view, write_members};

/// A client request with its parameters.
#[derive(Debug)]
pub(crate) enum Request {
    Call {
        tool: String,
        arguments: String,
    },
    /// The result of the task with this id.
    Task(String),
    List(List),
    /// A search of the tool list for the tool with this name.
    Find(String),
    Read(String),
    /// A skill with this URI.
    Skill(String),
    Directory {
        uri: String,
        cursor: Option<String>,
    },
    Prompt {
        name: String,
        arguments: Arguments,
    },
    Complete {
        prompt: bool,
        name: String,
        argument: String,
        value: String,
        context: Arguments,
    },
    Subscribe(String),
    Unsubscribe(String),
    LogLevel(Level),
    Listen {
        lists: Vec<Listed>,
        uris: Vec<String>,
        /// The filter members that extensions define: names and JSON texts.
        members: Arguments,
    },
    Ping,
    Other {
        method: String,
        params: String,
    },
    /// A notification, which ends when it is sent.
    Notify {
        method: String,
        params: String,
    },
}

/// A list that a server offers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum List {
    Tools,
    Resources,
    Templates,
    Prompts,
    Skills,
}

const TOO_LONG: &str = "the request is longer than `longest_request` of the connector";

/// Pairs of name and value, such as the arguments of a prompt.
pub(crate) type Arguments = Vec<(String, String)>;

pub(crate) fn owned(arguments: &[(&str, &str)]) -> Arguments {
    arguments.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
}

fn borrowed(arguments: &Arguments) -> Vec<(&str, &str)> {
    arguments.iter().map(|(name, value)| (&**name, &**value)).collect()
}

impl Request {
    /// Returns the reason why the request cannot be written. `error` is the client's error.
    pub(crate) fn unwritable(&self, error: SendError) -> String {
        let (owner, params) = match self {
            Request::Call { tool, arguments } => (format!("the arguments of the tool `{tool}`"), arguments),
            Request::Other { method, params } | Request::Notify { method, params } => {
                (format!("the parameters of `{method}`"), params)
            }
            _ if error == SendError::Unwritable => return TOO_LONG.into(),
            _ => return error.to_string(),
        };
        match Json::parse(params.as_bytes()) {
            Err(error) => format!("{owner} are not valid JSON: {error}"),
            Ok(params) if params.kind() != Kind::Object => {
                format!("{owner} must be a JSON object, found {}", params.kind())
            }
            Ok(_) if error == SendError::Unwritable => {
                format!("{owner} are too long ({} bytes): {TOO_LONG}", params.len())
            }
            Ok(_) => error.to_string(),
        }
    }

    /// Sends the request, and returns the ticket. Returns `None` for a notification, which has no response. Returns
    /// the client's error if the request cannot be sent.
    pub(crate) fn send(
        &self,
        client: &mut Client<'_>,
        options: Options<'_>,
    ) -> Result<Option<Ticket>, SendError> {
        if let Request::Notify { method, .. } = self {
            return client.notify(method, |out| self.write_params(out)).map(|()| None);
        }
        self.send_request(client, options).map(Some)
    }

    fn send_request(&self, client: &mut Client<'_>, options: Options<'_>) -> Result<Ticket, SendError> {
        match self {
            Request::Call { tool, arguments } => client.call_json(tool, arguments, options),
            Request::Task(id) => client.resume_task(id, options),
            Request::List(List::Tools) | Request::Find(_) => client.list_tools(options),
            Request::List(List::Resources) => client.list_resources(options),
            Request::List(List::Templates) => client.list_templates(options),
            Request::List(List::Prompts) => client.list_prompts(options),
            Request::List(List::Skills) => client.list_skills(options),
            Request::Read(uri) => client.read_resource(uri, options),
            Request::Skill(uri) => client.get_skill(uri, options),
            Request::Directory { uri, cursor } => client.read_directory(uri, cursor.as_deref(), options),
            Request::Prompt { name, arguments } => client.get_prompt(name, &borrowed(arguments), options),
            Request::Complete { prompt, name, argument, value, context } => {
                let reference = if *prompt { Reference::Prompt(name) } else { Reference::Resource(name) };
                client.complete(reference, argument, value, &borrowed(context), options)
            }
            Request::Subscribe(uri) => client.subscribe(uri, options),
            Request::Unsubscribe(uri) => client.unsubscribe(uri, options),
            Request::LogLevel(level) => client.set_log_level(*level, options),
            Request::Listen { lists, uris, members } => {
                let members = borrowed(members);
                let uris: Vec<&str> = uris.iter().map(String::as_str).collect();
                let mut filter = Filter::NOTHING;
                for list in lists {
                    filter = match list {
                        Listed::Tools => filter.tools(),
                        Listed::Prompts => filter.prompts(),
                        _ => filter.resources(),
                    };
                }
                client.listen(filter.uris(&uris).members(&members), options)
            }
            Request::Ping => client.ping(options),
            Request::Other { method, .. } | Request::Notify { method, .. } => {
                client.request(method, options, |out| self.write_params(out))
            }
        }
    }

    /// Writes the members of `params`: for `Other` and `Notify`, and for requests that are sent again with required
    /// input. Writes nothing for other kinds of requests, because the client never sends them again with input.
    pub(crate) fn write_params(&self, out: &mut Writer<'_>) {
        match self {
            Request::Call { tool, arguments } => {
                out.field_string("name", tool);
                out.field_json("arguments", view(arguments));
            }
            Request::Read(uri) => out.field_string("uri", uri),
            Request::Prompt { name, arguments } => {
                out.field_string("name", name);
                if !arguments.is_empty() {
                    out.key("arguments");
                    out.begin_object();
                    arguments.iter().for_each(|(name, value)| out.field_string(name, value));
                    out.end_object();
                }
            }
            Request::Other { params, .. } | Request::Notify { params, .. } => {
                write_members(view(params), out);
            }
            _ => {}
        }
    }
}
