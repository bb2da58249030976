//! Begins and ends sessions on a link that stays open.
//!
//! When a new client starts, the board may have received half a line of the old client, may run a slow call for it, and
//! may be sending a line. So a session begins with these steps:
//!
//! 1. The bridge discards the operating system's buffers of the port (`link`).
//! 2. It sends a break, which a UART reports in any state, independent of the bytes.
//! 3. It sends the *session mark*: the byte 0x04 (end of transmission), which cannot occur in JSON, and a line break. The
//!    mark passes through USB, TCP and pseudo-terminals, which do not transmit a break.
//! 4. It sends a `ping` with a unique id. Output before the response belongs to the old session and is discarded. A
//!    board that is still starting gets the mark and another ping until it responds.
//!
//! A board calls `Server::reset()` on a break or a mark. A board that supports neither sees a line that is not JSON,
//! and its error precedes the response to the ping. Its old session then ends with the next `initialize` in the
//! handshake era.
//!
//! A ping is better than waiting for silence, because no duration fits all boards: the last line of a slow board is
//! late, and a fast board needs no wait. Every server responds to every request with an id, at least with an error.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::answer::Answer;
use crate::link::Link;
use crate::options::Options;

const MARK: &[u8] = b"\x04\n";
/// Duration of a break, longer than a character at common speeds.
const BREAK: Duration = Duration::from_millis(20);
/// Time without output after which the ping counts as lost.
const SILENCE: Duration = Duration::from_millis(500);
/// Limit of the last write, because a board that does not read must not keep the bridge from exiting.
const LONGEST_END: Duration = Duration::from_millis(300);

/// The board's output at the beginning of a session.
#[derive(Default)]
pub(crate) struct Beginning {
    /// Output received after the response to the ping.
    pub(crate) bytes: Vec<u8>,
    /// Whether the next output continues a discarded line.
    pub(crate) in_a_line: bool,
}

/// Ends the old session. Later output of the board belongs to the new client.
pub(crate) fn begin(link: &mut Link, options: &Options) -> io::Result<Beginning> {
    let until = Instant::now() + options.settle;
    if options.sends_break {
        link.send_break(|| sleep(BREAK));
    }
    link.write_all(boundary(options), Some(options.settle))?;
    if options.settle.is_zero() {
        return Ok(Beginning::default());
    }
    link.set_read_timeout(Some(SILENCE.min(options.settle)))?;
    let beginning = ping_until_answered(link, options, until)?;
    link.set_read_timeout(None)?;
    Ok(beginning)
}

/// Sends pings until a response arrives, and discards all output up to the response.
fn ping_until_answered(link: &Link, options: &Options, until: Instant) -> io::Result<Beginning> {
    let mut answer = Answer::to(ping(link, until)?);
    let (mut bytes, mut in_a_line) = ([0; 4096], false);
    loop {
        match link.read(&mut bytes) {
            Ok(n) => {
                if let Some(rest) = answer.behind(&bytes[..n]) {
                    return Ok(Beginning { bytes: rest.into(), in_a_line: false });
                }
                in_a_line = !bytes[..n].ends_with(b"\n");
            }
            Err(error) if error.kind() != ErrorKind::TimedOut => return Err(error),
            // Wait only for the response to the last ping, because earlier responses precede it.
            Err(_) if Instant::now() < until => {
                // The board may have lost the mark or the end of the last ping, so send both again.
                link.write_all(boundary(options), Some(until.saturating_duration_since(Instant::now())))?;
                answer = Answer::to(ping(link, until)?);
            }
            Err(_) => {}
        }
        if Instant::now() >= until {
            eprintln!("serial_bridge: the board does not respond; the client is connected anyway");
            return Ok(Beginning { bytes: Vec::new(), in_a_line });
        }
    }
}

/// Sends a ping and returns its id.
fn ping(link: &Link, until: Instant) -> io::Result<String> {
    let id = format!("b{:08x}", RandomState::new().build_hasher().finish() as u32);
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"ping\"}}\n");
    link.write_all(line.as_bytes(), Some(until.saturating_duration_since(Instant::now())))?;
    Ok(id)
}

/// Ends the session of a client that has disconnected, possibly in the middle of a line.
pub(crate) fn end(link: &Link, options: &Options) {
    // Errors are ignored, because the next session begins with the same bytes.
    let _ = link.write_all(boundary(options), Some(LONGEST_END));
}

/// The bytes between two sessions. Without the mark, the line break still ends a partial line of the old session.
fn boundary(options: &Options) -> &'static [u8] {
    if options.mark { MARK } else { b"\n" }
}
