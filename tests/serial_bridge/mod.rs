//! The example `serial_bridge`: its parts, and its process between a client and a board.

#[cfg(target_os = "linux")]
mod board;
#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod disconnects;
mod parts;
#[cfg(target_os = "linux")]
mod sessions;
