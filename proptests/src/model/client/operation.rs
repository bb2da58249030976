//! Operations on a client: server messages, application actions and connection changes.

use crate::model::operation::Behavior;

/// One operation. Request and ticket numbers count back from the latest, and wrap.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Operation {
    /// The server sends a line.
    Send(Message),
    /// The server sends a batch in one line.
    Batch(Vec<Message>),
    /// The server sends a line truncated at this position.
    Cut(Message, u16),
    /// The server sends arbitrary bytes and a newline.
    Bytes(Vec<u8>),
    /// The application sends a request.
    Begin(Call, Wait),
    /// The application cancels a request.
    Cancel(u8),
    /// The application resumes a request that requires input.
    Resume(u8),
    /// The application reacts to a deferred request of the server.
    Later(u8, Reaction),
    /// The application sends a notification with this many bytes of filler, modulo 1200.
    Notify(u16),
    /// The application reports that its roots have changed.
    RootsChanged,
    /// Time passes, in milliseconds.
    Time(u16),
    /// The server stops reading (`true`) or reads again (`false`).
    Block(bool),
    /// The server closes its side.
    EndOfInput,
    /// All later writes fail.
    Broken,
    /// The application shuts the client down.
    Shutdown,
    /// A new connection starts. Subscriptions of `subscriptions/listen` continue.
    Reconnect,
    /// A new connection starts without any state of the old one.
    Reset,
}

impl Operation {
    /// Returns whether the application performs the operation.
    pub(crate) fn is_application_action(&self) -> bool {
        use Operation::{Begin, Cancel, Later, Notify, Resume, RootsChanged, Shutdown};
        matches!(self, Begin(..) | Cancel(_) | Resume(_) | Later(..) | Notify(_) | RootsChanged | Shutdown)
    }
}

/// A message of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Message {
    /// Responds to a request that has no response yet.
    Answer(u8, Answer),
    /// Responds to any request, possibly again.
    Again(u8, Answer),
    /// Reports progress on a request.
    Progress(u8),
    /// Acknowledges a request, as if it were a subscription.
    Acknowledge(u8),
    /// Reports a changed list of tools. The subscription id is the id of any request, or is missing (`None`).
    Changed(Option<u8>),
    /// Cancels a request of the client.
    Ends(u8),
    /// Sends a request. The fields are the question, the reaction of the application, and the length of the filler
    /// modulo 1500.
    Ask(Question, Reaction, u16),
    /// Cancels a request of the server.
    CancelRequest(u8),
    /// An unexpected response or notification, or a line that is not a message.
    Odd(u8),
}

/// A response of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Answer {
    /// A valid result with this many bytes of filler, modulo 2000.
    Good(u16),
    /// A result whose id is a string with the digits of the request's id.
    Text,
    /// A page with a cursor for the next page. If the method has no pages, a valid result.
    Page,
    /// A result that requires input, with a request state if `true`. For connecting requests, a valid result.
    Needs(bool),
    /// An error.
    Error,
    /// An invalid result (`true`), or both result and error (`false`).
    Malformed(bool),
    /// A result with an unknown revision or of an unexpected shape. For some methods, a valid result.
    Strange,
}

/// A request of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Question {
    /// `ping`
    Ping,
    /// `roots/list`
    Roots,
    /// `sampling/createMessage`
    Sample,
    /// `elicitation/create`
    Form,
    /// A method that the protocol does not define.
    Unknown,
}

/// The application's reaction to a request of the server.
///
/// For a deferred request, `Drop`, `Progress` and `Defer` send no response, and the request stays deferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Reaction {
    /// Responds with a result.
    Answer,
    /// Declines.
    Decline,
    /// Responds with an error of more than 5000 bytes, which may be too large for the transmit buffer.
    Large,
    /// Drops the request without a response.
    Drop,
    /// Reports progress, then declines.
    Progress,
    /// Defers the request.
    Defer,
}

/// A request of the client. The `Behavior` selects the reaction of a modeled server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Call {
    /// `tools/call` with this many bytes of filler, modulo 1200.
    Tool(Behavior, u16),
    /// A list method by number.
    List(u8),
    /// `resources/read`
    Read(Behavior),
    /// `prompts/get`
    Prompt(Behavior),
    /// `completion/complete`
    Complete(Behavior),
    /// `resources/subscribe` if `true`, otherwise `resources/unsubscribe`.
    Subscribe(bool),
    /// `subscriptions/listen`
    Listen,
    /// `logging/setLevel`
    Level,
    /// `ping`
    Ping,
    /// A method of the application.
    Own,
}

/// Options of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Wait {
    /// The timeout in units of 10 milliseconds; 0 means the default.
    pub time: u8,
    /// Whether to request progress. Progress extends the timeout.
    pub progress: bool,
}
