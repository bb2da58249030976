//! Resources and resource templates: listed by a server, viewed by a client.
//!
//! Specification: *Server features*, *Resources*.

use crate::json::{Chars, Str, Writer};
use crate::protocol::objects::annotations::Annotations;
use crate::protocol::objects::application_json::Objects;
use crate::protocol::objects::base_metadata::{BaseMetadata, ListedObject, base_metadata};
use crate::protocol::objects::view::{text, view};
use crate::protocol::revision::Revision;
use crate::protocol::uri_template::{self, Matches};

/// The media type of a folder (the extension *Skills*).
pub(crate) const DIRECTORY: &str = "inode/directory";

/// A resource: data with a URI. A client reads a resource by its URI. A server lists resources, and links to resources
/// in tool results.
///
/// ```
/// use mcp_proto::server::Resource;
/// static LOG: Resource = Resource::new("board://log", "log").description("What happened").mime_type("text/plain");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Resource<'t> {
    pub(crate) uri: &'t str,
    pub(crate) base: BaseMetadata<'t>,
    pub(crate) mime_type: Option<&'t str>,
    pub(crate) annotations: Annotations<'t>,
    size: Option<u64>,
}

base_metadata!(Resource);

impl<'t> Resource<'t> {
    /// Creates a resource with its URI (RFC 3986) and its name.
    #[must_use]
    pub const fn new(uri: &'t str, name: &'t str) -> Resource<'t> {
        let base = BaseMetadata::new(name);
        Resource { uri, base, mime_type: None, annotations: Annotations::new(), size: None }
    }

    /// Sets the media type of the contents. [`ReadResource::text`] and [`ReadResource::blob`] also send this media
    /// type.
    ///
    /// [`ReadResource::text`]: crate::server::ReadResource::text
    /// [`ReadResource::blob`]: crate::server::ReadResource::blob
    #[must_use]
    pub const fn mime_type(mut self, mime_type: &'t str) -> Self {
        self.mime_type = Some(mime_type);
        self
    }

    /// Sets the annotations.
    #[must_use]
    pub const fn annotations(mut self, annotations: Annotations<'t>) -> Self {
        self.annotations = annotations;
        self
    }

    /// Sets the size in bytes, before any encoding.
    #[must_use]
    pub const fn size(mut self, bytes: u64) -> Self {
        self.size = Some(bytes);
        self
    }

    /// Returns the URI.
    #[must_use]
    pub const fn uri(&self) -> &'t str {
        self.uri
    }

    /// Returns the display name: the title, or the name if there is no title.
    pub(crate) fn display_name(&self) -> &'t str {
        self.base.title().unwrap_or(self.base.name())
    }

    /// Writes those members of the list entry that the revision defines.
    pub(crate) fn write_members(&self, revision: Revision, out: &mut Writer<'_>) {
        out.field_string("uri", self.uri);
        self.base.write(revision, out);
        out.field_optional("mimeType", self.mime_type);
        self.annotations.write(revision, out);
        if let Some(size) = self.size {
            out.field_unsigned("size", size);
        }
    }
}

impl ListedObject for Resource<'_> {
    const LIST: &'static str = "resources";

    fn key(&self) -> &str {
        self.uri
    }

    fn objects(&self) -> Objects<'_> {
        [self.base.meta, None, None]
    }

    fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        out.begin_object();
        self.write_members(revision, out);
        out.end_object();
    }
}

/// A template for resources whose URIs follow a pattern.
///
/// The pattern is a URI template (RFC 6570) with variables `{name}` and `{+name}`. In a URI, a value of `{name}` may
/// contain reserved characters except `!'()*` only in percent-encoded form, such as `%2F` for `/`. The decoded value
/// may contain these characters. A value of `{+name}` may contain reserved characters as they are. No `{name}` may
/// follow a `{+name}`.
///
/// ```
/// use mcp_proto::server::ResourceTemplate;
/// static NOTE: ResourceTemplate = ResourceTemplate::new("notes://{folder}/{id}", "note").mime_type("text/plain");
/// let note = NOTE.matches("notes://work/to%20do").unwrap();
/// assert_eq!(note.get("folder").unwrap(), "work");
/// assert_eq!(note.get("id").unwrap(), "to do");
/// assert!(NOTE.matches("notes://work").is_none());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ResourceTemplate<'t> {
    pub(crate) uri: &'t str,
    pub(crate) base: BaseMetadata<'t>,
    pub(crate) mime_type: Option<&'t str>,
    annotations: Annotations<'t>,
}

base_metadata!(ResourceTemplate);

impl<'t> ResourceTemplate<'t> {
    /// Creates a template with its URI template and its name.
    #[must_use]
    pub const fn new(uri_template: &'t str, name: &'t str) -> ResourceTemplate<'t> {
        let base = BaseMetadata::new(name);
        ResourceTemplate { uri: uri_template, base, mime_type: None, annotations: Annotations::new() }
    }

    /// Sets the media type of the contents. Call this method only if all matching resources have this type.
    /// [`ReadResource::text`] and [`ReadResource::blob`] also send this media type.
    ///
    /// [`ReadResource::text`]: crate::server::ReadResource::text
    /// [`ReadResource::blob`]: crate::server::ReadResource::blob
    #[must_use]
    pub const fn mime_type(mut self, mime_type: &'t str) -> Self {
        self.mime_type = Some(mime_type);
        self
    }

    /// Sets the annotations.
    #[must_use]
    pub const fn annotations(mut self, annotations: Annotations<'t>) -> Self {
        self.annotations = annotations;
        self
    }

    /// Returns the URI template.
    #[must_use]
    pub const fn uri_template(&self) -> &'t str {
        self.uri
    }

    /// Matches a URI and returns the values of the variables. Returns `None` if the URI does not match. If the URI
    /// matches in several ways, every value but the last is as short as possible. Values may be empty.
    #[must_use]
    pub fn matches<'a>(&self, uri: &'a str) -> Option<Matches<'a>>
    where
        't: 'a,
    {
        uri_template::find(self.uri, Chars::new(uri), "")?;
        Some(Matches { template: self.uri, uri })
    }
}

impl ListedObject for ResourceTemplate<'_> {
    const LIST: &'static str = "resourceTemplates";

    fn key(&self) -> &str {
        self.uri
    }

    fn objects(&self) -> Objects<'_> {
        [self.base.meta, None, None]
    }

    fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        out.begin_object();
        out.field_string("uriTemplate", self.uri);
        self.base.write(revision, out);
        out.field_optional("mimeType", self.mime_type);
        self.annotations.write(revision, out);
        out.end_object();
    }
}

view! {
    /// A resource that the server describes in a list or link.
    ///
    /// Specification: *Resources*, *Resource*.
    ResourceView with meta, base_metadata, mime, icons, annotations
}

view! {
    /// A resource template in the server's list.
    ///
    /// Specification: *Resources*, *Resource templates*.
    ResourceTemplateView with meta, base_metadata, mime, icons, annotations
}

impl<'a> ResourceView<'a> {
    /// Returns the URI, which the application passes to [`Client::read_resource`](crate::Client::read_resource).
    #[must_use]
    pub fn uri(&self) -> Option<Str<'a>> {
        text(self.json, "uri")
    }

    /// Returns whether the resource is a folder, which [`Client::read_directory`](crate::Client::read_directory)
    /// lists.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        self.mime().is_some_and(|mime| mime == DIRECTORY)
    }

    /// Returns the size in bytes, before any encoding.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        self.json.get("size")?.unsigned()
    }
}

impl<'a> ResourceTemplateView<'a> {
    /// Returns the URI template (RFC 6570).
    #[must_use]
    pub fn uri_template(&self) -> Option<Str<'a>> {
        text(self.json, "uriTemplate")
    }
}
