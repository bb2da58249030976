//! Hooks before and after each request that reaches the handler.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::json::Json;
use mcp_proto::server::{Event, ResponseStatus};
use mcp_proto::{ClientCapabilities, Revision};

use crate::owned::view;

/// Hooks before and after each request that reaches the handler: for authorization and metrics.
///
/// The server responds to some requests by itself, such as `initialize`, `ping`, or a static list. Neither the handler
/// nor a hook receives these requests. The methods of a hook must not block, because they run in the event loop.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use std::time::Duration;
/// # use mcp_proto_handles::{Refusal, RequestHook, RequestInfo, RequestOutcome};
///
/// #[derive(Default)]
/// struct Failures(AtomicU64);
///
/// impl RequestHook for Failures {
///     fn before(&self, request: &RequestInfo) -> Result<(), Refusal> {
///         match request.tool() {
///             // Over HTTP with authorization, a request has a user.
///             Some("delete") if request.user() != Some(1) => Err(Refusal::new(-31_001, "not permitted")),
///             _ => Ok(()),
///         }
///     }
///
///     fn after(&self, request: &RequestInfo, outcome: RequestOutcome, time: Duration) {
///         if outcome != RequestOutcome::Result {
///             self.0.fetch_add(1, Ordering::Relaxed);
///             eprintln!("{} {}: {outcome} after {time:?}", request.method(), request.id());
///         }
///     }
/// }
/// ```
pub trait RequestHook: Send + Sync {
    /// Permits or refuses a request. The event loop calls this method before the handler.
    ///
    /// # Errors
    /// The server refuses the request with the returned error. The handler and further hooks do not receive the
    /// request.
    fn before(&self, request: &RequestInfo) -> Result<(), Refusal> {
        let _ = request;
        Ok(())
    }

    /// Observes the end of a request. The event loop calls this method once for each request whose
    /// [`before`](RequestHook::before) was called.
    ///
    /// `time` includes the time for which a deferred request waits for its response. A panic of this method does not
    /// end the server, and other hooks still receive the end of the request.
    fn after(&self, request: &RequestInfo, outcome: RequestOutcome, time: Duration) {
        let _ = (request, outcome, time);
    }
}

/// A shared hook, such as a table of metrics that the application reads.
impl<H: RequestHook + ?Sized> RequestHook for Arc<H> {
    fn before(&self, request: &RequestInfo) -> Result<(), Refusal> {
        (**self).before(request)
    }

    fn after(&self, request: &RequestInfo, outcome: RequestOutcome, time: Duration) {
        (**self).after(request, outcome, time);
    }
}

/// A JSON-RPC error with which a [hook](RequestHook::before) refuses a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub(crate) code: i32,
    pub(crate) message: String,
}

impl Refusal {
    /// Creates an error. Application codes should lie outside of -32768 to -32000.
    #[must_use]
    pub fn new(code: i32, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into() }
    }
}

/// The outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RequestOutcome {
    /// A result.
    Result,
    /// The result of a tool that failed (`isError`).
    ToolFailure,
    /// A JSON-RPC error.
    Error {
        /// The code.
        code: i32,
    },
    /// The client cancelled the request, or its stream closed.
    Cancelled,
    /// The timeout of the request, the time to live of its task, or the grace period of the connection expired.
    TimedOut,
    /// The connection closed, the session restarted, or the handler panicked, before a response.
    Closed,
}

impl From<ResponseStatus> for RequestOutcome {
    fn from(status: ResponseStatus) -> RequestOutcome {
        match status {
            ResponseStatus::Result => RequestOutcome::Result,
            ResponseStatus::ToolFailure => RequestOutcome::ToolFailure,
            ResponseStatus::Error { code } => RequestOutcome::Error { code },
        }
    }
}

impl fmt::Display for RequestOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RequestOutcome::Result => "result",
            RequestOutcome::ToolFailure => "tool failure",
            RequestOutcome::Error { code } => return write!(f, "error {code}"),
            RequestOutcome::Cancelled => "cancelled",
            RequestOutcome::TimedOut => "timed out",
            RequestOutcome::Closed => "closed",
        })
    }
}

/// A request that reaches the handler.
#[derive(Debug, Clone)]
pub struct RequestInfo {
    id: String,
    method: String,
    name: Option<String>,
    revision: Revision,
    client: ClientCapabilities,
    user: Option<u64>,
}

impl RequestInfo {
    /// Copies the data of a request that hooks need. Returns `None` if the event is not a request.
    pub(crate) fn new(event: &Event<'_>) -> Option<RequestInfo> {
        macro_rules! info {
            ($request:expr, $method:expr, $name:expr) => {
                Some(RequestInfo {
                    id: $request.id().raw().into(),
                    method: $method.into(),
                    name: $name.map(String::from),
                    revision: $request.revision(),
                    client: $request.client(),
                    user: $request.user(),
                })
            };
        }
        match event {
            Event::Call(call) => info!(call, "tools/call", Some(call.name())),
            Event::ReadResource(read) => info!(read, "resources/read", Some(read.uri())),
            Event::GetPrompt(get) => info!(get, "prompts/get", Some(get.name())),
            Event::Complete(complete) => info!(complete, "completion/complete", None::<&str>),
            Event::ListTools(list) => info!(list, "tools/list", None::<&str>),
            Event::ListResources(list) => info!(list, "resources/list", None::<&str>),
            Event::ListTemplates(list) => info!(list, "resources/templates/list", None::<&str>),
            Event::ListPrompts(list) => info!(list, "prompts/list", None::<&str>),
            Event::Request(request) => info!(request, request.method(), None::<&str>),
            Event::SubscriptionRequest(request) => {
                info!(request, request.method(), request.uri().map(|uri| uri.to_string()))
            }
            _ => None,
        }
    }

    /// Returns the id of the request: a string or a number.
    #[must_use]
    pub fn id(&self) -> Json<'_> {
        view(&self.id)
    }

    /// Returns the method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the name of the tool or prompt, or the URI of the resource. Returns `None` for other requests.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the name of the tool, or `None` if the request is not a tool call.
    #[must_use]
    pub fn tool(&self) -> Option<&str> {
        self.name().filter(|_| self.method == "tools/call")
    }

    /// Returns the revision of the request.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the capabilities that the client declared.
    #[must_use]
    pub fn client(&self) -> ClientCapabilities {
        self.client
    }

    /// Returns the user of the request, or `None` if there is none: see [`Call::user`](mcp_proto::server::Call::user).
    #[must_use]
    pub fn user(&self) -> Option<u64> {
        self.user
    }
}

/// Responds to the request of an event with an error.
pub(crate) fn refuse(event: Option<Event<'_>>, refusal: &Refusal) {
    macro_rules! refuse {
        ($($request:ident)*) => {
            match event {
                $(Some(Event::$request(request)) => request.error(refusal.code, refusal.message.as_str()),)*
                _ => {}
            }
        };
    }
    refuse!(Call ReadResource GetPrompt Complete ListTools ListResources ListTemplates ListPrompts Request SubscriptionRequest);
}
