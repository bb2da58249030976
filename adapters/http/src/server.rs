//! Server side: exchanges, sessions and event streams.
