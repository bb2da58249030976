//! A skill that explains the board, for `blinky` with the feature `skills`. The files of the skill stay in flash.

use mcp_proto::server::{Skill, SkillFile, Skills};

pub(crate) static SKILLS: Skills =
    Skills::new(&[Skill::new("skill://blink/SKILL.md", include_str!("../skills/blink/SKILL.md")).files(&[
        SkillFile::text("pins.csv", include_str!("../skills/blink/pins.csv")).mime_type("text/csv"),
    ])]);
