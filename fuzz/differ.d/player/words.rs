//! The harness's own words for what the crate calls something: they stay when the crate renames it.

use proto::client::{Failure, IncludeContext, InputRequest, Listed, ToolChoice};
use proto::input::{Action as ElicitAction, ElicitAnswer};
use proto::json::{Json, ScanError, ScanErrorKind, Str};
use proto::{
    BelongsTo, ClientCapabilities, Fault, Frame, FrameKind, Hint, Level, Lost, Misuse, NotNow, Outcome,
    RpcError, State, StreamId,
};

pub fn option(text: Option<impl std::fmt::Display>) -> String {
    text.map_or("-".into(), |text| text.to_string())
}

pub fn raw(json: Option<Json<'_>>) -> String {
    json.map_or("-".into(), |json| json.raw().to_owned())
}

pub fn texts<'a>(all: impl Iterator<Item = Str<'a>>) -> String {
    all.map(|text| format!("{:?}", text.to_string())).collect::<Vec<_>>().join(" ")
}

pub fn fault(fault: Fault) -> String {
    let word = match fault {
        Fault::NotJson(error) => format!("not json, {}", scan_error(error)),
        Fault::LineTooLong { limit } => format!("line too long, limit {limit}"),
        Fault::TooDeep { limit } => format!("too deep, limit {limit}"),
        Fault::Truncated => "truncated".into(),
        Fault::Batch => "batch".into(),
        Fault::EmptyBatch => "empty batch".into(),
        Fault::BatchTooLarge { limit } => format!("batch too large, limit {limit}"),
        Fault::NotAnObject => "no object".into(),
        Fault::WrongJsonRpcVersion => "wrong jsonrpc".into(),
        Fault::InvalidId => "invalid id".into(),
        Fault::IdTooLong { limit } => format!("id too long, limit {limit}"),
        Fault::DuplicateId => "duplicate id".into(),
        Fault::InvalidMethod => "invalid method".into(),
        Fault::UnknownMethod => "unknown method".into(),
        Fault::InvalidParams => "invalid params".into(),
        Fault::UnknownTool => "unknown tool".into(),
        Fault::UnknownPrompt => "unknown prompt".into(),
        Fault::UnknownResource { code } => format!("unknown resource, code {code}"),
        Fault::MissingClientCapability => "missing client capability".into(),
        Fault::TooManyWatched { limit } => format!("too many watched, limit {limit}"),
        Fault::BadCursor => "bad cursor".into(),
        Fault::NotInitialized => "not initialized".into(),
        Fault::AlreadyInitialized => "already initialized".into(),
        Fault::UnsupportedRevision => "unsupported revision".into(),
        Fault::TooManyInFlight { limit } => format!("too many in flight, limit {limit}"),
        Fault::ShuttingDown => "shutting down".into(),
        Fault::UnknownResponse => "unknown response".into(),
        Fault::MalformedResponse => "malformed response".into(),
        Fault::ErrorWithoutId { code } => format!("error without id, code {code}"),
        Fault::UnknownCancel => "unknown cancel".into(),
        Fault::UnknownProgress => "unknown progress".into(),
        Fault::UnknownSubscription => "unknown subscription".into(),
        Fault::UnknownNotification => "unknown notification".into(),
        Fault::Muted => "muted".into(),
        Fault::Unanswered => "unanswered".into(),
        Fault::TookTooLong => "took too long".into(),
        Fault::ReplyTooLarge { limit } => format!("reply too large, limit {limit}"),
        Fault::InvalidReply => "invalid reply".into(),
        Fault::NoRoundTrip => "no round trip".into(),
        Fault::EntriesLeftOut { count } => format!("entries left out, {count}"),
        _ => "other".into(),
    };
    let by_host = if fault.by_host() { ", by the application" } else { "" };
    format!("{word}, answered {}{by_host}", option(fault.code()))
}

fn scan_error(error: ScanError) -> String {
    let kind = match error.kind {
        ScanErrorKind::Control => "control",
        ScanErrorKind::Empty => "empty",
        ScanErrorKind::GivenUp => "given up",
        ScanErrorKind::Incomplete => "incomplete",
        ScanErrorKind::Surrogate => "surrogate",
        ScanErrorKind::Syntax => "syntax",
        ScanErrorKind::TooDeep => "too deep",
        ScanErrorKind::Utf8 => "utf-8",
        _ => "other",
    };
    format!("{kind} at {}", error.at)
}

pub fn misuse(misuse: Misuse) -> String {
    match misuse {
        Misuse::TxTooSmall { .. } => "tx too small".into(),
        Misuse::RxTooSmall { .. } => "rx too small".into(),
        Misuse::TextTooSmall { .. } => "text too small".into(),
        Misuse::InvalidJson { entry, error } => format!("invalid json, entry {entry}, {}", scan_error(error)),
        Misuse::NotAnObject { entry } => format!("no object, entry {entry}"),
        Misuse::DuplicateName { entry } => format!("duplicate name, entry {entry}"),
        Misuse::InvalidTemplate { entry } => format!("invalid template, entry {entry}"),
        Misuse::InvalidName { entry } => format!("invalid name, entry {entry}"),
        Misuse::NoRevision => "no revision".into(),
        #[allow(unreachable_patterns)]
        _ => "other".into(),
    }
}

pub fn refused(why: NotNow) -> &'static str {
    match why {
        NotNow::Busy => "busy",
        NotNow::Gone => "gone",
        NotNow::Full => "full",
        NotNow::NotConnected => "not connected",
        NotNow::Unwritable => "unwritable",
        NotNow::Unsupported => "unsupported",
        NotNow::NotWanted => "not wanted",
        #[allow(unreachable_patterns)]
        _ => "other",
    }
}

pub fn state(state: State) -> &'static str {
    match state {
        State::Waiting => "waiting",
        State::Answered => "answered",
        State::Serving => "serving",
        State::Start => "start",
        State::Probing => "probing",
        State::Initializing => "initializing",
        State::Stateless => "stateless",
        State::Ready => "ready",
        State::Draining => "draining",
        State::Closed => "closed",
        #[allow(unreachable_patterns)]
        _ => "other",
    }
}

pub fn lost(lost: Lost) -> &'static str {
    match lost {
        Lost::TimedOut => "timed out",
        Lost::Closed => "closed",
        Lost::Ended => "ended",
        Lost::TooLong => "too long",
        Lost::Invalid => "invalid",
        Lost::EndlessList => "endless list",
        Lost::CursorTooLong => "cursor too long",
        Lost::StateTooLong => "state too long",
        Lost::TooManyRounds => "too many rounds",
        _ => "other",
    }
}

pub fn level(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Notice => "notice",
        Level::Warning => "warning",
        Level::Error => "error",
        Level::Critical => "critical",
        Level::Alert => "alert",
        Level::Emergency => "emergency",
    }
}

pub fn level_named(name: &str) -> Level {
    Level::ALL.into_iter().find(|it| level(*it) == name).unwrap_or(Level::Error)
}

pub fn outcome(outcome: Outcome<'_>) -> String {
    match outcome {
        Outcome::Result(result) => match ElicitAnswer::of(result) {
            Some(answer) => format!("result {} ({})", result.raw(), elicited(&answer)),
            None => format!("result {}", result.raw()),
        },
        Outcome::Error(error) => rpc_error(error),
        Outcome::Lost(why) => format!("lost {}", lost(why)),
        _ => "other".into(),
    }
}

pub fn rpc_error(error: RpcError<'_>) -> String {
    let hint = match error.hint() {
        None => "-",
        Some(Hint::ToolNotFound) => "tool not found",
        Some(Hint::ToolFailed) => "tool failed",
        Some(Hint::ResourceNotFound) => "resource not found",
        Some(Hint::AccessDenied) => "access denied",
        Some(Hint::PromptNotFound) => "prompt not found",
        Some(Hint::RateLimited) => "rate limited",
        Some(_) => "other",
    };
    let urls: Vec<String> = error.url_elicitations().map(|it| it.raw().raw().to_owned()).collect();
    let (code, message, data) = (error.code(), option(error.message()), raw(error.data()));
    let (capabilities, urls) = (raw(error.required_capabilities()), urls.join(" "));
    format!("error {code} {message:?} data {data}, hint {hint}, capabilities {capabilities}, urls [{urls}]")
}

fn elicited(answer: &ElicitAnswer<'_>) -> String {
    let action = match answer.action() {
        ElicitAction::Accept => "accept",
        ElicitAction::Decline => "decline",
        ElicitAction::Cancel => "cancel",
        #[allow(unreachable_patterns)]
        _ => "other",
    };
    format!("{action} {}", answer.content().raw())
}

pub fn failure(failure: Failure<'_>) -> String {
    match failure {
        Failure::NoRevision => "no revision".into(),
        Failure::NoCommonRevision(answer) => format!("no common revision {}", answer.raw()),
        Failure::Refused(error) => format!("refused {}", rpc_error(error)),
        Failure::InvalidAnswer => "invalid answer".into(),
        Failure::TimedOut => "timed out".into(),
        Failure::Closed => "closed".into(),
        _ => "other".into(),
    }
}

pub fn listed(listed: Listed) -> &'static str {
    match listed {
        Listed::Tools => "tools",
        Listed::Resources => "resources",
        Listed::Prompts => "prompts",
        _ => "other",
    }
}

/// What a server asks for, and its name among the answers.
pub fn input(input: &InputRequest<'_>) -> (&'static str, String) {
    match input {
        InputRequest::Roots => ("roots", "roots".into()),
        InputRequest::Elicit(form) => {
            let (message, schema) = (form.message(), form.requested_schema());
            (
                "form",
                format!("form {:?} {} of {}", message.to_string(), form.properties().count(), schema.raw()),
            )
        }
        InputRequest::OpenUrl(open) => {
            let (message, id) = (open.message().to_string(), option(open.elicitation_id()));
            ("url", format!("url {:?} {message:?} {id}", open.url().to_string()))
        }
        InputRequest::Sample(sample) => {
            let context = match sample.include_context() {
                IncludeContext::AllServers => "all servers",
                IncludeContext::ThisServer => "this server",
                IncludeContext::None => "none",
            };
            let choice = match sample.tool_choice() {
                ToolChoice::Auto => "auto",
                ToolChoice::Required => "required",
                ToolChoice::None => "none",
            };
            let counts = [sample.messages().count(), sample.tools().count(), sample.stop_sequences().count()];
            let (tokens, prompt) = (sample.max_tokens(), option(sample.system_prompt()));
            let temperature = option(sample.temperature());
            ("model", format!("model {tokens} {counts:?} {prompt:?} {temperature} {context} {choice}"))
        }
        _ => ("?", "other".into()),
    }
}

pub fn capabilities(capabilities: ClientCapabilities) -> String {
    let all = [
        (ClientCapabilities::ROOTS, "roots"),
        (ClientCapabilities::ROOTS_LIST_CHANGED, "roots-changed"),
        (ClientCapabilities::SAMPLING, "sampling"),
        (ClientCapabilities::SAMPLING_TOOLS, "sampling-tools"),
        (ClientCapabilities::ELICITATION_FORM, "form"),
        (ClientCapabilities::ELICITATION_URL, "url"),
    ];
    let has = all.into_iter().filter(|(one, _)| capabilities.has(*one)).map(|(_, name)| name);
    format!("[{}]", has.collect::<Vec<_>>().join(" "))
}

/// What an outgoing message is, and where it belongs.
pub fn frame(frame: &Frame<'_>) -> String {
    let kind = match frame.kind() {
        FrameKind::Response => "response",
        FrameKind::Notification => "notification",
        FrameKind::Request => "request",
        _ => "other",
    };
    match frame.belongs_to() {
        BelongsTo::Connection => kind.to_owned(),
        BelongsTo::Request(StreamId(stream)) => format!("{kind}, request on {stream}"),
        BelongsTo::Subscription(StreamId(stream)) => format!("{kind}, subscription on {stream}"),
        _ => format!("{kind}, other"),
    }
}
