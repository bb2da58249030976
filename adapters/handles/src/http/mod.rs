//! Clients of servers at a URL, independent of the HTTP library.

mod endpoint;
mod exchanges;
mod request;
mod sent_responses;

pub use endpoint::HttpEndpoint;
pub use exchanges::{HttpAction, HttpExchanges, HttpPart, HttpReceived, HttpReport};
