//! Prints the list of skills, and loads a skill.

use mcp_proto_std::{ClientHandle, SkillDescription};

use crate::failed;
use crate::show::text;
use crate::table::{Table, wrapped};

/// Prints the skills that a server lists, without reading their files.
pub(crate) fn list(skills: &[SkillDescription]) {
    let mut table = Table::new(["SKILL", "FILES", "WHAT IT IS FOR"]);
    for skill in skills {
        let view = skill.view();
        let files = match (view.is_valid(), view.is_dynamic()) {
            (false, _) => "invalid".into(),
            (_, true) => "dynamic".into(),
            _ => view.files().count().to_string(),
        };
        table.row([skill.uri(), files, text(view.description())]);
    }
    table.print();
}

/// Reads `SKILL.md`, then the other files of a skill. Verifies each file, and prints the text of `SKILL.md`. Returns an
/// error if the skill is not valid, or a file cannot be read or verified.
pub(crate) fn load(client: &ClientHandle, uri: &str) -> Result<(), String> {
    let listed = client.list_skills().map_err(failed("listing the skills", "extensions"))?;
    let skill = match listed.into_iter().find(|skill| skill.uri() == uri) {
        Some(skill) => skill,
        None => client.get_skill(uri).map_err(failed(uri, "extensions"))?,
    };
    if !skill.view().is_valid() {
        return Err(format!("{uri}: the skill is not valid"));
    }
    let main = client.read_skill_file(&skill, uri).map_err(failed("loading the skill", "resources"))?;
    say!("{uri}, verified\n  {}", wrapped(&String::from_utf8_lossy(&main), 2, 118));
    for file in skill.view().files().filter_map(|file| file.uri()).filter(|file| *file != uri) {
        let file = file.to_string();
        let bytes =
            client.read_skill_file(&skill, &file).map_err(failed("loading the skill", "resources"))?;
        say!("{file}, verified, {} bytes", bytes.len());
    }
    Ok(())
}
