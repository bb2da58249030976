//! Performs HTTP requests with hyper.

use std::error::Error;
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::time::Duration;

use http_body_util::Full;
use hyper::Request;
use hyper::body::Body;
use hyper_util::client::legacy::{Client, Error as ClientError};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use mcp_proto_handles::{Bytes, HttpEndpoint, HttpPart, HttpReport};
use mcp_proto_http::client::ExchangeId;
use tokio::sync::mpsc::Sender;

use super::connect::{BoxError, Limited, Secured, connector};

/// Maximum number of idle connections.
const MAX_IDLE: usize = 8;
/// The time after which an idle connection closes.
const IDLE_TIME: Duration = Duration::from_secs(15);
/// Maximum length of a response head, and maximum size of one read of a body, in bytes.
const READ_BUFFER: usize = 128 * 1024;

/// An HTTP client with its connections. Clones share the connections.
#[derive(Clone)]
pub(super) struct HttpSender {
    client: Client<Limited<Secured>, Full<Bytes>>,
}

impl HttpSender {
    pub(super) fn new(endpoint: &HttpEndpoint) -> io::Result<HttpSender> {
        let client = Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE_TIME)
            .pool_max_idle_per_host(MAX_IDLE)
            .http1_max_buf_size(READ_BUFFER)
            .build(connector(endpoint.connect_time())?);
        Ok(HttpSender { client })
    }

    /// Performs a request, and reports the response. If the caller drops the future before the end of the response, the
    /// connection closes.
    pub(super) async fn perform(
        self,
        exchange: ExchangeId,
        request: Request<Bytes>,
        reporter: Sender<HttpReport>,
    ) {
        let failure = self.report_response(exchange, request, &reporter).await.err();
        let end = HttpPart::End(failure.map(|error| describe(&*error)));
        // An error means that the pump was dropped, which also ends this task.
        let _ = reporter.send(HttpReport { exchange, part: end }).await;
    }

    async fn report_response(
        &self,
        exchange: ExchangeId,
        request: Request<Bytes>,
        reporter: &Sender<HttpReport>,
    ) -> Result<(), BoxError> {
        let (head, body) = self.client.request(request.map(Full::new)).await?.into_parts();
        reporter.send(HttpReport { exchange, part: HttpPart::Head(Box::new(head)) }).await?;
        let mut body = pin!(body);
        while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
            // Ignore trailers, because MCP does not use them.
            if let Ok(bytes) = frame?.into_data() {
                reporter.send(HttpReport { exchange, part: HttpPart::Bytes(bytes) }).await?;
            }
        }
        Ok(())
    }
}

/// Returns the causes of an error in one line, without hyper's own summary, such as "client error (Connect)".
fn describe(error: &(dyn Error + 'static)) -> String {
    let source = error.source().filter(|_| error.is::<ClientError>());
    let mut error = source.unwrap_or(error);
    let mut text = error.to_string();
    while let Some(source) = error.source() {
        error = source;
        let cause = error.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}
