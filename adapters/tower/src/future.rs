//! `ResponseFuture`: the future of a response.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use http::request::Parts;
use http::{Response, StatusCode};
use http_body::Body;
use mcp_proto::Millis;
use mcp_proto_handles::HttpMachines;
use mcp_proto_http::server::{ExchangeId, Method, RequestHead};
use pin_project_lite::pin_project;

use crate::body::{ResponseBody, StreamCut};
use crate::exchange::{Exchange, Start};
use crate::head::{self, Fields};
use crate::received::{Received, Unreadable};
use crate::service::User;
use crate::shared::{Machines, Shared};

pin_project! {
    /// The response of an [`McpService`](crate::McpService), ready when the head of the response is known.
    ///
    /// If the body of the request is in memory and the handler responds at once, the first poll returns the response.
    pub struct ResponseFuture<B: Body> {
        #[pin]
        body: B,
        request: RequestState<B::Data>,
    }
}

/// The state of a request: its head, the received part of its body, and its exchange.
struct RequestState<D> {
    shared: Arc<Shared>,
    head: Parts,
    body_length: Option<u64>,
    received: Received<D>,
    is_complete: bool,
    exchange: Option<Exchange>,
}

impl<B: Body> ResponseFuture<B> {
    pub(crate) fn new(shared: Arc<Shared>, head: Parts, body: B) -> ResponseFuture<B> {
        let body_length = body.size_hint().exact();
        let (received, exchange) = (Received::Nothing, None);
        let request = RequestState { shared, head, body_length, received, is_complete: false, exchange };
        ResponseFuture { body, request }
    }
}

impl<B: Body> Future for ResponseFuture<B> {
    type Output = Result<Response<ResponseBody>, Infallible>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let request = this.request;
        let is_received = match request.is_complete {
            true => Poll::Pending,
            false => request.received.poll(this.body, request.shared.max_body, context),
        };
        let started = match (is_received, &mut request.exchange) {
            (Poll::Ready(Ok(())), _) => {
                request.is_complete = true;
                request.advance(context)
            }
            (Poll::Ready(Err(Unreadable)), exchange) => {
                *exchange = None;
                return Poll::Ready(Ok(head::empty(StatusCode::BAD_REQUEST)));
            }
            (Poll::Pending, Some(exchange)) => exchange.poll_start(context).map_err(unavailable),
            // Begin the exchange before the body arrives, so that the state machine can refuse the head or a slow body.
            (Poll::Pending, None) => request.advance(context),
        };
        let response = match ready!(started) {
            Err(refused) => *refused,
            Ok(start) => match request.exchange.take() {
                Some(exchange) => exchange.into_response(start),
                None => head::empty(StatusCode::SERVICE_UNAVAILABLE),
            },
        };
        Poll::Ready(Ok(response))
    }
}

/// The start of a response, or the whole response to a request that was refused.
type Started = Poll<Result<Start, Box<Response<ResponseBody>>>>;

impl<D: bytes::Buf> RequestState<D> {
    /// Begins the exchange, unless it has begun. Passes the body of a POST to the state machine when the body is
    /// complete or too long. Runs the machine, and returns the start of the response as soon as it is known.
    fn advance(&mut self, context: &mut Context<'_>) -> Started {
        let RequestState { shared, head, body_length, received, is_complete, exchange } = self;
        let user = head.extensions.get().map_or(0, |User(user)| *user);
        let fields = Fields::new(head);
        let head = head::request_head(head, &fields, *body_length);
        shared.with(|machines, now| {
            let id = match exchange {
                Some(exchange) => exchange.id(),
                None => {
                    let id = machines.begin(shared, &head, user, now)?;
                    exchange.insert(Exchange::new(Arc::clone(shared), id)).id()
                }
            };
            if *is_complete && head.method == Method::Post {
                let HttpMachines { http, server, .. } = &mut machines.core;
                http.body(server, id, &head, received.bytes(), true, now);
            }
            machines.run(shared, now);
            machines.poll_start(shared, id, now, context).map_err(unavailable)
        })
    }
}

impl Machines {
    /// Begins an exchange. `user` is 0 if no layer has identified the user. An error is the whole response to a refused
    /// request.
    fn begin(
        &mut self,
        shared: &Arc<Shared>,
        head: &RequestHead<'_>,
        user: u64,
        now: Millis,
    ) -> Result<ExchangeId, Box<Response<ResponseBody>>> {
        if self.core.is_closed() {
            return Err(unavailable(StreamCut));
        }
        self.start_timer(shared);
        self.core.http.policy().set_user(user);
        self.core.http.begin(head, now).map_err(|refusal| Box::new(head::refusal(&refusal)))
    }
}

/// Returns the response to a request whose exchange has ended early, or which a closed server refuses.
fn unavailable(_: StreamCut) -> Box<Response<ResponseBody>> {
    Box::new(head::empty(StatusCode::SERVICE_UNAVAILABLE))
}

impl<B: Body> std::fmt::Debug for ResponseFuture<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResponseFuture").field("head", &self.request.head).finish_non_exhaustive()
    }
}
