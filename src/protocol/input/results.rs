//! What a client has answered: views of results, whichever way they came. All of it is the client's word.

use crate::client::{Block, Content};
use crate::json::{Elements, Json, Kind, Str};
use crate::protocol::annotations::Role;

/// How the user has answered a [`Form`](super::Form) or an [`OpenUrl`](super::OpenUrl).
#[derive(Debug, Clone, Copy)]
pub struct ElicitResult<'a> {
    action: Action,
    content: Option<Json<'a>>,
}

/// What the user did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// Agreed: the form is filled in, or the page may be opened.
    Accept,
    /// Said no.
    Decline,
    /// Went away without saying anything.
    Cancel,
}

impl<'a> ElicitResult<'a> {
    /// Reads a result. `None`: it is not one of an elicitation.
    #[must_use]
    pub fn from_json(result: Json<'a>) -> Option<ElicitResult<'a>> {
        let [action, content] = result.pick(["action", "content"]);
        let action = action?.string()?;
        let action = [("accept", Action::Accept), ("decline", Action::Decline), ("cancel", Action::Cancel)]
            .into_iter()
            .find_map(|(name, found)| (action == *name).then_some(found))?;
        let content = content.filter(|content| content.kind() == Kind::Object && action == Action::Accept);
        Some(ElicitResult { action, content })
    }

    /// What the user did.
    #[must_use]
    pub fn action(&self) -> Action {
        self.action
    }

    /// What the user has filled in: an object, empty if nothing was, or nothing was accepted. Whether it fits the form
    /// is for the server to check.
    #[must_use]
    pub fn content(&self) -> Json<'a> {
        self.content.unwrap_or(Json::EMPTY_OBJECT)
    }

    /// The value of a field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Json<'a>> {
        self.content?.get(name)
    }

    /// What was chosen in a field with several choices: older clients answer with one.
    pub fn choices(&self, name: &str) -> impl Iterator<Item = Str<'a>> + use<'a> {
        one_or_many(self.field(name)).filter_map(Json::string)
    }
}

/// What the client's model has said.
#[derive(Debug, Clone, Copy)]
pub struct Sampled<'a> {
    role: Role,
    content: Json<'a>,
    model: Str<'a>,
    stop_reason: Option<Str<'a>>,
}

impl<'a> Sampled<'a> {
    /// Reads a result. `None`: it is not one of sampling.
    #[must_use]
    pub fn from_json(result: Json<'a>) -> Option<Sampled<'a>> {
        let [role, content, model, stop] = result.pick(["role", "content", "model", "stopReason"]);
        let role = Role::from_json(role?)?;
        let content = content.filter(|content| matches!(content.kind(), Kind::Object | Kind::Array))?;
        let (model, stop_reason) = (model?.string()?, stop.and_then(Json::string));
        Some(Sampled { role, content, model, stop_reason })
    }

    /// Who says it: the assistant, most likely.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// What was said, piece by piece, whether the client wrote one or several.
    pub fn content(&self) -> impl Iterator<Item = Content<'a>> + use<'a> {
        self.blocks().map(|block| block.content())
    }

    /// What was said, piece by piece, with what is said about each.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'a>> + use<'a> {
        Block::one_or_many(Some(self.content)).filter(|block| block.raw().kind() == Kind::Object)
    }

    /// The first text in it.
    #[must_use]
    pub fn text(&self) -> Option<Str<'a>> {
        self.blocks().find_map(|block| block.text())
    }

    /// The model that said it.
    #[must_use]
    pub fn model(&self) -> Str<'a> {
        self.model
    }

    /// Why it stopped: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or anything else.
    #[must_use]
    pub fn stop_reason(&self) -> Option<Str<'a>> {
        self.stop_reason
    }
}

/// The roots that a client has.
#[derive(Debug, Clone)]
pub struct Roots<'a> {
    elements: Elements<'a>,
}

/// A place that a server may work in.
#[derive(Debug, Clone, Copy)]
pub struct Root<'a> {
    uri: Str<'a>,
    name: Option<Str<'a>>,
}

impl<'a> Roots<'a> {
    /// Reads a result. `None`: it is not one of `roots/list`.
    #[must_use]
    pub fn from_json(result: Json<'a>) -> Option<Roots<'a>> {
        let roots = result.get("roots").filter(|roots| roots.kind() == Kind::Array)?;
        Some(Roots { elements: roots.elements() })
    }
}

/// What is no root is left out.
impl<'a> Iterator for Roots<'a> {
    type Item = Root<'a>;

    fn next(&mut self) -> Option<Root<'a>> {
        self.elements.find_map(|root| {
            let [uri, name] = root.pick(["uri", "name"]);
            Some(Root { uri: uri?.string()?, name: name.and_then(Json::string) })
        })
    }
}

impl<'a> Root<'a> {
    /// Its URI.
    #[must_use]
    pub fn uri(&self) -> Str<'a> {
        self.uri
    }

    /// Whether it is a `file://` URI, as the specification demands.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.uri.chars().map(|char| char.to_ascii_lowercase()).take(7).eq("file://".chars())
    }

    /// A name for people.
    #[must_use]
    pub fn name(&self) -> Option<Str<'a>> {
        self.name
    }
}

/// The elements of an array, or the value itself if it is none.
fn one_or_many<'a>(value: Option<Json<'a>>) -> impl Iterator<Item = Json<'a>> + use<'a> {
    let array = value.filter(|value| value.kind() == Kind::Array);
    let one = if array.is_some() { None } else { value };
    one.into_iter().chain(array.into_iter().flat_map(Json::elements))
}
