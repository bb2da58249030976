//! The HTTP server of the page: the page itself, and its event stream.
//!
//! Any program and any web page on this computer can send requests to the server. Three checks refuse requests that do
//! not come from the page: the token in the path, `Host` against DNS rebinding, and `Origin`.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use mcp_proto_http::HeaderFields;
use mcp_proto_http::http1::{HeadWriter, RequestDecoder, RequestHead};
use mcp_proto_http::server::AllowList;
use mcp_proto_http::sse::{DATA_END, KEEP_ALIVE, SseWriter};

use super::entry;
use super::feed::{Feed, Update};
use super::random_token;

const PAGE: &str = include_str!("page.html");
const SCRIPT: &str = include_str!("page.js");
/// The maximum number of connections. A browser opens at most six.
const MAX_CONNECTIONS: usize = 32;
/// The timeout of one read from a browser, and of one write to it.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);
/// The time between comments on an idle event stream. A failed comment shows that the browser has
/// disconnected.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);

pub(super) struct Site {
    feed: Feed,
    token: String,
    title: String,
    connections: AtomicUsize,
}

/// An open connection. Dropping this value decrements the number of open connections.
struct Connection(Arc<Site>);

impl Drop for Connection {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The response to a request.
enum Response {
    Page,
    /// The entries after this number.
    Events(u64),
    /// A status and its reason.
    Refused(u16, &'static str),
}

impl Site {
    pub(super) fn new(feed: Feed, token: String, title: String) -> Site {
        Site { feed, token, title, connections: AtomicUsize::new(0) }
    }

    /// Accepts connections, each on a thread of its own. Closes connections beyond [`MAX_CONNECTIONS`].
    pub(super) fn serve(self: &Arc<Site>, listener: &TcpListener) {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // `accept` fails, for example, if no file descriptor is left.
                thread::sleep(Duration::from_millis(100));
                continue;
            };
            if self.connections.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
                self.connections.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let connection = Connection(Arc::clone(self));
            thread::spawn(move || {
                // The browser sees an error as the end of the connection.
                let _ = connection.0.handle(stream);
            });
        }
    }

    /// Answers one request, and closes the connection.
    fn handle(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(CLIENT_TIMEOUT))?;
        stream.set_write_timeout(Some(CLIENT_TIMEOUT))?;
        stream.set_nodelay(true)?;
        let mut fields = [0; 2048];
        let mut decoder = RequestDecoder::new(&mut fields);
        let mut buffer = [0; 2048];
        let response = loop {
            if let Some(head) = decoder.head() {
                break self.response(&head);
            }
            let length = match stream.read(&mut buffer)? {
                0 => return Ok(()),
                length => length,
            };
            if let Err(error) = decoder.feed(&buffer[..length]) {
                break Response::Refused(error.status(), "the request is not valid HTTP/1.1");
            }
        };
        match response {
            Response::Page => self.send_page(&mut stream),
            Response::Events(seen) => self.send_events(&mut stream, seen),
            Response::Refused(status, why) => {
                let mut head = [0; 256];
                let head = HeadWriter::response(&mut head, status)
                    .field("Content-Type", "text/plain; charset=utf-8")
                    .field("X-Content-Type-Options", "nosniff")
                    .content_length(why.len() as u64 + 1)
                    .close();
                let head = head.finish().map_err(io::Error::other)?;
                stream.write_all(&[head, why.as_bytes(), b"\n"].concat())
            }
        }
    }

    /// Checks a request, and selects the response.
    fn response(&self, head: &RequestHead<'_>) -> Response {
        let host = head.field("host").unwrap_or_default();
        if !AllowList::Loopback.has_host(host) {
            return Response::Refused(403, "the Host of the request is not this computer");
        }
        let own_origin = [b"http://", host].concat();
        if head.field("origin").is_some_and(|origin| !origin.eq_ignore_ascii_case(&own_origin)) {
            return Response::Refused(403, "the Origin of the request is another page");
        }
        let Some(path) = self.strip_token(head.path()) else {
            return Response::Refused(404, "not found: open the address that mcp-inspect has printed");
        };
        match (head.method(), path) {
            ("GET", "/") => Response::Page,
            ("GET", "/events") => Response::Events(last_event_id(head)),
            (_, "/" | "/events") => Response::Refused(405, "only GET is possible"),
            _ => Response::Refused(404, "not found"),
        }
    }

    /// Returns the path after the token, or `None` if the path does not begin with the token. The time of the
    /// comparison does not depend on the digits.
    fn strip_token<'p>(&self, path: &'p str) -> Option<&'p str> {
        let (token, rest) = path.strip_prefix('/')?.split_at_checked(self.token.len())?;
        let difference = token.bytes().zip(self.token.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
        (difference == 0).then_some(rest)
    }

    fn send_page(&self, stream: &mut TcpStream) -> io::Result<()> {
        let nonce = random_token().map_err(io::Error::other)?;
        // The script is inserted last, because it may contain the word `NONCE`.
        let page = PAGE.replace("NONCE", &nonce).replace("SCRIPT", SCRIPT);
        // The page loads nothing from other servers, and never parses the text of a message as HTML.
        let policy = format!(
            "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; \
             img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
             require-trusted-types-for 'script'; trusted-types 'none'"
        );
        let mut head = [0; 1024];
        let head = HeadWriter::response(&mut head, 200)
            .field("Content-Type", "text/html; charset=utf-8")
            .field("Content-Security-Policy", &*policy)
            .field("X-Content-Type-Options", "nosniff")
            .field("Referrer-Policy", "no-referrer")
            .field("Cross-Origin-Resource-Policy", "same-origin")
            .field("Cross-Origin-Opener-Policy", "same-origin")
            .field("Cache-Control", "no-store")
            .content_length(page.len() as u64)
            .close();
        let head = head.finish().map_err(io::Error::other)?;
        stream.write_all(&[head, page.as_bytes()].concat())
    }

    /// Sends entries until the session ends, or the browser closes the connection.
    fn send_events(&self, stream: &mut TcpStream, mut seen: u64) -> io::Result<()> {
        let _page = self.feed.open_page();
        let mut head = [0; 512];
        let head = HeadWriter::response(&mut head, 200)
            .field("Content-Type", "text/event-stream")
            .field("X-Content-Type-Options", "nosniff")
            .field("Cross-Origin-Resource-Policy", "same-origin")
            .field("Cache-Control", "no-store")
            .close();
        stream.write_all(head.finish().map_err(io::Error::other)?)?;
        let session = entry::session(&self.title, self.feed.now());
        stream.write_all(&event(|writer| writer.event("session"), &session)?)?;
        loop {
            match self.feed.wait(seen, KEEP_ALIVE_INTERVAL) {
                Update::Entries(entries) => {
                    let mut text = Vec::new();
                    for entry in entries {
                        text.extend(event(|writer| writer.id(entry.number), &entry.json)?);
                        seen = entry.number;
                    }
                    stream.write_all(&text)?;
                }
                Update::Closed(at) => {
                    return stream.write_all(&event(|writer| writer.event("close"), &entry::close(at))?);
                }
                Update::Nothing => stream.write_all(KEEP_ALIVE)?,
            }
        }
    }
}

/// Returns an event as bytes. `data` must not contain a line end.
fn event(begin: impl FnOnce(SseWriter<'_>) -> SseWriter<'_>, data: &str) -> io::Result<Vec<u8>> {
    let mut buffer = [0; 64];
    let begin = begin(SseWriter::new(&mut buffer)).begin_data().map_err(io::Error::other)?;
    Ok([begin, data.as_bytes(), DATA_END].concat())
}

/// Returns the number of the last entry that a page has, or 0. A page that reconnects sends this number.
fn last_event_id(head: &RequestHead<'_>) -> u64 {
    let id = head.field("last-event-id").and_then(|id| str::from_utf8(id).ok());
    id.and_then(|id| id.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_loads_no_other_urls_and_parses_no_text_as_html() {
        for forbidden in ["http:", "https:", "//cdn", "@import", "url("] {
            assert!(!PAGE.contains(forbidden) && !SCRIPT.contains(forbidden), "{forbidden}");
        }
        let sinks = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "Function(",
            "setAttribute",
            ".href",
            "srcdoc",
        ];
        for sink in sinks {
            assert!(!SCRIPT.contains(sink), "{sink}");
        }
        assert_eq!((PAGE.matches("NONCE").count(), PAGE.matches("SCRIPT").count()), (2, 1));
        assert!(!SCRIPT.contains("</script"));
    }
}
