//! Clients and servers of this crate, connected to each other.

mod calls;
mod chunks;
mod eras;
mod features;
mod revisions;
mod server_requests;
mod subscriptions;
mod tasks;
mod traffic;
