//! Views of skills, their files and folders.
//!
//! Specification: the extension *Skills* of `2026-07-28`, *Skill entries* and *Reading directories*.
#![allow(clippy::as_conversions, reason = "`usize` has at most 64 bits")]

use crate::json::{Json, Str, text_of};
use crate::protocol::objects::frontmatter::Fields;
use crate::protocol::objects::resource::ResourceView;
use crate::protocol::objects::sha256::{digest_text, sha256};
use crate::protocol::objects::skill::{MAIN, MAIN_SUFFIX};
use crate::protocol::objects::skill_rules::PathCheck;
use crate::protocol::objects::view::{entries, has_text, object, text, view};

view! {
    /// A skill of the server.
    ///
    /// The application should read a file only when the file is needed. Unless the skill is
    /// [dynamic](SkillView::is_dynamic), the application must then [verify](SkillFileView::matches) the content.
    ///
    /// Specification: the extension *Skills*, *Skill entries*.
    SkillView
}

impl<'a> SkillView<'a> {
    /// Returns the URI of `SKILL.md`, which the application passes to
    /// [`Client::read_resource`](crate::Client::read_resource).
    #[must_use]
    pub fn uri(&self) -> Option<Str<'a>> {
        text(self.json, "uri")
    }

    /// Returns the frontmatter of `SKILL.md` as JSON. Returns an empty object if the server sends no object.
    #[must_use]
    pub fn frontmatter(&self) -> Json<'a> {
        object(self.json, "frontmatter").unwrap_or(Json::EMPTY_OBJECT)
    }

    /// Returns the name. Several skills may have the same name, so the URI identifies a skill.
    #[must_use]
    pub fn name(&self) -> Option<Str<'a>> {
        text(self.frontmatter(), "name")
    }

    /// Returns the description.
    #[must_use]
    pub fn description(&self) -> Option<Str<'a>> {
        text(self.frontmatter(), "description")
    }

    /// Returns whether the server generates the files. The application cannot verify generated files.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        has_text(self.json, "resources", "dynamic")
    }

    /// Returns the files, including `SKILL.md`. The iterator is empty if the skill [is dynamic](Self::is_dynamic).
    pub fn files(&self) -> impl Iterator<Item = SkillFileView<'a>> + use<'a> {
        entries(self.json, "resources").map(SkillFileView::from_json)
    }

    /// Returns the file with this URI. Returns `None` if the skill lists no such file. Unless the skill
    /// [is dynamic](Self::is_dynamic), the application must then not use the contents of the URI.
    #[must_use]
    pub fn file(&self, uri: &str) -> Option<SkillFileView<'a>> {
        self.files().find(|file| file.uri().is_some_and(|own| own == uri))
    }

    /// Returns whether the skill has a name, a description, and a URI that ends with `/NAME/SKILL.md`. A skill that is
    /// not dynamic must also list `SKILL.md`. The files of such a skill must be in the folder of the skill, and have a
    /// size and a digest.
    ///
    /// After its scheme, each URI must consist of path characters (RFC 3986). The URI must have no empty segments, no
    /// segments `.` and `..`, and no escaped dots, slashes, backslashes and NUL bytes. A path made from such a URI
    /// therefore stays in its folder.
    ///
    /// The application must not load a skill that is not valid.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        let (Some(uri), Some(name)) = (self.uri(), self.name()) else { return false };
        // The folder of `SKILL.md` has the name of the skill.
        let end = || ['/'].into_iter().chain(name.chars()).chain(MAIN_SUFFIX.chars());
        let length = uri.chars().count();
        let is_named = uri.chars().skip(length.saturating_sub(end().count())).eq(end())
            && !name.is_empty()
            && name.chars().all(|character| character != '/');
        let folder = || uri.chars().take(length.saturating_sub(MAIN.len()));
        let is_file = |file: SkillFileView<'_>| {
            let uri = file.uri().unwrap_or_default();
            let mut rest = uri.chars();
            folder().all(|next| rest.next() == Some(next))
                && has_valid_path(uri)
                && file.digest().is_some()
                && file.size().is_some()
        };
        let is_listed = || self.files().any(|file| file.uri() == Some(uri)) && self.files().all(is_file);
        let has_description = self.description().is_some_and(|text| !text.is_empty());
        is_named && has_valid_path(uri) && has_description && (self.is_dynamic() || is_listed())
    }

    /// Returns whether the frontmatter of a `SKILL.md` has the fields and values of [`frontmatter`](Self::frontmatter),
    /// and no other fields.
    ///
    /// Returns `None` if the text has no frontmatter, a field occurs twice, or the frontmatter has YAML other than
    /// comments and one string per line. The application then needs a YAML parser to compare the fields. The
    /// application must not load the skill if the fields differ.
    #[must_use]
    pub fn has_frontmatter_of(&self, text: &str) -> Option<bool> {
        let fields = Fields::new(text).filter(|fields| fields.is_known())?;
        let declared = self.frontmatter();
        let is_same = fields.clone().all(|field| {
            let value = declared.get(text_of(field.name)).and_then(Json::string);
            value.is_some_and(|value| value == text_of(field.value))
        });
        Some(is_same && fields.count() == declared.members().count())
    }
}

/// Returns whether the rest of a URI after its scheme is a valid path: see [`PathCheck`].
fn has_valid_path(uri: Str<'_>) -> bool {
    let mut path = uri.chars().skip_while(|next| *next != ':').skip(1).skip_while(|next| *next == '/');
    path.try_fold(PathCheck::START, |check, next| check.next(u8::try_from(next).ok()?))
        .is_some_and(PathCheck::is_complete)
}

view! {
    /// A file of a skill.
    ///
    /// Specification: the extension *Skills*, *Resources*.
    SkillFileView
}

impl<'a> SkillFileView<'a> {
    /// Returns the URI, which the application passes to [`Client::read_resource`](crate::Client::read_resource).
    #[must_use]
    pub fn uri(&self) -> Option<Str<'a>> {
        text(self.json, "uri")
    }

    /// Returns the digest: `sha256:` and 64 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> Option<Str<'a>> {
        text(self.json, "digest")
    }

    /// Returns the size of the file, in bytes.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        self.json.get("size")?.unsigned()
    }

    /// Returns whether `content` has the size and the digest of the file. If not, the application must not use
    /// `content`.
    #[must_use]
    pub fn matches(&self, content: &[u8]) -> bool {
        self.size() == Some(content.len() as u64)
            && self.digest().is_some_and(|digest| digest == text_of(&digest_text(&sha256(content))))
    }
}

view! {
    /// A page of the files and folders in a folder: the result of `resources/directory/read`.
    ///
    /// Specification: the extension *Skills*, *Reading directories*.
    DirectoryView with meta
}

impl<'a> DirectoryView<'a> {
    /// Returns the files and folders in the folder. A folder has the media type `inode/directory`.
    pub fn resources(&self) -> impl Iterator<Item = ResourceView<'a>> + use<'a> {
        entries(self.json, "resources").map(ResourceView::from_json)
    }

    /// Returns the cursor of the next page, for [`Client::read_directory`](crate::Client::read_directory).
    #[must_use]
    pub fn next_cursor(&self) -> Option<Str<'a>> {
        text(self.json, "nextCursor")
    }
}
