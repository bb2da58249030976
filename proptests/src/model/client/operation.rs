//! Operations on a client: server messages, application actions and connection changes.

use crate::model::operation::Behaviour;

/// One operation. Numbers of requests and tickets count back from the last one, and wrap.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Operation {
    /// The server sends a line.
    Send(Message),
    /// It sends several messages in one line.
    Batch(Vec<Message>),
    /// It sends a line that is cut off there.
    Cut(Message, u16),
    /// It sends any bytes, and a line break.
    Bytes(Vec<u8>),
    /// The application sends a request.
    Begin(Call, Wait),
    /// It gives one up.
    Cancel(u8),
    /// It goes on with one that needs input.
    Resume(u8),
    /// It does something with a request of the server's that it has deferred.
    Later(u8, Reaction),
    /// It sends a notification with so many bytes.
    Notify(u16),
    /// It says that its roots have changed.
    RootsChanged,
    /// Time passes, in milliseconds.
    Time(u16),
    /// The server stops reading, or begins again.
    Block(bool),
    /// The server closes its side.
    EndOfInput,
    /// Nothing can be written any more.
    Broken,
    /// The application ends the connection.
    Shutdown,
    /// A new connection, on which subscriptions go on.
    Reconnect,
    /// A new connection, and nothing of the old one.
    Reset,
}

impl Operation {
    /// Whether it is the application that does something.
    pub(crate) fn is_of_host(&self) -> bool {
        use Operation::{Begin, Cancel, Later, Notify, Resume, RootsChanged, Shutdown};
        matches!(self, Begin(..) | Cancel(_) | Resume(_) | Later(..) | Notify(_) | RootsChanged | Shutdown)
    }
}

/// A message of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Message {
    /// It answers a request that it has not answered yet.
    Answer(u8, Answer),
    /// It answers any request, perhaps again.
    Again(u8, Answer),
    /// It reports progress of a request.
    Progress(u8),
    /// It takes up a subscription.
    Acknowledge(u8),
    /// It says that something has changed, to a subscription or to all.
    Changed(Option<u8>),
    /// It says that a request is cancelled.
    Ends(u8),
    /// It asks for something; the application defers it, or deals with it at once. The last: bytes of filler.
    Ask(Question, Reaction, u16),
    /// It cancels its request.
    TakeBack(u8),
    /// Another notification, or what is none.
    Odd(u8),
}

/// A response of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Answer {
    /// With what was asked for, and so many bytes of filler.
    Good(u16),
    /// With an id that is a string of digits.
    Text,
    /// With a page that is not the last one.
    Page,
    /// That it needs input first, perhaps with a state.
    Needs(bool),
    /// With an error.
    Error,
    /// With a result that is none, or with both a result and an error.
    Malformed(bool),
    /// Of a revision or shape that nobody knows.
    Strange,
}

/// What a server asks.
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
    /// No method of the protocol.
    Unknown,
}

/// What the application does with what a server asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Reaction {
    /// It answers.
    Answer,
    /// It says no.
    Decline,
    /// It answers with an error that has more than there is room for.
    Large,
    /// It lets it go.
    Drop,
    /// It reports progress, and says no.
    Progress,
    /// It leaves the answer for later.
    Defer,
}

/// What a host asks for; and what a server that is there does then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Call {
    /// `tools/call`, with so many bytes of filler.
    Tool(Behaviour, u16),
    /// A list, by its number.
    List(u8),
    /// `resources/read`
    Read(Behaviour),
    /// `prompts/get`
    Prompt(Behaviour),
    /// `completion/complete`
    Complete(Behaviour),
    /// `resources/subscribe`, or the opposite.
    Subscribe(bool),
    /// `subscriptions/listen`
    Listen,
    /// `logging/setLevel`
    Level,
    /// `ping`
    Ping,
    /// Something of the application's own.
    Own,
}

/// How long the application waits, and what it wants to hear.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Wait {
    /// 10 milliseconds times this, or the usual time.
    pub time: u8,
    /// Progress, which gives it more time.
    pub progress: bool,
}
