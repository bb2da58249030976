//! Table of the rules that a monitor checks.

use core::fmt;

/// Defines the rules and `Rule::ALL` from one table, so that `ALL` is always complete.
macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident = $name:literal, $level:ident, $section:literal;)*) => {
        /// A rule of the specification.
        ///
        /// ```
        /// use mcp_proto::monitor::{Requirement, Rule};
        /// assert_eq!(Rule::IdReused.name(), "id-reused");
        /// assert_eq!(Rule::IdReused.section(), "Base protocol, Requests");
        /// assert_eq!(Rule::IdReused.requirement(), Requirement::Must);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Rule {
            $($(#[$doc])* $rule,)*
        }

        impl Rule {
            /// All rules, in the order of their declaration.
            pub const ALL: &[Rule] = &[$(Rule::$rule),*];

            /// Returns the name. Later versions of this crate do not change the name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Rule::$rule => $name,)* }
            }

            /// Returns the section of the specification.
            #[must_use]
            pub const fn section(self) -> &'static str {
                match self { $(Rule::$rule => $section,)* }
            }

            /// Returns whether the specification demands or recommends the rule.
            #[must_use]
            pub const fn requirement(self) -> Requirement {
                match self { $(Rule::$rule => Requirement::$level,)* }
            }
        }
    };
}

/// The strength of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Requirement {
    /// MUST, MUST NOT, or a required member of the schema.
    Must,
    /// SHOULD or SHOULD NOT.
    Should,
}

rules! {
    /// A line is one JSON value.
    LineJson = "line-json", Must, "Transports, stdio";
    /// A line is UTF-8.
    LineUtf8 = "line-utf8", Must, "Transports, stdio";
    /// A newline ends each message. A message contains no other newline.
    LineNewline = "line-newline", Must, "Transports, stdio";

    /// Only `2025-03-26` has batches. A batch is not empty.
    Batch = "batch", Must, "Base protocol, Batching";
    /// A batch does not contain `initialize`.
    BatchInitialize = "batch-initialize", Must, "Lifecycle, Initialization";
    /// `jsonrpc` is `"2.0"`.
    JsonRpcVersion = "jsonrpc-version", Must, "Base protocol, Messages";
    /// A message is a request, a notification or a response. `params` is an object.
    MessageShape = "message-shape", Must, "Base protocol, Messages";
    /// The id of a request is a string or an integer.
    IdType = "id-type", Must, "Base protocol, Requests";
    /// In a session, a sender uses an id once. Without a session, an id is not in flight twice.
    IdReused = "id-reused", Must, "Base protocol, Requests";
    /// A response has the id of a request.
    ResponseId = "response-id", Must, "Base protocol, Responses";
    /// A request gets one response.
    ResponseRepeated = "response-repeated", Must, "Base protocol, Responses";
    /// A response has either a result or an error. A result is an object.
    ResponseShape = "response-shape", Must, "Base protocol, Responses";
    /// Every request gets a response.
    RequestUnanswered = "request-unanswered", Must, "Base protocol, Requests";
    /// An error has an integer `code` and a string `message`.
    ErrorShape = "error-shape", Must, "Base protocol, Responses";
    /// An error has no id only if the request's id was unreadable. The revision decides whether `id` is null or absent.
    ErrorId = "error-id", Must, "Base protocol, Responses";
    /// `2026-07-28` reserves error codes, and defines the data of some codes.
    ErrorCode = "error-code", Must, "Base protocol, Error codes";
    /// An unknown method gets the error -32601.
    UnknownMethodCode = "unknown-method-code", Must, "Base protocol, Error codes";
    /// Parameters have the members that the schema requires, and known members have the right type.
    ParamsShape = "params-shape", Must, "Schema";
    /// A result has the members that the schema requires, and known members have the right type.
    ResultShape = "result-shape", Must, "Schema";
    /// Results of `2026-07-28` have a known `resultType`.
    ResultType = "result-type", Must, "Base protocol, Responses";

    /// A session begins with `initialize`, which occurs once.
    InitializeFirst = "initialize-first", Must, "Lifecycle, Initialization";
    /// Before the response to `initialize`, a client sends no requests except pings.
    ClientBeforeResponse = "client-before-response", Should, "Lifecycle, Initialization";
    /// Before `notifications/initialized`, a server sends only responses, pings, log messages, progress and
    /// cancellations.
    ServerBeforeInitialized = "server-before-initialized", Should, "Lifecycle, Initialization";
    /// A client sends `notifications/initialized` once, after the response to `initialize`, and before its requests.
    Initialized = "initialized", Must, "Lifecycle, Initialization";
    /// A server responds to `initialize` with a revision that has a handshake.
    NegotiatedVersion = "negotiated-version", Must, "Lifecycle, Version negotiation";
    /// A request of `2026-07-28` contains its revision and capabilities in `_meta`. Otherwise the server refuses the
    /// request.
    RequestMeta = "request-meta", Must, "Base protocol, `_meta`";
    /// A server refuses a revision that it does not support.
    UnsupportedVersion = "unsupported-version", Must, "Versioning";
    /// In `2026-07-28`, a server sends no requests, and a client sends no responses.
    StatelessDirection = "stateless-direction", Must, "Transports, stdio";
    /// The revision has the method in the direction of the message.
    MethodRevision = "method-revision", Must, "Lifecycle, Operation";
    /// The specification or a declared extension has the method.
    MethodUnknown = "method-unknown", Should, "Lifecycle, Operation";
    /// If a message needs a capability of the client or of the server, that side has declared the capability.
    Capability = "capability", Must, "Lifecycle, Capability negotiation";

    /// A peer cancels only its own requests. In `2026-07-28`, a server cancels only subscriptions.
    CancelRequest = "cancel-request", Must, "Cancellation";
    /// A client never cancels `initialize`.
    CancelInitialize = "cancel-initialize", Must, "Cancellation";
    /// A cancelled request gets no response and no notification.
    CancelledAnswered = "cancelled-answered", Should, "Cancellation";
    /// A progress token is a string or an integer, and unique among the requests in flight.
    ProgressToken = "progress-token", Must, "Progress";
    /// Progress refers to the token of a request in flight.
    ProgressRequest = "progress-request", Must, "Progress";
    /// Progress increases with each notification.
    ProgressIncreases = "progress-increases", Must, "Progress";
    /// Progress ends with the response.
    ProgressAfterEnd = "progress-after-end", Must, "Progress";
    /// Log messages have at least the requested level. In `2026-07-28`, a server sends log messages only while a
    /// request in flight sets a level.
    LogLevel = "log-level", Should, "Logging";
    /// An unknown level gets the error -32602.
    LogLevelCode = "log-level-code", Should, "Logging, Error handling";
    /// A client sends only cursors that the server has issued.
    CursorOpaque = "cursor-opaque", Must, "Pagination";
    /// An invalid cursor gets the error -32602.
    CursorCode = "cursor-code", Should, "Pagination, Error handling";

    /// Tool names are unique. A name has 1 to 128 characters: ASCII letters, digits, `_`, `-` and `.`.
    ToolName = "tool-name", Should, "Tools, Tool names";
    /// An unknown tool gets the error -32602.
    UnknownToolCode = "unknown-tool-code", Should, "Tools, Error handling";
    /// A tool with an output schema returns structured content, which matches the schema.
    StructuredContent = "structured-content", Must, "Tools, Output schema";
    /// An unknown prompt gets the error -32602.
    UnknownPromptCode = "unknown-prompt-code", Should, "Prompts, Error handling";
    /// A completion has at most 100 values.
    CompletionValues = "completion-values", Must, "Completion";
    /// A root is a `file://` URI.
    RootUri = "root-uri", Must, "Roots";
    /// A server reports changes of resources to subscribers only.
    ResourceUpdated = "resource-updated", Must, "Resources, Subscriptions";

    /// A subscription begins with an acknowledgment of requested changes, and its notifications have its id.
    Subscription = "subscription", Must, "Subscriptions";
    /// Only `tools/call`, `prompts/get` and `resources/read` may require input. The client has declared the capability
    /// that the requested input needs.
    InputRequired = "input-required", Must, "Multi round-trip requests";
}

/// Writes the name.
impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}
