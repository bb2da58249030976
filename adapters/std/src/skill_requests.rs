//! Client requests for skills, their files and folders.

use mcp_proto_handles::{CallError, ResourceDescription, SkillDescription, block_on};

use crate::client_handle::ClientHandle;

impl ClientHandle {
    /// Lists the skills from all pages. A server need not list all its skills.
    ///
    /// # Errors
    /// [`CallError::Unsupported`]: the server does not declare skills. For other errors see [`CallError`].
    pub fn list_skills(&self) -> Result<Vec<SkillDescription>, CallError> {
        block_on(self.inner.list_skills())
    }

    /// Gets a skill by the URI of its `SKILL.md`, even if the server does not list the skill.
    ///
    /// # Errors
    /// See [`list_skills`](ClientHandle::list_skills).
    pub fn get_skill(&self, uri: &str) -> Result<SkillDescription, CallError> {
        block_on(self.inner.get_skill(uri))
    }

    /// Reads a file of a skill and returns its bytes, after verifying their size and digest.
    ///
    /// If the file is `SKILL.md`, also compares its frontmatter with the skill. The files of a
    /// [dynamic](mcp_proto::client::SkillView::is_dynamic) skill have no digests, so this function refuses such
    /// files.
    ///
    /// # Errors
    /// [`CallError::Invalid`]: the skill does not list the file, the response has no valid content, or the file differs
    /// from the skill. After a change on the server, [`get_skill`](ClientHandle::get_skill) returns the current skill.
    /// `SKILL.md` is also refused if it is not UTF-8, or if its frontmatter is missing or too complex: see
    /// [`has_frontmatter_of`](mcp_proto::client::SkillView::has_frontmatter_of). For other errors see [`CallError`].
    pub fn read_skill_file(&self, skill: &SkillDescription, uri: &str) -> Result<Vec<u8>, CallError> {
        block_on(self.inner.read_skill_file(skill, uri))
    }

    /// Lists the files and folders in a folder, from all pages.
    ///
    /// # Errors
    /// [`CallError::Unsupported`]: the server does not declare `directoryRead`. [`CallError::Invalid`]: the list has
    /// more than 1000 pages. For other errors see [`CallError`].
    pub fn read_directory(&self, uri: &str) -> Result<Vec<ResourceDescription>, CallError> {
        block_on(self.inner.read_directory(uri))
    }
}
