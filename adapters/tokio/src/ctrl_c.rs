//! Stops servers at Ctrl-C, SIGTERM and SIGHUP.

use std::io;
use std::time::Duration;

use mcp_proto_handles::Stop;

/// Returns a [`Stop`] switch, which stops its servers at Ctrl-C, and on Unix also at SIGTERM and SIGHUP.
///
/// Running requests have `time` to finish. After a second signal, running requests have no more time. Call the function
/// inside of a runtime with its I/O driver enabled. A task of the runtime waits for the signals. Needs the feature
/// `signal`, which is on by default.
///
/// ```no_run
/// use std::time::Duration;
/// # use mcp_proto_tokio::server::ServerConfig;
/// use mcp_proto_tokio::{Serve, stop_on_ctrl_c};
/// use tokio::net::TcpListener;
/// # static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0");
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let listener = TcpListener::bind("127.0.0.1:8080").await?;
/// let stop = stop_on_ctrl_c(Duration::from_secs(5))?;
/// Serve::new(&CONFIG).stopped_by(&stop).listen(listener, |_, _| {}).await?;
/// # Ok(()) }
/// ```
///
/// # Errors
/// The handler of the signals cannot be installed.
pub fn stop_on_ctrl_c(time: Duration) -> io::Result<Stop> {
    let stop = Stop::new();
    let mut signals = Signals::new()?;
    let switch = stop.clone();
    tokio::spawn(async move {
        while signals.recv().await.is_some() {
            switch.within(if switch.is_used() { Duration::ZERO } else { time });
        }
    });
    Ok(stop)
}

#[cfg(unix)]
struct Signals([tokio::signal::unix::Signal; 3]);

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        let [interrupt, terminate, hangup] =
            [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(signal);
        Ok(Signals([interrupt?, terminate?, hangup?]))
    }

    async fn recv(&mut self) -> Option<()> {
        use std::task::Poll;
        std::future::poll_fn(|context| {
            let mut polls = self.0.iter_mut().map(|signal| signal.poll_recv(context));
            polls.find(Poll::is_ready).unwrap_or(Poll::Pending)
        })
        .await
    }
}

#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    fn new() -> io::Result<Signals> {
        tokio::signal::windows::ctrl_c().map(Signals)
    }

    async fn recv(&mut self) -> Option<()> {
        self.0.recv().await
    }
}
