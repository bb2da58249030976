//! Input required: a response that requests input, and the retried request.
//!
//! In `2026-07-28` a server that requires input responds with input requests. The client retries the request with the
//! input.
//!
//! Specification: 2026-07-28, *Multi round-trip requests*; 2025-11-25, *Elicitation*, *URL elicitation required error*.
#![allow(clippy::as_conversions, reason = "a reference is cast to a trait object")]

use crate::error::ProtocolError;
use crate::json::{Json, WriteBody, Writer};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::input::{Input, OpenUrl, Sealed, To};
use crate::protocol::revision::WireFeature;
use crate::rpc::{self, code};
use crate::server::pending_event::RequestKind;
use crate::server::reply::Reply;
use crate::server::server_state::Shape;

/// The input and the state of a retried request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputResponses<'a> {
    /// `inputResponses`: an object, or an empty text.
    pub(crate) responses: Json<'a>,
    /// `requestState`: a string, or an empty text.
    pub(crate) state: Json<'a>,
}

/// The required inputs by index, each with its key.
type RequiredInputs<'i> = &'i dyn Fn(usize) -> Option<(&'i str, &'i dyn Input)>;

impl Reply<'_> {
    /// Returns whether the response may [require input](Reply::require_input).
    ///
    /// `2026-07-28` allows required input for `tools/call`, `resources/read` and `prompts/get`, except for a call that
    /// has become a task.
    #[must_use]
    pub fn can_require_input(&self) -> bool {
        let context = &self.pending.context;
        let is_task = matches!(context.kind, RequestKind::CallTool { is_task: true, .. });
        !is_task && context.kind.can_require_input(context.revision())
    }

    /// Responds that the request requires input (`2026-07-28`).
    ///
    /// Each input must have a unique key. The client returns `state` with the retried request.
    ///
    /// The server stores nothing about the request. The client retries the request with another id, and
    /// [`Call::input`](crate::server::Call::input) then returns the client's response to an input.
    ///
    /// If the client did not declare the capability of an input, the response is an error (-32021). In three further
    /// cases, the response is an error, and the next event is [`ProtocolError::InvalidInputRequest`]:
    /// [`can_require_input`](Reply::can_require_input) is `false`, a key repeats, or there are neither inputs nor a
    /// state.
    ///
    /// A client may return any state. If security depends on the state, the application must sign it, bind it to the
    /// user and the request, and let it expire.
    ///
    /// Before `2026-07-28`, defer the call, and send a request to the client:
    ///
    /// ```no_run
    /// use mcp_proto::input::{ElicitResultView, Field, Form};
    /// use mcp_proto::server::{RequestOptions, Call};
    /// use mcp_proto::{SendError, Server, Ticket};
    ///
    /// static FIELDS: [Field; 1] = [Field::text("name").required()];
    /// static FORM: Form = Form::new("Who are you?", &FIELDS);
    ///
    /// /// Returns the ticket of a deferred call.
    /// fn greet(call: Call<'_>) -> Option<Ticket> {
    ///     if !call.can_require_input() {
    ///         return call.defer(None).map_err(Call::busy).ok();
    ///     }
    ///     match call.input("name").and_then(ElicitResultView::from_json) {
    ///         None => call.require_input(&[("name", &FORM)], None),
    ///         Some(result) => match result.field("name").and_then(|name| name.string()) {
    ///             Some(name) => call.text(format_args!("Hello, {name}!")),
    ///             None => call.text("Hello!"),
    ///         },
    ///     }
    ///     None
    /// }
    ///
    /// /// After the `Event::Response` of the request, respond with `server.reply(call)`.
    /// fn ask(server: &mut Server<'_>, call: Ticket) -> Result<Ticket, SendError> {
    ///     server.request(&FORM, RequestOptions::DEFAULT.during(call))
    /// }
    /// ```
    pub fn require_input(self, inputs: &[(&str, &dyn Input)], state: Option<&str>) {
        self.require(&|at| inputs.get(at).copied(), state);
    }

    /// Responds that the user must open these web pages first.
    ///
    /// In `2026-07-28` the pages are [required input](Reply::require_input), with the elicitation ids as keys. In
    /// `2025-11-25` a client that declared `elicitation.url` gets a special error (-32042). All other clients of the
    /// handshake era get an error (-32603), whose message names the first page if `pages` is not empty.
    pub fn require_urls(self, pages: &[OpenUrl<'_>]) {
        let opens = self.pending.context.capabilities.has(ClientCapabilities::ELICITATION_URL);
        let revision = self.pending.context.revision();
        match pages.first() {
            _ if revision.has(WireFeature::InputRequired) => {
                self.require(&|at| pages.get(at).map(|page| (page.id(), page as &dyn Input)), None);
            }
            _ if opens && revision.has(WireFeature::ElicitationIds) => {
                let to = To { revision, client: self.pending.context.capabilities };
                self.error_with(code::URL_ELICITATION_REQUIRED, "URL elicitation required", |out| {
                    out.begin_object();
                    out.begin_array_at("elicitations");
                    for page in pages {
                        out.begin_object();
                        page.write(to, out);
                        out.end_object();
                    }
                    out.end_array();
                    out.end_object();
                });
            }
            Some(page) => {
                let why = ("Open this page first: ", page.url(), " (", page.message(), ")");
                self.error(code::INTERNAL_ERROR, why);
            }
            None => self.error(code::INTERNAL_ERROR, "Open a page first"),
        }
    }

    /// Responds that the client did not declare the capabilities in `missing`.
    ///
    /// The error code is -32021 in `2026-07-28`, and -32600 in earlier revisions.
    ///
    /// The member `data.requiredCapabilities` names the missing capabilities.
    pub fn require_capability(self, missing: ClientCapabilities) {
        self.require_declared(&mut |out: &mut Writer<'_>| missing.write(out));
    }

    /// Responds that the client did not declare the capabilities that `missing` writes.
    pub(crate) fn require_declared(self, missing: &mut dyn WriteBody) {
        let code = if self.pending.context.revision().has(WireFeature::MissingCapabilityCode) {
            code::MISSING_CLIENT_CAPABILITY
        } else {
            code::INVALID_REQUEST
        };
        self.error_with(code, "Missing required client capability", |out| {
            out.begin_object();
            out.key("requiredCapabilities");
            missing.write(out);
            out.end_object();
        });
    }

    fn require(self, required: RequiredInputs<'_>, state: Option<&str>) {
        let all = || (0usize..).map_while(required);
        let repeated =
            |(at, (key, _)): (usize, (&str, &dyn Input))| all().take(at).any(|(known, _)| known == key);
        let nothing = state.is_none() && all().next().is_none();
        if !self.can_require_input() || nothing || all().enumerate().any(repeated) {
            return self.refuse_and_report(ProtocolError::InvalidInputRequest);
        }
        let client = self.pending.context.capabilities;
        let missing = all().map(|(_, input)| input.needs()).filter(|needs| !client.has(*needs));
        let missing = missing.fold(ClientCapabilities::NONE, ClientCapabilities::with);
        if missing != ClientCapabilities::NONE {
            return self.require_capability(missing);
        }
        let to = To { revision: self.pending.context.revision(), client };
        self.respond(Shape::InputRequired, &mut |out: &mut Writer<'_>| {
            let valid = write_requests(required, to, out);
            if let Some(state) = state {
                out.field_string("requestState", state);
            }
            valid
        });
    }
}

/// Writes `"inputRequests":{…}`, or nothing if there are no inputs. Returns `false` if an input is not valid.
fn write_requests(required: RequiredInputs<'_>, to: To, out: &mut Writer<'_>) -> bool {
    rpc::write_object_member("inputRequests", out, &mut |out: &mut Writer<'_>| {
        let mut valid = true;
        for (key, input) in (0..).map_while(required) {
            out.begin_object_at(key);
            valid &=
                rpc::write_request(out, input.method(), &mut |out: &mut Writer<'_>| input.write(to, out));
            out.end_object();
        }
        valid
    })
}
