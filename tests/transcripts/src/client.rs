//! The application of the client in transcripts.

use mcp_proto::client::{Event, Filter, InputRequest, InputResponses, Options, Reference, ServerRequest};
use mcp_proto::{Client, Level, Millis, SendError, Ticket};

#[allow(dead_code, unreachable_pub, missing_docs, reason = "the tests of the core use the other items")]
#[path = "../../support/client/text.rs"]
mod text;

/// A client and its application.
pub(crate) struct Application<'b> {
    pub(crate) client: Client<'b>,
    /// The word that selects how the application handles server requests.
    manner: String,
    /// Client requests with their names.
    asked: Vec<(Ticket, String)>,
    /// The params of calls, because a retry repeats them.
    calls: Vec<(Ticket, String, String)>,
    /// The last input requests: key and kind.
    needed: Vec<(String, &'static str)>,
    deferred: Vec<Ticket>,
}

impl<'b> Application<'b> {
    pub(crate) fn new(client: Client<'b>, manner: &str) -> Application<'b> {
        Application {
            client,
            manner: manner.to_owned(),
            asked: Vec::new(),
            calls: Vec::new(),
            needed: Vec::new(),
            deferred: Vec::new(),
        }
    }

    /// Handles an event and returns its text. Responds to, defers or drops server requests. Returns `None` without an
    /// event, and for `Writable`.
    pub(crate) fn event(&mut self) -> Option<String> {
        let Application { client, manner, asked, needed, deferred, .. } = self;
        let event = client.event()?;
        let name = |ticket| asked.iter().find(|it| it.0 == ticket).map_or("?", |it| it.1.as_str());
        let mut text = text::describe(&event, &name).0;
        if let Event::Connected(connected) = &event
            && let Some(name) = connected.server().name()
        {
            text.push_str(&format!(" to {name}"));
        }
        match event {
            Event::Writable => return None,
            Event::ServerRequest(asked) => deferred.extend(answer(asked, manner)),
            Event::InputRequired(required) => {
                *needed = required.requests().map(|(key, it)| (key.to_string(), kind(&it))).collect();
            }
            _ => {}
        }
        Some(text)
    }

    /// Runs a command, such as `call NAME ARGUMENTS`. Options in braces may precede the command.
    pub(crate) fn command(&mut self, text: &str) -> Result<(), SendError> {
        let (options, text) = options(text);
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (first, last) = rest.split_once(' ').unwrap_or((rest, ""));
        let Application { client, asked, deferred, calls, needed, .. } = self;
        // A mutated transcript may refer to a request that does not exist.
        let known = |name: &str| {
            asked.iter().rev().find(|it| it.1 == name).map(|(ticket, _)| *ticket).ok_or(SendError::Gone)
        };
        let ticket = match word {
            "call" => {
                let arguments = if last.is_empty() { "{}" } else { last };
                let ticket = client.call_json(first, arguments, options)?;
                calls.push((ticket, first.to_owned(), arguments.to_owned()));
                ticket
            }
            "list" => match rest {
                "tools" => client.list_tools(options)?,
                "resources" => client.list_resources(options)?,
                "templates" => client.list_templates(options)?,
                "prompts" => client.list_prompts(options)?,
                _ => panic!("unknown command {text:?}"),
            },
            "read" => client.read_resource(rest, options)?,
            "get" => client.get_prompt(first, &[("who", last)], options)?,
            "complete" => {
                client.complete(Reference::Prompt(first), "how", last, &[("who", "Ada")], options)?
            }
            "subscribe" => client.subscribe(rest, options)?,
            "unsubscribe" => client.unsubscribe(rest, options)?,
            "level" => client.set_log_level(level(rest), options)?,
            "ping" => client.ping(options)?,
            "task" => client.resume_task(rest, options)?,
            "request" => client.request(rest, options, |_| {})?,
            "listen" => {
                let uris: Vec<&str> = rest.split(' ').filter(|word| word.contains(':')).collect();
                let filter = Filter::NOTHING.uris(&uris);
                let filter = rest.split(' ').fold(filter, |filter, word| match word {
                    "tools" => filter.tools(),
                    "prompts" => filter.prompts(),
                    "resources" => filter.resources(),
                    _ => filter,
                });
                client.listen(filter, options)?
            }
            "resume" => {
                let ticket = known(first)?;
                let call = calls.iter().find(|call| call.0 == ticket);
                let respond = |out: &mut InputResponses<'_, '_>| {
                    needed.iter().for_each(|(key, kind)| respond(out, key, kind, last));
                };
                return match call {
                    Some((_, tool, arguments)) => client.resume_call_json(ticket, tool, arguments, respond),
                    None => client.resume(ticket, |out| out.field_string("uri", first), respond),
                };
            }
            "cancel" => return client.cancel(known(first)?, last),
            "roots-changed" => return client.roots_changed(),
            "notify" => return client.notify(rest, |_| {}),
            "reply" => {
                let reply = client.reply(*deferred.first().ok_or(SendError::Gone)?)?;
                match rest {
                    "decline" => reply.decline(),
                    _ => reply.accept(|out| out.field_string("name", "Ada")),
                }
                return Ok(());
            }
            "shutdown" => {
                client.shutdown(Millis::ZERO);
                return Ok(());
            }
            _ => panic!("unknown command {text:?}"),
        };
        let name = if first.is_empty() { word } else { first };
        asked.push((ticket, name.to_owned()));
        Ok(())
    }
}

/// Parses options in braces, as in `{150 ms, progress} call echo`.
fn options(text: &str) -> (Options<'static>, &str) {
    let Some((words, rest)) = text.strip_prefix('{').and_then(|text| text.split_once("} ")) else {
        return (Options::DEFAULT, text);
    };
    let options = words.split(", ").fold(Options::DEFAULT, |options, word| match word {
        "progress" => options.with_progress(),
        "task" => options.task(Millis::seconds(60)),
        _ => match word.strip_suffix(" ms") {
            Some(time) => options.timeout(Millis(time.parse().expect("a time"))),
            None => options.log_level(level(word)),
        },
    });
    (options, rest)
}

fn level(name: &str) -> Level {
    Level::ALL
        .into_iter()
        .find(|level| level.as_str() == name)
        .unwrap_or_else(|| panic!("unknown name {name}"))
}

fn kind(input: &InputRequest<'_>) -> &'static str {
    match input {
        InputRequest::Roots => "roots",
        InputRequest::Elicit(_) => "form",
        InputRequest::OpenUrl(_) => "url",
        InputRequest::Sample(_) => "model",
        _ => "?",
    }
}

/// Writes one input response.
fn respond(out: &mut InputResponses<'_, '_>, key: &str, kind: &str, manner: &str) {
    match (kind, manner) {
        ("roots", _) => out.roots(key, |roots| roots.add("file:///work", "work")),
        ("model", _) => out.sampled(key, "m", "endTurn", |content| content.text("hi")),
        (_, "decline") => out.decline(key),
        ("url", _) => out.agree(key),
        _ => out.accept(key, |content| content.field_string("name", "Ada")),
    }
}

/// Responds to, drops or defers a server request. Returns the ticket of a deferred request.
fn answer(asked: ServerRequest<'_>, manner: &str) -> Option<Ticket> {
    match (manner, asked.input()) {
        ("decline", _) => asked.decline(),
        ("forget", _) => drop(asked),
        ("later", _) => return asked.defer(None).ok(),
        (_, InputRequest::Roots) => asked.roots(|roots| roots.add("file:///work", "work")),
        (_, InputRequest::Sample(_)) => asked.sampled("m", "endTurn", |content| content.text("hi")),
        (_, InputRequest::OpenUrl(_)) => asked.accept(|_| {}),
        _ => asked.accept(|content| content.field_string("name", "Ada")),
    }
    None
}
