//! Roots: the request of a server, and the response of a client.
//!
//! Specification: *Roots*.

use crate::json::{Elements, Json, Kind, Str, Writer};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::input::{Input, Sealed, To};
use crate::protocol::methods;
use crate::protocol::revision::Revisions;

/// A request for the roots. The roots are the directories and files with which the server may work.
/// [`RootsView::from_json`] reads the result.
///
/// Specification: *Roots*.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListRoots;

impl Input for ListRoots {
    fn method(&self) -> &'static str {
        methods::ROOTS_LIST.name
    }

    fn needs(&self) -> ClientCapabilities {
        ClientCapabilities::ROOTS
    }

    fn revisions(&self) -> Revisions {
        Revisions::ALL
    }
}

impl Sealed for ListRoots {
    fn write(&self, _: To, _: &mut Writer<'_>) -> bool {
        true
    }
}

/// Writes the roots of a client.
#[derive(Debug)]
pub struct Roots<'w, 'a> {
    out: &'w mut Writer<'a>,
    valid: bool,
}

impl Roots<'_, '_> {
    /// Returns whether a root may have this URI: see [`add`](Roots::add).
    #[must_use]
    pub fn is_valid_uri(uri: &str) -> bool {
        // A URI consists of these characters. RFC 3986 requires percent-encoding for all other characters.
        let is_uri = |byte: u8| byte.is_ascii_graphic() && !br#""<>\^`{|}"#.contains(&byte);
        uri.starts_with("file://") && uri.bytes().all(is_uri)
    }

    /// Adds a root with its URI and its human-readable name.
    ///
    /// The client omits an empty name. The URI must start with `file://` and must be percent-encoded
    /// (`file:///my%20files`). Otherwise the response is not valid.
    pub fn add(&mut self, uri: &str, name: &str) {
        self.valid &= Roots::is_valid_uri(uri);
        self.out.begin_object();
        self.out.field_string("uri", uri);
        if !name.is_empty() {
            self.out.field_string("name", name);
        }
        self.out.end_object();
    }
}

/// Writes a result with roots. Calls `body` once. Returns whether the URIs of all roots are valid.
pub(crate) fn write_roots(out: &mut Writer<'_>, body: &mut Option<impl FnOnce(&mut Roots<'_, '_>)>) -> bool {
    out.begin_array_at("roots");
    let mut roots = Roots { out, valid: true };
    if let Some(body) = body.take() {
        body(&mut roots);
    }
    let valid = roots.valid;
    out.end_array();
    valid
}

/// The roots of a client.
#[derive(Debug, Clone)]
pub struct RootsView<'a> {
    elements: Elements<'a>,
}

/// A directory or file with which a server may work.
#[derive(Debug, Clone, Copy)]
pub struct RootView<'a> {
    uri: Str<'a>,
    name: Option<Str<'a>>,
}

impl<'a> RootsView<'a> {
    /// Reads the result of `roots/list`. Returns `None` if the result has no array `roots`.
    #[must_use]
    pub fn from_json(result: Json<'a>) -> Option<RootsView<'a>> {
        let roots = result.get("roots").filter(|roots| roots.kind() == Kind::Array)?;
        Some(RootsView { elements: roots.elements() })
    }
}

/// Skips elements that have no URI.
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
    /// Returns the URI.
    #[must_use]
    pub fn uri(&self) -> Str<'a> {
        self.uri
    }

    /// Returns whether the URI starts with `file://`, as the specification requires. The case of letters does not
    /// matter.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.uri.chars().map(|char| char.to_ascii_lowercase()).take(7).eq("file://".chars())
    }

    /// Returns the human-readable name.
    #[must_use]
    pub fn name(&self) -> Option<Str<'a>> {
        self.name
    }
}
