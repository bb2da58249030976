//! `mcp-proto` for firmware in C: a static library and the header `include/mcp_proto.h`.
//!
//! The C program lends all memory: the storage of a server or client, its buffers, and slots for requests in flight.
//! The program polls the server or client, moves bytes, and handles events. `docs/c.md` of the repository shows a
//! complete program.
//!
//! # Unsafe code
//! C passes pointers, so the functions for C need `unsafe` code. No other library of the project has such code. Besides
//! the tests, only these modules allow `unsafe` code: [`memory`] (pointers of C), [`table`] (tables of C), [`server`],
//! [`client`], [`client_request`], [`call`], [`value`], [`mark`] (functions for C) and [`mod@panic`].
//!
//! # Panics
//! No function panics on purpose, and the images of the examples contain no code that panics. Nothing unwinds into C.
//! On a computer, a panic in an `extern "C"` function aborts the process. On bare metal, the panic handler loops
//! forever. With the feature `panic-hook`, the handler calls `mcp_panic` instead of the loop.
#![cfg_attr(target_os = "none", no_std)]
#![deny(elided_lifetimes_in_paths)]
// Types and variants have the names that C programs use.
#![allow(non_camel_case_types)]
// The documentation is built with private items, so links to them resolve.
#![allow(rustdoc::private_intra_doc_links)]

pub mod call;
pub mod client;
pub mod client_event;
pub mod client_request;
#[cfg(test)]
mod client_tests;
pub mod event;
mod io;
mod json;
pub mod mark;
mod memory;
mod panic;
mod request;
pub mod server;
pub mod status;
pub mod table;
#[cfg(test)]
mod tests;
pub mod value;
