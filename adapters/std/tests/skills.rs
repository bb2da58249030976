//! Skills: lists, files and folders.
#![cfg(unix)]

use std::os::unix::net::UnixStream;
use std::thread;

use mcp_proto::client::Connect;
use mcp_proto::server::{Event, Feature, Resources, ServerConfig, Skill, SkillFile, Skills};
use mcp_proto::sha256;
use mcp_proto_std::{CallError, ClientHandle, Connector, Serve};

const LED: &str = "---\nname: led\ndescription: How to use the LEDs\n---\n";
const COMPLEX: &str = "---\nname: complex\ndescription: text\nmetadata:\n  version: a\n---\n";
const UNVERIFIED: &str = r#"{"name":"complex","description":"text","metadata":{"version":"a"}}"#;

static SKILLS: Skills = Skills::new(&[
    Skill::new("skill://led/SKILL.md", LED).files(&[
        SkillFile::blob("images/led.bin", &[0, 0xff]),
        SkillFile::by_application("same", 5, sha256(b"bytes")),
        SkillFile::by_application("changed", 5, sha256(b"other")),
    ]),
    Skill::new("skill://complex/SKILL.md", COMPLEX).frontmatter(UNVERIFIED),
    Skill::new("skill://wrong/SKILL.md", "").frontmatter(r#"{"name":"wrong","description":"text"}"#),
    Skill::new("skill://other/SKILL.md", "---\nname: other\ndescription: a\n---\n")
        .frontmatter(r#"{"name":"other","description":"b"}"#),
])
.directory_read();
static RESOURCES: Resources = Resources::dynamic_list();
static FEATURES: [&dyn Feature; 2] = [&SKILLS, &RESOURCES];
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&FEATURES);

fn connect(info: &'static ServerConfig<'static>) -> ClientHandle {
    let (here, there) = UnixStream::pair().unwrap();
    thread::spawn(move || {
        Serve::new(info).stream(there, |event, _| {
            if let Event::ReadResource(read) = event {
                read.text("bytes");
            }
        })
    });
    Connector::new("test", "1").connect(Connect::Stateless).stream(here).unwrap()
}

#[test]
fn skills_are_listed_and_found_by_their_uri() {
    let client = connect(&CONFIG);
    let skills = client.list_skills().unwrap();
    let uris: Vec<_> = skills.iter().map(|skill| skill.uri()).collect();
    assert_eq!(uris[..2], ["skill://led/SKILL.md", "skill://complex/SKILL.md"]);
    assert!(skills.iter().all(|skill| skill.view().is_valid()));
    assert_eq!(client.get_skill("skill://led/SKILL.md").unwrap(), skills[0]);
    assert!(
        matches!(client.get_skill("skill://x/SKILL.md"), Err(CallError::Server(error)) if error.code == -32602)
    );
}

#[test]
fn files_are_verified() {
    let client = connect(&CONFIG);
    let led = client.get_skill("skill://led/SKILL.md").unwrap();
    assert_eq!(client.read_skill_file(&led, "skill://led/SKILL.md").unwrap(), LED.as_bytes());
    assert_eq!(client.read_skill_file(&led, "skill://led/images/led.bin").unwrap(), [0, 0xff]);
    assert_eq!(client.read_skill_file(&led, "skill://led/same").unwrap(), b"bytes");
    let refused = |skill: &str, uri: &str| {
        let skill = client.get_skill(skill).unwrap();
        match client.read_skill_file(&skill, uri) {
            Err(CallError::Invalid(why)) => why.rsplit_once(": ").unwrap().1.to_owned(),
            other => panic!("{uri}: {other:?}"),
        }
    };
    let changed = refused("skill://led/SKILL.md", "skill://led/changed");
    assert_eq!(changed, "the size or digest differs from that of the skill");
    assert_eq!(refused("skill://led/SKILL.md", "skill://led/x"), "the skill does not list this file");
    let complex = refused("skill://complex/SKILL.md", "skill://complex/SKILL.md");
    assert_eq!(complex, "the frontmatter is too complex to be verified");
    let escaped = client.read_skill_file(&led, "skill://led/\u{1b}[2J").unwrap_err();
    assert_eq!(escaped.to_string(), "skill://led/\\u{1b}[2J: the skill does not list this file");
    let other = refused("skill://other/SKILL.md", "skill://other/SKILL.md");
    assert_eq!(other, "the frontmatter differs from that of the skill");
}

#[test]
fn folder_is_listed() {
    let client = connect(&CONFIG);
    let found = client.read_directory("skill://led").unwrap();
    let uris: Vec<_> = found.iter().map(|entry| (entry.uri(), entry.view().is_directory())).collect();
    let expected = [("SKILL.md", false), ("images", true), ("same", false), ("changed", false)];
    assert_eq!(uris, expected.map(|(path, folder)| (format!("skill://led/{path}"), folder)));
}

#[test]
fn skill_requests_to_server_without_skills_are_unsupported() {
    static PLAIN: ServerConfig = ServerConfig::new("test", "1");
    let client = connect(&PLAIN);
    assert_eq!(client.list_skills(), Err(CallError::Unsupported));
    assert_eq!(client.get_skill("skill://led/SKILL.md"), Err(CallError::Unsupported));
    assert_eq!(client.read_directory("skill://led"), Err(CallError::Unsupported));
}
