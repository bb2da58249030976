//! Requests that take several rounds (`2026-07-28`): a request is answered with what it needs, and the client sends it
//! again with the answers.
//!
//! Specification: 2026-07-28, *Multi round-trip requests*; 2025-11-25, *Elicitation*, *URL elicitation required error*.
#![allow(clippy::as_conversions, reason = "a reference becomes one to its trait")]

use crate::error::ProtocolError;
use crate::json::{Json, Str, Writer};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::input::{self, Input, OpenUrl, Sealed, To};
use crate::protocol::revision::Revision;
use crate::rpc::code;
use crate::server::reply::Reply;
use crate::server::server_state::Shape;

/// What came back with a request that is sent again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputResponses<'a> {
    /// An object, or nothing.
    pub(crate) responses: &'a [u8],
    /// A string, or nothing.
    pub(crate) state: &'a [u8],
}

impl<'a> InputResponses<'a> {
    pub(crate) fn input(&self, key: &str) -> Option<Json<'a>> {
        Some(self.responses).filter(|text| !text.is_empty()).and_then(|text| Json::trusted(text).get(key))
    }

    pub(crate) fn request_state(&self) -> Option<Str<'a>> {
        Some(self.state).filter(|text| !text.is_empty()).and_then(|text| Json::trusted(text).string())
    }
}

/// What a request needs, one after the other, each with its key.
type Needed<'i> = &'i dyn Fn(usize) -> Option<(&'i str, &'i dyn Input)>;

impl Reply<'_> {
    /// Whether the request may be answered with what it [needs](Reply::require_input): in `2026-07-28`, calls of
    /// tools, reads of resources and prompts may.
    #[must_use]
    pub fn can_require_input(&self) -> bool {
        self.pending.context.kind.can_require_input(self.pending.context.revision)
    }

    /// Answers with what is needed first (`2026-07-28`): each under a key that is used once, and a state that comes back
    /// with the answers. Nothing of the request is kept: the client sends it again, with another id, and
    /// [`Call::input`](crate::server::Call::input) then has the answers of this round.
    ///
    /// If the client did not declare what is asked for, it gets the error that says so (-32021). Where
    /// [`can_require_input`](Reply::can_require_input) says no, or nothing is needed, it gets an error, too, and the next event
    /// is [`ProtocolError::NoRoundTrip`].
    ///
    /// The state comes back as the client likes. Where something depends on it, the host has to sign it, bind it to who
    /// is asking and to what for, and let it expire.
    ///
    /// Before `2026-07-28` the call is deferred, and the server asks itself:
    ///
    /// ```no_run
    /// use mcp_proto::input::{ElicitResult, Field, Form};
    /// use mcp_proto::server::{RequestOptions, Call};
    /// use mcp_proto::{SendError, Server, Ticket};
    ///
    /// static FIELDS: [Field; 1] = [Field::text("name").required()];
    /// static FORM: Form = Form::new("Who are you?", &FIELDS);
    ///
    /// /// What is left to do for a call that was deferred.
    /// fn greet(call: Call<'_>) -> Option<Ticket> {
    ///     if !call.can_require_input() {
    ///         return call.defer(None).map_err(Call::busy).ok();
    ///     }
    ///     match call.input("name").and_then(ElicitResult::from_json) {
    ///         None => call.require_input(&[("name", &FORM)], None),
    ///         Some(answer) => match answer.field("name").and_then(|name| name.string()) {
    ///             Some(name) => call.text(format_args!("Hello, {name}!")),
    ///             None => call.text("Hello, whoever you are!"),
    ///         },
    ///     }
    ///     None
    /// }
    ///
    /// /// Its answer comes as `Event::Response`; then `server.reply(call)` is due.
    /// fn ask(server: &mut Server<'_>, call: Ticket) -> Result<Ticket, SendError> {
    ///     server.request(&FORM, RequestOptions::DEFAULT.during(call))
    /// }
    /// ```
    pub fn require_input(self, inputs: &[(&str, &dyn Input)], state: Option<&str>) {
        self.require(&|at| inputs.get(at).copied(), state);
    }

    /// Answers that the user has to open these web pages first. In `2025-11-25` that is an error of its own (-32042), in
    /// `2026-07-28` it is what the request [needs](Reply::require_input), with the names of the elicitations as keys. A
    /// client that knows neither gets an error that says so, for people to read.
    pub fn require_urls(self, pages: &[OpenUrl<'_>]) {
        let opens = self.pending.context.capabilities.has(ClientCapabilities::ELICITATION_URL);
        match self.pending.context.revision {
            Revision::V2026_07_28 => {
                self.require(&|at| pages.get(at).map(|page| (page.id(), page as &dyn Input)), None);
            }
            Revision::V2025_11_25 if opens => {
                let to =
                    To { revision: self.pending.context.revision, client: self.pending.context.capabilities };
                self.error_with(code::URL_ELICITATION_REQUIRED, "URL elicitation required", |out| {
                    out.begin_object();
                    out.key("elicitations");
                    out.begin_array();
                    for page in pages {
                        out.begin_object();
                        page.write(to, out);
                        out.end_object();
                    }
                    out.end_array();
                    out.end_object();
                });
            }
            _ => match pages.first() {
                Some(page) => {
                    let why = ("Open this page first: ", page.url(), " (", page.message(), ")");
                    self.error(code::INTERNAL_ERROR, why);
                }
                None => self.error(code::INTERNAL_ERROR, "Open a page first"),
            },
        }
    }

    /// Answers that the client lacks something that the request needs: in `2026-07-28` with the error for that (-32021),
    /// before with -32600. `data.requiredCapabilities` says what.
    pub fn require_capability(self, missing: ClientCapabilities) {
        let code = match self.pending.context.revision {
            Revision::V2026_07_28 => code::MISSING_CLIENT_CAPABILITY,
            _ => code::INVALID_REQUEST,
        };
        self.error_with(code, "Missing required client capability", |out| {
            out.begin_object();
            out.key("requiredCapabilities");
            missing.write(out);
            out.end_object();
        });
    }

    fn require(self, needed: Needed<'_>, state: Option<&str>) {
        let all = || (0usize..).map_while(needed);
        let repeated =
            |(at, (key, _)): (usize, (&str, &dyn Input))| all().take(at).any(|(known, _)| known == key);
        let nothing = state.is_none() && all().next().is_none();
        if !self.can_require_input() || nothing || all().enumerate().any(repeated) {
            return self.refuse_and_report(ProtocolError::NoRoundTrip);
        }
        let client = self.pending.context.capabilities;
        let missing = all().map(|(_, input)| input.needs()).filter(|needs| !client.has(*needs));
        let missing = missing.fold(ClientCapabilities::NONE, ClientCapabilities::with);
        if missing != ClientCapabilities::NONE {
            return self.require_capability(missing);
        }
        let to = To { revision: self.pending.context.revision, client };
        self.answer(Shape::InputRequired, &mut |out| {
            let valid = write_requests(&mut all(), to, out);
            if let Some(state) = state {
                out.field_string("requestState", state);
            }
            valid
        });
    }
}

/// `"inputRequests":{…}`, if there are any. `false`: one is not valid.
fn write_requests<'i>(
    needed: &mut dyn Iterator<Item = (&'i str, &'i dyn Input)>,
    to: To,
    out: &mut Writer<'_>,
) -> bool {
    let mut valid = true;
    let before = out.mark();
    out.key("inputRequests");
    out.begin_object();
    let empty = out.len();
    for (key, input) in needed {
        out.key(key);
        out.begin_object();
        valid &= input::write_request(out, input.method(), &mut |out| input.write(to, out));
        out.end_object();
    }
    if out.len() == empty && !out.overflowed() {
        out.rollback(before);
    } else {
        out.end_object();
    }
    valid
}
