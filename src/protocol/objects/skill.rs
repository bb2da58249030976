//! Skills and their files, as a server lists them.
//!
//! Specification: the extension *Skills* of `2026-07-28`; *Agent Skills*.
#![allow(clippy::as_conversions, reason = "`usize` has at most 64 bits")]

use crate::json::{Json, Writer, text_of};
use crate::protocol::objects::const_text::split_end;
use crate::protocol::objects::frontmatter::Fields;
use crate::protocol::objects::resource::Resource;
use crate::protocol::objects::resource_contents::Body;
use crate::protocol::objects::sha256::{digest_text, sha256};

/// Name of the extension.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/skills";
/// Setting of the extension: clients can list the files of a folder.
pub(crate) const DIRECTORY_READ: &str = "directoryRead";

const MARKDOWN: &str = "text/markdown";
/// Path of the file with the frontmatter and the instructions.
pub(crate) const MAIN: &str = "SKILL.md";
/// End of the URI of each skill.
pub(crate) const MAIN_SUFFIX: &str = "/SKILL.md";

/// A skill: instructions for an agent, in a folder with a `SKILL.md` and other files.
///
/// In a `static`, the compiler computes the digests of the files. [`Skills::new`](crate::server::Skills::new) in a
/// `static` also checks the frontmatter at compile time, unless the frontmatter is [JSON](Skill::frontmatter). A skill
/// whose URI and `SKILL.md` contradict each other then does not compile.
///
/// ```
/// use mcp_proto::server::{Skill, SkillFile};
/// // Usually `include_str!("blink/SKILL.md")`.
/// const TEXT: &str = "---\nname: blink\ndescription: How to use the LEDs\n---\n\nSee [pins](pins.csv).\n";
/// static BLINK: Skill = Skill::new("skill://blink/SKILL.md", TEXT)
///     .files(&[SkillFile::text("pins.csv", "led,pin\n1,13\n").mime_type("text/csv")]);
/// assert_eq!(BLINK.name(), "blink");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Skill<'t> {
    pub(crate) uri: &'t str,
    /// `SKILL.md`, or `None` if the skill is dynamic.
    pub(crate) main: Option<SkillFile<'t>>,
    /// The frontmatter as the JSON text of an object, or `None` if the server reads it from `SKILL.md`.
    pub(crate) frontmatter: Option<&'t str>,
    pub(crate) files: &'t [SkillFile<'t>],
}

impl<'t> Skill<'t> {
    /// Creates a skill with the URI and the text of its `SKILL.md`.
    ///
    /// The URI is `skill://NAME/SKILL.md`, or has another scheme. Folders may precede the name. The text begins with
    /// the frontmatter, which contains the name and the description: `---`, `name: NAME`, `description: TEXT`, `---`.
    #[must_use]
    pub const fn new(uri: &'t str, text: &'t str) -> Skill<'t> {
        let main = SkillFile::text(MAIN, text).mime_type(MARKDOWN);
        Skill { uri, main: Some(main), frontmatter: None, files: &[] }
    }

    /// Creates a skill whose files the application generates. `frontmatter` is the JSON text of an object.
    ///
    /// The application responds to [`Event::ReadResource`](crate::server::Event::ReadResource) with the files. Clients
    /// cannot verify generated files, and some clients refuse a skill with generated files.
    #[must_use]
    pub const fn dynamic(uri: &'t str, frontmatter: &'t str) -> Skill<'t> {
        Skill { uri, main: None, frontmatter: Some(frontmatter), files: &[] }
    }

    /// Sets the frontmatter as the JSON text of an object, with all fields of the frontmatter in `SKILL.md`.
    ///
    /// By default, the server reads the frontmatter from `SKILL.md`. Each field must then be a string on one line.
    #[must_use]
    pub const fn frontmatter(mut self, json: &'t str) -> Self {
        self.frontmatter = Some(json);
        self
    }

    /// Sets all files except `SKILL.md`.
    #[must_use]
    pub const fn files(mut self, files: &'t [SkillFile<'t>]) -> Self {
        self.files = files;
        self
    }

    /// Returns the URI of `SKILL.md`.
    #[must_use]
    pub const fn uri(&self) -> &'t str {
        self.uri
    }

    /// Returns the name, which is the name of the folder of `SKILL.md`. If the URI is not valid, the name is
    /// unspecified.
    #[must_use]
    pub const fn name(&self) -> &'t str {
        last_segment(split_end(self.uri, MAIN_SUFFIX.len()).0)
    }

    /// Returns the description in the frontmatter. Returns `None` if the frontmatter is JSON, or has no description.
    #[must_use]
    pub const fn description(&self) -> Option<&'t str> {
        match self.fields() {
            Some(fields) => fields.get("description"),
            None => None,
        }
    }

    /// Returns `SKILL.md` as a resource, for a list of [`Resources`](crate::server::Resources).
    #[must_use]
    pub const fn resource(&self) -> Resource<'t> {
        let mut resource = Resource::new(self.uri, self.name()).mime_type(MARKDOWN);
        if let Some(description) = self.description() {
            resource = resource.description(description);
        }
        match self.main {
            Some(main) => resource.size(main.size),
            None => resource,
        }
    }

    /// Returns the fields of the frontmatter. Returns `None` if the frontmatter is JSON, or if `SKILL.md` does not
    /// begin with `---`.
    pub(crate) const fn fields(&self) -> Option<Fields<'t>> {
        match (self.frontmatter, self.main) {
            (None, Some(SkillFile { content: FileContent::Text(text), .. })) => Fields::new(text),
            _ => None,
        }
    }

    /// Returns the URI of the folder.
    pub(crate) fn directory(&self) -> &'t str {
        split_end(self.uri, MAIN_SUFFIX.len()).0
    }

    /// Returns all files. Unless the skill is dynamic, `SKILL.md` is the first file.
    pub(crate) fn all_files(&self) -> impl Iterator<Item = &SkillFile<'t>> + Clone {
        self.main.iter().chain(self.files)
    }

    /// Writes `SKILL.md` as a resource, unless the skill is dynamic.
    pub(crate) fn write_resource(&self, out: &mut Writer<'_>) {
        if let Some(main) = &self.main {
            main.write_resource(self.directory(), self.name(), self.description(), out);
        }
    }

    /// Writes the skill as an entry of a list.
    pub(crate) fn write(&self, out: &mut Writer<'_>) {
        out.begin_object();
        out.field_string("uri", self.uri);
        out.key("frontmatter");
        match self.frontmatter {
            Some(json) => out.json(Json::trusted(json.as_bytes())),
            None => {
                out.begin_object();
                for field in self.fields().into_iter().flatten() {
                    out.field_string(text_of(field.name), text_of(field.value));
                }
                out.end_object();
            }
        }
        out.key("resources");
        if self.main.is_none() {
            out.string("dynamic");
        } else {
            out.begin_array();
            self.all_files().for_each(|file| file.write(self.directory(), out));
            out.end_array();
        }
        out.end_object();
    }
}

/// A file of a [`Skill`].
#[derive(Debug, Clone, Copy)]
pub struct SkillFile<'t> {
    pub(crate) path: &'t str,
    mime_type: Option<&'t str>,
    content: FileContent<'t>,
    digest: [u8; 32],
    pub(crate) size: u64,
}

#[derive(Debug, Clone, Copy)]
enum FileContent<'t> {
    Text(&'t str),
    Blob(&'t [u8]),
    /// The application responds to requests for the file.
    Application,
}

impl<'t> SkillFile<'t> {
    const fn new(path: &'t str, content: FileContent<'t>, digest: [u8; 32], size: u64) -> SkillFile<'t> {
        SkillFile { path, mime_type: None, content, digest, size }
    }

    /// Creates a text file with its path in the folder of the skill, such as `references/pins.md`.
    #[must_use]
    pub const fn text(path: &'t str, text: &'t str) -> SkillFile<'t> {
        SkillFile::new(path, FileContent::Text(text), sha256(text.as_bytes()), text.len() as u64)
    }

    /// Creates a binary file with its path in the folder of the skill.
    #[must_use]
    pub const fn blob(path: &'t str, bytes: &'t [u8]) -> SkillFile<'t> {
        SkillFile::new(path, FileContent::Blob(bytes), sha256(bytes), bytes.len() as u64)
    }

    /// Creates a file that the application reads, with this number of bytes and this SHA-256 digest.
    ///
    /// The application responds to [`Event::ReadResource`](crate::server::Event::ReadResource) with the bytes.
    #[must_use]
    pub const fn by_application(path: &'t str, size: u64, digest: [u8; 32]) -> SkillFile<'t> {
        SkillFile::new(path, FileContent::Application, digest, size)
    }

    /// Sets the media type. Default: `text/markdown` for paths that end with `.md`, else `text/plain` for text and
    /// `application/octet-stream` for bytes.
    #[must_use]
    pub const fn mime_type(mut self, mime_type: &'t str) -> Self {
        self.mime_type = Some(mime_type);
        self
    }

    /// Returns the media type, if it is set or the path ends with `.md`.
    pub(crate) fn media_type(&self) -> Option<&'t str> {
        self.mime_type.or_else(|| self.path.ends_with(".md").then_some(MARKDOWN))
    }

    /// Returns the content, or `None` if the application reads the file.
    pub(crate) fn body(&self) -> Option<Body<'_>> {
        match &self.content {
            FileContent::Text(text) => Some(Body::Text(text)),
            FileContent::Blob(bytes) => Some(Body::Blob(bytes)),
            FileContent::Application => None,
        }
    }

    /// Writes the file as an element of `resources`.
    fn write(&self, directory: &str, out: &mut Writer<'_>) {
        out.begin_object();
        out.field_display("uri", &(directory, "/", self.path));
        out.field_string("digest", text_of(&digest_text(&self.digest)));
        out.field_unsigned("size", self.size);
        out.end_object();
    }

    /// Writes the file as a resource.
    pub(crate) fn write_resource(
        &self,
        directory: &str,
        name: &str,
        description: Option<&str>,
        out: &mut Writer<'_>,
    ) {
        out.begin_object();
        out.field_display("uri", &(directory, "/", self.path));
        out.field_string("name", name);
        out.field_optional("description", description);
        out.field_optional("mimeType", self.media_type());
        out.field_unsigned("size", self.size);
        out.end_object();
    }
}

/// Returns the text after the last `/`.
const fn last_segment(text: &str) -> &str {
    let (mut rest, mut length) = (text.as_bytes(), 0usize);
    while let [head @ .., last] = rest
        && *last != b'/'
    {
        (rest, length) = (head, length.wrapping_add(1));
    }
    split_end(text, length).1
}
