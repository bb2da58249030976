//! Views of input results. Their content is unverified input from the client.

use crate::client::{BlockView, ContentView};
use crate::json::{Elements, Json, Kind, Str};
use crate::protocol::annotations::Role;

/// The result of a [`Form`](super::Form) or an [`OpenUrl`](super::OpenUrl).
#[derive(Debug, Clone, Copy)]
pub struct ElicitResultView<'a> {
    action: ElicitAction,
    content: Option<Json<'a>>,
}

/// The choice of a user about an input request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ElicitAction {
    /// The user submitted the form, or agreed to open the page.
    Accept,
    /// The user declined.
    Decline,
    /// The user dismissed the request without a choice.
    Cancel,
}

impl<'a> ElicitResultView<'a> {
    /// Reads a result. Returns `None` if it is not a result of an elicitation.
    #[must_use]
    pub fn from_json(result: Json<'a>) -> Option<ElicitResultView<'a>> {
        let [action, content] = result.pick(["action", "content"]);
        let action = action?.string()?;
        let action = [
            ("accept", ElicitAction::Accept),
            ("decline", ElicitAction::Decline),
            ("cancel", ElicitAction::Cancel),
        ]
        .into_iter()
        .find_map(|(name, found)| (action == *name).then_some(found))?;
        let content =
            content.filter(|content| content.kind() == Kind::Object && action == ElicitAction::Accept);
        Some(ElicitResultView { action, content })
    }

    /// The user's choice.
    #[must_use]
    pub fn action(&self) -> ElicitAction {
        self.action
    }

    /// The submitted fields: an object, which is empty if nothing was submitted. The server has to check it against the
    /// form.
    #[must_use]
    pub fn content(&self) -> Json<'a> {
        self.content.unwrap_or(Json::EMPTY_OBJECT)
    }

    /// The value of a field, if it was submitted.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Json<'a>> {
        self.content?.get(name)
    }

    /// The chosen values of a field with several choices. Older clients send a single value.
    pub fn choices(&self, name: &str) -> impl Iterator<Item = Str<'a>> + use<'a> {
        one_or_many(self.field(name)).filter_map(Json::string)
    }
}

/// The result of a sampling request.
#[derive(Debug, Clone, Copy)]
pub struct SampledView<'a> {
    role: Role,
    content: Json<'a>,
    model: Str<'a>,
    stop_reason: Option<Str<'a>>,
}

impl<'a> SampledView<'a> {
    /// Reads a result. Returns `None` if it is not a result of sampling.
    #[must_use]
    pub fn from_json(result: Json<'a>) -> Option<SampledView<'a>> {
        let [role, content, model, stop] = result.pick(["role", "content", "model", "stopReason"]);
        let role = Role::from_json(role?)?;
        let content = content.filter(|content| matches!(content.kind(), Kind::Object | Kind::Array))?;
        let (model, stop_reason) = (model?.string()?, stop.and_then(Json::string));
        Some(SampledView { role, content, model, stop_reason })
    }

    /// The role of the speaker, most likely the assistant.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The content, one item per block. A single block and an array are read alike.
    pub fn content(&self) -> impl Iterator<Item = ContentView<'a>> + use<'a> {
        self.blocks().map(|block| block.content())
    }

    /// The content blocks, with their annotations.
    pub fn blocks(&self) -> impl Iterator<Item = BlockView<'a>> + use<'a> {
        BlockView::one_or_many(Some(self.content)).filter(|block| block.raw().kind() == Kind::Object)
    }

    /// The first text block.
    #[must_use]
    pub fn text(&self) -> Option<Str<'a>> {
        self.blocks().find_map(|block| block.text())
    }

    /// The name of the model.
    #[must_use]
    pub fn model(&self) -> Str<'a> {
        self.model
    }

    /// The stop reason: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or another.
    #[must_use]
    pub fn stop_reason(&self) -> Option<Str<'a>> {
        self.stop_reason
    }
}

/// The roots of a client.
#[derive(Debug, Clone)]
pub struct RootsView<'a> {
    elements: Elements<'a>,
}

/// A location that a server may work in.
#[derive(Debug, Clone, Copy)]
pub struct RootView<'a> {
    uri: Str<'a>,
    name: Option<Str<'a>>,
}

impl<'a> RootsView<'a> {
    /// Reads a result. Returns `None` if it is not a result of `roots/list`.
    #[must_use]
    pub fn from_json(result: Json<'a>) -> Option<RootsView<'a>> {
        let roots = result.get("roots").filter(|roots| roots.kind() == Kind::Array)?;
        Some(RootsView { elements: roots.elements() })
    }
}

/// Invalid roots are skipped.
impl<'a> Iterator for RootsView<'a> {
    type Item = RootView<'a>;

    fn next(&mut self) -> Option<RootView<'a>> {
        self.elements.find_map(|root| {
            let [uri, name] = root.pick(["uri", "name"]);
            Some(RootView { uri: uri?.string()?, name: name.and_then(Json::string) })
        })
    }
}

impl<'a> RootView<'a> {
    /// The URI.
    #[must_use]
    pub fn uri(&self) -> Str<'a> {
        self.uri
    }

    /// Whether the URI starts with `file://`, as the specification requires.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.uri.chars().map(|char| char.to_ascii_lowercase()).take(7).eq("file://".chars())
    }

    /// The human-readable name.
    #[must_use]
    pub fn name(&self) -> Option<Str<'a>> {
        self.name
    }
}

/// The elements of an array, or the value itself if it is not an array.
fn one_or_many<'a>(value: Option<Json<'a>>) -> impl Iterator<Item = Json<'a>> + use<'a> {
    let array = value.filter(|value| value.kind() == Kind::Array);
    let one = if array.is_some() { None } else { value };
    one.into_iter().chain(array.into_iter().flat_map(Json::elements))
}
