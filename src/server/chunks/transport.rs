//! Methods with which a transport in message mode pauses and continues chunked responses.

use crate::framing::outbound_message::StreamId;
use crate::peer::request::Inbound;
use crate::server::Server;
use crate::server::chunks::PAUSED;

impl Server<'_> {
    /// Sets whether the transport can send responses in pieces. Message mode only. The default is `false`.
    ///
    /// If `accept` is `true`, the server sends [chunked](crate::server::Call::chunked) responses that begin afterwards
    /// as messages of the kinds [`Piece`](crate::OutboundMessageKind::Piece) and
    /// [`LastPiece`](crate::OutboundMessageKind::LastPiece). A transport in which only some streams can take pieces
    /// calls the method before each message that it passes to the server.
    pub fn accept_pieces(&mut self, accept: bool) {
        self.state.peer.output.accept_pieces(accept);
    }

    /// Pauses the chunked response of a stream whose client reads slowly, or resumes the response.
    ///
    /// While a response is paused, the server takes no [chunk](crate::server::Chunks::text) of the response. The
    /// server still sends pieces that are in the transmit buffer, and may send the end of the response. After the
    /// pause, the server emits [`Event::Writable`](crate::server::Event::Writable).
    pub fn pause_stream(&mut self, stream: StreamId, is_paused: bool) {
        let state = &mut self.state;
        let is_sent_on = |inbound: &Inbound<_>| inbound.is_chunked() && inbound.stream == stream;
        let found = state.peer.in_flight.inbound_requests().find(|(_, inbound)| is_sent_on(inbound));
        let found = found.and_then(|(ticket, inbound)| Some((ticket, inbound.chunks()?)));
        let Some((ticket, mut chunks)) = found else { return };
        chunks.set(PAUSED, is_paused);
        if let Some(inbound) = state.peer.in_flight.inbound_mut(ticket) {
            inbound.set_chunks(chunks);
        }
        if !is_paused {
            state.peer.output.await_piece_space();
        }
    }
}
