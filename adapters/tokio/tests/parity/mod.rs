//! Common behavior of servers on threads and on tokio: each test runs on both.
#![cfg(unix)]

mod ctrl_c;
mod hooks;
mod listen;
mod lists;
mod log;
mod process;
mod servers;
mod spans;
mod subscriptions;
mod vocabulary;
