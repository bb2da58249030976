//! Rules that a configuration of skills must follow. Numbers such as `SK-5` refer to `docs/skill-rules.md`.

use super::*;
use mcp_proto::{ConfigError, InvalidSkill};

fn skill(uri: &'static str, text: &'static str) -> Option<InvalidSkill> {
    match Skills::try_new(&[Skill::new(uri, text)]) {
        Ok(_) => None,
        Err(ConfigError::InvalidSkill { entry: 0, error }) => Some(error),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn main_file_must_fit_its_uri() {
    // SK-5, SK-6
    use InvalidSkill::{Description, Frontmatter, Name, Uri};
    let uri = "skill://led/SKILL.md";
    assert_eq!(skill(uri, LED), None);
    assert_eq!(skill("github://o/led/SKILL.md", LED), None);
    for other in ["skill://led", "skill://Led/SKILL.md", "led/SKILL.md", "skill://led/skill.md"] {
        assert_eq!(skill(other, LED), Some(Uri), "{other}");
    }
    assert_eq!(skill("skill://leds/SKILL.md", LED), Some(Name));
    for (text, error) in [
        ("", Frontmatter),
        ("# LED\n", Frontmatter),
        ("---\nname: led\n", Frontmatter),
        ("---\nname: led\ndescription: |\n  text\n---\n", Frontmatter),
        ("---\nname: led\ndescription: text\nmetadata:\n  version: a\n---\n", Frontmatter),
        ("---\ndescription: text\n---\n", Name),
        ("---\nname: led\n---\n", Description),
        ("---\nname: led\ndescription: ''\n---\n", Description),
    ] {
        assert_eq!(skill(uri, text), Some(error), "{text}");
    }
}

#[test]
fn paths_must_be_unique_and_relative() {
    // SK-11
    for path in ["/a", "../a", "a/", "a b", "", "SKILL.md"] {
        let files = [SkillFile::text(path, "")];
        let skills = [Skill::new("skill://led/SKILL.md", LED).files(&files)];
        let refused = Skills::try_new(&skills).map(|_| ());
        assert_eq!(refused, Err(ConfigError::InvalidSkill { entry: 0, error: InvalidSkill::Path }), "{path}");
    }
    let files = [SkillFile::text("a", ""), SkillFile::text("b", ""), SkillFile::text("a", "x")];
    let skills = [Skill::new("skill://led/SKILL.md", LED).files(&files)];
    assert!(Skills::try_new(&skills).is_err());
}

#[test]
fn skill_has_the_limits_of_the_specification() {
    // SK-14
    let names: Vec<String> = (0..512).map(|name| format!("{name}")).collect();
    let files: Vec<SkillFile<'_>> = names.iter().map(|name| SkillFile::text(name, "")).collect();
    let large = |size| [SkillFile::by_application("a", size, [0; 32])];
    let limit = (16 << 20) - LED.len() as u64;
    let (fits, too_large) = (large(limit), large(limit + 1));
    for (files, valid) in [(&files[..511], true), (&files, false), (&fits, true), (&too_large, false)] {
        let skills = [Skill::new("skill://led/SKILL.md", LED).files(files)];
        let expected = ConfigError::InvalidSkill { entry: 0, error: InvalidSkill::TooLarge };
        assert_eq!(Skills::try_new(&skills).err(), (!valid).then_some(expected), "{}", files.len());
    }
}

#[test]
fn skills_must_have_folders_of_their_own() {
    // SK-8
    const INNER: &str = "---\nname: inner\ndescription: text\n---\n";
    let outer = Skill::new("skill://led/SKILL.md", LED);
    let inner = Skill::new("skill://led/x/inner/SKILL.md", INNER);
    let beside = Skill::new("skill://led-x/inner/SKILL.md", INNER);
    let nested = |entry| Some(ConfigError::InvalidSkill { entry, error: InvalidSkill::Nested });
    let cases = [
        (vec![outer, beside], None),
        (vec![outer, inner], nested(1)),
        (vec![beside, inner, outer], nested(1)),
        (vec![outer, beside, outer], Some(ConfigError::DuplicateName { entry: 2 })),
    ];
    for (skills, expected) in cases {
        assert_eq!(Skills::try_new(&skills).err(), expected);
    }
}

/// Returns the error of a server with these features, or `None` if the server accepts the features.
fn error(features: &[&dyn Feature], tx: usize) -> Option<ConfigError> {
    let info = ServerConfig::new("s", "1").features(features);
    let (mut rx, mut tx) = ([0; 256], vec![0; tx]);
    Server::new(&info, &mut rx[..], &mut tx[..]).err()
}

#[test]
fn features_must_fit_the_skills() {
    // SK-2, SK-13
    let refused = |error| Some(ConfigError::InvalidSkill { entry: 0, error });
    assert_eq!(error(&WITH_RESOURCES, 4096), None);
    assert_eq!(error(&[&DYNAMIC], 4096), refused(InvalidSkill::NoResources));
    assert_eq!(error(&[&RESOURCES, &SKILLS, &Subscriptions], 4096), refused(InvalidSkill::Order));
    let dynamic = [Skill::dynamic("skill://led/SKILL.md", r#"{"name":"led","description":"a"}"#)];
    let with_directories = Skills::new(&dynamic).directory_read();
    assert_eq!(
        error(&[&with_directories, &RESOURCES, &Subscriptions], 4096),
        refused(InvalidSkill::Directory)
    );
}

#[test]
fn json_frontmatter_must_fit_the_uri() {
    // SK-5
    let refused = |error| Some(ConfigError::InvalidSkill { entry: 0, error });
    let cases = [
        (r#"{"name":"led","description":"a"}"#, None),
        (r#"{"name":"\u006ced","description":"a"}"#, None),
        (r#"{"name":"leds","description":"a"}"#, refused(InvalidSkill::Name)),
        (r#"{"name":"led","description":1}"#, refused(InvalidSkill::Description)),
        (r#"{"name":"led"}"#, refused(InvalidSkill::Description)),
        ("[]", Some(ConfigError::NotAnObject { entry: 0 })),
    ];
    for (json, expected) in cases {
        let skills = [Skill::new("skill://led/SKILL.md", "").frontmatter(json)];
        assert_eq!(error(&[&Skills::new(&skills)], 4096), expected, "{json}");
    }
    let skills = [Skill::new("skill://led/SKILL.md", "").frontmatter("{")];
    assert!(matches!(error(&[&Skills::new(&skills)], 4096), Some(ConfigError::InvalidJson { entry: 0, .. })));
}

#[test]
fn transmit_buffer_must_hold_each_file() {
    // SK-20
    let text = "\n".repeat(3000);
    let files = [SkillFile::text("long", &text)];
    let skills = [Skill::new("skill://led/SKILL.md", LED).files(&files)];
    let skills = Skills::new(&skills);
    let Some(ConfigError::TxTooSmall { needed }) = error(&[&skills], 4096) else { panic!("too small") };
    assert!((6000..6400).contains(&needed), "{needed}");
    assert_eq!(error(&[&skills], needed), None);
    assert!(error(&[&skills], needed - 1).is_some());
}
