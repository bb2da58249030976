//! Operations on a server: client messages, application actions and connection changes.

/// One operation. Request, ticket and question numbers count back from the latest, and wrap.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Operation {
    /// The client sends a line.
    Send(Message),
    /// The client sends the first six messages as a batch in one line.
    Batch(Vec<Message>),
    /// The client sends a damaged line. The `u16` is a position. The last field replaces the byte at the position. If
    /// it is `None`, would end the line, or would change the request number, the line is truncated at the position.
    Damaged(Message, u16, Option<u8>),
    /// The client sends arbitrary bytes as one line.
    Bytes(Vec<u8>),
    /// The client sends this many lines, modulo 20, that are not messages.
    Noise(u8),
    /// The application applies a behavior to a deferred request.
    Later(u8, Behavior),
    /// The application sends a request, optionally during a deferred request. The last field is the timeout in units of
    /// 5 milliseconds; 0 means the default.
    Ask(Question, Option<u8>, u8),
    /// The application cancels its own request.
    CancelRequest(u8),
    /// The application ends a subscription.
    EndSubscription(u8),
    /// The application sends a log message of this level.
    Log(u8),
    /// The application reports a change.
    Changed(Changed),
    /// Time passes, in milliseconds.
    Time(u16),
    /// The client stops reading (`true`) or reads again (`false`).
    Block(bool),
    /// The client closes its side.
    EndOfInput,
    /// All later writes fail.
    Broken,
    /// The application shuts down, optionally with this time limit in milliseconds.
    Shutdown(Option<u8>),
    /// A new connection starts.
    Reset,
    /// The application sends a notification of its own.
    Notify,
    /// The application performs this action on a task.
    Task(u8, TaskAction),
    /// This user sends the following messages. The user is the number modulo 3; 0 means no user.
    Owner(u8),
}

impl Operation {
    /// Returns whether the application performs the operation.
    pub(crate) fn is_application_action(&self) -> bool {
        use Operation::{Ask, CancelRequest, Changed, EndSubscription, Later, Log, Notify, Shutdown, Task};
        matches!(
            self,
            Later(..)
                | Ask(..)
                | CancelRequest(_)
                | EndSubscription(_)
                | Log(_)
                | Changed(_)
                | Notify
                | Task(..)
                | Shutdown(_)
        )
    }
}

/// A message of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Message {
    /// A request.
    Request(Request),
    /// Cancels a request of the client.
    Cancel(u8),
    /// Responds to a request of the server.
    Answer(u8, Reaction),
    /// Reports progress on a request of the server.
    Progress(u8),
    /// `notifications/initialized`.
    Initialized,
    /// `notifications/roots/list_changed`.
    RootsChanged,
    /// An unexpected response or notification, or a line that is not a message.
    Odd(u8),
    /// A notification of an extension.
    Own,
}

impl Message {
    /// Returns whether the message depends on earlier output of the server.
    pub(crate) fn refers_to_output(&self) -> bool {
        match self {
            Message::Answer(..) | Message::Progress(_) => true,
            Message::Request(request) => matches!(request.what, What::Task(..) | What::Listen),
            _ => false,
        }
    }
}

/// A request of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Request {
    /// Method and its parameters.
    pub what: What,
    /// Kind of id.
    pub id: Id,
    /// Whether the request is stateless.
    pub stateless: bool,
    /// Whether the request has a progress token.
    pub progress: bool,
    /// Length of the filler member in bytes.
    pub filler: u16,
    /// Selects the order of members.
    pub order: u8,
}

impl Request {
    pub(crate) fn is_initialize(&self) -> bool {
        matches!(self.what, What::Initialize(..))
    }
}

/// The kind of a request id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Id {
    /// A string unique to the request.
    Text,
    /// A number unique to the request.
    Number,
    /// The id of an earlier request, possibly with other escapes.
    Again(u8),
    /// An id longer than the server can store.
    Long,
    /// An invalid id, such as `null`, a fraction, or an object.
    None(u8),
}

/// The method of a request, with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum What {
    /// `initialize` with a revision, and capability bits: roots, sampling, forms, URLs.
    Initialize(u8, u8),
    /// `server/discover`.
    Discover,
    /// `ping`.
    Ping,
    /// `tools/call`.
    Call(Behavior),
    /// `resources/read`.
    Read(Behavior),
    /// `prompts/get`.
    Prompt(Behavior),
    /// `completion/complete`.
    Complete(Behavior),
    /// A list method by number. The application supplies some of the lists.
    List(u8),
    /// `logging/setLevel`.
    Level(u8),
    /// `resources/subscribe` if `true`, otherwise `resources/unsubscribe`.
    Subscribe(bool),
    /// `subscriptions/listen`.
    Listen,
    /// A method that the protocol does not define.
    Unknown,
    /// `ping` with parameters of this nesting depth, modulo 100.
    Deep(u8),
    /// A method of an extension.
    Own(Behavior),
    /// A request about a task, by number.
    Task(TaskMethod, u8),
}

/// The application's handling of a request.
///
/// The variants describe the handling of a new request. For a deferred request, responses are errors, except for a
/// request for input. After a notification or `Drop`, a deferred request stays deferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Behavior {
    /// Responds with a result.
    Answer,
    /// Responds with an error.
    Error,
    /// Drops the request without a response.
    Drop,
    /// Defers the request. The field is the timeout of a call in units of 10 milliseconds; 0 means the default.
    Defer(u8),
    /// Responds that the server is busy.
    Busy,
    /// Reports progress, then responds.
    Progress,
    /// Sends a log message, then responds.
    Log,
    /// Reports a change, then responds.
    Change,
    /// Requires input each time. If the kind of the request cannot require input, drops the request.
    Needs,
    /// Refuses the request, for example because of a missing client capability. If the kind of
    /// the request has no such error, drops the request.
    Lacks,
    /// Responds with an error that usually exceeds the guaranteed response space.
    Large,
    /// Responds with an error whose data is an incomplete JSON value.
    Unbalanced,
    /// Responds with a task, if the client accepts one.
    Task,
}

/// The method of a request about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum TaskMethod {
    /// `tasks/get`
    Get,
    /// `tasks/result`
    Result,
    /// `tasks/cancel`
    Cancel,
    /// `tasks/update`, with a response to every possible input request.
    Update,
    /// `tasks/list`
    List,
}

/// An action of the application with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum TaskAction {
    /// Ends the task with a result that the table stores.
    Complete,
    /// Tries to end the task with a result that is usually too long for the text buffer of the task table.
    Large,
    /// Ends the task with an error.
    Fail,
    /// Ends the task. The application keeps the result.
    Keep,
    /// Requires input.
    Input,
    /// Reports the status as a text.
    Message,
    /// Sends progress.
    Progress,
    /// Removes the task.
    Remove,
}

/// A request of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Question {
    /// `ping`.
    Ping,
    /// `roots/list`.
    Roots,
    /// `elicitation/create` with a form.
    Form,
    /// `elicitation/create` with a URL.
    Page,
    /// `sampling/createMessage`.
    Sample,
    /// A method of the application.
    Raw,
}

/// The response of a client to a request of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Reaction {
    /// A result with this many bytes of filler.
    Result(u16),
    /// An error.
    Error,
    /// A response with both result and error (`true`), or with neither (`false`).
    Malformed(bool),
    /// A result whose id is a string with the digits of the request's id.
    Text,
}

/// A change that the application reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Changed {
    /// The list of tools.
    Tools,
    /// The list of resources.
    Resources,
    /// The list of prompts.
    Prompts,
    /// One resource.
    Resource,
}
