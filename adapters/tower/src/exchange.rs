//! `Exchange`: one request in the state machine, and the output of its response.

use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use mcp_proto::Millis;
use mcp_proto_http::server::{ExchangeId, MediaType, ResponseHead};

use crate::body::{ResponseBody, StreamCut};
use crate::head::response;
use crate::shared::{Machines, Shared};

/// One request in the state machine. Dropping the exchange before the end of its response reports to the state
/// machine that the client has disconnected.
#[derive(Debug)]
pub(crate) struct Exchange {
    shared: Arc<Shared>,
    id: ExchangeId,
    is_open: bool,
    /// Whether the response is an event stream, which may end without the response to the request.
    is_event_stream: bool,
}

/// The start of a response: a complete response, or the head of a stream.
pub(crate) enum Start {
    Full(ResponseHead, Bytes),
    Stream(ResponseHead),
}

impl Exchange {
    pub(crate) fn new(shared: Arc<Shared>, id: ExchangeId) -> Exchange {
        Exchange { shared, id, is_open: true, is_event_stream: false }
    }

    pub(crate) fn id(&self) -> ExchangeId {
        self.id
    }

    /// Returns the start of the response as soon as it is known. Fails if the exchange ends early, or the server
    /// closes, before the response has started.
    pub(crate) fn poll_start(&mut self, context: &mut Context<'_>) -> Poll<Result<Start, StreamCut>> {
        let id = self.id;
        self.shared.with(|machines, now| machines.poll_start(&self.shared, id, now, context))
    }

    /// Creates a response from its start.
    pub(crate) fn into_response(mut self, start: Start) -> Response<ResponseBody> {
        match start {
            Start::Full(head, body) => {
                self.is_open = false;
                response(&head, ResponseBody::full(body))
            }
            Start::Stream(head) => {
                self.is_event_stream = head.media_type == MediaType::EventStream;
                response(&head, ResponseBody::stream(self))
            }
        }
    }

    /// Returns the next part of a stream, and whether this part is the last one. Fails if the exchange has ended
    /// early, or if the server closes before the end of a chunked response.
    pub(crate) fn poll_output(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<(Bytes, bool), StreamCut>> {
        let (id, is_event_stream) = (self.id, self.is_event_stream);
        let output = self.shared.with(|machines, now| {
            let output = machines.core.http.output(id);
            if output.is_cut {
                return Poll::Ready(Err(StreamCut));
            }
            if output.body.is_empty() && !output.is_end {
                if machines.core.is_closed() {
                    machines.core.http.close(id);
                    return Poll::Ready(if is_event_stream {
                        Ok((Bytes::new(), true))
                    } else {
                        Err(StreamCut)
                    });
                }
                machines.wait(id, context);
                return Poll::Pending;
            }
            let output = machines.take_output(id, output.body.len(), now);
            machines.run(&self.shared, now);
            Poll::Ready(Ok(output))
        });
        if let Poll::Ready(Err(_) | Ok((_, true))) = output {
            self.is_open = false;
        }
        output
    }
}

impl Machines {
    /// Returns the start of a response, or stores the waker if the response has not started. Fails if the exchange ends
    /// early, or the server closes, before the response has started.
    pub(crate) fn poll_start(
        &mut self,
        shared: &Shared,
        id: ExchangeId,
        now: Millis,
        context: &Context<'_>,
    ) -> Poll<Result<Start, StreamCut>> {
        let output = self.core.http.output(id);
        let Some(head) = output.head else {
            if output.is_cut || self.core.is_closed() {
                return Poll::Ready(Err(StreamCut));
            }
            self.wait(id, context);
            return Poll::Pending;
        };
        // A stream that has ended without a byte is a complete response, for example a resumed stream without events.
        let is_empty = output.is_end && output.body.is_empty();
        if head.length.is_none() && head.media_type != MediaType::None && !is_empty {
            // Report the head as sent. The body then returns the output as it arrives.
            self.core.http.sent(id, 0, now);
            return Poll::Ready(Ok(Start::Stream(head)));
        }
        let (body, _) = self.take_output(id, head.length.unwrap_or(0), now);
        self.run(shared, now);
        Poll::Ready(Ok(Start::Full(head, body)))
    }

    /// Takes all available output of an exchange. Returns the output, and whether it ends the response. `length` is the
    /// expected length of the output, for which memory is reserved.
    fn take_output(&mut self, id: ExchangeId, length: usize, now: Millis) -> (Bytes, bool) {
        let mut bytes = Vec::with_capacity(length);
        let is_end = self.core.take_output(id, &mut bytes, usize::MAX, now);
        (bytes.into(), is_end)
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if self.is_open {
            let id = self.id;
            self.shared.with(|machines, _| {
                machines.forget(id);
                machines.core.http.close(id);
                // The timer task runs the machines, because the handler must not run in a destructor.
                self.shared.signal.notify_one();
            });
        }
    }
}
