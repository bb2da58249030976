//! The members of the entries that the attributes of functions set.

use super::{OPEN, request, serve};
use mcp_proto::server::{Call, Router, ServerConfig};
use mcp_proto::{Annotations, Decimal, Icon, Role, Theme, ToolArguments, prompt, resource, router, tool};
use serde_json::{Value, json};

const ICONS: &[Icon] = &[Icon::new("https://example.com/a.png").sizes(&["48x48"])];

#[derive(ToolArguments)]
struct File<'a> {
    /// What the file contains.
    #[tool(title = "Content")]
    data: &'a str,
    #[tool(title = "Mode")]
    mode: Option<Mode>,
}

#[derive(ToolArguments)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Append,
}

#[tool(icons = ICONS, meta = r#"{"example.com/a":1}"#, streamed = "data")]
fn write(File { data, mode }: File<'_>, call: Call<'_>) {
    call.text((data, mode.map_or("", |Mode::Append| "+")));
}

#[prompt(icons = &[Icon::new("https://example.com/b.svg").theme(Theme::Dark)], meta = concat!("{", "}"))]
fn review(_: File<'_>) -> &'static str {
    ""
}

const SIZE: u64 = 4096;

/// Has parameters with a comma between them.
const fn no_members<const A: u8, const B: u8>() -> &'static str {
    "{}"
}

#[resource(
    "device://log",
    icons = ICONS,
    meta = no_members::<1, 2>(),
    annotations = Annotations::new().audience(&[Role::User]).priority(Decimal::new(5, -1)),
    size = SIZE,
)]
fn log() -> &'static str {
    ""
}

#[resource("device://pin/{id}", icons = ICONS, annotations = Annotations::new().audience(&[Role::Assistant]))]
fn pin(id: u8) -> u8 {
    id
}

static ROUTER: Router<()> = router![write, review, log, pin];
static CONFIG: ServerConfig = ServerConfig::new("entries", "1").features(ROUTER.features());

#[test]
fn attributes_set_every_member_of_an_entry() {
    let icons = json!([{ "src": "https://example.com/a.png", "sizes": ["48x48"] }]);
    let list = |method: &str, key: &str| -> Value {
        let lines = serve(&CONFIG, &ROUTER, &mut (), &(OPEN.to_owned() + &request(method, &json!({}))));
        lines.last().unwrap()["result"][key][0].clone()
    };
    let tool = list("tools/list", "tools");
    assert_eq!((&tool["icons"], &tool["_meta"]), (&icons, &json!({ "example.com/a": 1 })));
    assert_eq!(tool["inputSchema"]["properties"]["data"]["title"], "Content");
    let prompt = list("prompts/list", "prompts");
    assert_eq!(prompt["icons"], json!([{ "src": "https://example.com/b.svg", "theme": "dark" }]));
    assert_eq!(prompt["_meta"], json!({}));
    assert_eq!(
        prompt["arguments"],
        json!([
            { "name": "data", "title": "Content", "description": "What the file contains.", "required": true },
            { "name": "mode", "title": "Mode", "required": false },
        ])
    );
    assert_eq!(
        list("resources/list", "resources"),
        json!({
            "uri": "device://log", "name": "log", "icons": icons, "_meta": {},
            "annotations": { "audience": ["user"], "priority": 0.5 }, "size": 4096,
        })
    );
    let template = list("resources/templates/list", "resourceTemplates");
    assert_eq!(
        (&template["icons"], &template["annotations"]),
        (&icons, &json!({ "audience": ["assistant"] }))
    );
}
