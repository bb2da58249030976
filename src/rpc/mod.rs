//! JSON-RPC messages: kinds, ids and error codes.
//!
//! Specification: every revision, *Base protocol*, *Messages*; JSON-RPC 2.0.

pub mod code;
mod hash;
mod id;
mod message;
mod object;
mod write;

pub(crate) use id::{hash_id, hash_text, is_id, issued_number, same_id};
pub(crate) use message::{Class, Invalid, Outcome};
pub use message::{Message, MessageKind};
pub(crate) use object::{Object, error_code, is_null, kind, text, view};
pub(crate) use write::{begin_notification, write_notification, write_object_member, write_request};

#[cfg(test)]
mod tests;
