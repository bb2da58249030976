//! Skills: lists, entries, folders, and the verification of files.
//!
//! `SK-26` is a requirement of `docs/skill-rules.md`.

use crate::support::transport::{feed, take};
use mcp_proto::client::{ClientConfig, Connect, Event, Options, SkillView, Slot};
use mcp_proto::json::Json;
use mcp_proto::{Action, Client, Millis, SendError, sha256};

static CONFIG: ClientConfig<'static> = ClientConfig::new("c", "1").connect(Connect::Stateless);
const DIRECTORIES: &str = r#"{"io.modelcontextprotocol/skills":{"directoryRead":true}}"#;

/// Runs `test` with a client of `2026-07-28` whose server declares these extensions.
fn connected(extensions: &str, test: impl FnOnce(&mut Client<'_>)) {
    let (mut rx, mut tx, mut slots) = ([0; 4096], [0; 4096], [Slot::EMPTY; 2]);
    let mut text = [0; 128];
    let mut client = Client::new(&CONFIG, &mut rx, &mut tx).unwrap().in_flight(&mut slots, &mut text);
    let discovered = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{{"resources":{{}},"extensions":{extensions}}}}}}}"#
    );
    take(&mut client, Millis(0), usize::MAX);
    respond(&mut client, &discovered);
    assert!(matches!(client.event(), Some(Event::Connected(_))));
    test(&mut client);
}

/// Passes a line, and checks that the client then has an event.
fn respond(client: &mut Client<'_>, line: &str) {
    feed(client, Millis(0), format!("{line}\n").as_bytes());
    assert!(matches!(client.poll(Millis(0)), Action::Event), "{line}");
}

/// Returns the next request: its id, and the whole line.
fn sent(client: &mut Client<'_>) -> (u64, String) {
    let line = String::from_utf8(take(client, Millis(0), usize::MAX)).unwrap();
    let id = Json::parse(line.trim().as_bytes()).unwrap().get("id").unwrap().unsigned().unwrap();
    (id, line)
}

/// Responds to the next request with these members of a result. Returns the line of the request.
fn result(client: &mut Client<'_>, members: &str) -> String {
    let (id, line) = sent(client);
    respond(
        client,
        &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete",{members}}}}}"#),
    );
    line
}

#[test]
fn requests_need_the_declaration() {
    // SK-26
    let cases = [
        ("{}", false, false),
        (r#"{"io.modelcontextprotocol/skills":7}"#, false, false),
        (r#"{"io.modelcontextprotocol/tasks":{}}"#, false, false),
        (r#"{"io.modelcontextprotocol/skills":{}}"#, true, false),
        (r#"{"io.modelcontextprotocol/skills":{"directoryRead":false}}"#, true, false),
        (DIRECTORIES, true, true),
    ];
    let unsupported = |supported: bool| if supported { None } else { Some(SendError::Unsupported) };
    for (extensions, skills, directories) in cases {
        connected(extensions, |client| {
            let refused = client.list_skills(Options::DEFAULT).err();
            assert_eq!(refused, unsupported(skills), "{extensions}");
        });
        connected(extensions, |client| {
            let refused = client.get_skill("skill://a/SKILL.md", Options::DEFAULT).err();
            assert_eq!(refused, unsupported(skills), "{extensions}");
        });
        connected(extensions, |client| {
            let refused = client.read_directory("skill://a", None, Options::DEFAULT).err();
            assert_eq!(refused, unsupported(directories), "{extensions}");
        });
    }
}

#[test]
fn list_requests_no_files() {
    // SK-31
    connected(DIRECTORIES, |client| {
        client.list_skills(Options::DEFAULT).unwrap();
        let line = result(client, r#""skills":[{"uri":"skill://a/SKILL.md"}],"nextCursor":"x","ttlMs":7"#);
        assert!(line.contains(r#""method":"skills/list""#), "{line}");
        let Some(Event::Skills(page)) = client.event() else { panic!("no page") };
        assert_eq!(
            (page.skills().count(), page.is_last(), page.freshness().fresh_for),
            (1, false, Millis(7))
        );
        assert!(page.find("skill://a/SKILL.md").is_some() && page.find("skill://b/SKILL.md").is_none());
        let line = result(client, r#""skills":[]"#);
        assert!(line.contains(r#""method":"skills/list""#) && line.contains(r#""cursor":"x""#), "{line}");
        assert!(matches!(client.event(), Some(Event::Skills(page)) if page.is_last()));
        assert!(take(client, Millis(0), usize::MAX).is_empty());
    });
}

#[test]
fn skill_is_requested_by_its_uri() {
    // SK-27
    connected(DIRECTORIES, |client| {
        client.get_skill("skill://a/SKILL.md", Options::DEFAULT).unwrap();
        let line = result(client, r#""skill":{"uri":"skill://a/SKILL.md","frontmatter":{"name":"a"}}"#);
        assert!(line.contains(r#""method":"skills/get","params":{"uri":"skill://a/SKILL.md""#), "{line}");
        let Some(Event::Response(response)) = client.event() else { panic!("no response") };
        assert_eq!(response.skill().unwrap().name().unwrap(), "a");
        assert!(response.directory().is_none() && response.resource().is_none());
    });
}

#[test]
fn result_without_its_member_is_invalid() {
    for members in [r#""skill":[]"#, r#""skills":{}"#, r#""resources":{}"#] {
        connected(DIRECTORIES, |client| {
            client.get_skill("skill://a/SKILL.md", Options::DEFAULT).unwrap();
            result(client, members);
            assert!(
                matches!(client.event(), Some(Event::Response(response)) if response.skill().is_none() && response.is_retryable())
            );
        });
        connected(DIRECTORIES, |client| {
            client.read_directory("skill://a", None, Options::DEFAULT).unwrap();
            result(client, members);
            assert!(
                matches!(client.event(), Some(Event::Response(response)) if response.directory().is_none())
            );
        });
    }
}

#[test]
fn folder_is_requested_page_by_page() {
    connected(DIRECTORIES, |client| {
        client.read_directory("skill://a", None, Options::DEFAULT).unwrap();
        let resources =
            r#""resources":[{"uri":"skill://a/b","mimeType":"inode/directory"},{"uri":"skill://a/c"}]"#;
        let line = result(client, &format!(r#"{resources},"nextCursor":"x""#));
        assert!(
            line.contains(r#""method":"resources/directory/read","params":{"uri":"skill://a","_meta"#),
            "{line}"
        );
        let Some(Event::Response(response)) = client.event() else { panic!("no response") };
        let page = response.directory().unwrap();
        let folders: Vec<bool> = page.resources().map(|resource| resource.is_directory()).collect();
        assert_eq!(folders, [true, false]);
        let cursor = page.next_cursor().unwrap().to_string();
        client.read_directory("skill://a", Some(&cursor), Options::DEFAULT).unwrap();
        let line = result(client, r#""resources":[]"#);
        assert!(line.contains(r#""params":{"uri":"skill://a","cursor":"x","_meta"#), "{line}");
        let Some(Event::Response(response)) = client.event() else { panic!("no response") };
        assert!(response.directory().unwrap().next_cursor().is_none());
    });
}

const FILE: &str = r#"{"uri":"skill://x/a/SKILL.md","digest":"sha256:0","size":1}"#;

/// Returns an entry with these `resources`.
fn entry(resources: &str) -> String {
    format!(
        r#"{{"uri":"skill://x/a/SKILL.md","frontmatter":{{"name":"a","description":"b"}},"resources":{resources}}}"#
    )
}

#[test]
fn incomplete_entry_is_not_valid() {
    // SK-28
    let other = FILE.replace("SKILL.md", "c/d");
    let complete = entry(&format!("[{FILE},{other}]"));
    let cases = [
        (complete.clone(), true),
        (entry("\"dynamic\""), true),
        (complete.replace("skill:", r"skill\u003a"), true),
        (entry("[]"), false),
        (entry("\"static\""), false),
        (entry("null"), false),
        (complete.replace("resources", "files"), false),
        (entry(&format!("[{other}]")), false),
        (entry(&format!("[{FILE},{}]", FILE.replace("/a/", "/b/"))), false),
        (entry(&format!("[{FILE},{}]", other.replace("digest", "hash"))), false),
        (entry(&format!("[{FILE},{}]", other.replace("size", "bytes"))), false),
        (complete.replace(r#""name":"a""#, r#""name":"b""#), false),
        (complete.replace(r#""name":"a""#, r#""name":"/a""#), false),
        (complete.replace(r#""description":"b""#, r#""description":"""#), false),
        (complete.replace("SKILL.md", "skill.md"), false),
        ("{}".into(), false),
    ];
    for (json, expected) in cases {
        let skill = SkillView::from_json(Json::parse(json.as_bytes()).unwrap());
        assert_eq!(skill.is_valid(), expected, "{json}");
    }
}

#[test]
fn file_outside_the_folder_makes_an_entry_invalid() {
    let main = "skill://x/a/SKILL.md";
    let outside = [
        "../../etc/y",
        "..",
        ".",
        "c/..",
        "c/../d",
        "./d",
        "c//d",
        "c/",
        "",
        "%2e%2E/d",
        ".%2e/d",
        "c/%2E/d",
        "c%2fd",
        "c%2F..",
        "..%5cd",
        "c%5C..",
        "c%00",
        r"..\\d",
        r"c\u005c..",
        "d?e",
        "d#e",
        "d e",
        "\u{fc}",
    ];
    let inside = ["d", "c/d", ".d", "...", "c..d", "c%20d", "c%2Bd", "a:b@c"];
    let cases = outside.map(|path| (path, false)).into_iter().chain(inside.map(|path| (path, true)));
    for (path, expected) in cases {
        let json = entry(&format!("[{FILE},{}]", FILE.replace("SKILL.md", path)));
        let skill = SkillView::from_json(Json::parse(json.as_bytes()).unwrap());
        assert_eq!(skill.is_valid(), expected, "{json}");
    }
    for (uri, name) in [
        ("skill://x/../SKILL.md", ".."),
        ("skill://x/./SKILL.md", "."),
        ("skill://x//SKILL.md", ""),
        ("skill://x/../b/SKILL.md", "../b"),
        ("skill://x/%2e%2e/SKILL.md", "%2e%2e"),
    ] {
        let json = entry(&format!("[{FILE}]")).replace(main, uri).replace(r#""a""#, &format!("{name:?}"));
        let skill = SkillView::from_json(Json::parse(json.as_bytes()).unwrap());
        assert!(!skill.is_valid(), "{json}");
    }
}

#[test]
fn content_must_match_its_size_and_digest() {
    // SK-29, SK-32
    let content = b"Dear customer";
    let hex: String = sha256(content).iter().map(|byte| format!("{byte:02x}")).collect();
    let file = |digest: &str, size: usize| {
        format!(r#"[{{"uri":"skill://x/a/b","digest":"{digest}","size":{size}}}]"#)
    };
    let cases = [
        (file(&format!("sha256:{hex}"), 13), true),
        (file(&format!("sha256:{hex}"), 12), false),
        (file(&format!("sha256:{}", hex.to_uppercase()), 13), false),
        (file(&hex, 13), false),
        (file(&format!("sha256:{}", &hex[1..]), 13), false),
    ];
    for (resources, expected) in cases {
        let json = entry(&resources);
        let skill = SkillView::from_json(Json::parse(json.as_bytes()).unwrap());
        assert_eq!(skill.file("skill://x/a/b").unwrap().matches(content), expected, "{resources}");
        assert!(!skill.file("skill://x/a/b").unwrap().matches(b"Dear customes"));
        assert!(skill.file("skill://x/a/c").is_none());
    }
}

#[test]
fn frontmatter_is_compared_with_the_entry() {
    // SK-30
    let json = entry("[]");
    let skill = SkillView::from_json(Json::parse(json.as_bytes()).unwrap());
    let cases = [
        ("---\nname: a\ndescription: b\n---\ntext", Some(true)),
        ("---\ndescription: 'b'\nname: \"a\"\n---", Some(true)),
        ("---\nname: a\ndescription: c\n---", Some(false)),
        ("---\nname: a\n---", Some(false)),
        ("---\nname: a\ndescription: b\nallowed-tools: Bash\n---", Some(false)),
        ("---\nname: a\ndescription: b\nmetadata:\n  c: d\n---", None),
        ("# No frontmatter", None),
    ];
    for (text, expected) in cases {
        assert_eq!(skill.has_frontmatter_of(text), expected, "{text}");
    }
}
