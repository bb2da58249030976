//! Numbers of the JSON-RPC and MCP error codes. `error/description.rs` assigns the codes to errors.

/// The text is not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// The message is not valid or exceeds a limit, or the receiver does not accept the message in its current state. Up to
/// `2025-11-25` also: the request requires a capability that the client did not declare.
pub const INVALID_REQUEST: i32 = -32600;
/// The method does not exist, or its capability was not declared.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// The parameters are invalid, or name a tool, prompt or resource that does not exist.
pub const INVALID_PARAMS: i32 = -32602;
/// The receiver failed, or cannot process the request at this time. For example, too many requests are in flight.
pub const INTERNAL_ERROR: i32 = -32603;
/// The user rejected a request, such as a sampling request (up to `2025-11-25`).
pub const USER_REJECTED: i32 = -1;
/// Up to `2025-11-25`: the resource does not exist. Later revisions use `INVALID_PARAMS`.
pub const RESOURCE_NOT_FOUND: i32 = -32002;
/// `2025-11-25`: the user has to open a web page before the request can be served.
pub const URL_ELICITATION_REQUIRED: i32 = -32042;
/// `2026-07-28`: HTTP headers and body contradict each other.
pub const HEADER_MISMATCH: i32 = -32020;
/// `2026-07-28`: the request requires a capability that it does not declare.
pub const MISSING_CLIENT_CAPABILITY: i32 = -32021;
/// `2026-07-28`: the server does not support the revision of the request.
pub const UNSUPPORTED_PROTOCOL_VERSION: i32 = -32022;
