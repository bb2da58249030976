//! The program, run as a process.

mod session;
mod support;
mod watch;
mod web;
