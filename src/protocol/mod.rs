//! Protocol data: revisions, methods, capabilities, objects.

pub(crate) mod annotations;
pub(crate) mod base_metadata;
pub(crate) mod capabilities;
pub(crate) mod content;
pub(crate) mod icon;
pub(crate) mod implementation;
pub mod input;
pub(crate) mod level;
pub(crate) mod meta;
pub mod methods;
pub(crate) mod resource;
pub(crate) mod revision;
pub(crate) mod sampling_options;
pub(crate) mod uri_template;
