//! Fuzz target `line`: framing of lines, compared with a reference.

use std::sync::{Arc, Mutex};

use arbitrary::Arbitrary;
use mcp_proto::json::{Member, ScanError, ScanErrorKind, Scanner};
use mcp_proto::server::{Limits, ServerConfig};
use mcp_proto::{Action, Buffer, Direction, Millis, Observer, ProtocolError, Server};

use super::moves::Moves;
use super::shown;

#[derive(Debug, Arbitrary)]
struct Input<'b> {
    /// Number of bytes in the receive buffer beyond the minimum.
    spare: u8,
    id_limit: u8,
    depth: u8,
    grown: bool,
    reads: Moves,
    writes: Moves,
    bytes: &'b [u8],
}

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    let Some(input) = super::input::<Input<'_>>(bytes) else { return };
    let lines = expected(&input);
    let plain = seen(&input, false, Moves::WHOLE, Moves::WHOLE);
    let cut = seen(&input, input.grown, input.reads, input.writes);
    for (lines_seen, _) in [&plain, &cut] {
        assert_eq!(lines_seen.len(), lines.len(), "{lines_seen:#?}\nexpected: {lines:#?}");
        for (seen, line) in lines_seen.iter().zip(&lines) {
            assert!(line.is(seen), "{seen:?} instead of {line:?}");
        }
    }
    assert!(plain.1 == cut.1, "cut differently: {}\n{}", shown(&plain.1), shown(&cut.1));
}

/// A line as the observer of the server sees it.
#[derive(Debug, Clone, PartialEq)]
struct Line {
    bytes: Vec<u8>,
    verdict: Verdict,
}

#[derive(Debug, Clone, PartialEq)]
enum Verdict {
    /// A message. The message may be invalid, because framing does not depend on the content of a message.
    Message,
    NotJson(ScanError),
    TooDeep,
    TooLong,
    Truncated,
    /// The line is no message, but the machine sends no error, because too many consecutive lines were bad.
    Muted,
}

impl Line {
    fn is(&self, seen: &Line) -> bool {
        let muted = seen.verdict == Verdict::Muted;
        self.bytes == seen.bytes && (muted || self.verdict == seen.verdict)
    }
}

fn limits(input: &Input<'_>) -> (Limits, usize) {
    let (id, depth) = (8 + usize::from(input.id_limit % 60), 1 + input.depth % 20);
    // `Server::new` rejects a receive buffer of fewer than `id + 1 + 16` bytes.
    let rx = id + 1 + 16 + usize::from(input.spare);
    (Limits::DEFAULT.with_id(id).with_depth(depth).with_invalid_in_a_row(u8::MAX), rx)
}

/// Returns the expected lines, computed from the whole input at once.
fn expected(input: &Input<'_>) -> Vec<Line> {
    let (limits, rx) = limits(input);
    let mut parts: Vec<&[u8]> = input.bytes.split(|byte| *byte == b'\n').collect();
    let last = parts.pop().unwrap_or_default();
    let whole = parts.into_iter().map(|part| line(part, true, &limits, rx));
    whole.chain([line(last, false, &limits, rx)]).flatten().collect()
}

fn line(text: &[u8], ended: bool, limits: &Limits, rx: usize) -> Option<Line> {
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    let mut scanner = Scanner::new(limits.depth);
    scanner.feed(text);
    let scanned = scanner.finish();
    let fits = text.len() < rx;
    let verdict = match scanned {
        Err(ScanError { kind: ScanErrorKind::Empty, .. }) => return None,
        Ok(_) | Err(ScanError { kind: ScanErrorKind::TooDeep, .. }) if !fits => {
            // The scanner does not find the end of an id that is nested too deeply. Such an id extends to the end of
            // the text.
            let id = scanner.member(Member::Id);
            let id = id.and_then(|id| text.get(id.start..id.end.unwrap_or(text.len()))).unwrap_or_default();
            let kept = id.get(..limits.id + 1).unwrap_or(id);
            return Some(Line { bytes: kept.to_vec(), verdict: Verdict::TooLong });
        }
        Ok(_) => Verdict::Message,
        Err(ScanError { kind: ScanErrorKind::TooDeep, .. }) => Verdict::TooDeep,
        Err(error) if fits && text[error.at..].contains(&0x18) => {
            Verdict::NotJson(ScanError { kind: ScanErrorKind::Gap, ..error })
        }
        Err(_) if !ended => Verdict::Truncated,
        Err(error) => Verdict::NotJson(error),
    };
    let is_kept = fits && verdict != Verdict::Truncated;
    Some(Line { bytes: if is_kept { text.to_vec() } else { Vec::new() }, verdict })
}

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<Line>>>);

impl Observer for Lines {
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>) {
        if direction == Direction::In {
            let verdict = match outcome {
                Err(ProtocolError::NotJson(error)) => Verdict::NotJson(error),
                Err(ProtocolError::TooDeep { .. }) => Verdict::TooDeep,
                Err(ProtocolError::LineTooLong { .. }) => Verdict::TooLong,
                Err(ProtocolError::Truncated) => Verdict::Truncated,
                Err(ProtocolError::Muted) => Verdict::Muted,
                _ => Verdict::Message,
            };
            self.0.lock().unwrap().push(Line { bytes: line.to_vec(), verdict });
        }
    }
}

/// Runs a server with these byte movements. Returns the received lines and the output.
fn seen(input: &Input<'_>, grown: bool, mut reads: Moves, mut writes: Moves) -> (Vec<Line>, Vec<u8>) {
    let (limits, rx) = limits(input);
    let info = ServerConfig::new("s", "1").limits(limits).lsp_shutdown(false);
    let (lines, mut output, mut lent) = (Lines::default(), Vec::new(), vec![0; rx]);
    let mut observer = lines.clone();
    let buffer: Buffer<'_> = if grown { Buffer::grown(rx) } else { lent.as_mut_slice().into() };
    let server = Server::new(&info, buffer, Buffer::grown(4096)).expect("buffers that are large enough");
    let mut server = server.observe(&mut observer);
    let (mut rest, mut now) = (input.bytes, Millis::ZERO);
    for polls in 0.. {
        let moved = input.bytes.len() - rest.len() + output.len();
        assert!(polls <= 3 * moved + 20, "{polls} polls to move {moved} bytes");
        let io = match server.poll(now) {
            Action::Closed => {
                drop(server);
                assert!(rest.is_empty(), "closed before the end of its input");
                return (std::mem::take(&mut *lines.0.lock().unwrap()), output);
            }
            Action::Event => {
                server.event();
                continue;
            }
            Action::Io(io) => io,
        };
        let deadline = io.deadline();
        let (out, mut room) = io.split();
        if room.is_ready() && (out.bytes().is_empty() || writes.length() % 2 == 1) {
            let space = room.space();
            let n = space.len().min(reads.length()).min(rest.len());
            space[..n].copy_from_slice(&rest[..n]);
            rest = &rest[n..];
            if n == 0 { room.eof() } else { room.filled(n) }
        } else if !out.bytes().is_empty() {
            let n = out.bytes().len().min(writes.length());
            output.extend_from_slice(&out.bytes()[..n]);
            out.sent(n);
        } else {
            now = deadline.expect("the server has no deadline");
        }
    }
    unreachable!("the loop returns when the server closes");
}
