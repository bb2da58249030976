//! Client requests for skills, their files and folders.

use mcp_proto::client::{DirectoryView, ReadResultView};
use mcp_proto::json::Json;

use crate::client::ClientHandle;
use crate::error::CallError;
use crate::owned::view;
use crate::pending::ResponseBody;
use crate::printable::Printable;
use crate::request::{List, Request};
use crate::views::{ResourceDescription, SkillDescription};

/// Maximum number of pages of a folder.
const MAX_PAGES: usize = 1000;

impl ClientHandle {
    /// Lists the skills from all pages. A server need not list all its skills.
    ///
    /// # Errors
    /// [`CallError::Unsupported`]: the server does not declare skills. For other errors see [`CallError`].
    pub async fn list_skills(&self) -> Result<Vec<SkillDescription>, CallError> {
        Ok(self.list(List::Skills).await?.into_iter().map(SkillDescription::from_valid_json).collect())
    }

    /// Gets a skill by the URI of its `SKILL.md`, even if the server does not list the skill.
    ///
    /// # Errors
    /// See [`list_skills`](ClientHandle::list_skills).
    pub async fn get_skill(&self, uri: &str) -> Result<SkillDescription, CallError> {
        self.start(Request::Skill(uri.into()), self.options(), skill)?.await
    }

    /// Reads a file of a skill and returns its bytes, after verifying their size and digest.
    ///
    /// If the file is `SKILL.md`, also compares its frontmatter with the skill. The files of a
    /// [dynamic](mcp_proto::client::SkillView::is_dynamic) skill have no digests, so this function refuses them.
    ///
    /// # Errors
    /// [`CallError::Invalid`]: the skill does not list the file, the response has no valid content, or the file differs
    /// from the skill. After a change on the server, [`get_skill`](ClientHandle::get_skill) returns the current skill.
    /// `SKILL.md` is also refused if it is not UTF-8, or if its frontmatter is missing or too complex: see
    /// [`has_frontmatter_of`](mcp_proto::client::SkillView::has_frontmatter_of). For other errors see [`CallError`].
    pub async fn read_skill_file(&self, skill: &SkillDescription, uri: &str) -> Result<Vec<u8>, CallError> {
        let invalid = |why: &str| CallError::Invalid(format!("{}: {why}", Printable(uri)));
        let file = skill.view().file(uri).ok_or_else(|| invalid("the skill does not list this file"))?;
        let read = self.read_resource(uri).await?;
        let bytes = content(read.view()).ok_or_else(|| invalid("the response has no content"))?;
        if !file.matches(&bytes) {
            return Err(invalid("the size or digest differs from that of the skill"));
        }
        if skill.view().uri().is_some_and(|main| main == uri) {
            let text = std::str::from_utf8(&bytes).map_err(|_| invalid("the file is not text"))?;
            match skill.view().has_frontmatter_of(text) {
                Some(true) => {}
                Some(false) => return Err(invalid("the frontmatter differs from that of the skill")),
                None => return Err(invalid("the frontmatter is too complex to be verified")),
            }
        }
        Ok(bytes)
    }

    /// Lists the files and folders in a folder, from all pages.
    ///
    /// # Errors
    /// [`CallError::Unsupported`]: the server does not declare `directoryRead`. [`CallError::Invalid`]: the list has
    /// more than 1000 pages. For other errors see [`CallError`].
    pub async fn read_directory(&self, uri: &str) -> Result<Vec<ResourceDescription>, CallError> {
        let (mut found, mut cursor) = (Vec::new(), None);
        for _ in 0..MAX_PAGES {
            let request = Request::Directory { uri: uri.into(), cursor: cursor.take() };
            let page = self.send_request(request).await?;
            let page = DirectoryView::from_json(view(&page));
            found.extend(
                page.resources().map(|entry| ResourceDescription::from_valid_json(entry.raw().to_string())),
            );
            cursor = page.next_cursor().map(|cursor| cursor.to_string());
            if cursor.is_none() {
                return Ok(found);
            }
        }
        Err(CallError::Invalid("the list of the folder has no end".into()))
    }
}

/// Returns the bytes of the first content. Returns `None` if there is no content, or if the content has neither text
/// nor valid base64.
fn content(read: ReadResultView<'_>) -> Option<Vec<u8>> {
    let content = read.contents().next()?;
    match content.text() {
        Some(text) => Some(text.to_string().into_bytes()),
        None => content.blob()?.bytes().collect::<Result<_, _>>().ok(),
    }
}

fn skill(body: ResponseBody) -> Option<SkillDescription> {
    let ResponseBody::Json(json) = body else { return None };
    let skill = view(&json).get("skill").map(|skill: Json<'_>| skill.to_string())?;
    Some(SkillDescription::from_valid_json(skill))
}
