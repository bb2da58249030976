//! Begins and ends sessions on a link that stays open.
//!
//! When a new client starts, the board may still have state of the old client: half a line, a slow call, or unsent
//! output. So a session begins with these steps:
//!
//! 1. The bridge discards the operating system's buffers of the port (`link`).
//! 2. The bridge sends a break. A UART reports a break in any state, independent of the bytes.
//! 3. The bridge sends the *session mark*: the byte 0x04 (end of transmission) and a line break. JSON cannot contain
//!    this byte. The mark passes through USB, TCP and pseudo-terminals, which do not transmit a break.
//! 4. The bridge sends a `ping` with a unique id. The bridge discards output before the response, because this output
//!    belongs to the old session. If the board does not respond, the bridge repeats the mark and sends another ping.
//!
//! A board calls `Server::reset()` on a break or a mark. Another board reads the mark as a line that is not JSON, and
//! sends an error before the response to the ping. In the handshake era, the old session of such a board ends with the
//! next `initialize`.
//!
//! A ping is better than waiting for silence, because no duration fits all boards. A slow board may send its last line
//! late, and a fast board needs no wait. Every server responds to a ping, at least with an error.

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
/// Timeout of the last write.
///
/// A board that does not read must not keep the bridge from exiting.
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

/// Sends pings until a response arrives. Discards all output up to the response.
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

/// Ends the session of a client that has disconnected.
///
/// The client may have disconnected in the middle of a line.
pub(crate) fn end(link: &Link, options: &Options) {
    // Ignore errors, because the next session begins with the same bytes.
    let _ = link.write_all(boundary(options), Some(LONGEST_END));
}

/// The bytes between two sessions. If the options disable the mark, the line break still ends a partial line of the old
/// session.
fn boundary(options: &Options) -> &'static [u8] {
    if options.mark { MARK } else { b"\n" }
}
