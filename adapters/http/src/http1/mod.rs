//! HTTP/1.1: incremental parsers of heads, the framing of bodies, and a writer of heads.
//!
//! The parsers take pieces of any size, and each returns the number of bytes that it has consumed. The caller keeps the
//! rest for the parser of the next part: a body follows a head, and another head may follow a body. A server handles
//! the requests of a pipeline in order (RFC 9112, section 9.3.2).
//!
//! A head keeps only the parts that MCP needs: the method and target of a request, and about a dozen fields. The caller
//! lends a buffer for these parts. A buffer of 300 bytes suffices for a typical head. A long target or a long
//! token in `Authorization` takes more. Other fields, such as those of a browser, take no space.
//!
//! | part | type | RFC 9112 |
//! |---|---|---|
//! | head of a request | [`RequestDecoder`], [`RequestHead`] | sections 3 and 5 |
//! | head of a response | [`ResponseDecoder`], [`ResponseHead`] | sections 4 and 5 |
//! | body | [`BodyDecoder`], with the [`BodyFraming`] of its head | sections 6 and 7 |
//! | heads to send | [`HeadWriter`] | sections 3, 4 and 5 |
//! | chunks to send | [`ChunkHead`], [`LAST_CHUNK`] | section 7.1 |
//!
//! # Strictness
//!
//! If two parsers read one message differently, an attacker can smuggle a request past the first parser: see RFC 9112,
//! section 11.2. So the parsers reject the following input, even where the RFC permits tolerance: LF without CR, line
//! folding, white space before a colon, and control characters other than tabs. The parsers also reject a head with
//! both `Content-Length` and `Transfer-Encoding`, and codings other than `chunked`. These two rules do not apply to a
//! response whose status excludes a body, such as 204.
//!
//! A kept field may be repeated if its value is a list. `Content-Length`, and each kept field of a response, may also
//! be repeated with an equal value. Any other repetition of a kept field is an error.
//!
//! ```
//! use mcp_proto_http::HeaderFields;
//! use mcp_proto_http::http1::{BodyDecoder, RequestDecoder};
//!
//! let input = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}";
//! let mut buffer = [0; 300];
//! let mut decoder = RequestDecoder::new(&mut buffer);
//! let consumed = decoder.feed(input)?;
//! let head = decoder.head().expect("the input has the whole head");
//! assert_eq!((head.method(), head.path()), ("POST", "/mcp"));
//! assert_eq!(head.field("host"), Some(&b"localhost"[..]));
//!
//! let mut body = BodyDecoder::new(head.body());
//! let piece = body.decode(&input[consumed..])?;
//! assert_eq!(piece.data, b"{}");
//! assert!(body.is_complete());
//! # Ok::<(), mcp_proto_http::http1::HttpError>(())
//! ```

mod body;
mod chunk;
mod error;
mod field_buffer;
mod field_lines;
mod field_section;
mod framing;
mod head;
mod names;
mod request;
mod request_line;
mod response;
mod status;
pub(crate) mod syntax;
mod version;
mod write;

pub use body::{BodyDecoder, BodyPiece};
pub use chunk::{ChunkHead, LAST_CHUNK};
pub use error::HttpError;
pub use framing::{BodyFraming, HttpVersion};
pub use head::DEFAULT_HEAD_LIMIT;
pub use request::{RequestDecoder, RequestHead};
pub use response::{ResponseDecoder, ResponseHead};
pub use write::{CONTINUE, HeadWriter};
