//! `InvalidSkill`: rules of skills.

use crate::error::error_values::error_values;

error_values! {
    /// Rule that a skill of a server breaks.
    ///
    /// Specification: the extension *Skills* of `2026-07-28`, and *Agent Skills*.
    pub enum InvalidSkill {
        /// The URI does not end with the name of a skill and `/SKILL.md`, or the name is not valid.
        Uri =
            "the URI must be like `skill://folder/name/SKILL.md`; the name has up to 64 characters of a-z, 0-9 and single `-`",
        /// `SKILL.md` has no frontmatter, repeats a field, or has YAML other than comments and one string per line. If
        /// the frontmatter has other YAML, the application must also set the whole frontmatter as
        /// [JSON](crate::server::Skill::frontmatter).
        Frontmatter =
            "`SKILL.md` must begin with frontmatter that has one string per line; set other frontmatter as JSON",
        /// The frontmatter has no name, or a name that differs from the name of the folder.
        Name = "the name in the frontmatter must be the name of the folder",
        /// The frontmatter has no description, or a description that is empty or longer than 1024 characters.
        Description = "the frontmatter must have a description of 1 to 1024 characters",
        /// The path of a file is not valid, or occurs twice.
        Path = "the path of a file must be unique, relative, valid in a URI, and without escaped dots, slashes and backslashes",
        /// The skill has more than 512 files, including `SKILL.md`, or more than 16 MiB. These are the limits of the
        /// specification.
        TooLarge = "a skill has at most 512 files and 16 MiB",
        /// The skill is in the folder of another skill.
        Nested = "the skill is in the folder of another skill",
        /// The application reads files of the skill, but no feature `Resources` passes requests for these files to the
        /// application.
        NoResources = "files that the application reads need the feature `Resources`",
        /// The feature `Resources` precedes the skills in the configuration.
        Order = "`Skills` must precede `Resources` in the features",
        /// The server declares `directoryRead`, but one of its skills is dynamic, so that the server cannot list the
        /// folder.
        Directory = "the server cannot list the folders of a dynamic skill",
    }
}
