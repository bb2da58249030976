//! `InputRequests`: tools that request input, with the same code for both eras, without a heap.

use core::array;
use core::fmt;
use core::mem;

use crate::buffer::Buffer;
use crate::error::SendError;
use crate::json::Json;
use crate::peer::response::{Outcome, RequestFailure};
use crate::peer::slots::Ticket;
use crate::protocol::input::Input;
use crate::server::Server;
use crate::server::call::Call;
use crate::server::event::Event;
use crate::server::pending_event::ResponseKind;
use crate::server::reply::Reply;
use crate::server::send_request::{RequestOptions, Response};
use crate::time::Millis;

/// A function that responds to a tool call when the call's input request has an outcome.
///
/// The arguments are the context of the router, the value that the tool stored, the outcome of the input request, and
/// the reply to the call.
pub type InputHandler<C, K> = fn(&mut C, K, Outcome<'_>, Reply<'_>);

/// The key of the input request in `2026-07-28`.
const KEY: &str = "input";
/// The default timeout of an input request. The user needs time to fill in a form.
const TIMEOUT: Millis = Millis::seconds(300);
/// The time between the timeout of an input request and the timeout of its call, so that the handler can respond.
const GRACE: Millis = Millis::seconds(5);

/// Input requests of tools, with the same code for both eras, without a heap.
///
/// A tool calls [`request`](InputRequests::request) with the input that the tool needs, and with a function. The
/// function responds to the call when the input request has an outcome, such as the client's response:
///
/// - In `2026-07-28` the server responds that the call requires input. The client sends the call again with the input.
///   The tool runs again, and `request` calls the function immediately.
/// - In the handshake era the table defers the call, and the server sends a request. The table stores the call, a
///   value of type `K`, and the client's response. [`step`](InputRequests::step) calls the function.
///
/// Because a tool may run twice, the tool must request input before it changes anything. The tool stores in `K` the
/// arguments that the function needs.
///
/// The context `C` of the `Router` contains the table, and implements `AsMut` for the table. The context of a static
/// router must be `'static`. The main loop passes events to [`observe`](InputRequests::observe) and calls
/// [`step`](InputRequests::step):
///
/// ```
/// # #[cfg(feature = "derive")] mod derived {
/// use mcp_proto::input::{ElicitResultView, Field, Form};
/// use mcp_proto::server::{Call, InputRequests, Reply, Router};
/// use mcp_proto::{Outcome, Server, ToolArguments, router, tool};
///
/// static FIELDS: [Field; 1] = [Field::boolean("sure").required()];
/// static FORM: Form = Form::new("Erase the page?", &FIELDS);
///
/// struct Board {
///     pages: [u8; 16],
///     // At most one waiting call, which stores its page.
///     questions: InputRequests<'static, Board, u8, 1>,
/// }
///
/// impl AsMut<InputRequests<'static, Board, u8, 1>> for Board {
///     fn as_mut(&mut self) -> &mut InputRequests<'static, Board, u8, 1> {
///         &mut self.questions
///     }
/// }
///
/// #[derive(ToolArguments)]
/// struct Erase {
///     #[tool(range = 0..=15)]
///     page: u8,
/// }
///
/// #[tool]
/// fn erase(board: &mut Board, Erase { page }: Erase, call: Call<'_>) {
///     InputRequests::request(board, call, &FORM, page, erase_if_sure);
/// }
///
/// fn erase_if_sure(board: &mut Board, page: u8, outcome: Outcome<'_>, reply: Reply<'_>) {
///     let Outcome::Result(result) = outcome else { return reply.fail("nobody answered") };
///     let sure = ElicitResultView::from_json(result).and_then(|form| form.field("sure")?.boolean());
///     match board.pages.get_mut(usize::from(page)) {
///         Some(place) if sure == Some(true) => {
///             *place = 0xFF;
///             reply.text("erased");
///         }
///         _ => reply.fail("the page stays"),
///     }
/// }
///
/// static ROUTER: Router<Board> = router![erase];
///
/// /// Handles an event. The main loop calls this function after a poll that returned `Action::Event`.
/// fn on_event(server: &mut Server<'_>, board: &mut Board) {
///     if let Some(event) = server.event() {
///         board.questions.observe(&event);
///         ROUTER.handle(board, event);
///     }
///     InputRequests::step(board, server);
/// }
/// # const _: fn(&mut Server<'_>, &mut Board) = on_event;
/// # }
/// ```
///
/// The inputs live as long as the table: in most programs, they are static. To request an input that the tool creates
/// from its arguments, respond without the table, as in [the guide](crate::guide::event_loop#input-of-the-user).
///
/// A program that does not use the type does not link its code.
pub struct InputRequests<'b, C: ?Sized, K, const CALLS: usize> {
    calls: [Option<WaitingCall<'b, C, K>>; CALLS],
    /// The responses of the client. Each call has an equal share.
    responses: Buffer<'b>,
    timeout: Millis,
}

/// A deferred call that waits for the client's response.
struct WaitingCall<'b, C: ?Sized, K> {
    call: Ticket,
    input: &'b (dyn Input + Sync),
    handler: InputHandler<C, K>,
    kept: K,
    stage: Stage,
}

/// The progress of an input request.
#[derive(Debug, Clone, Copy)]
enum Stage {
    Unsent,
    Sent(Ticket),
    /// The input request has an outcome. The stored JSON text has this length.
    Response(ResponseKind, usize),
    /// The server cannot send the request.
    NotSent,
    /// The call ended before the table responded to it. The next call of `step` cancels the input request. `None` means
    /// that there is no input request to cancel.
    Ended(Option<Ticket>),
}

impl<'b, C: ?Sized, K, const CALLS: usize> InputRequests<'b, C, K, CALLS> {
    /// Creates a table for `CALLS` calls at a time. `responses` stores the client's responses in the handshake era, as
    /// JSON text. Each call has an equal share of this buffer. The buffer is a lent slice or, with the feature `alloc`,
    /// a `Buffer::grown`.
    ///
    /// A response that is longer than its share is a failure: [`RequestFailure::TooLong`].
    pub fn new(responses: impl Into<Buffer<'b>>) -> Self {
        InputRequests { calls: array::from_fn(|_| None), responses: responses.into(), timeout: TIMEOUT }
    }

    /// Sets the timeout of an input request in the handshake era: five minutes by default. In `2026-07-28` an input
    /// request has no timeout.
    #[must_use]
    pub fn timeout(mut self, time: Millis) -> Self {
        self.timeout = time;
        self
    }

    /// Requests input for a call. `handler` responds to the call with the outcome and `kept`.
    ///
    /// The table does not call `handler` in these cases:
    ///
    /// - The call ends before its input request has an outcome, or while the outcome waits for transmit space.
    /// - The client or the revision does not support the input: the response is an error that names the capability.
    /// - The table is full or no slot is free: the response says that the server is busy.
    /// - The server cannot send the request: the call fails.
    pub fn request(
        context: &mut C,
        call: Call<'_>,
        input: &'b (dyn Input + Sync),
        kept: K,
        handler: InputHandler<C, K>,
    ) where
        C: AsMut<Self>,
    {
        if !call.can_require_input() {
            return context.as_mut().begin(call, input, kept, handler);
        }
        match call.input(KEY) {
            Some(result) => handler(context, kept, Outcome::Result(result), call.parts.reply),
            None => call.require_input(&[(KEY, input)], None),
        }
    }

    /// Defers a call of the handshake era, and stores the call in the table.
    fn begin(&mut self, call: Call<'_>, input: &'b (dyn Input + Sync), kept: K, handler: InputHandler<C, K>) {
        if !input.fits(call.parts.reply.revision(), call.parts.reply.client()) {
            return call.require_capability(input.needs());
        }
        let Some(place) = self.calls.iter_mut().find(|place| place.is_none()) else {
            return call.fail("busy: too many calls wait for input");
        };
        match call.defer(Some(self.timeout.plus(GRACE))) {
            Ok(call) => *place = Some(WaitingCall { call, input, handler, kept, stage: Stage::Unsent }),
            Err(call) => call.busy(),
        }
    }

    /// Observes an event of the server, and stores responses to input requests and ends of calls. Call this method with
    /// each event.
    pub fn observe(&mut self, event: &Event<'_>) {
        for (index, place) in self.calls.iter_mut().enumerate() {
            let Some(waiting) = place else { continue };
            let sent = match waiting.stage {
                Stage::Sent(request) => Some(request),
                _ => None,
            };
            match event {
                Event::Response(response) if sent == Some(response.ticket()) => {
                    // Each place has its own share, even if the place is free. `respond` reads the same share.
                    let length = self.responses.limit();
                    let size = share_size::<CALLS>(length);
                    let bytes = self.responses.ensure(length);
                    let share = bytes.and_then(|bytes| bytes.chunks_mut(size).nth(index));
                    waiting.stage = store(response.outcome(), share.unwrap_or_default());
                }
                Event::Cancelled { ticket, .. } | Event::Expired(ticket) if *ticket == waiting.call => {
                    waiting.stage = Stage::Ended(sent);
                }
                Event::Restarted => waiting.stage = Stage::Ended(None),
                _ => {}
            }
        }
    }

    /// Sends input requests, and calls the handlers of calls whose input requests have outcomes. Call this method
    /// after each event.
    ///
    /// While the transmit buffer has no space, the method sends nothing and calls no handler. [`Event::Writable`]
    /// reports when the buffer has space.
    pub fn step(context: &mut C, server: &mut Server<'_>)
    where
        C: AsMut<Self>,
    {
        for index in 0..CALLS {
            if context.as_mut().send(index, server) {
                Self::respond(context, index, server);
            }
        }
    }

    /// Sends the input request of a call. If the call has ended, cancels the input request. Returns whether the call
    /// now needs its response, because the input request has an outcome or cannot be sent.
    fn send(&mut self, index: usize, server: &mut Server<'_>) -> bool {
        let timeout = self.timeout;
        let Some(place) = self.calls.get_mut(index) else { return false };
        let Some(waiting) = place else { return false };
        match waiting.stage {
            Stage::Unsent => {
                let options = RequestOptions::DEFAULT.timeout(timeout).during(waiting.call);
                match server.request(waiting.input, options) {
                    Ok(request) => waiting.stage = Stage::Sent(request),
                    Err(SendError::Busy) => {}
                    Err(_) => waiting.stage = Stage::NotSent,
                }
                matches!(waiting.stage, Stage::NotSent)
            }
            // A reset of the server ends the request without an event, so check whether the request still exists.
            Stage::Sent(request) => {
                if server.state.peer.in_flight.outbound(request).is_none() {
                    *place = None;
                }
                false
            }
            Stage::Ended(request) => {
                if let Some(request) = request {
                    _ = server.cancel(request, "the call has ended");
                }
                *place = None;
                false
            }
            Stage::Response(..) | Stage::NotSent => true,
        }
    }

    /// If the transmit buffer has space, responds to a call for which `send` returned `true`.
    fn respond(context: &mut C, index: usize, server: &mut Server<'_>)
    where
        C: AsMut<Self>,
    {
        let table = context.as_mut();
        let Some(place) = table.calls.get_mut(index) else { return };
        let reply = match place.as_ref().map(|waiting| server.reply(waiting.call)) {
            Some(Ok(reply)) => reply,
            Some(Err(SendError::Busy)) => return,
            _ => {
                *place = None;
                return;
            }
        };
        let Some(WaitingCall { call, handler, kept, stage, .. }) = place.take() else { return };
        // The handler borrows the context, which contains the table. Move the responses out of the table while the
        // handler runs.
        let responses = mem::replace(&mut table.responses, Buffer::from(&mut []));
        match stage {
            Stage::Response(kind, length) => {
                let share = responses.bytes().chunks(share_size::<CALLS>(responses.limit())).nth(index);
                let text = Json::trusted(share.and_then(|share| share.get(..length)).unwrap_or_default());
                // `Response` requires a ticket, but only the outcome is used.
                handler(context, kept, Response::new(call, kind, text).outcome(), reply);
            }
            Stage::NotSent => reply.fail("the server cannot request input now"),
            Stage::Unsent | Stage::Sent(_) | Stage::Ended(_) => {}
        }
        context.as_mut().responses = responses;
    }
}

impl<C: ?Sized, K, const CALLS: usize> fmt::Debug for InputRequests<'_, C, K, CALLS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.calls.iter().flatten().map(|waiting| waiting.stage)).finish()
    }
}

/// Returns the size of each share if `CALLS` shares divide `length` bytes. A size is at least 1.
fn share_size<const CALLS: usize>(length: usize) -> usize {
    length.checked_div(CALLS).unwrap_or_default().max(1)
}

/// Stores the outcome of an input request in `share`, and returns the new stage.
fn store(outcome: Outcome<'_>, share: &mut [u8]) -> Stage {
    let (kind, text) = match outcome {
        Outcome::Result(result) => (ResponseKind::Result, result.bytes()),
        Outcome::Error(error) => (ResponseKind::Error, error.error.bytes()),
        Outcome::Failed(failure) => (ResponseKind::Failed(failure), &[][..]),
    };
    match share.get_mut(..text.len()) {
        Some(place) => {
            place.copy_from_slice(text);
            Stage::Response(kind, text.len())
        }
        None => Stage::Response(ResponseKind::Failed(RequestFailure::TooLong), 0),
    }
}
