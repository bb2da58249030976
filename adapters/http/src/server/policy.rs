//! `Policy`: decisions and data of the application, such as authorization, randomness and signatures.

use super::authorization::Verdict;
use super::request::RequestHead;

/// Decisions and data of the application.
pub trait Policy {
    /// Whether the program contains the code of the handshake era. If so, the [`SessionMode`](super::SessionMode)
    /// decides whether the server serves that era.
    ///
    /// With `false` the server speaks `2026-07-28` only, and a program for a board contains no code for sessions,
    /// replay and HTTP+SSE.
    const HANDSHAKE: bool = true;

    /// Decides whether a request is authorized. The server calls this method for every request that passes the checks
    /// of path, method, repeated fields, `Host` and `Origin`, also within a session. A request for the resource
    /// metadata is an exception: it needs no authorization.
    fn authorize(&mut self, head: &RequestHead<'_>) -> Verdict {
        let _ = head;
        Verdict::Allow { user: 0 }
    }

    /// Returns the metadata document of the protected resource, as JSON. See RFC 9728, section 2.
    ///
    /// The server sends the document without authorization, at [`RESOURCE_METADATA_PATH`] and at
    /// [`RESOURCE_METADATA_PATH`] followed by the path of the endpoint. `None`, the default, means that there is no
    /// document.
    ///
    /// [`RESOURCE_METADATA_PATH`]: super::RESOURCE_METADATA_PATH
    fn resource_metadata(&self) -> Option<&str> {
        None
    }

    /// Returns 16 cryptographically random bytes for a session id.
    fn random(&mut self) -> [u8; 16];

    /// Returns the input schema of a tool, if the schema marks properties with `x-mcp-header`.
    ///
    /// For a call of `2026-07-28`, the server compares the fields `Mcp-Param-*` with the arguments for these
    /// properties, at most 16 levels deep. A mark of more than 86 bytes has no valid field, so the server refuses the
    /// call. `None` means that the schema marks no property.
    fn input_schema(&self, tool: &str) -> Option<&str> {
        let _ = tool;
        None
    }

    /// Returns a message authentication code of `data`, such as a truncated HMAC, for
    /// [`SessionMode::Sealed`](super::SessionMode::Sealed). `None` means that the server neither issues nor accepts a
    /// sealed session id.
    fn sign(&self, data: &[u8]) -> Option<[u8; 16]> {
        let _ = data;
        None
    }
}
