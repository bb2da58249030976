//! `SentResponses`: the responses of the application that the server may refuse.

use std::collections::{HashMap, VecDeque};

use mcp_proto::rpc::{Message, code};
use mcp_proto::{OutboundMessage, OutboundMessageKind};
use mcp_proto_http::client::ExchangeId;

use crate::http_failure::HttpFailure;

/// The responses of the application to requests of the server.
///
/// A request of the server waits for a response until its timeout expires. If the server does not accept the response,
/// for example because the response is too long, the client therefore sends a short error response.
#[derive(Default)]
pub(super) struct SentResponses {
    /// The ids of responses that the server has not accepted yet, as JSON.
    pub(super) sent: HashMap<ExchangeId, String>,
    /// The error responses to send.
    pub(super) errors: VecDeque<String>,
    /// The last failure, until it is reported to the application.
    pub(super) failure: Option<HttpFailure>,
}

impl SentResponses {
    /// Records a message that this exchange sends, if the message is the result of a request.
    pub(super) fn record(&mut self, exchange: ExchangeId, message: &OutboundMessage<'_>) {
        if message.kind() == OutboundMessageKind::Result
            && let Ok(response) = Message::parse(message.message())
            && let Some(id) = response.id()
        {
            self.sent.insert(exchange, id.to_string());
        }
    }

    /// Queues an error in place of the response that this exchange sends. Does nothing if the exchange sends no
    /// response, or if the server has accepted the response.
    pub(super) fn refuse(&mut self, exchange: ExchangeId, failure: &HttpFailure) {
        let Some(id) = self.sent.remove(&exchange) else { return };
        let reason = failure.status.map_or_else(String::new, |status| format!(" (status {status})"));
        let error = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{},"message":"Internal error of the client: the server refused the response{reason}"}}}}"#,
            code::INTERNAL_ERROR
        );
        self.errors.push_back(error);
        self.failure = Some(failure.clone());
    }
}
