//! `resources/directory/read`: the files and folders in a folder of a skill.
//!
//! Specification: the extension *Skills* of `2026-07-28`, *Reading directories*.

use crate::json::{Str, Writer};
use crate::protocol::objects::resource::DIRECTORY;
use crate::protocol::objects::skill::{MAIN, Skill, SkillFile};
use crate::server::feature::{Received, Request};
use crate::server::features::pagination;
use crate::server::features::resources::not_found;
use crate::server::features::skills::is_uri;
use crate::server::server_state::Shape;

/// Responds with one page of the files and folders in a folder.
pub(crate) fn read_directory(skills: &[Skill<'_>], request: &mut Request<'_, '_>, uri: Str<'_>) -> Received {
    let Some(directory) = find_directory(skills, uri) else {
        return not_found(request, uri);
    };
    // Keep one iterator for consecutive indices: a new iterator for each entry would visit earlier children again.
    let (mut children, mut next) = (directory.children(), 0usize);
    pagination::respond_with(request, Shape::Result, "resources", None, &mut |index, _, out| {
        if index < next {
            (children, next) = (directory.children(), 0);
        }
        let skipped = index.saturating_sub(next);
        next = index.saturating_add(1);
        directory.write_child(&children.nth(skipped)?, out);
        Some(true)
    })
}

fn find_directory<'t>(skills: &'t [Skill<'_>], uri: Str<'_>) -> Option<Directory<'t>> {
    skills.iter().find_map(|skill| {
        if uri == skill.directory() {
            return Some(Directory { skill, path: "" });
        }
        let mut paths = skill.all_files().flat_map(|file| folders(file.path));
        let path = paths.find(|path| is_uri(uri, [skill.directory(), "/", path]))?;
        Some(Directory { skill, path })
    })
}

/// Returns the folders of a path: `a` and `a/b` for `a/b/c`.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.bytes().enumerate().filter_map(|(end, byte)| path.get(..end).filter(|_| byte == b'/'))
}

/// A folder of a skill.
#[derive(Clone, Copy)]
struct Directory<'t> {
    skill: &'t Skill<'t>,
    /// The path in the skill. Empty for the folder of the skill itself.
    path: &'t str,
}

/// A file or folder in a folder.
struct Child<'t> {
    file: &'t SkillFile<'t>,
    /// The name in the folder.
    name: &'t str,
    is_directory: bool,
}

impl<'t> Directory<'t> {
    /// Returns all files below the folder, each with its path relative to the folder.
    fn files(self) -> impl Iterator<Item = (&'t SkillFile<'t>, &'t str)> {
        self.skill.all_files().filter_map(move |file| {
            let path = match self.path {
                "" => file.path,
                folder => file.path.strip_prefix(folder)?.strip_prefix("/")?,
            };
            Some((file, path))
        })
    }

    fn children(self) -> impl Iterator<Item = Child<'t>> {
        self.files().enumerate().filter_map(move |(index, (file, path))| {
            let Some(name) = folders(path).next() else {
                return Some(Child { file, name: path, is_directory: false });
            };
            let is_first =
                !self.files().take(index).any(|(_, earlier)| folders(earlier).next() == Some(name));
            is_first.then_some(Child { file, name, is_directory: true })
        })
    }

    fn write_child(self, child: &Child<'_>, out: &mut Writer<'_>) {
        if !child.is_directory && child.file.path == MAIN {
            return self.skill.write_resource(out);
        }
        if !child.is_directory {
            return child.file.write_resource(self.skill.directory(), child.name, None, out);
        }
        let separator = if self.path.is_empty() { "" } else { "/" };
        out.begin_object();
        out.field_display("uri", &(self.skill.directory(), "/", self.path, separator, child.name));
        out.field_string("name", child.name);
        out.field_string("mimeType", DIRECTORY);
        out.end_object();
    }
}
