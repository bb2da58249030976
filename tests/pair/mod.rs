//! Clients and servers of this crate, connected to each other.

mod calls;
mod chunks;
mod eras;
mod features;
mod input_requests;
mod revisions;
mod server_requests;
mod subscriptions;
mod tasks;
mod traffic;
