//! Clients against a scripted server, one module for each part of the protocol.

mod batches;
mod capabilities;
mod close;
mod compatibility;
mod connect;
mod deferred;
mod features;
mod input_required;
mod lists;
mod peer;
mod races;
mod random;
mod reconnect;
mod requests;
mod results;
mod server_requests;
mod subscriptions;
mod timeouts;
