//! The task of a client: its connections, one after another.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mcp_proto::{Client, Observer};
use mcp_proto_handles::{
    ClientCloseGuard, ClientSession, ClientSettings, ClientShared, ConnectError, PumpStatus, Reconnect,
    ServerDetails, ServerRequestHandler,
};
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep};

use crate::child::ServerProcess;
use crate::pump::{PumpImpl, run_until};
use crate::pump_state::PumpState;
use crate::source::{Link, Source, stop};

/// The sender of the result of the first connection.
pub(crate) type Report = oneshot::Sender<Result<ServerDetails, ConnectError>>;

/// The settings and callbacks of a client, for the task that runs the client.
pub(crate) struct Connection {
    pub(crate) settings: ClientSettings,
    pub(crate) observer: Option<Box<dyn Observer + Send>>,
    pub(crate) handler: Option<ServerRequestHandler>,
    pub(crate) reconnect: Option<Reconnect>,
    pub(crate) shared: Arc<ClientShared>,
    pub(crate) report: Option<Report>,
}

impl Connection {
    /// Runs the client until it is closed. If the server closes the connection during an attempt with
    /// `Connect::Automatic`, connects once more with a handshake only. There is no second attempt if the source cannot
    /// be opened again, or the settings permit no revision of the handshake era.
    pub(crate) async fn run(mut self, mut source: Source, guard: ClientCloseGuard) {
        let start = Instant::now();
        let (error, status) = loop {
            let Some(opened) = self.while_awaited(source.open(start)).await else {
                return guard.close_with(None);
            };
            let (outcome, status) = match opened {
                Ok(Link { pump, mut process }) => {
                    self.shared.set_process_id(process.as_ref().and_then(ServerProcess::id));
                    let outcome = self.run_connections(pump, &mut process, &mut source, start).await;
                    (outcome, stop(process, &self.shared).await)
                }
                Err(error) => (Err(error.into()), None),
            };
            let Err(error) = outcome else { return guard.close_with(status) };
            // If the caller has dropped its future, the client was closed, and a second attempt is pointless.
            let is_awaited = self.report.as_ref().is_some_and(|report| !report.is_closed());
            if !(source.is_reusable() && is_awaited && self.settings.fall_back_to_handshake(&error)) {
                break (error, status);
            }
        };
        if let Some(report) = self.report {
            let _ = report.send(Err(self.shared.connect_error(error, status)));
        }
        guard.close_with(status);
    }

    /// Waits for a future. Returns `None` if the caller drops the receiver of the [`Report`] first.
    async fn while_awaited<T>(&mut self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        poll_fn(|context| {
            if self.report.as_mut().is_some_and(|report| report.poll_closed(context).is_ready()) {
                return Poll::Ready(None);
            }
            future.as_mut().poll(context).map(Some)
        })
        .await
    }

    /// Runs the first connection and its replacements. Afterwards, `process` is the process that the caller must stop,
    /// or `None`. Returns an error if the settings are invalid, or the first connection was never established.
    async fn run_connections(
        &mut self,
        mut pump: Box<dyn PumpImpl + Send>,
        process: &mut Option<ServerProcess>,
        source: &mut Source,
        start: Instant,
    ) -> Result<(), ConnectError> {
        let Connection { settings, observer, handler, reconnect, shared, report } = self;
        let config = settings.config();
        let mut client = settings.client(&config, observer.as_mut())?;
        let mut session = ClientSession::new(shared, pump.state().wake(), handler.clone());
        session.set_tool_filter(settings.permits_tool);
        session.set_reconnect(reconnect.filter(|_| source.is_reusable()));
        run_connection(&mut *pump, &mut client, &mut session, shared, report).await?;
        let mut state = PumpState::new(start);
        // Close the streams first, so that the old process can exit.
        drop(pump);
        while let Some(pause) = session.begin_attempt(state.now(), state.wake()) {
            let pause = sleep(Duration::from_millis(pause.0));
            if while_open(pause, &mut client, &mut session, &mut state).await.is_none() {
                break;
            }
            let mut stopping = pin!(stop(process.take(), shared));
            if while_open(stopping.as_mut(), &mut client, &mut session, &mut state).await.is_none() {
                stopping.await;
                break;
            }
            let opening = source.open(start);
            let Some(opened) = while_open(opening, &mut client, &mut session, &mut state).await else {
                break;
            };
            let Ok(mut link) = opened else { continue };
            *process = link.process;
            shared.set_process_id(process.as_ref().and_then(ServerProcess::id));
            client.reconnect();
            session.connection_opened(link.pump.state().wake());
            // A failed handshake is a failed attempt.
            let _ = run_connection(&mut *link.pump, &mut client, &mut session, shared, report).await;
        }
        Ok(())
    }
}

/// Runs the event loop until the connection closes, or the time for unsent messages of a closing client expires.
/// Returns an error if the connection was never established.
async fn run_connection(
    pump: &mut (dyn PumpImpl + Send),
    client: &mut Client<'_>,
    session: &mut ClientSession,
    shared: &ClientShared,
    report: &mut Option<Report>,
) -> Result<(), ConnectError> {
    let mut outcome = Err(ConnectError::Closed(None));
    let mut now = pump.state().read_clock();
    loop {
        let until = session.process_commands(client, now);
        let status = run_until(pump, client, now, until).await;
        if let Some(failure) = pump.take_refused_response() {
            session.report_refused_response(failure);
        }
        match status {
            PumpStatus::Closed => return outcome,
            PumpStatus::Woken => {
                now = pump.state().read_clock();
                if session.is_overdue(now) {
                    return outcome;
                }
            }
            PumpStatus::Event => {
                match session.handle_event(client, pump.failure()) {
                    Some(Ok(details)) => {
                        if report.take().is_some_and(|report| report.send(Ok(details)).is_err()) {
                            // The application has dropped its future, so no handle can close the connection.
                            shared.close(None);
                        }
                        outcome = Ok(());
                    }
                    Some(Err(error)) => outcome = Err(error),
                    None => {}
                }
                now = pump.state().read_clock();
            }
        }
    }
}

/// Executes commands of the handles between two connections, until a future is ready. Returns the output of the
/// future. Returns `None` if the client is closing.
async fn while_open<T>(
    future: impl Future<Output = T>,
    client: &mut Client<'_>,
    session: &mut ClientSession,
    state: &mut PumpState,
) -> Option<T> {
    let mut future = pin!(future);
    loop {
        let now = state.now();
        let due = session.process_commands(client, now);
        if session.is_closing() {
            return None;
        }
        let output = poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if state.is_woken(context, due, now) => Poll::Ready(None),
            Poll::Pending if state.poll_deadline(context, due) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        });
        if let Some(output) = output.await {
            return Some(output);
        }
    }
}
