//! Skills: lists, entries, files and folders. `docs/skill-rules.md` has the numbers of the requirements.

mod config;
mod rules;

use crate::support::server::hello;
use crate::support::transport::exchange;
use mcp_proto::server::{
    Event, Feature, Resources, Server, ServerConfig, Skill, SkillFile, Skills, Subscriptions,
};
use mcp_proto::{Action, Millis, Revision, Revisions, sha256};
use serde_json::{Value, json};

const REFUNDS: &str = include_str!("example/SKILL.md");
const LED: &str = "---\nname: led\ndescription: How to use the LEDs\n---\n";
const PNG: &[u8] = &[0x89, b'P', b'N', b'G', 0, 0xff];

const REFUNDS_SKILL: Skill = Skill::new("skill://acme/billing/refunds/SKILL.md", REFUNDS).files(&[
    SkillFile::text("examples/email.md", "Dear \"customer\",\n"),
    SkillFile::blob("examples/eu/logo.png", PNG).mime_type("image/png"),
    SkillFile::text("examples/eu/notes", "\u{fc}"),
    SkillFile::text("terms.txt", ""),
]);
const CATALOG: &[Skill<'static>] = &[
    REFUNDS_SKILL,
    Skill::new("github://led/SKILL.md", LED)
        .frontmatter(r#"{"name":"led","description":"How to use the LEDs","metadata":{"version":[1]}}"#),
];
static SKILLS: Skills = Skills::new(CATALOG).directory_read();
static ALONE: [&dyn Feature; 1] = [&SKILLS];

static DYNAMIC: Skills = Skills::new(&[
    Skill::dynamic("skill://daily/SKILL.md", r#"{"name":"daily","description":"Today"}"#),
    Skill::new("skill://led/SKILL.md", LED).files(&[SkillFile::by_application(
        "big.bin",
        5,
        sha256(b"bytes"),
    )]),
]);
static RESOURCES: Resources = Resources::dynamic_list().subscribe();
static WITH_RESOURCES: [&dyn Feature; 3] = [&DYNAMIC, &RESOURCES, &Subscriptions];

static STATIC_RESOURCES: Resources = Resources::new(&[REFUNDS_SKILL.resource()]).subscribe();
static WITH_STATIC: [&dyn Feature; 3] = [&SKILLS, &STATIC_RESOURCES, &Subscriptions];

struct Host {
    server: Server<'static>,
    revision: Revision,
    /// The URIs that the server asked the application to read.
    read: Vec<String>,
}

impl Host {
    fn new(features: &'static [&'static dyn Feature], revision: Revision) -> Host {
        let info = ServerConfig::new("s", "1").features(features).cache(Millis(7), true);
        let info = Box::leak(Box::new(info.revisions(Revisions::only(revision))));
        let (rx, tx) = (Box::leak(Box::new([0; 1024])), Box::leak(Box::new([0; 4096])));
        let server = Server::new(info, &mut rx[..], &mut tx[..]).unwrap();
        let server = server.subscription_buffer(&mut Box::leak(Box::new([0; 256]))[..]);
        let mut host = Host { server, revision, read: Vec::new() };
        if revision < Revision::V2026_07_28 {
            let params: Value = serde_json::from_str(&hello(revision.as_str())).unwrap();
            host.request("initialize", params);
        }
        host
    }

    fn stateless(features: &'static [&'static dyn Feature]) -> Host {
        Host::new(features, Revision::V2026_07_28)
    }

    /// Sends a request, and returns the response.
    fn request(&mut self, method: &str, mut params: Value) -> Value {
        if self.revision == Revision::V2026_07_28 {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let line = format!("{}\n", json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
        let (mut input, mut output) = (line.as_bytes(), Vec::new());
        loop {
            match self.server.poll(Millis(0)) {
                Action::Io(io) => {
                    if !exchange(io, &mut input, &mut output) {
                        return serde_json::from_slice(&output).unwrap();
                    }
                }
                Action::Event => match self.server.event().unwrap() {
                    Event::ReadResource(read) => {
                        self.read.push(read.uri().into());
                        read.text("bytes");
                    }
                    Event::ListResources(list) => list.resources(|_| None),
                    _ => {}
                },
                Action::Closed => panic!("closed"),
            }
        }
    }

    fn result(&mut self, method: &str, params: Value) -> Value {
        self.request(method, params)["result"].take()
    }

    fn code(&mut self, method: &str, params: Value) -> i64 {
        self.request(method, params)["error"]["code"].as_i64().unwrap_or_default()
    }

    /// Reads a file, and returns its bytes.
    fn read(&mut self, uri: &str) -> Vec<u8> {
        let result = self.result("resources/read", json!({"uri": uri}));
        let contents = &result["contents"][0];
        assert_eq!(contents["uri"], uri);
        match contents["blob"].as_str() {
            Some("iVBORwD/") => PNG.to_vec(),
            Some(other) => panic!("{other}"),
            None => contents["text"].as_str().unwrap().into(),
        }
    }
}

#[test]
fn extension_is_declared_in_its_revision() {
    // SK-1, SK-2
    let cases = [
        (&ALONE[..], json!({}), json!({"directoryRead": true})),
        (&WITH_RESOURCES[..], json!({"subscribe": true}), json!({})),
    ];
    for (features, resources, settings) in cases {
        let discovered = Host::stateless(features).result("server/discover", json!({}));
        let expected =
            json!({"resources": resources, "extensions": {"io.modelcontextprotocol/skills": settings}});
        assert_eq!(discovered["capabilities"], expected);
    }
    for revision in Revisions::HANDSHAKE.newest_first() {
        let info = ServerConfig::new("s", "1").features(&ALONE).revisions(Revisions::only(revision));
        let expected = r#"< result 1 …"capabilities":{"resources":{}},…"#;
        let params = hello(revision.as_str());
        crate::support::server::Setup::new(info)
            .check(&format!("> call 1 initialize {params}\n{expected}\n! connected {revision} c {{}}"));
    }
}

#[test]
fn skills_are_ordinary_resources_in_earlier_revisions() {
    // SK-4
    for revision in Revisions::HANDSHAKE.newest_first() {
        let mut host = Host::new(&ALONE, revision);
        for method in ["skills/list", "skills/get", "resources/directory/read"] {
            assert_eq!(host.code(method, json!({"uri": CATALOG[1].uri()})), -32601, "{method} in {revision}");
        }
        assert_eq!(host.read("github://led/SKILL.md"), LED.as_bytes());
        assert_eq!(host.result("resources/list", json!({}))["resources"].as_array().unwrap().len(), 2);
        assert_eq!(host.code("resources/read", json!({"uri": "github://led/x"})), -32002);
    }
}

#[test]
fn list_has_complete_entries() {
    // SK-3, SK-9, SK-10, SK-11, SK-12, SK-17
    let listed = Host::stateless(&ALONE).result("skills/list", json!({}));
    let file = |path: &str, bytes: &[u8]| {
        let digest: String = sha256(bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        let uri = format!("skill://acme/billing/refunds/{path}");
        json!({"uri": uri, "digest": format!("sha256:{digest}"), "size": bytes.len()})
    };
    let refunds = json!({
        "uri": "skill://acme/billing/refunds/SKILL.md",
        "frontmatter": {
            "name": "refunds", "description": "Refunds: how to write them", "license": "MIT",
        },
        "resources": [
            file("SKILL.md", REFUNDS.as_bytes()),
            file("examples/email.md", b"Dear \"customer\",\n"),
            file("examples/eu/logo.png", PNG),
            file("examples/eu/notes", "\u{fc}".as_bytes()),
            file("terms.txt", b""),
        ],
    });
    assert_eq!(listed["skills"][0], refunds);
    let frontmatter =
        json!({"name": "led", "description": "How to use the LEDs", "metadata": {"version": [1]}});
    assert_eq!(listed["skills"][1]["frontmatter"], frontmatter);
    assert_eq!(listed["skills"][1]["resources"][0]["uri"], "github://led/SKILL.md");
    let head = ["resultType", "ttlMs", "cacheScope", "nextCursor"].map(|name| listed[name].clone());
    assert_eq!(head, [json!("complete"), json!(7), json!("public"), Value::Null]);
}

#[test]
fn long_list_has_pages_of_whole_entries() {
    // SK-16
    let info = ServerConfig::new("s", "1").features(&ALONE).revisions(Revisions::only(Revision::V2026_07_28));
    let ask = |id, params| super::content::stateless(id, "skills/list", params);
    crate::support::server::Setup::new(info).max_reply_size(1240).check(&format!(
        "{}< result 1 …\"skills\":[{{\"uri\":\"skill://acme/billing/refunds/SKILL.md\",…],\"nextCursor\":\"p1\"}}\n! fault ListSplit\n\
         {}< result 2 …\"skills\":[{{\"uri\":\"github://led/SKILL.md\",…]}}\n\
         {}< error 3 -32602 …\n! fault BadCursor",
        ask(1, ""),
        ask(2, r#","cursor":"p1""#),
        ask(3, r#","cursor":"p2""#),
    ));
}

#[test]
fn get_returns_the_entry_of_the_list() {
    // SK-3, SK-17, SK-19
    let mut host = Host::stateless(&ALONE);
    let listed = host.result("skills/list", json!({}));
    for skill in listed["skills"].as_array().unwrap() {
        let got = host.result("skills/get", json!({"uri": skill["uri"], "cursor": "p1"}));
        let head = ["resultType", "ttlMs", "cacheScope", "nextCursor"].map(|name| got[name].clone());
        assert_eq!(head, [json!("complete"), json!(7), json!("public"), Value::Null]);
        assert_eq!(&got["skill"], skill);
    }
}

#[test]
fn unknown_skill_is_refused() {
    // SK-18
    let mut host = Host::stateless(&ALONE);
    let uris = [
        json!("skill://led/SKILL.md"),
        json!("github://led"),
        json!("skill://acme/billing/refunds/terms.txt"),
        json!(""),
        json!(7),
        Value::Null,
    ];
    for uri in uris {
        assert_eq!(host.code("skills/get", json!({"uri": uri})), -32602, "{uri}");
    }
    let refused = host.request("skills/get", json!({"uri": "skill://x/SKILL.md"}));
    assert_eq!(refused["error"]["data"]["uri"], "skill://x/SKILL.md");
}

#[test]
fn listed_files_can_be_read_and_match_their_digests() {
    // SK-12, SK-20
    let mut host = Host::stateless(&ALONE);
    let listed = host.result("skills/list", json!({})).to_string();
    let listed = mcp_proto::json::Json::parse(listed.as_bytes()).unwrap().get("skills").unwrap();
    let mut count = 0;
    for skill in listed.elements().map(mcp_proto::client::SkillView::from_json) {
        assert!(skill.is_valid());
        for file in skill.files() {
            let bytes = host.read(&file.uri().unwrap().to_string());
            assert!(file.matches(&bytes), "{:?}", file.uri());
            count += 1;
        }
    }
    assert_eq!(count, 6);
    assert!(host.read.is_empty());
}

#[test]
fn unknown_file_is_refused() {
    // SK-21
    let mut host = Host::stateless(&ALONE);
    for uri in ["skill://acme/billing/refunds", "skill://acme/billing/refunds/x", "github://led/SKILL.mdx"] {
        assert_eq!(host.code("resources/read", json!({"uri": uri})), -32602, "{uri}");
    }
    assert_eq!(host.code("resources/read", json!({})), -32602);
}

#[test]
fn main_file_is_listed_with_the_metadata_of_its_frontmatter() {
    // SK-7
    let refunds = json!({
        "uri": "skill://acme/billing/refunds/SKILL.md",
        "name": "refunds",
        "description": "Refunds: how to write them",
        "mimeType": "text/markdown",
        "size": REFUNDS.len(),
    });
    for features in [&ALONE[..], &WITH_STATIC] {
        let listed = Host::stateless(features).result("resources/list", json!({}));
        assert_eq!(listed["resources"][0], refunds);
    }
    let mut host = Host::stateless(&ALONE);
    assert_eq!(host.result("resources/list", json!({"cursor": "p1"}))["resources"][0]["name"], "led");
    assert_eq!(host.result("resources/templates/list", json!({}))["resourceTemplates"], json!([]));
    let mime = |host: &mut Host, uri| {
        host.result("resources/read", json!({"uri": uri}))["contents"][0]["mimeType"].take()
    };
    assert_eq!(mime(&mut host, "skill://acme/billing/refunds/SKILL.md"), "text/markdown");
    assert_eq!(mime(&mut host, "skill://acme/billing/refunds/examples/email.md"), "text/markdown");
    assert_eq!(mime(&mut host, "skill://acme/billing/refunds/examples/eu/notes"), "text/plain");
    assert_eq!(mime(&mut host, "skill://acme/billing/refunds/examples/eu/logo.png"), "image/png");
}

#[test]
fn escaped_uri_is_the_same_uri() {
    let info = ServerConfig::new("s", "1").features(&ALONE).revisions(Revisions::only(Revision::V2026_07_28));
    let ask = |id, method| {
        super::content::stateless(id, method, r#","uri":"skill:\/\/acme\/billing\/refunds\/e\u0078amples""#)
    };
    crate::support::server::Setup::new(info)
        .check(&format!("{}< result 1 …\"resources\":[…", ask(1, "resources/directory/read")));
}

#[test]
fn dynamic_skill_is_read_from_the_application() {
    // SK-13, SK-20
    let mut host = Host::stateless(&WITH_RESOURCES);
    let listed = host.result("skills/list", json!({}));
    assert_eq!(listed["skills"][0]["resources"], "dynamic");
    assert_eq!(listed["skills"][0]["frontmatter"], json!({"name": "daily", "description": "Today"}));
    assert_eq!(listed["skills"][1]["resources"][1]["size"], 5);
    for uri in ["skill://daily/SKILL.md", "skill://led/big.bin", "other://x"] {
        assert_eq!(host.read(uri), b"bytes");
    }
    assert_eq!(host.read("skill://led/SKILL.md"), LED.as_bytes());
    assert_eq!(host.read, ["skill://daily/SKILL.md", "skill://led/big.bin", "other://x"]);
    assert_eq!(host.result("resources/list", json!({}))["resources"], json!([]));
    assert_eq!(host.code("resources/directory/read", json!({"uri": "skill://led"})), -32601);
}

#[test]
fn files_of_skills_can_be_watched_beside_static_resources() {
    let mut host = Host::new(&WITH_STATIC, Revision::V2025_11_25);
    assert_eq!(host.code("resources/subscribe", json!({"uri": "github://led/SKILL.md"})), 0);
    assert_eq!(host.code("resources/subscribe", json!({"uri": "github://led/x"})), -32002);
    assert_eq!(host.code("resources/read", json!({"uri": "github://led/x"})), -32002);
}

#[test]
fn folder_has_its_files_and_folders() {
    // SK-22, SK-24
    let mut host = Host::stateless(&ALONE);
    let root = "skill://acme/billing/refunds";
    let folder = |path: &str, name: &str| json!({"uri": format!("{root}/{path}"), "name": name, "mimeType": "inode/directory"});
    let file = |path: &str, name: &str, mime: Option<&str>, size: u64| {
        let mut file = json!({"uri": format!("{root}/{path}"), "name": name, "size": size});
        if let Some(mime) = mime {
            file["mimeType"] = mime.into();
        }
        file
    };
    let main = json!({
        "uri": format!("{root}/SKILL.md"), "name": "refunds", "description": "Refunds: how to write them",
        "mimeType": "text/markdown", "size": REFUNDS.len(),
    });
    let cases = [
        ("", json!([main, folder("examples", "examples"), file("terms.txt", "terms.txt", None, 0)])),
        (
            "/examples",
            json!([
                file("examples/email.md", "email.md", Some("text/markdown"), 17),
                folder("examples/eu", "eu")
            ]),
        ),
        (
            "/examples/eu",
            json!([
                file("examples/eu/logo.png", "logo.png", Some("image/png"), 6),
                file("examples/eu/notes", "notes", None, 2),
            ]),
        ),
    ];
    for (path, expected) in cases {
        let result = host.result("resources/directory/read", json!({"uri": format!("{root}{path}")}));
        assert_eq!(result["resources"], expected, "{path}");
        assert_eq!((&result["resultType"], &result["ttlMs"]), (&json!("complete"), &Value::Null));
    }
    let rest = host.result("resources/directory/read", json!({"uri": root, "cursor": "p2"}));
    assert_eq!(rest["resources"], json!([file("terms.txt", "terms.txt", None, 0)]));
    assert_eq!(host.code("resources/directory/read", json!({"uri": root, "cursor": "p3"})), -32602);
}

#[test]
fn other_uri_is_no_folder() {
    // SK-23
    let mut host = Host::stateless(&ALONE);
    let uris = [
        "skill://acme/billing/refunds/SKILL.md",
        "skill://acme/billing/refunds/",
        "skill://acme/billing",
        "skill://acme/billing/refunds/exam",
        "skill://acme/billing/refunds/examples/",
        "skill://x",
        "",
    ];
    for uri in uris {
        assert_eq!(host.code("resources/directory/read", json!({"uri": uri})), -32602, "{uri}");
    }
    assert_eq!(host.code("resources/directory/read", json!({})), -32602);
}
