//! Clients against a scripted server, one module per protocol topic.

mod batches;
mod capabilities;
mod close;
mod compatibility;
mod connect;
mod deferred;
mod features;
mod input_required;
mod late_responses;
mod lists;
mod observer;
mod order;
mod races;
mod random;
mod reconnect;
mod requests;
mod results;
mod server_messages;
mod server_requests;
mod streams;
mod subscriptions;
mod tasks;
mod tasks_2025;
mod tasks_lifetime;
mod timeouts;
mod timing;
