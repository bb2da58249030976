//! Operations on a server: client messages, application actions and connection changes.

/// One operation. Numbers of requests, tickets and questions count back from the last one, and wrap.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Operation {
    /// The client sends a line.
    Send(Message),
    /// It sends several messages in one line.
    Batch(Vec<Message>),
    /// It sends a line with one byte replaced, or cut off there.
    Damaged(Message, u16, Option<u8>),
    /// It sends any bytes, and a line break.
    Bytes(Vec<u8>),
    /// It sends so many lines that are no messages.
    Noise(u8),
    /// The application does something with a deferred request.
    Later(u8, Behaviour),
    /// The application asks the client, perhaps for the sake of a deferred request, and waits for so many milliseconds.
    Ask(Question, Option<u8>, u8),
    /// The application cancels its request.
    TakeBack(u8),
    /// The application ends a subscription.
    EndSubscription(u8),
    /// The application logs something at a level.
    Log(u8),
    /// Something has changed.
    Changed(Changed),
    /// Time passes, in milliseconds.
    Time(u16),
    /// The client stops reading, or begins again.
    Block(bool),
    /// The client closes its side.
    EndOfInput,
    /// Nothing can be written any more.
    Broken,
    /// The application ends the connection, perhaps with a time of its own.
    Shutdown(Option<u8>),
    /// A new connection.
    Reset,
}

impl Operation {
    /// Whether it is the application that does something.
    pub(crate) fn is_of_host(&self) -> bool {
        use Operation::{Ask, Changed, EndSubscription, Later, Log, Shutdown, TakeBack};
        matches!(
            self,
            Later(..) | Ask(..) | TakeBack(_) | EndSubscription(_) | Log(_) | Changed(_) | Shutdown(_)
        )
    }
}

/// A message of the client.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Message {
    /// A request.
    Request(Request),
    /// It cancels a request.
    Cancel(u8),
    /// It answers a question of the server's.
    Answer(u8, Reaction),
    /// It reports progress of such a question.
    Progress(u8),
    /// `notifications/initialized`.
    Initialized,
    /// `notifications/roots/list_changed`.
    RootsChanged,
    /// Another notification, or what is none.
    Odd(u8),
}

impl Message {
    /// Whether it depends on what the server has asked.
    pub(crate) fn is_about_asked(&self) -> bool {
        matches!(self, Message::Answer(..) | Message::Progress(_))
    }
}

/// A request of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub struct Request {
    /// What for.
    pub what: What,
    /// What its id is like.
    pub id: Id,
    /// Whether it is of the stateless era.
    pub stateless: bool,
    /// Whether it asks for progress.
    pub progress: bool,
    /// Bytes of filler in it.
    pub filler: u16,
    /// In which order its members come.
    pub order: u8,
}

impl Request {
    pub(crate) fn is_initialize(&self) -> bool {
        matches!(self.what, What::Initialize(..))
    }
}

/// What an id is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Id {
    /// A string that no other request has.
    Text,
    /// A number that no other request has.
    Number,
    /// The id of an earlier request, perhaps written in another way.
    Again(u8),
    /// Longer than what can be kept.
    Long,
    /// No id: `null`, a fraction, an object.
    None(u8),
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum What {
    /// `initialize`, with a revision, and capabilities as bits: roots, sampling, forms, pages.
    Initialize(u8, u8),
    /// `server/discover`.
    Discover,
    /// `ping`.
    Ping,
    /// `tools/call`.
    Call(Behaviour),
    /// `resources/read`.
    Read(Behaviour),
    /// `prompts/get`.
    Prompt(Behaviour),
    /// `completion/complete`.
    Complete(Behaviour),
    /// A list, by its number; some are given by the application.
    List(u8),
    /// `logging/setLevel`.
    Level(u8),
    /// `resources/subscribe`, or the opposite.
    Subscribe(bool),
    /// `subscriptions/listen`.
    Listen,
    /// No method of the protocol.
    Unknown,
    /// A ping whose parameters are nested so deeply.
    Deep(u8),
}

/// How the application handles a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Behaviour {
    /// It answers.
    Answer,
    /// It answers with an error.
    Error,
    /// It lets it go.
    Drop,
    /// It leaves the answer for later, for at most 10 milliseconds times this, or for the usual time.
    Defer(u8),
    /// It says that it is busy.
    Busy,
    /// It reports progress, and answers.
    Progress,
    /// It logs something, and answers.
    Log,
    /// It says that something has changed, and answers.
    Change,
    /// It needs input first.
    Needs,
    /// It lacks a capability of the client's.
    Lacks,
    /// It answers with more than there is room for.
    Large,
    /// It writes half a value.
    Unbalanced,
}

/// What a host asks its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Question {
    /// Whether it is there.
    Ping,
    /// For its roots.
    Roots,
    /// For a form that its user has filled in.
    Form,
    /// To send its user to a web page.
    Page,
    /// For what its model says.
    Sample,
    /// For something of its own.
    Raw,
}

/// How a client answers that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "arbitrary", derive(arbitrary::Arbitrary))]
pub enum Reaction {
    /// With a result, which has so many bytes of filler.
    Result(u16),
    /// With an error.
    Error,
    /// With neither, or both.
    Malformed(bool),
    /// With the id as a string.
    Text,
}

/// What has changed.
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
