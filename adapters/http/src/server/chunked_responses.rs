//! Chunked responses of the core server: a body without a length, or one event of an event stream, in pieces.

use mcp_proto::server::Server;

use super::HttpServer;
use super::event_stream::EVENT_OVERHEAD;
use super::exchange_flags::Flags;
use super::exchanges::Phase;
use super::policy::Policy;
use super::response::MediaType;

/// Code of chunked responses, called through a pointer so that a server without them does not link the code. The
/// result is `false` only for `Route`, if there is no space for the piece yet.
pub(super) type PieceHook<P> = fn(&mut HttpServer<'_, P>, PieceStep<'_, '_>) -> bool;

/// A step of a response in pieces.
pub(super) enum PieceStep<'s, 'i> {
    /// Permit a response in pieces to the next message, unless the server also serves HTTP+SSE. In HTTP+SSE, all
    /// responses to a client share a stream, where pieces would mix.
    Accept(&'s mut Server<'i>),
    /// Move a piece to its exchange.
    Route { index: u16, piece: &'s [u8], is_last: bool },
    /// Pause each response whose client has unread output, and resume all other responses.
    Pace(&'s mut Server<'i>),
}

impl<'b, P: Policy> HttpServer<'b, P> {
    /// Offers [chunked](mcp_proto::server::Call::chunked) responses: a JSON body without a length, or one event of an
    /// event stream.
    ///
    /// For each client that reads slowly, the output memory must hold one piece. A piece is at most as long as the core
    /// server's transmit buffer. A response in pieces is not stored for replay: if the client disconnects during
    /// the response, the server cancels the request. Has no effect together with [HTTP+SSE](super::HttpConfig::legacy),
    /// where all responses to a client share one stream.
    #[must_use]
    pub fn chunked_responses(mut self) -> HttpServer<'b, P> {
        self.piece_hook = Some(|http, step| {
            match step {
                PieceStep::Route { index, piece, is_last } => return http.route_piece(index, piece, is_last),
                PieceStep::Accept(server) => server.accept_pieces(http.config.legacy.is_none()),
                PieceStep::Pace(server) => http.pace(server),
            }
            true
        });
        self
    }
}

impl<P: Policy> HttpServer<'_, P> {
    /// Moves a piece to its exchange. Returns `false` if there is no space for the piece yet. Drops the piece and
    /// returns `true` if the exchange has ended, the client has disconnected, or the piece can never fit.
    fn route_piece(&mut self, index: u16, piece: &[u8], is_last: bool) -> bool {
        let Some(slot) = self.exchanges.slot(index).copied() else { return true };
        match slot.phase {
            Phase::Waiting | Phase::Stream => {}
            // The client has disconnected. A response in pieces cannot be replayed, so its request ends.
            Phase::Detached if is_last => {
                self.release(index);
                return true;
            }
            Phase::Detached => {
                self.close_in_core(index);
                return true;
            }
            _ => return true,
        }
        if !self.has_event_space(index, piece) {
            if self.pages.can_ever_hold(piece.len().saturating_add(EVENT_OVERHEAD)) {
                return false;
            }
            // With this flag, `cut` also cancels the request, so that no further piece follows.
            if let Some(slot) = self.exchanges.slot_mut(index) {
                slot.flags.add(Flags::PIECES);
            }
            self.cut(index);
            return true;
        }
        if !slot.flags.has(Flags::PIECES) {
            self.begin_pieces(index);
        }
        let Some(slot) = self.exchanges.slot(index) else { return true };
        let media_type = slot.media_type;
        let end: &[u8] = if is_last && media_type == MediaType::EventStream { b"\n\n" } else { b"" };
        let was_empty = slot.output.is_empty();
        self.push(index, &[piece, end]);
        self.has_new_pace = true;
        if is_last {
            self.finish(index, 200, media_type);
            return true;
        }
        self.exchanges.set_ready(index);
        if was_empty {
            self.rearm(index);
        }
        true
    }

    /// Begins a response in pieces. The response is a JSON body, unless the client accepts only an event stream, or an
    /// event stream is already open.
    fn begin_pieces(&mut self, index: u16) {
        let Some(slot) = self.exchanges.slot_mut(index) else { return };
        slot.flags.add(Flags::PIECES);
        if slot.phase == Phase::Waiting && slot.flags.has(Flags::TAKES_JSON) {
            (slot.phase, slot.status, slot.media_type) = (Phase::Stream, 200, MediaType::Json);
            return;
        }
        if slot.phase == Phase::Waiting {
            self.open_stream(index);
        }
        // An event in pieces cannot be replayed, so the event has no id.
        self.push(index, &[b"data: "]);
    }

    /// Pauses each response whose client has unread output, and resumes all other responses.
    fn pace(&mut self, server: &mut Server<'_>) {
        self.has_new_pace = false;
        let is_late = |slot: &super::ExchangeSlot| {
            slot.flags.has(Flags::PIECES) && slot.flags.has(Flags::PAUSED) == slot.output.is_empty()
        };
        while let Some(slot) =
            self.exchanges.position(is_late).and_then(|index| self.exchanges.slot_mut(index))
        {
            let is_paused = !slot.output.is_empty();
            match is_paused {
                true => slot.flags.add(Flags::PAUSED),
                false => slot.flags.remove(Flags::PAUSED),
            }
            server.pause_stream(slot.stream, is_paused);
        }
    }
}
