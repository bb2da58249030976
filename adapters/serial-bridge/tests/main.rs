//! The bridge as a process, between a client and a board on a pseudo-terminal.

#[cfg(target_os = "linux")]
mod board;
#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod disconnects;
#[cfg(target_os = "linux")]
mod framed;
#[cfg(target_os = "linux")]
mod noise;
#[cfg(target_os = "linux")]
mod sessions;
