//! What a server asks for: one of four things.

use crate::client::views::{ElicitForm, OpenUrl, Sample};
use crate::json::Json;

/// What a server asks for.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum InputRequest<'a> {
    /// The roots: the folders that it may work in.
    Roots,
    /// A form for the user to fill in.
    Elicit(ElicitForm<'a>),
    /// An address for the user to open.
    OpenUrl(OpenUrl<'a>),
    /// Something for a model to say.
    Sample(Sample<'a>),
}

/// What kind of thing is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputKind {
    Roots,
    Form,
    Url,
    Sample,
}

impl<'a> InputRequest<'a> {
    /// A view of params that were checked.
    pub(crate) fn of(kind: InputKind, params: Json<'a>) -> InputRequest<'a> {
        match kind {
            InputKind::Roots => InputRequest::Roots,
            InputKind::Form => InputRequest::Elicit(ElicitForm::of(params)),
            InputKind::Url => InputRequest::OpenUrl(OpenUrl::of(params)),
            InputKind::Sample => InputRequest::Sample(Sample::of(params)),
        }
    }
}
