//! The skills: how to use this server. The server responds to all requests for skills by itself.

use mcp_proto::server::{Skill, SkillFile, Skills};

pub(crate) const TAKE_NOTES: Skill =
    Skill::new("skill://take-notes/SKILL.md", include_str!("skills/take-notes/SKILL.md"))
        .files(&[SkillFile::text("examples/names.md", include_str!("skills/take-notes/examples/names.md"))]);

pub(crate) static SKILLS: Skills = Skills::new(&[
    TAKE_NOTES,
    Skill::new(
        "skill://everything/clock/SKILL.md",
        "---\nname: clock\ndescription: Advance and read the clock\n---\n\nCall `tick`, then read `clock://ticks`.\n",
    ),
])
.directory_read();
