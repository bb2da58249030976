//! Endpoint state that both roles share: slots, deadlines, keep-alive, lifecycle, transmit buffer.

pub(crate) mod keep_alive;
pub(crate) mod lifecycle;
pub(crate) mod observer;
pub(crate) mod progress_event;
pub(crate) mod response;
pub(crate) mod slots;
pub(crate) mod transmit_buffer;
