//! Where a session begins and ends, on a link that does not.
//!
//! A board may be in the middle of a line of the old client's, with a slow call of it, and half a line of its own on the
//! way. So a session begins like this:
//!
//! 1. what the operating system still holds for either side is thrown away (`link`);
//! 2. a break, which a UART reports whatever it is receiving, and which needs no understanding of the bytes;
//! 3. the *session mark*: the byte 0x04 (end of transmission), which can stand nowhere in JSON, and a line break. It goes
//!    through everything that carries bytes, where a break does not: USB, TCP, pseudo-terminals;
//! 4. what the board sends until it is quiet belongs to the old session, and is thrown away.
//!
//! A board takes either as `Server::reset()`. One that knows neither sees a line that is no JSON, and what it says about
//! that is thrown away, too; its old session then ends with the next `initialize`, if it is of the era that has one.

use std::io::{self, ErrorKind};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::link::Link;
use crate::options::Options;
use crate::sort::Sort;

const MARK: &[u8] = b"\x04\n";
/// Longer than a character at any usual speed.
const BREAK: Duration = Duration::from_millis(20);
/// A board that is never quiet must not keep the client out.
const LONGEST_SETTLE: Duration = Duration::from_secs(2);
/// A board that takes nothing must not keep the bridge from ending.
const LONGEST_END: Duration = Duration::from_millis(300);

/// Ends what was, whatever it was. What the board says from now on belongs to the new client.
pub(crate) fn begin(link: &mut Link, options: &Options) -> io::Result<Sort> {
    if options.sends_break {
        link.send_break(|| sleep(BREAK));
    }
    link.write_all(boundary(options), Some(LONGEST_SETTLE))?;
    if options.settle.is_zero() {
        return Ok(Sort::new());
    }
    link.set_read_timeout(Some(options.settle))?;
    let sort = settle(link, options.settle)?;
    link.set_read_timeout(None)?;
    Ok(sort)
}

/// Reads until nothing comes for as long as a read may take.
fn settle(link: &Link, quiet: Duration) -> io::Result<Sort> {
    let until = Instant::now() + LONGEST_SETTLE.max(quiet * 2);
    let mut bytes = [0; 4096];
    let mut thrown_away = 0;
    let sort = loop {
        match link.read(&mut bytes) {
            Ok(n) => {
                thrown_away += n;
                if Instant::now() >= until {
                    break if bytes[..n].ends_with(b"\n") { Sort::new() } else { Sort::in_a_line() };
                }
            }
            Err(error) if error.kind() == ErrorKind::TimedOut => break Sort::new(),
            Err(error) => return Err(error),
        }
    };
    if thrown_away > 0 {
        eprintln!("serial_bridge: threw away {thrown_away} bytes that the board sent before this session");
    }
    Ok(sort)
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
