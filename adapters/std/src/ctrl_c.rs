//! Stops servers at Ctrl-C, SIGTERM and SIGHUP.

use std::io;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use mcp_proto_handles::{Stop, lock};

/// The switches that a signal operates, each with the time for running requests.
static STOPS: Mutex<Vec<(Stop, Duration)>> = Mutex::new(Vec::new());

/// Returns a [`Stop`] switch, which stops its servers at Ctrl-C, and on Unix also at SIGTERM and SIGHUP.
///
/// Running requests have `time` to finish. A signal ends this time if the switch was used before, by an earlier signal
/// or by the application. The function fails if the application has installed a handler with the crate `ctrlc`, because
/// a process has only one such handler. Needs the feature `signal`.
///
/// ```no_run
/// use std::net::TcpListener;
/// use std::time::Duration;
/// # use mcp_proto_std::server::ServerConfig;
/// use mcp_proto_std::{Serve, stop_on_ctrl_c};
/// # static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0");
///
/// let listener = TcpListener::bind("127.0.0.1:8080")?;
/// let stop = stop_on_ctrl_c(Duration::from_secs(5))?;
/// Serve::new(&CONFIG).stopped_by(&stop).listen(listener, |_, _| {})?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The handler of the signals cannot be installed.
pub fn stop_on_ctrl_c(time: Duration) -> io::Result<Stop> {
    static INSTALLED: OnceLock<Result<(), String>> = OnceLock::new();
    let installed = INSTALLED.get_or_init(|| ctrlc::set_handler(stop_all).map_err(|error| error.to_string()));
    installed.clone().map_err(io::Error::other)?;
    let stop = Stop::new();
    lock(&STOPS).push((stop.clone(), time));
    Ok(stop)
}

fn stop_all() {
    let stops = lock(&STOPS).clone();
    for (stop, time) in stops {
        stop.within(if stop.is_used() { Duration::ZERO } else { time });
    }
}
