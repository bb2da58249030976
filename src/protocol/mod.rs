//! Protocol data: revisions, methods, capabilities, objects.

pub(crate) mod capabilities;
pub(crate) mod elicitation;
pub mod input;
pub(crate) mod level;
pub(crate) mod meta;
pub mod methods;
pub(crate) mod named_values;
pub(crate) mod objects;
pub(crate) mod pagination;
pub(crate) mod revision;
pub(crate) mod roots;
pub(crate) mod sampling;
pub(crate) mod uri_template;
