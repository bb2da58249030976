//! A board in a desktop client: a serial port, or a TCP connection, becomes a server on stdin and stdout.
//!
//! ```sh
//! cargo build --release --example serial_bridge
//! target/release/examples/serial_bridge /dev/ttyACM0
//! target/release/examples/serial_bridge tcp:192.168.1.7:4000
//! ```
//!
//! A client that starts its servers as processes starts this one, and what it writes goes to the board as it is. Lines of
//! the board's that are messages go to stdout, everything else that it prints goes to stderr.
//!
//! A board has no idea that its client was replaced: there is no connection that could end. So the bridge ends the old
//! session before it lets the new client speak (`session`), and again when the client has gone.

mod answer;
mod bridge;
mod flight;
mod lines;
mod link;
mod options;
mod session;
mod sort;

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
            eprintln!("serial_bridge: {why}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match Link::open(&options).and_then(|link| bridge::run(link, &options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("serial_bridge: {why}");
            ExitCode::FAILURE
        }
    }
}
