//! What a host hears from a server, and how a decision of `poll` becomes that.

use core::mem;

use crate::client::Progress;
use crate::error::ProtocolError;
use crate::framing::LineDecoder;
use crate::json::{Json, SortKey, Span, Str, text_of};
use crate::peer::slots::Ticket;
use crate::rpc;
use crate::server::Server;
use crate::server::call::{Call, Connected};
use crate::server::features::completion::Complete;
use crate::server::features::dynamic_list::{ListPrompts, ListResources, ListTemplates, ListTools};
use crate::server::features::get_prompt::GetPrompt;
use crate::server::features::read_resource::ReadResource;
use crate::server::features::subscriptions::notify::Listening;
use crate::server::inbound_request::PackedContext;
use crate::server::input_required::InputResponses;
use crate::server::pending_event::{PendingEvent, Spans};
use crate::server::reply::{Pending, Reply, Source};
use crate::server::requests::Response;
use crate::server::server_state::ServerState;

/// What happened. It borrows the machine until the next poll.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A client has connected (`initialize`). It was answered.
    Connected(Connected<'a>),
    /// The client has completed the handshake.
    Ready,
    /// A client has begun anew: every request that was in flight is cancelled, and every ticket is gone.
    Restarted,
    /// A tool is called.
    Call(Call<'a>),
    /// A resource is read.
    ReadResource(ReadResource<'a>),
    /// A prompt is asked for.
    GetPrompt(GetPrompt<'a>),
    /// Values for an argument are asked for.
    Complete(Complete<'a>),
    /// The host's own list of tools is asked for.
    ListTools(ListTools<'a>),
    /// The host's own list of resources is asked for.
    ListResources(ListResources<'a>),
    /// The host's own list of resource templates is asked for.
    ListTemplates(ListTemplates<'a>),
    /// The host's own list of prompts is asked for.
    ListPrompts(ListPrompts<'a>),
    /// A client listens to changes (`2026-07-28`). It was told to which.
    Listening(Listening<'a>),
    /// The client of the session watches the resource with this URI from now on. It was answered.
    Subscribed(&'a str),
    /// It watches the resource no more; others still may ([`Server::is_watched`]).
    Unsubscribed(&'a str),
    /// The client has cancelled a deferred request: stop working on it. It gets no answer. Or it was a subscription,
    /// which hears nothing any more.
    Cancelled {
        /// The request. Its ticket is gone.
        ticket: Ticket,
        /// Why, if the client said so.
        reason: Option<Str<'a>>,
    },
    /// A deferred request took too long; it was answered with an error. Its ticket is gone.
    Expired(Ticket),
    /// A request of the server's own has ended.
    Response(Response<'a>),
    /// A request of the server's own makes progress, and asked to hear of it.
    Progress(Progress<'a>),
    /// The client's roots have changed: [`ask`](Server::request) for them again. It is not heard before anything was asked.
    RootsChanged,
    /// There is room again for what was refused as [`SendError::Busy`](crate::SendError::Busy).
    Writable,
    /// The client does not answer pings.
    PeerUnresponsive,
    /// Something went wrong, and was dealt with.
    ProtocolError(ProtocolError),
}

impl Server<'_> {
    /// What happened, if the last poll said [`Action::Event`](crate::Action::Event).
    #[inline(never)]
    pub fn event(&mut self) -> Option<Event<'_>> {
        // The plan is the new client. The host hears of the end of the old one first.
        if mem::take(&mut self.core.restarted) {
            return Some(Event::Restarted);
        }
        let plan = self.core.plan.take()?;
        self.core.handed_out = plan.holds_line();
        let Server { input, core, .. } = self;
        Some(match plan {
            PendingEvent::ProtocolError(fault) => Event::ProtocolError(fault),
            PendingEvent::Writable => Event::Writable,
            PendingEvent::PeerUnresponsive => Event::PeerUnresponsive,
            PendingEvent::Ready => Event::Ready,
            PendingEvent::Expired(ticket) => Event::Expired(ticket),
            PendingEvent::OutboundEvent(told) => {
                core.asking?.event(told, part(input, places(input).arguments))
            }
            PendingEvent::Cancelled(ticket) => {
                Event::Cancelled { ticket, reason: part(input, places(input).arguments).string() }
            }
            PendingEvent::Listening(ticket) => {
                Event::Listening(Listening { ticket, in_flight: &core.in_flight, watches: &core.watches })
            }
            PendingEvent::Watched { on } => {
                let uri = text_of(part(input, places(input).subject).bytes());
                if on { Event::Subscribed(uri) } else { Event::Unsubscribed(uri) }
            }
            PendingEvent::Connected(revision) => Event::Connected(Connected {
                revision,
                info: part(input, places(input).arguments),
                capabilities: part(input, places(input).meta),
            }),
            PendingEvent::Request { kept, event } => return request_event(input, core, kept, event),
        })
    }
}

/// The event of a request.
fn request_event<'a>(
    input: &'a mut LineDecoder<'_>,
    core: &'a mut ServerState<'_>,
    kept: PackedContext,
    event: MakeEvent,
) -> Option<Event<'a>> {
    let context = kept.context(input.stream());
    core.owed = true;
    let Spans { id, subject, arguments, meta, responses, state } = places(input);
    let (arguments, others) = Others::around(input.bytes_mut(), arguments);
    let source = Source::Line { id: others.at(id), meta: others.at(meta), last: SortKey::NONE };
    let returned = InputResponses { responses: others.at(responses), state: others.at(state) };
    let (subject, info) = (text_of(others.at(subject)), core.info);
    let reply = Reply { machine: core, info, pending: Pending { source, context } };
    event(Parts { subject, arguments, returned }, reply)
}

fn places(input: &LineDecoder<'_>) -> Spans {
    Spans::new(input.places())
}

/// A part of the line that an event is about: nothing, if there is none.
fn part<'a>(input: &'a LineDecoder<'_>, place: Span) -> Json<'a> {
    rpc::view(input.bytes(), place)
}

/// Makes the event of a request. Each feature names its own: what is not offered is not linked. (It is an `Option` because that
/// is what the host gets: so it is made where the host wants it, and not copied.)
pub(crate) type MakeEvent = for<'a> fn(Parts<'a>, Reply<'a>) -> Option<Event<'a>>;

/// What stands in a line beside one part of it, which is decoded in place.
struct Others<'a> {
    before: &'a [u8],
    behind: &'a [u8],
    /// Where the latter begins.
    end: usize,
}

impl<'a> Others<'a> {
    /// The part, and what stands around it.
    fn around(line: &'a mut [u8], part: Span) -> (&'a mut [u8], Others<'a>) {
        let end = part.end.min(line.len());
        let (before, behind) = line.split_at_mut_checked(end).unwrap_or_default();
        let (before, part) = before.split_at_mut_checked(part.start).unwrap_or_default();
        (part, Others { before, behind, end })
    }

    fn at(&self, place: Span) -> &'a [u8] {
        let place = place.range();
        let part = match place.start.checked_sub(self.end) {
            Some(start) => self.behind.get(start..place.end.wrapping_sub(self.end)),
            None => self.before.get(place),
        };
        part.unwrap_or_default()
    }
}

/// The parts of a request that a host sees.
pub(crate) struct Parts<'a> {
    /// What it names: a tool, a URI. Decoded.
    pub(crate) subject: &'a str,
    pub(crate) arguments: &'a mut [u8],
    /// What came back with a request that is sent again.
    pub(crate) returned: InputResponses<'a>,
}
