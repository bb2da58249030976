//! The protocol's own objects.

pub(crate) mod annotations;
pub(crate) mod capabilities;
pub(crate) mod content;
pub(crate) mod details;
pub(crate) mod icon;
pub(crate) mod identity;
pub mod input;
pub(crate) mod level;
pub(crate) mod meta;
pub(crate) mod resource;
pub(crate) mod sampling;
pub(crate) mod template;
