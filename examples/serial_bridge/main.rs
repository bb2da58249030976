//! A bridge from a board's serial port or TCP connection to stdio.
//!
//! ```sh
//! cargo build --release --example serial_bridge
//! target/release/examples/serial_bridge /dev/ttyACM0
//! target/release/examples/serial_bridge tcp:192.168.1.7:4000
//! ```
//!
//! A desktop client starts the bridge as its server. The bridge sends the client's bytes to the board unchanged. The
//! bridge writes the board's messages to stdout, and all other output of the board to stderr.
//!
//! A board cannot detect that its client was replaced, because a serial line has no connection that ends. So the bridge
//! ends the old session before it forwards input of the new client (see `session`). The bridge also ends the session
//! when the client disconnects.

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
