//! A connection between a client and a server: a request, and the part of its response that is on the way.

use mcp_proto::Millis;
use mcp_proto::server::Server;
use mcp_proto_http::HeaderFields;
use mcp_proto_http::client::{ExchangeId, Request};
use mcp_proto_http::server::{
    ExchangeId as ServerExchangeId, HttpServer, Method, REFUSAL_SIZE, RequestHead, ResponseHead,
};

use super::application::NumberPolicy;

/// Header fields with names in any case.
#[derive(Debug, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl HeaderFields for Fields {
    fn field(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_bytes())
    }
}

/// A connection. The operations of the adversary in `pair.rs` decide when its bytes arrive.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(super) exchange: ExchangeId,
    pub(super) server: Option<ServerExchangeId>,
    method: &'static str,
    request: Fields,
    request_body: Vec<u8>,
    /// Whether the request was passed to the server, or refused by a proxy.
    pub(super) is_sent: bool,
    has_head: bool,
    /// The head of the response, until the client has received it.
    pub(super) head: Option<(u16, Fields)>,
    /// The part of the response's body that is on the way to the client.
    pub(super) body: Vec<u8>,
    pub(super) is_ended: bool,
}

impl Connection {
    /// Creates a connection for a request of the client.
    pub(super) fn new(exchange: ExchangeId, request: &Request<'_>) -> Connection {
        let (mut scratch, mut fields) = ([0; 512], Vec::new());
        let mut add = |name: &str, value: &str| fields.push((name.to_owned(), value.to_owned()));
        request.fields(&mut scratch, &mut add).expect("values are short");
        Connection {
            exchange,
            server: None,
            method: request.method().as_str(),
            request: Fields(fields),
            request_body: request.body().unwrap_or_default().to_vec(),
            is_sent: false,
            has_head: false,
            head: None,
            body: Vec::new(),
            is_ended: false,
        }
    }

    /// Returns whether output is pending for the client.
    pub(super) fn has_news(&self) -> bool {
        self.head.is_some() || !self.body.is_empty() || self.is_ended
    }

    /// Passes the request to the server.
    pub(super) fn send(
        &mut self,
        http: &mut HttpServer<'_, NumberPolicy>,
        server: &mut Server<'_>,
        now: Millis,
    ) {
        self.is_sent = true;
        let method = Method::from_bytes(self.method.as_bytes());
        let body_length = (method == Method::Post).then_some(self.request_body.len() as u64);
        let head = RequestHead { method, target: "/mcp", body_length, fields: &self.request };
        match http.begin(&head, now) {
            Ok(id) => {
                self.server = Some(id);
                if method == Method::Post {
                    http.body(server, id, &head, &self.request_body, true, now);
                }
            }
            Err(refusal) => {
                let mut buffer = [0; REFUSAL_SIZE];
                let (head, body) = refusal.write(&mut buffer);
                self.body.extend_from_slice(body);
                self.is_ended = true;
                self.take_head(&head);
            }
        }
    }

    fn take_head(&mut self, head: &ResponseHead) {
        let mut fields = Vec::new();
        head.fields(&mut |name, value| fields.push((name.to_owned(), value.to_owned())));
        (self.head, self.has_head) = (Some((head.status, Fields(fields))), true);
    }

    /// Reads all output of the server for this connection.
    pub(super) fn read(&mut self, http: &mut HttpServer<'_, NumberPolicy>, now: Millis) {
        let Some(id) = self.server else { return };
        while !self.is_ended {
            let output = http.output(id);
            let (n, is_first) = (output.body.len(), output.head.is_some());
            assert!(!(is_first && self.has_head), "one head per response");
            if let Some(head) = &output.head {
                self.take_head(head);
            }
            self.body.extend_from_slice(output.body);
            self.is_ended = output.is_end;
            if !self.is_ended && !is_first && n == 0 {
                return;
            }
            if !output.is_cut {
                http.sent(id, n, now);
            }
        }
        self.server = None;
    }

    /// Ends the response with this status, like a proxy that refuses the request.
    pub(super) fn refuse(&mut self, status: u16) {
        (self.is_sent, self.is_ended) = (true, true);
        self.head = Some((status, Fields::default()));
    }
}
