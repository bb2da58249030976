//! Serves a server on stdio at a URL.
//!
//! The bridge starts one process for each session of the handshake era, and one for all clients of 2026-07-28. The
//! module `check` contains the checks of requests. The bridge neither authenticates clients nor resumes event streams.
//! The bridge does not compare `Mcp-Param-*` with the body, because it does not know the schemas of the tools.

use std::collections::HashMap;
use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use mcp_proto::json::Json;
use mcp_proto::methods;
use mcp_proto::rpc::{Message, MessageKind, code};

use crate::check::{self, PATH, Refusal};
use crate::connection::{Connection, Request};
use crate::message::{self, has_method};
use crate::options::Served;
use crate::process::{ServerProcess, lock};

/// Maximum number of open connections. The bridge closes further connections at once.
const MAX_CONNECTIONS: usize = 256;
/// Maximum number of sessions. At the limit, each new session ends the least recently used session.
const MAX_SESSIONS: usize = 32;
/// The interval at which an exchange without messages checks its connection.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);
/// The time without messages after which an event stream gets a comment.
const COMMENT_TIME: Duration = Duration::from_secs(15);

struct Bridge {
    served: Served,
    sessions: Mutex<HashMap<String, Arc<ServerProcess>>>,
    /// The process for clients of 2026-07-28.
    stateless: Mutex<Option<Arc<ServerProcess>>>,
    connections: AtomicUsize,
}

/// Serves until the process of the bridge ends.
///
/// # Errors
/// The bridge cannot listen at the address.
pub(crate) fn run(served: Served) -> io::Result<()> {
    let listener = TcpListener::bind(&served.address)?;
    eprintln!("bridge: http://{}{PATH}", listener.local_addr()?);
    let bridge = Arc::new(Bridge {
        served,
        sessions: Mutex::default(),
        stateless: Mutex::default(),
        connections: AtomicUsize::new(0),
    });
    for stream in listener.incoming() {
        let Ok(stream) = stream else { continue };
        let bridge = Arc::clone(&bridge);
        if bridge.connections.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
            bridge.connections.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        thread::spawn(move || {
            // An error affects only this connection, for example if the client has disconnected or sends no valid HTTP.
            let _ = Connection::new(stream).and_then(|mut connection| bridge.serve(&mut connection));
            bridge.connections.fetch_sub(1, Ordering::Relaxed);
        });
    }
    Ok(())
}

impl Bridge {
    /// Serves the requests of a connection.
    fn serve(&self, connection: &mut Connection) -> io::Result<()> {
        while let Some(request) = connection.read_request()? {
            let keeps_alive = match check::head(&self.served, &request)
                .and_then(|()| self.dispatch(connection, &request))
            {
                Ok(exchanged) => exchanged?,
                Err(Refusal(status, code, reason)) => {
                    let body = Message::parse(&request.body);
                    let id = body.as_ref().ok().and_then(message::id);
                    let id = id.map_or(check::missing_id(&request), Json::bytes);
                    let error = message::error(id, code, reason);
                    connection.respond(&request, status, &error, &[])?
                }
            };
            if !keeps_alive {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Responds to a request. Returns whether the connection stays open. The caller sends a returned refusal.
    fn dispatch(&self, connection: &mut Connection, request: &Request) -> Result<io::Result<bool>, Refusal> {
        match request.method.as_str() {
            "POST" if !request.is_json => {
                Err(Refusal(415, code::INVALID_REQUEST, "`Content-Type` is not application/json"))
            }
            "POST" => self.post(connection, request),
            "GET" if request.session.is_some() => {
                check::handshake_version(request)?;
                let messages = self.session(request)?.listen();
                let opened = connection.begin_events(&[]);
                Ok(opened.and_then(|()| pass_on(connection, &messages)).map(|()| false))
            }
            "DELETE" if request.session.is_some() => {
                check::handshake_version(request)?;
                self.session(request)?.end();
                lock(&self.sessions).remove(request.session.as_deref().unwrap_or_default());
                Ok(connection.respond(request, 204, b"", &[]))
            }
            _ => Ok(connection.respond(request, 405, b"", &[("Allow", "POST")])),
        }
    }

    fn post(&self, connection: &mut Connection, request: &Request) -> Result<io::Result<bool>, Refusal> {
        let body = Message::parse(&request.body)
            .map_err(|_| Refusal(400, code::PARSE_ERROR, "the body is not JSON"))?;
        let is_stateless = check::body(request, &body)?;
        match body.kind() {
            MessageKind::Request if is_stateless => {
                Ok(exchange(connection, request, &self.stateless()?, &body, None))
            }
            MessageKind::Request if has_method(&body, methods::INITIALIZE.name()) => {
                let (id, process) = self.begin_session()?;
                Ok(exchange(connection, request, &process, &body, Some(&id)))
            }
            MessageKind::Request => Ok(exchange(connection, request, &self.session(request)?, &body, None)),
            // Drop the notification: a client cancels a request by closing its connection, and other notifications
            // would affect all clients.
            MessageKind::Notification if is_stateless => Ok(connection.respond(request, 202, b"", &[])),
            MessageKind::Notification | MessageKind::Response => {
                let process = self.session(request)?;
                if has_method(&body, methods::CANCELLED.name())
                    && let Some(id) = body.params().and_then(|params| params.get("requestId"))
                {
                    process.cancel(id.bytes());
                }
                process.write(body.bytes()).map_err(|_| GONE)?;
                Ok(connection.respond(request, 202, b"", &[]))
            }
            MessageKind::Batch | MessageKind::Invalid => {
                Err(Refusal(400, code::INVALID_REQUEST, "the body is not one message"))
            }
        }
    }

    /// Starts the process of a new session. Returns the id of the session, and the process.
    fn begin_session(&self) -> Result<(String, Arc<ServerProcess>), Refusal> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)
            .map_err(|_| Refusal(500, code::INTERNAL_ERROR, "the system has no randomness"))?;
        let id: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        let process = self.start(false)?;
        let mut sessions = lock(&self.sessions);
        sessions.retain(|_, process| process.is_running());
        if sessions.len() >= MAX_SESSIONS
            && let Some(oldest) = sessions.iter().min_by_key(|(_, process)| process.last_used())
        {
            let id = oldest.0.clone();
            sessions.remove(&id).iter().for_each(ServerProcess::end);
        }
        sessions.insert(id.clone(), Arc::clone(&process));
        Ok((id, process))
    }

    /// Returns the process of the session that a request names.
    fn session(&self, request: &Request) -> Result<Arc<ServerProcess>, Refusal> {
        const MISSING: Refusal = Refusal(400, code::INVALID_REQUEST, "`Mcp-Session-Id` is missing");
        let id = request.session.as_ref().ok_or(MISSING)?;
        lock(&self.sessions).get(id).filter(|process| process.is_running()).cloned().ok_or(GONE)
    }

    /// Returns the process for clients of 2026-07-28.
    fn stateless(&self) -> Result<Arc<ServerProcess>, Refusal> {
        let mut stateless = lock(&self.stateless);
        match stateless.as_ref().filter(|process| process.is_running()) {
            Some(process) => Ok(Arc::clone(process)),
            None => Ok(Arc::clone(stateless.insert(self.start(true)?))),
        }
    }

    fn start(&self, is_shared: bool) -> Result<Arc<ServerProcess>, Refusal> {
        ServerProcess::start(&self.served.command, is_shared).map_err(|error| {
            eprintln!("bridge: {}: {error}", self.served.command.join(" "));
            Refusal(502, code::INTERNAL_ERROR, "the server does not start")
        })
    }
}

const GONE: Refusal = Refusal(404, code::INVALID_REQUEST, "the session does not exist");

/// Passes a request to the process, and its response to the client. Returns whether the connection stays open.
///
/// The response is JSON or an event stream. An event stream carries messages that precede the response. If the client
/// accepts events, a response after `COMMENT_TIME` is also an event. If no message has arrived before the exchange
/// ends, a cancelled request gets status 202, and a request whose process has exited gets status 502.
fn exchange(
    connection: &mut Connection,
    request: &Request,
    process: &Arc<ServerProcess>,
    body: &Message<'_>,
    session: Option<&str>,
) -> io::Result<bool> {
    let fields: Vec<_> = session.iter().map(|id| ("Mcp-Session-Id", *id)).collect();
    let pending = process.request(body);
    let start = Instant::now();
    let first = loop {
        match pending.messages.recv_timeout(CHECK_INTERVAL) {
            Ok(message) => break Some(message),
            Err(RecvTimeoutError::Timeout) if connection.has_disconnected() => return Ok(false),
            Err(RecvTimeoutError::Timeout) if start.elapsed() > COMMENT_TIME && request.takes_events => {
                break None;
            }
            Err(RecvTimeoutError::Timeout) => {}
            // The process still runs, so the client has cancelled the request.
            Err(RecvTimeoutError::Disconnected) if process.is_running() => {
                return connection.respond(request, 202, b"", &[]);
            }
            Err(RecvTimeoutError::Disconnected) => {
                let id = body.id().map(Json::bytes).unwrap_or_default();
                let error = message::error(id, code::INTERNAL_ERROR, "the server has exited");
                return connection.respond(request, 502, &error, &[]);
            }
        }
    };
    if let Some(response) = first.as_deref().and_then(|first| Message::parse(first).ok())
        && response.kind() == MessageKind::Response
    {
        let status = if message::meta(body, message::VERSION).is_some() { status_of(&response) } else { 200 };
        return connection.respond(request, status, response.bytes(), &fields);
    }
    connection.begin_events(&fields)?;
    first.map_or(Ok(()), |first| connection.event(&first))?;
    pass_on(connection, &pending.messages)?;
    Ok(false)
}

/// Passes messages on as events until the exchange ends, or until the client disconnects.
fn pass_on(connection: &mut Connection, messages: &Receiver<Vec<u8>>) -> io::Result<()> {
    let mut last = Instant::now();
    loop {
        match messages.recv_timeout(CHECK_INTERVAL) {
            Ok(message) => connection.event(&message)?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
            Err(RecvTimeoutError::Timeout) if connection.has_disconnected() => return Ok(()),
            Err(RecvTimeoutError::Timeout) if last.elapsed() < COMMENT_TIME => continue,
            Err(RecvTimeoutError::Timeout) => connection.comment()?,
        }
        last = Instant::now();
    }
}

/// Returns the HTTP status for a JSON-RPC response of 2026-07-28.
fn status_of(response: &Message<'_>) -> u16 {
    let code = response.error().and_then(|error| i32::try_from(error.get("code")?.integer()?).ok());
    match code {
        Some(
            code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY | code::UNSUPPORTED_PROTOCOL_VERSION,
        ) => 400,
        Some(code::METHOD_NOT_FOUND) => 404,
        _ => 200,
    }
}
