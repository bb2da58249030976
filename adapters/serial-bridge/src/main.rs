//! A bridge from a board's serial port or TCP connection to stdio.
//!
//! ```sh
//! cargo install --path adapters/serial-bridge
//! mcp-serial-bridge /dev/ttyACM0
//! mcp-serial-bridge tcp:192.168.1.7:4000
//! ```
//!
//! A desktop client starts the bridge as its server. The bridge passes on complete messages in both directions, and
//! writes other output of the board to stderr.
//!
//! On a noisy line and after a restart of the board, each request of the client gets a response. The session of the
//! client continues. A request gets an error if the board sends nothing about the request for too long. The module
//! `router` implements this behavior without I/O, `board_line` adds frames to the line, `bridge` moves the bytes, and
//! `link` opens ports.

mod blocking_stream;
mod board_line;
mod bridge;
mod lines;
mod link;
mod log_text;
mod message;
mod options;
mod router;
#[cfg(test)]
mod tests;

use std::process::ExitCode;

use link::Link;
use options::{Options, USAGE, Wanted};

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(Wanted::Bridge(options)) => options,
        Ok(Wanted::Help) => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(why) => {
            eprintln!("mcp-serial-bridge: {why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match Link::open(&options).and_then(|link| bridge::run(link, options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("mcp-serial-bridge: {why}");
            ExitCode::FAILURE
        }
    }
}
