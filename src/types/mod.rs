//! The protocol's own objects.

pub(crate) mod capabilities;
pub mod input;
pub(crate) mod level;
pub(crate) mod meta;
