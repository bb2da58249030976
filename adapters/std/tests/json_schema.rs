//! Arguments and results of types that derive `JsonSchema`.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::sync::LazyLock;
use std::thread;

use mcp_proto_std::client::Connect;
use mcp_proto_std::json_schema::{Schemars, arguments, result};
use mcp_proto_std::server::{Call, Event, Failure, Feature, Logging, ServerConfig, Tool, Tools};
use mcp_proto_std::{ClientHandle, Connector, Router, Serve, prompt, route, router, tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Moves a robot.
///
/// It takes a while.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Move {
    #[serde(flatten)]
    position: Position,
    #[serde(default = "three", alias = "v")]
    top_speed: u8,
    /// Notes for people.
    #[serde(rename(serialize = "out", deserialize = "notes"), default)]
    texts: BTreeMap<String, Vec<Note>>,
}

fn three() -> u8 {
    3
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Position {
    x: i32,
    #[serde(rename(serialize = "Y", deserialize = "y"))]
    y: i32,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum Note {
    Text(String),
    More { notes: Vec<Note> },
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
#[allow(dead_code)]
enum Tagged {
    One { a: u8 },
    Two,
}

static CATALOG: LazyLock<[Tool; 2]> =
    LazyLock::new(|| [result::<Position>(arguments::<Move>("move")), arguments::<Tagged>("tagged")]);
static TOOLS: LazyLock<Tools> = LazyLock::new(|| Tools::new(&*CATALOG));

fn on_call(call: Call<'_>) {
    match call.name() {
        "move" => call.with(|call, Move { position: Position { x, y }, top_speed, texts }| {
            let speed = i32::from(top_speed);
            assert!(texts.len() < 2);
            call.structured(&Position { x: x + speed, y: y + speed });
        }),
        _ => {
            call.with(|call, tagged: Tagged| call.text(if let Tagged::Two = tagged { "two" } else { "one" }))
        }
    }
}

fn connect() -> ClientHandle {
    let (here, there) = UnixStream::pair().unwrap();
    thread::spawn(move || {
        let features: [&dyn Feature; 1] = [&*TOOLS];
        let info = ServerConfig::new("robot", "1").features(&features);
        Serve::new(&info).stream(there, |event, _| {
            if let Event::Call(call) = event {
                on_call(call);
            }
        })
    });
    Connector::new("test", "1").connect(Connect::Automatic).stream(here).unwrap()
}

#[test]
fn schemas_of_schemars_are_listed() {
    let tools = connect().list_tools().unwrap();
    assert_eq!(tools[0].description.as_deref(), Some("Moves a robot.\n\nIt takes a while."));
    let schema: serde_json::Value = serde_json::from_str(&tools[0].input_schema).unwrap();
    let members: Vec<_> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        (members, &schema["required"]),
        (vec!["notes", "topSpeed", "x", "y"], &serde_json::json!(["x", "y"]))
    );
    assert_eq!(schema["properties"]["topSpeed"]["default"], 3);
    assert_eq!(schema["properties"]["notes"]["additionalProperties"]["items"]["$ref"], "#/$defs/Note");
    assert!(schema.get("description").is_none() && schema.get("$schema").is_none());
    let output: serde_json::Value = serde_json::from_str(tools[0].output_schema.as_deref().unwrap()).unwrap();
    assert_eq!((&output["type"], &output["required"]), (&"object".into(), &serde_json::json!(["x", "Y"])));
    let tagged: serde_json::Value = serde_json::from_str(&tools[1].input_schema).unwrap();
    assert_eq!((&tagged["type"], tagged["oneOf"].as_array().unwrap().len()), (&"object".into(), 2));
}

#[test]
fn arguments_follow_the_attributes_of_serde() {
    let client = connect();
    for (arguments, x) in
        [(r#"{"x":1,"y":2}"#, 4), (r#"{"y":2,"v":7,"x":1,"notes":{"a":["b",{"notes":["c"]}]}}"#, 8)]
    {
        let result = client.call_json("move", arguments).unwrap();
        assert_eq!(result.structured().unwrap().raw(), format!(r#"{{"x":{x},"Y":{}}}"#, x + 1));
    }
    let refused = client.call_json("move", r#"{"x":1}"#).unwrap();
    assert!(refused.is_error() && refused.text().unwrap().contains("missing field `y`"), "{refused:?}");
    assert_eq!(client.call_json("tagged", r#"{"kind":"two"}"#).unwrap().text().as_deref(), Some("two"));
}

#[test]
#[should_panic = "the schema of `uint8` does not describe an object"]
fn arguments_that_are_no_object_are_refused() {
    let _ = arguments::<u8>("number");
}

/// The schema of documented variants is `oneOf`.
#[derive(JsonSchema)]
#[allow(dead_code)]
enum Documented {
    /// The first.
    One,
    /// The second.
    Two,
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum Number {
    Integer(i32),
    Float(f32),
}

/// Values are `"Unit"` and `{"Position":{…}}`.
#[derive(JsonSchema)]
#[allow(dead_code)]
enum Mixed {
    Unit,
    Position(Position),
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[allow(dead_code)]
enum Objects {
    Position(Position),
    Tagged(Tagged),
    Map(BTreeMap<String, u8>),
    More { more: Box<Objects> },
    Same(Box<Objects>),
}

#[derive(JsonSchema)]
#[allow(dead_code)]
struct Newtype(Objects);

#[test]
fn each_value_of_an_enum_must_be_an_object() {
    let refused: [fn(&'static str) -> Tool<'static>; 4] =
        [arguments::<Documented>, arguments::<Number>, arguments::<Mixed>, arguments::<Option<Position>>];
    for arguments in refused {
        let panic = std::panic::catch_unwind(|| arguments("a")).unwrap_err();
        assert!(panic.downcast_ref::<String>().unwrap().ends_with("does not describe an object"));
    }
    for tool in [arguments::<Objects>("a"), arguments::<Newtype>("b")] {
        let schema: serde_json::Value = serde_json::from_str(tool.input_schema()).unwrap();
        assert_eq!(schema["type"], "object", "{schema}");
    }
}

#[test]
fn schema_of_one_type_is_stored_once() {
    let [first, second] = [arguments::<Move>("a"), arguments::<Move>("b")];
    assert!(std::ptr::eq(first.input_schema(), second.input_schema()));
}

#[test]
fn types_with_the_same_name_have_their_own_schemas() {
    let first = {
        /// The first one.
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Args {
            first: u8,
        }
        arguments::<Args>("first")
    };
    let second = {
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Args {
            second: bool,
        }
        arguments::<Args>("second")
    };
    assert!(first.input_schema().contains(r#""properties":{"first":{"#), "{}", first.input_schema());
    assert!(second.input_schema().contains(r#""properties":{"second":{"#), "{}", second.input_schema());
}

/// A chapter. It contains books, and a book contains chapters.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Chapter {
    title: String,
    quotes: Vec<Book>,
}

/// A book.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Book {
    chapters: Vec<Chapter>,
}

struct Robot {
    offset: i32,
}

/// Moves the robot of the router.
#[tool(name = "move", idempotent)]
fn move_to(robot: &Robot, Schemars(target): Schemars<Move>) -> Result<Schemars<Position>, Failure> {
    let Position { x, y } = target.position;
    let sum = x.checked_add(robot.offset).ok_or("too far")?;
    Ok(Schemars(Position { x: sum, y }))
}

#[tool(blocking)]
fn longest(Schemars(Book { chapters }): Schemars<Book>) -> Result<Schemars<Chapter>, &'static str> {
    chapters.into_iter().max_by_key(|chapter| chapter.quotes.len()).map(Schemars).ok_or("no chapter")
}

#[tool]
fn plain() -> &'static str {
    "plain"
}

#[prompt]
fn greeting() -> &'static str {
    "hello"
}

static ROUTER: Router<Robot> = router![plain, move_to, longest, greeting];
static CONFIG: LazyLock<ServerConfig> = LazyLock::new(|| {
    let features = [ROUTER.generated_features(), &[&Logging]].concat();
    ServerConfig::new("robot", "1").features(features.leak())
});

fn connect_to_router() -> ClientHandle {
    let (here, there) = UnixStream::pair().unwrap();
    thread::spawn(move || Serve::new(&CONFIG).stream(there, route(&ROUTER, Robot { offset: 10 })));
    Connector::new("test", "1").connect(Connect::Automatic).stream(here).unwrap()
}

#[test]
fn functions_use_schemas_of_schemars_for_arguments_and_results() {
    let client = connect_to_router();
    let tools = client.list_tools().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["plain", "move", "longest"]);
    let descriptions: Vec<_> = tools.iter().map(|tool| tool.description.as_deref()).collect();
    // The comment of the function takes precedence over the comment of the type.
    assert_eq!(descriptions, [None, Some("Moves the robot of the router."), Some("A book.")]);
    assert_eq!(tools[0].output_schema, None);
    let catalog = arguments::<Move>("move");
    assert_eq!(tools[1].input_schema, catalog.input_schema());
    assert_eq!(tools[1].output_schema.as_deref(), result::<Position>(catalog).result_schema());
    let book: serde_json::Value = serde_json::from_str(&tools[2].input_schema).unwrap();
    assert_eq!(book["$defs"]["Chapter"]["properties"]["quotes"]["items"]["$ref"], "#");
    assert_eq!(client.list_prompts().unwrap().len(), 1);
}

#[test]
fn functions_decode_and_encode_types_of_schemars() {
    let client = connect_to_router();
    let moved = client.call_json("move", r#"{"x":1,"y":2,"v":9}"#).unwrap();
    assert_eq!(moved.structured().unwrap().raw(), r#"{"x":11,"Y":2}"#);
    let failed = client.call_json("move", r#"{"x":2147483647,"y":2}"#).unwrap();
    assert!(failed.is_error() && failed.text().as_deref() == Some("too far"));
    let refused = client.call_json("move", r#"{"x":1}"#).unwrap();
    assert!(refused.is_error() && refused.text().unwrap().contains("missing field `y`"), "{refused:?}");
    let book = r#"{"chapters":[{"title":"a","quotes":[]},{"title":"b","quotes":[{"chapters":[]}]}]}"#;
    let longest = client.call_json("longest", book).unwrap();
    assert_eq!(longest.structured().unwrap().raw(), r#"{"title":"b","quotes":[{"chapters":[]}]}"#);
}

#[test]
#[should_panic = "use `generated_features()` instead"]
fn features_of_a_router_do_not_contain_generated_schemas() {
    let _ = ROUTER.features();
}
