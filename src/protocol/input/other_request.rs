//! `OtherRequest`: a request of a server with a method of an extension.

use core::fmt;

use crate::json::Writer;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::input::{Input, Sealed, To};
use crate::protocol::revision::{Revisions, WireFeature};

/// A request with a method of an extension, for [`Server::request`](crate::Server::request) (handshake era).
///
/// The server checks no capability. `2026-07-28` has no such requests. In this revision, a server sends its requests
/// only inside results, and their methods are methods of the specification.
///
/// ```
/// use mcp_proto::input::OtherRequest;
/// use mcp_proto::json::Writer;
/// use mcp_proto::server::RequestOptions;
/// use mcp_proto::{SendError, Server, Ticket};
///
/// fn measure(server: &mut Server<'_>, channel: i64) -> Result<Ticket, SendError> {
///     let params = |out: &mut Writer<'_>| out.field_integer("channel", channel);
///     server.request(&OtherRequest::new("com.example/measure", &params), RequestOptions::DEFAULT)
/// }
/// ```
#[derive(Clone, Copy)]
pub struct OtherRequest<'r> {
    method: &'r str,
    params: &'r dyn Fn(&mut Writer<'_>),
}

impl<'r> OtherRequest<'r> {
    /// Creates a request with this method. `params` writes the keys and values of the parameters, except `_meta`.
    #[must_use]
    pub fn new(method: &'r str, params: &'r dyn Fn(&mut Writer<'_>)) -> OtherRequest<'r> {
        OtherRequest { method, params }
    }
}

impl Input for OtherRequest<'_> {
    fn method(&self) -> &str {
        self.method
    }

    fn needs(&self) -> ClientCapabilities {
        ClientCapabilities::NONE
    }

    fn revisions(&self) -> Revisions {
        WireFeature::ServerRequests.revisions()
    }
}

impl Sealed for OtherRequest<'_> {
    fn write(&self, recipient: To, out: &mut Writer<'_>) -> bool {
        let mut params = self.params;
        recipient.revision.has(WireFeature::ServerRequests) && out.members_checked(&mut params).is_ok()
    }
}

impl fmt::Debug for OtherRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OtherRequest").field("method", &self.method).finish_non_exhaustive()
    }
}
