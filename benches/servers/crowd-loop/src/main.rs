//! The echo server in one thread with `mio`, for many connections to a Unix socket: `crowd-loop PATH [FRAMES]`.
//!
//! Without `FRAMES`, the thread waits for sockets and deadlines. With `FRAMES`, the thread runs 60 times per second,
//! like the loop of a game. `FRAMES` names the work of each frame: `ready` runs only the ready connections, `poll` also
//! polls the machine of each connection, and `read` reads from the socket of each connection.

mod crowd;
#[path = "../../echo.rs"]
mod echo;

use std::time::{Duration, Instant};

use crowd::Crowd;
use nix::sys::resource::{Resource, getrlimit, setrlimit};

const FRAME: Duration = Duration::from_nanos(1_000_000_000 / 60);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("crowd-loop PATH [FRAMES]")?;
    let frames = arguments.next();
    let (_, limit) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, limit, limit)?;
    let mut crowd = Crowd::bind(&path)?;
    println!("listening");
    let Some(frames) = frames else {
        loop {
            crowd.wait(None)?;
        }
    };
    let mut next = Instant::now();
    loop {
        next += FRAME;
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        crowd.wait(Some(Duration::ZERO))?;
        match frames.as_str() {
            "ready" => {}
            "poll" => crowd.poll_all(),
            "read" => crowd.run_all(),
            other => return Err(format!("no kind of frames {other}").into()),
        }
    }
}
