//! Names for items of the crate in transcripts. The names stay the same when the crate renames an item.

use proto::client::{ConnectFailure, InputRequest, Listed};
use proto::input::{ElicitAction, ElicitResultView};
use proto::json::{Json, ScanError, ScanErrorKind, Str};
use proto::{ClientCapabilities, ConfigError, ErrorHint, IncludeContext, Level, OutboundMessage, Outcome, ProtocolError, Relation, RequestFailure, RpcError, SendError, State, StreamId, ToolChoice};

pub fn option(text: Option<impl std::fmt::Display>) -> String {
    text.map_or("-".into(), |text| text.to_string())
}

pub fn raw(json: Option<Json<'_>>) -> String {
    json.map_or("-".into(), |json| json.raw().to_owned())
}

pub fn texts<'a>(all: impl Iterator<Item = Str<'a>>) -> String {
    all.map(|text| format!("{:?}", text.to_string())).collect::<Vec<_>>().join(" ")
}

pub fn fault(fault: ProtocolError) -> String {
    let word = match fault {
        ProtocolError::NotJson(error) => format!("not json, {}", scan_error(error)),
        ProtocolError::LineTooLong { limit } => format!("line too long, limit {limit}"),
        ProtocolError::TooDeep { limit } => format!("too deep, limit {limit}"),
        ProtocolError::Truncated => "truncated".into(),
        ProtocolError::Batch => "batch".into(),
        ProtocolError::EmptyBatch => "empty batch".into(),
        ProtocolError::BatchTooLarge { limit } => format!("batch too large, limit {limit}"),
        ProtocolError::NotAnObject => "no object".into(),
        ProtocolError::WrongJsonRpcVersion => "wrong jsonrpc".into(),
        ProtocolError::InvalidId => "invalid id".into(),
        ProtocolError::IdTooLong { limit } => format!("id too long, limit {limit}"),
        ProtocolError::DuplicateId => "duplicate id".into(),
        ProtocolError::InvalidMethod => "invalid method".into(),
        ProtocolError::UnknownMethod => "unknown method".into(),
        ProtocolError::InvalidParams => "invalid params".into(),
        ProtocolError::UnknownTool => "unknown tool".into(),
        ProtocolError::UnknownPrompt => "unknown prompt".into(),
        ProtocolError::UnknownResource { code } => format!("unknown resource, code {code}"),
        ProtocolError::MissingClientCapability => "missing client capability".into(),
        ProtocolError::TooManyWatched { limit } => format!("too many watched, limit {limit}"),
        ProtocolError::BadCursor => "bad cursor".into(),
        ProtocolError::NotInitialized => "not initialized".into(),
        ProtocolError::AlreadyInitialized => "already initialized".into(),
        ProtocolError::UnsupportedRevision => "unsupported revision".into(),
        ProtocolError::TooManyInFlight { limit } => format!("too many in flight, limit {limit}"),
        ProtocolError::ShuttingDown => "shutting down".into(),
        ProtocolError::UnknownResponse => "unknown response".into(),
        ProtocolError::MalformedResponse => "malformed response".into(),
        ProtocolError::ErrorWithoutId { code } => format!("error without id, code {code}"),
        ProtocolError::UnknownCancel => "unknown cancel".into(),
        ProtocolError::UnknownProgress => "unknown progress".into(),
        ProtocolError::UnknownSubscription => "unknown subscription".into(),
        ProtocolError::UnknownNotification => "unknown notification".into(),
        ProtocolError::Muted => "muted".into(),
        ProtocolError::Unanswered => "unanswered".into(),
        ProtocolError::TookTooLong => "took too long".into(),
        ProtocolError::ReplyTooLarge { limit } => format!("reply too large, limit {limit}"),
        ProtocolError::InvalidReply => "invalid reply".into(),
        ProtocolError::NoRoundTrip => "no round trip".into(),
        ProtocolError::EntriesLeftOut { count } => format!("entries left out, {count}"),
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

pub fn misuse(misuse: ConfigError) -> String {
    match misuse {
        ConfigError::TxTooSmall { .. } => "tx too small".into(),
        ConfigError::RxTooSmall { .. } => "rx too small".into(),
        ConfigError::TextTooSmall { .. } => "text too small".into(),
        ConfigError::InvalidJson { entry, error } => {
            format!("invalid json, entry {entry}, {}", scan_error(error))
        }
        ConfigError::NotAnObject { entry } => format!("no object, entry {entry}"),
        ConfigError::DuplicateName { entry } => format!("duplicate name, entry {entry}"),
        ConfigError::InvalidTemplate { entry } => format!("invalid template, entry {entry}"),
        ConfigError::InvalidName { entry } => format!("invalid name, entry {entry}"),
        ConfigError::NoRevision => "no revision".into(),
        #[allow(unreachable_patterns)]
        _ => "other".into(),
    }
}

pub fn refused(why: SendError) -> &'static str {
    match why {
        SendError::Busy => "busy",
        SendError::Gone => "gone",
        SendError::Full => "full",
        SendError::NotConnected => "not connected",
        SendError::Unwritable => "unwritable",
        SendError::Unsupported => "unsupported",
        SendError::NotWanted => "not wanted",
        #[allow(unreachable_patterns)]
        _ => "other",
    }
}

pub fn state(state: State) -> &'static str {
    match state {
        State::Waiting => "waiting",
        State::Negotiated => "answered",
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

pub fn lost(lost: RequestFailure) -> &'static str {
    match lost {
        RequestFailure::TimedOut => "timed out",
        RequestFailure::Closed => "closed",
        RequestFailure::Ended => "ended",
        RequestFailure::TooLong => "too long",
        RequestFailure::Invalid => "invalid",
        RequestFailure::EndlessList => "endless list",
        RequestFailure::CursorTooLong => "cursor too long",
        RequestFailure::StateTooLong => "state too long",
        RequestFailure::TooManyRounds => "too many rounds",
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
        Outcome::Result(result) => match ElicitResultView::from_json(result) {
            Some(answer) => format!("result {} ({})", result.raw(), elicited(&answer)),
            None => format!("result {}", result.raw()),
        },
        Outcome::Error(error) => rpc_error(error),
        Outcome::Failed(why) => format!("lost {}", lost(why)),
        _ => "other".into(),
    }
}

pub fn rpc_error(error: RpcError<'_>) -> String {
    let hint = match error.hint() {
        None => "-",
        Some(ErrorHint::ToolNotFound) => "tool not found",
        Some(ErrorHint::ToolFailed) => "tool failed",
        Some(ErrorHint::ResourceNotFound) => "resource not found",
        Some(ErrorHint::AccessDenied) => "access denied",
        Some(ErrorHint::PromptNotFound) => "prompt not found",
        Some(ErrorHint::RateLimited) => "rate limited",
        Some(_) => "other",
    };
    let urls: Vec<String> = error.url_elicitations().map(|it| it.raw().raw().to_owned()).collect();
    let (code, message, data) = (error.code(), option(error.message()), raw(error.data()));
    let (capabilities, urls) = (raw(error.required_capabilities()), urls.join(" "));
    format!("error {code} {message:?} data {data}, hint {hint}, capabilities {capabilities}, urls [{urls}]")
}

fn elicited(answer: &ElicitResultView<'_>) -> String {
    let action = match answer.action() {
        ElicitAction::Accept => "accept",
        ElicitAction::Decline => "decline",
        ElicitAction::Cancel => "cancel",
        #[allow(unreachable_patterns)]
        _ => "other",
    };
    format!("{action} {}", answer.content().raw())
}

pub fn failure(failure: ConnectFailure<'_>) -> String {
    match failure {
        ConnectFailure::NoRevision => "no revision".into(),
        ConnectFailure::NoCommonRevision(answer) => format!("no common revision {}", answer.raw()),
        ConnectFailure::Refused(error) => format!("refused {}", rpc_error(error)),
        ConnectFailure::InvalidResponse => "invalid answer".into(),
        ConnectFailure::ResponseTooLong { .. } => "too long answer".into(),
        ConnectFailure::TimedOut => "timed out".into(),
        ConnectFailure::Closed => "closed".into(),
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

/// Returns the kind of an input request, and its text.
pub fn input(input: &InputRequest<'_>) -> (&'static str, String) {
    match input {
        InputRequest::Roots => ("roots", "roots".into()),
        InputRequest::Elicit(form) => {
            let (message, schema) = (form.message(), form.requested_schema());
            (
                "form",
                format!("form {:?} {} of {}", message.to_string(), form.fields().count(), schema.raw()),
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

/// Returns the kind and the relation of an outbound message as text.
pub fn frame(frame: &OutboundMessage<'_>) -> String {
    // Versions differ in how they name responses.
    let kind = match format!("{:?}", frame.kind()) {
        kind if kind.starts_with("Notification") => "notification",
        kind if kind.starts_with("Request") => "request",
        _ => "response",
    };
    match frame.relation() {
        Relation::Connection => kind.to_owned(),
        Relation::Request(StreamId(stream)) => format!("{kind}, request on {stream}"),
        Relation::Subscription(StreamId(stream)) => format!("{kind}, subscription on {stream}"),
        _ => format!("{kind}, other"),
    }
}
