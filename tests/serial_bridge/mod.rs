//! The example `serial_bridge`: its modules, and its process.

#[cfg(target_os = "linux")]
mod board;
#[cfg(target_os = "linux")]
mod client;
#[cfg(target_os = "linux")]
mod disconnects;
mod parts;
#[cfg(target_os = "linux")]
mod sessions;
