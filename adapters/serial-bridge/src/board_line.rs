//! The line between the router and the board: plain bytes, or frames with checksums.
//!
//! Text of the board between frames goes to the log.

use std::time::{Duration, Instant};

use mcp_proto::Millis;
use mcp_proto_framed_link::FramedLink;

use crate::router::{MARK, Router};

/// The time without input after which an incomplete line of text goes to the log.
const SILENCE: Duration = Duration::from_millis(200);

/// Moves bytes between the router and the line, without I/O.
pub(crate) struct BoardLine {
    framed: Option<Framed>,
}

struct Framed {
    link: FramedLink,
    /// The origin of the link's clock.
    start: Instant,
    /// The incomplete line of text at the end of the input.
    text: Vec<u8>,
    /// When to add text to the log if no input follows.
    show_at: Option<Instant>,
}

impl BoardLine {
    /// Creates the line. `number` is the random number that identifies the bridge's session. `None` selects plain
    /// bytes.
    pub(crate) fn new(number: Option<u16>, now: Instant) -> BoardLine {
        let link = number.map(FramedLink::new);
        BoardLine { framed: link.map(|link| Framed { link, start: now, text: Vec::new(), show_at: None }) }
    }

    /// Begins a new session of the framed link. Call this method after the port was lost. Does nothing if the line has
    /// plain bytes.
    pub(crate) fn restart(&mut self) {
        if let Some(framed) = &mut self.framed {
            framed.link.restart();
        }
    }

    /// Handles bytes of the board.
    pub(crate) fn input(&mut self, bytes: &[u8], router: &mut Router, now: Instant) {
        match &mut self.framed {
            None => router.board_input(bytes, now),
            Some(framed) => framed.input(bytes, router, now),
        }
    }

    /// Takes bytes for the board: at most `limit` plain bytes, or one frame.
    pub(crate) fn output(&mut self, limit: usize, router: &mut Router, now: Instant) -> Vec<u8> {
        match &mut self.framed {
            None => router.to_board.drain(..router.to_board.len().min(limit)).collect(),
            Some(framed) => framed.output(router, now),
        }
    }

    /// Returns whether the caller has taken all output of the router. With frames, returns `true` only if the board has
    /// also confirmed the output.
    pub(crate) fn is_written(&self, router: &Router) -> bool {
        router.to_board.is_empty() && self.framed.as_ref().is_none_or(|framed| framed.link.is_idle())
    }

    /// Returns when to call [`tick`](BoardLine::tick) and [`output`](BoardLine::output), or `None` if nothing is due
    /// later.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let framed = self.framed.as_ref()?;
        let repeat = framed.link.deadline().map(|at| framed.start + Duration::from_millis(at.0));
        repeat.into_iter().chain(framed.show_at).min()
    }

    /// Adds text to the log if no input has arrived for [`SILENCE`].
    pub(crate) fn tick(&mut self, router: &mut Router, now: Instant) {
        let show_at = self.framed.as_ref().and_then(|framed| framed.show_at);
        if show_at.is_some_and(|at| now >= at) {
            self.show_text(router);
        }
    }

    /// Adds the text that has arrived so far to the log.
    pub(crate) fn show_text(&mut self, router: &mut Router) {
        let Some(framed) = &mut self.framed else { return };
        framed.show_at = None;
        if let Some(text) = framed.link.take_text() {
            show(&mut framed.text, text, router);
        }
        if !framed.text.is_empty() {
            router.show(&std::mem::take(&mut framed.text));
        }
    }
}

impl Framed {
    fn millis(&self, now: Instant) -> Millis {
        let millis = now.saturating_duration_since(self.start).as_millis();
        Millis(u64::try_from(millis).unwrap_or(u64::MAX))
    }

    fn input(&mut self, bytes: &[u8], router: &mut Router, now: Instant) {
        let time = self.millis(now);
        self.show_at = Some(now + SILENCE);
        // Pass single bytes, so that the router receives a reset before the next frame, which may belong to the new
        // session.
        for byte in bytes {
            let was_idle = self.link.is_idle();
            self.link.input(std::slice::from_ref(byte), time, |text| show(&mut self.text, text, router));
            if !was_idle && self.link.is_idle() {
                router.output_confirmed(now);
            }
            if self.link.take_reset() {
                // The board has restarted: pass a session mark to the router, because a board without frames would send
                // a mark.
                router.board_input(MARK.as_bytes(), now);
            }
            let received = self.link.received();
            if !received.is_empty() {
                router.board_input(received, now);
                self.link.consume(received.len());
            }
        }
    }

    /// Returns the frame that is due, or no bytes if no frame is due.
    fn output(&mut self, router: &mut Router, now: Instant) -> Vec<u8> {
        let time = self.millis(now);
        let accepted = self.link.send(router.to_board.make_contiguous());
        router.to_board.drain(..accepted);
        let bytes = self.link.output(time).to_vec();
        self.link.written(bytes.len(), time);
        bytes
    }
}

/// Adds the complete lines of a text to the log. The text arrives in pieces. Ignores a piece that is not UTF-8, because
/// such a piece is probably a damaged frame.
fn show(pending: &mut Vec<u8>, piece: &[u8], router: &mut Router) {
    /// Maximum length of a line. A longer line is split.
    const MAX_TEXT: usize = 4096;
    if !is_utf8(piece) {
        return;
    }
    for byte in piece {
        if *byte == b'\n' || pending.len() == MAX_TEXT {
            router.show(pending);
            pending.clear();
        }
        if *byte != b'\n' {
            pending.push(*byte);
        }
    }
}

/// Returns whether a piece of a text is UTF-8. The piece may begin and end within a character.
fn is_utf8(piece: &[u8]) -> bool {
    let begun = piece.iter().take(3).take_while(|byte| matches!(byte, 0x80..=0xBF)).count();
    std::str::from_utf8(&piece[begun..]).map_or_else(|error| error.error_len().is_none(), |_| true)
}
