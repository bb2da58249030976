//! Resources and their templates, as they stand in the lists of them.
//!
//! Specification: *Server features*, *Resources*.

use crate::json::{Chars, Writer};
use crate::protocol::annotations::Annotations;
use crate::protocol::base_metadata::{Details, Objects, details};
use crate::protocol::revision::Revision;
use crate::protocol::uri_template::{self, Matches};

/// A resource: something that can be read under a URI. It stands in a list, or is named by a tool's result.
///
/// ```
/// use mcp_proto::server::Resource;
/// static LOG: Resource = Resource::new("board://log", "log").description("What happened").mime_type("text/plain");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Resource<'t> {
    pub(crate) uri: &'t str,
    pub(crate) details: Details<'t>,
    pub(crate) mime_type: Option<&'t str>,
    pub(crate) annotations: Annotations<'t>,
    size: Option<u64>,
}

details!(Resource);

impl<'t> Resource<'t> {
    /// A resource with its URI (RFC 3986) and its name.
    #[must_use]
    pub const fn new(uri: &'t str, name: &'t str) -> Resource<'t> {
        let details = Details::new(name);
        Resource { uri, details, mime_type: None, annotations: Annotations::new(), size: None }
    }

    /// The media type of what it contains. Answers to reading it name it, too.
    #[must_use]
    pub const fn mime_type(mut self, mime_type: &'t str) -> Self {
        self.mime_type = Some(mime_type);
        self
    }

    /// For whom it is, and how much it matters.
    #[must_use]
    pub const fn annotations(mut self, annotations: Annotations<'t>) -> Self {
        self.annotations = annotations;
        self
    }

    /// How many bytes it has, before any encoding.
    #[must_use]
    pub const fn size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }

    /// Its URI.
    #[must_use]
    pub const fn uri(&self) -> &'t str {
        self.uri
    }

    /// The name that people read.
    pub(crate) fn shown_name(&self) -> &'t str {
        self.details.title().unwrap_or(self.details.name())
    }

    /// What has to be an object, as JSON text.
    pub(crate) fn objects(&self) -> Objects<'t> {
        [self.details.meta, None, None]
    }

    /// The members of the entry that the revision has.
    pub(crate) fn write_members(&self, revision: Revision, out: &mut Writer<'_>) {
        out.field_string("uri", self.uri);
        self.details.write(revision, out);
        out.field_optional("mimeType", self.mime_type);
        self.annotations.write(revision, out);
        if let Some(size) = self.size {
            out.key("size");
            out.unsigned(size);
        }
    }

    /// The entry of the list.
    pub(crate) fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        out.begin_object();
        self.write_members(revision, out);
        out.end_object();
    }
}

/// Resources whose URIs follow a pattern.
///
/// The pattern is a URI template (RFC 6570) with variables `{name}`, whose values have no reserved characters such as
/// `/`, and `{+name}`, whose values may have them. Behind a `{+name}` no `{name}` may stand.
///
/// ```
/// use mcp_proto::server::Template;
/// static NOTE: Template = Template::new("notes://{folder}/{id}", "note").mime_type("text/plain");
/// let note = NOTE.matches("notes://work/to%20do").unwrap();
/// assert_eq!(note.get("folder").unwrap(), "work");
/// assert_eq!(note.get("id").unwrap(), "to do");
/// assert!(NOTE.matches("notes://work").is_none());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Template<'t> {
    pub(crate) uri: &'t str,
    pub(crate) details: Details<'t>,
    pub(crate) mime_type: Option<&'t str>,
    annotations: Annotations<'t>,
}

details!(Template);

impl<'t> Template<'t> {
    /// A template with the pattern of its URIs and its name.
    #[must_use]
    pub const fn new(uri_template: &'t str, name: &'t str) -> Template<'t> {
        let details = Details::new(name);
        Template { uri: uri_template, details, mime_type: None, annotations: Annotations::new() }
    }

    /// The media type of what they contain, if it is the same for all. Answers to reading them name it, too.
    #[must_use]
    pub const fn mime_type(mut self, mime_type: &'t str) -> Self {
        self.mime_type = Some(mime_type);
        self
    }

    /// For whom they are, and how much they matter.
    #[must_use]
    pub const fn annotations(mut self, annotations: Annotations<'t>) -> Self {
        self.annotations = annotations;
        self
    }

    /// The pattern.
    #[must_use]
    pub const fn uri_template(&self) -> &'t str {
        self.uri
    }

    /// The values of the variables, if the URI follows the pattern. Where it does in several ways, all values but the
    /// last one are as short as they can be. They may be empty.
    #[must_use]
    pub fn matches<'a>(&self, uri: &'a str) -> Option<Matches<'a>>
    where
        't: 'a,
    {
        uri_template::find(self.uri, Chars::new(uri), "")?;
        Some(Matches { template: self.uri, uri })
    }

    /// What has to be an object, as JSON text.
    pub(crate) fn objects(&self) -> Objects<'t> {
        [self.details.meta, None, None]
    }

    /// The entry of the list.
    pub(crate) fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        out.begin_object();
        out.field_string("uriTemplate", self.uri);
        self.details.write(revision, out);
        out.field_optional("mimeType", self.mime_type);
        self.annotations.write(revision, out);
        out.end_object();
    }
}
