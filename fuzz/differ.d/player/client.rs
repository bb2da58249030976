//! The application of a client: handles events and runs the commands of transcripts.

use proto::client::{
    Event, Filter, Freshness, InputRequest, InputResponses, Options, Reference, ServerRequest,
};
use proto::json::Str;
use proto::{Client, Decimal, Millis, SendError, StreamId, Ticket};

use crate::words::{self, option, raw};

/// A client with its application.
pub struct App<'b> {
    pub client: Client<'b>,
    /// The word that selects how the application handles server requests.
    manner: String,
    /// Requests of the application, with their names.
    asked: Vec<(Ticket, String)>,
    /// Parameters of calls, because a retry repeats them.
    calls: Vec<(Ticket, String, String)>,
    /// The last input requests: key and kind.
    needed: Vec<(String, &'static str)>,
    deferred: Vec<Ticket>,
}

impl<'b> App<'b> {
    pub fn new(client: Client<'b>, manner: &str) -> App<'b> {
        let (asked, calls, needed, deferred) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        App { client, manner: manner.to_owned(), asked, calls, needed, deferred }
    }

    /// Handles an event, and returns its text for the transcript.
    pub fn event(&mut self) -> String {
        let App { client, manner, asked, needed, deferred, .. } = self;
        let Some(event) = client.event() else { return "none".into() };
        let name = |ticket| {
            asked
                .iter()
                .rposition(|it| it.0 == ticket)
                .map_or("?".into(), |at| format!("{at} {}", asked[at].1))
        };
        let about = |ticket: Option<Ticket>| ticket.map_or("-".into(), name);
        let number = |ticket| option(deferred.iter().rposition(|it| *it == ticket));
        match event {
            Event::Connected(it) => {
                let (server, versions) = (it.server(), words::texts(it.supported_versions()));
                let server = format!("{:?} {:?}", option(server.name()), option(server.version()));
                let (fresh, info) = (freshness(it.freshness()), raw(it.server_info()));
                let text = format!("connected {} to {server}, speaks [{versions}]", it.revision());
                format!("{text}, {fresh}, {info}, {} {}", raw(it.meta()), it.raw_capabilities().raw())
            }
            Event::ConnectFailed(failure) => format!("failed {}", words::failure(failure)),
            Event::Response(it) => {
                let (who, what) = (name(it.ticket()), words::outcome(it.outcome()));
                let mut text = format!("finished {who}: {what}, retry {}", it.is_retryable());
                if let Some(result) = it.tool_result() {
                    let (blocks, failed) = (result.blocks().count(), result.is_error());
                    text += &format!(
                        "; tool {:?} {blocks} {failed} {}",
                        option(result.text()),
                        raw(result.structured())
                    );
                }
                if let Some(read) = it.resource() {
                    let (text_, count) = (option(read.text()), read.contents().count());
                    text += &format!("; resource {text_:?} {count} {}", freshness(read.freshness()));
                }
                if let Some(prompt) = it.prompt() {
                    text +=
                        &format!("; prompt {:?} {}", option(prompt.description()), prompt.messages().count());
                }
                if let Some(it) = it.completion() {
                    let (more, total) = (it.has_more(), option(it.total()));
                    text += &format!("; completion {} {more} {total}", words::texts(it.values()));
                }
                text
            }
            Event::Tools(page) => {
                let entries = page.tools().map(|it| {
                    let (title, schema) = (option(it.display_name()), it.input_schema().raw());
                    format!("{} {title:?} {schema} {}", known(it.name()), raw(it.output_schema()))
                });
                let entries = entries.collect::<Vec<_>>().join(", ");
                let rest = (page.is_last(), freshness(page.freshness()), raw(page.meta()), page.raw().raw());
                format!("tools {}: {entries}; {rest:?}", name(page.ticket()))
            }
            Event::Resources(page) => {
                let entries = page.resources().map(|it| {
                    let (title, mime, size) =
                        (option(it.display_name()), option(it.mime()), option(it.size()));
                    format!("{} {title:?} {mime:?} {size}", known(it.uri()))
                });
                let entries = entries.collect::<Vec<_>>().join(", ");
                let rest = (page.is_last(), freshness(page.freshness()), raw(page.meta()), page.raw().raw());
                format!("resources {}: {entries}; {rest:?}", name(page.ticket()))
            }
            Event::Templates(page) => {
                let entries = page
                    .templates()
                    .map(|it| format!("{} {:?}", known(it.uri_template()), option(it.mime())));
                let entries = entries.collect::<Vec<_>>().join(", ");
                let rest = (page.is_last(), freshness(page.freshness()), raw(page.meta()), page.raw().raw());
                format!("templates {}: {entries}; {rest:?}", name(page.ticket()))
            }
            Event::Prompts(page) => {
                let entries =
                    page.prompts().map(|it| format!("{} {}", known(it.name()), it.arguments().count()));
                let entries = entries.collect::<Vec<_>>().join(", ");
                let rest = (page.is_last(), freshness(page.freshness()), raw(page.meta()), page.raw().raw());
                format!("prompts {}: {entries}; {rest:?}", name(page.ticket()))
            }
            Event::Progress(it) => {
                let (total, message) = (option(it.total()), option(it.message()));
                format!(
                    "progress {}: {} of {total} {message:?} {}",
                    name(it.ticket()),
                    it.progress(),
                    it.raw().raw()
                )
            }
            Event::Log(it) => {
                let (level, logger) = (option(it.level().map(words::level)), option(it.logger()));
                format!("log {level} {logger:?} {} {}", it.data().raw(), it.raw().raw())
            }
            Event::Changed { listed, subscription } => {
                format!("changed {} {}", words::listed(listed), about(subscription))
            }
            Event::Updated { resource, subscription } => {
                format!("updated {} {} {}", known(resource.uri()), about(subscription), resource.raw().raw())
            }
            Event::Acknowledged(it) => {
                let lists = [it.tools(), it.prompts(), it.resources()];
                format!("acknowledged {}: {lists:?} [{}]", name(it.ticket()), words::texts(it.uris()))
            }
            Event::InputRequired(it) => {
                let asks: Vec<_> =
                    it.requests().map(|(key, input)| (key.to_string(), words::input(&input))).collect();
                let state = it.has_state();
                let text = format!(
                    "input required {}: {asks:?}, state {state} {}",
                    name(it.ticket()),
                    it.raw().raw()
                );
                *needed = asks.into_iter().map(|(key, (kind, _))| (key, kind)).collect();
                text
            }
            Event::ServerRequest(asked) => {
                let StreamId(stream) = asked.stream();
                let (input, raw) = (words::input(&asked.input()).1, asked.raw().raw().to_owned());
                let kept = answer(asked, manner);
                deferred.extend(kept);
                format!("asked {input} on {stream} {raw}")
            }
            Event::Cancelled { ticket, reason } => {
                format!("cancelled {} {:?}", number(ticket), option(reason))
            }
            Event::Expired(ticket) => format!("expired {}", number(ticket)),
            Event::Notification { method, params, .. } => {
                format!("notification {:?} {}", method.to_string(), raw(params))
            }
            Event::Writable => "room".into(),
            Event::PeerUnresponsive => "silent".into(),
            Event::ProtocolError(fault) => format!("fault {}", words::fault(fault)),
            _ => "other".into(),
        }
    }

    /// Runs a command on the client. Returns `None` for an unknown command.
    pub fn command(&mut self, text: &str, now: Millis) -> Option<Result<(), SendError>> {
        let (options, text) = options(text);
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let (first, last) = rest.split_once(' ').unwrap_or((rest, ""));
        let App { client, asked, deferred, calls, needed, .. } = self;
        let find = |name: &str| asked.iter().rev().find(|it| it.1 == name).map(|(ticket, _)| *ticket);
        let request = match word {
            "call" => {
                let arguments = if last.is_empty() { "{}" } else { last };
                let request = client.call_json(first, arguments, options);
                calls.extend(request.map(|ticket| (ticket, first.to_owned(), arguments.to_owned())));
                request
            }
            "list" => match rest {
                "tools" => client.list_tools(options),
                "resources" => client.list_resources(options),
                "templates" => client.list_templates(options),
                "prompts" => client.list_prompts(options),
                _ => return None,
            },
            "read" => client.read_resource(rest, options),
            "get" => client.get_prompt(first, &[("who", last)], options),
            "complete" => client.complete(Reference::Prompt(first), "how", last, &[("who", "Ada")], options),
            "subscribe" => client.subscribe(rest, options),
            "unsubscribe" => client.unsubscribe(rest, options),
            "level" => client.set_log_level(words::level_named(rest), options),
            "ping" => client.ping(options),
            "request" => client.request(rest, options, |_| {}),
            "listen" => {
                let uris: Vec<&str> = rest.split(' ').filter(|word| word.contains(':')).collect();
                let filter = Filter::NOTHING.uris(&uris);
                let filter = rest.split(' ').fold(filter, |filter, word| match word {
                    "tools" => filter.tools(),
                    "prompts" => filter.prompts(),
                    "resources" => filter.resources(),
                    _ => filter,
                });
                client.listen(filter, options)
            }
            "resume" => {
                let Some(ticket) = find(first) else { return Some(Err(SendError::Gone)) };
                let call = calls.iter().find(|call| call.0 == ticket);
                let respond = |out: &mut InputResponses<'_, '_>| {
                    needed.iter().for_each(|(key, kind)| respond(out, key, kind, last));
                };
                return Some(match call {
                    Some((_, tool, arguments)) => client.resume_call_json(ticket, tool, arguments, respond),
                    None => client.resume(ticket, |out| out.field_string("uri", first), respond),
                });
            }
            "cancel" => {
                return Some(find(first).map_or(Err(SendError::Gone), |ticket| client.cancel(ticket, last)));
            }
            "roots-changed" => return Some(client.roots_changed()),
            "notify" => return Some(client.notify(rest, |_| {})),
            "reply" => {
                // The number of a deferred request may follow the word.
                let number = last.parse().unwrap_or(0);
                let Some(ticket) = deferred.get::<usize>(number) else { return Some(Err(SendError::Gone)) };
                let mut reply = match client.reply(*ticket) {
                    Ok(reply) => reply,
                    Err(why) => return Some(Err(why)),
                };
                match first {
                    "decline" => reply.decline(),
                    "cancel" => reply.cancel(),
                    "error" => reply.error(7, "no"),
                    "roots" => reply.roots(|roots| roots.add("file:///work", "work")),
                    "sampled" => reply.sampled("m", "endTurn", |content| content.text("hi")),
                    "progress" => return Some(reply.progress(Decimal::parse("1")?, None, "on it")),
                    "forget" => drop(reply),
                    _ => reply.accept(|out| out.field_string("name", "Ada")),
                }
                return Some(Ok(()));
            }
            "shutdown" => return Some(Ok(client.shutdown(now))),
            _ => return None,
        };
        let name = if first.is_empty() { word } else { first };
        Some(request.map(|ticket| asked.push((ticket, name.to_owned()))))
    }

    /// Returns the state of the idle client as text.
    pub fn status(&self) -> String {
        let App { client, .. } = self;
        let (state, revision) = (words::state(client.state()), option(client.revision()));
        format!("{state}, revision {revision}, pending {}", client.pending())
    }
}

fn known(name: Option<Str<'_>>) -> String {
    format!("{:?}", option(name))
}

fn freshness(it: Freshness) -> String {
    let Millis(time) = it.fresh_for;
    format!("fresh {time} {}", if it.shared { "shared" } else { "private" })
}

/// Splits off the options in braces before a command: `{150 ms, progress} call echo`.
fn options(text: &str) -> (Options<'static>, &str) {
    let Some((words, rest)) = text.strip_prefix('{').and_then(|text| text.split_once("} ")) else {
        return (Options::DEFAULT, text);
    };
    let options = words.split(", ").fold(Options::DEFAULT, |options, word| match word {
        "progress" => options.with_progress(),
        "fixed" => options.ignore_progress(),
        "meta" => options.meta(r#"{"k":"v"}"#),
        _ => match word.strip_suffix(" ms").and_then(|time| time.parse().ok()) {
            Some(time) => options.timeout(Millis(time)),
            None => options.log_level(words::level_named(word)),
        },
    });
    (options, rest)
}

/// Writes the response to one input request.
fn respond(out: &mut InputResponses<'_, '_>, key: &str, kind: &str, manner: &str) {
    match (kind, manner) {
        ("roots", _) => out.roots(key, |roots| roots.add("file:///work", "work")),
        ("model", _) => out.sampled(key, "m", "endTurn", |content| content.text("hi")),
        (_, "decline") => out.decline(key),
        ("url", _) => out.agree(key),
        _ => out.accept(key, |content| content.field_string("name", "Ada")),
    }
}

/// Responds to a server request, or defers the request and returns its ticket.
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
