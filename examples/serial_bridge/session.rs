//! Where a session begins and ends, on a link that does not.
//!
//! A board may be in the middle of a line of the old client's, with a slow call of it, and half a line of its own on the
//! way. So a session begins like this:
//!
//! 1. what the operating system still holds for either side is thrown away (`link`);
//! 2. a break, which a UART reports whatever it is receiving, and which needs no understanding of the bytes;
//! 3. the *session mark*: the byte 0x04 (end of transmission), which can stand nowhere in JSON, and a line break. It goes
//!    through everything that carries bytes, where a break does not: USB, TCP, pseudo-terminals;
//! 4. a `ping`, with an id that nobody else uses. What comes before its answer belongs to the old session, and is thrown
//!    away. A board that is only starting gets the mark and another ping, until it answers.
//!
//! A board takes either of 2 and 3 as `Server::reset()`. One that knows neither sees a line that is no JSON, and what it
//! says about that comes before the answer to the ping; its old session then ends with the next `initialize`, if it is of
//! the era that has one.
//!
//! The ping stands where a moment of silence could: but how long is silent enough? A slow board's last line comes late,
//! and a fast one should not be waited for. Every server answers every request that has an id, if only with an error.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::answer::Answer;
use crate::link::Link;
use crate::options::Options;

const MARK: &[u8] = b"\x04\n";
/// Longer than a character at any usual speed.
const BREAK: Duration = Duration::from_millis(20);
/// A board that is silent for so long has not heard the ping.
const SILENCE: Duration = Duration::from_millis(500);
/// A board that takes nothing must not keep the bridge from ending.
const LONGEST_END: Duration = Duration::from_millis(300);

/// What a session begins with.
#[derive(Default)]
pub(crate) struct Beginning {
    /// What of the board's output has come already.
    pub(crate) bytes: Vec<u8>,
    /// It goes on in the middle of a line.
    pub(crate) in_a_line: bool,
}

/// Ends what was, whatever it was. What the board says from now on belongs to the new client.
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
    let beginning = settle(link, options, until)?;
    link.set_read_timeout(None)?;
    Ok(beginning)
}

/// Asks until there is an answer, and throws away everything up to it.
fn settle(link: &Link, options: &Options, until: Instant) -> io::Result<Beginning> {
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
            // Only the last one counts: an answer to any other comes before its own.
            Err(_) if Instant::now() < until => {
                // What was lost may have been the mark, or the end of the last ping.
                link.write_all(boundary(options), Some(until.saturating_duration_since(Instant::now())))?;
                answer = Answer::to(ping(link, until)?);
            }
            Err(_) => {}
        }
        if Instant::now() >= until {
            eprintln!("serial_bridge: the board does not answer; the client may try it all the same");
            return Ok(Beginning { bytes: Vec::new(), in_a_line });
        }
    }
}

/// Returns its id.
fn ping(link: &Link, until: Instant) -> io::Result<String> {
    let id = format!("b{:08x}", RandomState::new().build_hasher().finish() as u32);
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{id}\",\"method\":\"ping\"}}\n");
    link.write_all(line.as_bytes(), Some(until.saturating_duration_since(Instant::now())))?;
    Ok(id)
}

/// The client has gone: the board need not work for it any more. It may have gone in the middle of a line.
pub(crate) fn end(link: &Link, options: &Options) {
    // If this does not get through, the next session begins with the same.
    let _ = link.write_all(boundary(options), Some(LONGEST_END));
}

/// Without the mark, at least no line of one session goes on in the next.
fn boundary(options: &Options) -> &'static [u8] {
    if options.mark { MARK } else { b"\n" }
}
