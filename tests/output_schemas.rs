//! Structured results: the schema and the value from one type, read by a client. Limits that are constants of a type.

use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::thread;

use mcp_proto::client::Connect;
use mcp_proto::server::{Event, Router, ServerConfig, Structured};
use mcp_proto::{Revision, Schema, ToolArguments, router, tool};
use mcp_proto_std::{ClientHandle, Connector, Serve};
use serde::{Deserialize, Serialize};

#[derive(ToolArguments)]
struct Where {
    place: String,
}

/// The weather of a place.
#[derive(Debug, PartialEq, Schema, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase", deserialize = "camelCase"))]
struct Weather {
    #[tool(format = "date-time")]
    measured_at: String,
    #[serde(rename(serialize = "sky"), alias = "sky")]
    clouds: Clouds,
    /// In degrees Celsius.
    levels: BTreeMap<String, f32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    days: Vec<Weather>,
    wind: Option<Wind>,
    #[serde(skip)]
    cached: bool,
}

#[derive(Debug, PartialEq, Schema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Clouds {
    None,
    #[serde(rename(serialize = "few", deserialize = "few"))]
    Scattered,
}

#[derive(Debug, PartialEq, Schema, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum Wind {
    Calm,
    From {
        #[tool(range = 0..=359)]
        degrees: u16,
    },
}

fn weather(cached: bool) -> Weather {
    Weather {
        measured_at: "2026-07-28T12:00:00Z".to_owned(),
        clouds: Clouds::Scattered,
        levels: BTreeMap::from([("ground".to_owned(), 21.5)]),
        days: vec![Weather {
            measured_at: String::new(),
            clouds: Clouds::None,
            levels: BTreeMap::new(),
            days: vec![],
            wind: Some(Wind::Calm),
            cached,
        }],
        wind: Some(Wind::From { degrees: 270 }),
        cached,
    }
}

/// Returns the weather.
#[tool(read_only)]
fn report(Where { place }: Where) -> Result<Structured<Weather>, String> {
    if place.is_empty() { Err("which place?".to_owned()) } else { Ok(Structured(weather(true))) }
}

static ROUTER: Router<()> = router![report];
static CONFIG: ServerConfig = ServerConfig::new("weather", "1").features(&[ROUTER.tools()]);

fn connect(connect: Connect) -> ClientHandle {
    let (here, there) = UnixStream::pair().unwrap();
    thread::spawn(move || {
        Serve::new(&CONFIG).stream(there, |event, _| {
            if let Event::Call(call) = event {
                ROUTER.call(&mut (), call);
            }
        })
    });
    Connector::new("test", "1").connect(connect).stream(here).unwrap()
}

const SCHEMA: &str = concat!(
    r##"{"type":"object","properties":{"measuredAt":{"type":"string","format":"date-time"},"##,
    r##""sky":{"type":"string","enum":["none","few"]},"##,
    r##""levels":{"type":"object","description":"In degrees Celsius.","additionalProperties":{"type":"number"}},"##,
    r##""days":{"type":"array","items":{"$ref":"#"}},"##,
    r##""wind":{"type":["object","null"],"oneOf":[{"type":"object","properties":{"kind":{"type":"string","const":"Calm"}},"##,
    r##""required":["kind"],"additionalProperties":false},"##,
    r##"{"type":"object","properties":{"kind":{"type":"string","const":"From"},"##,
    r##""degrees":{"type":"integer","minimum":0,"maximum":359}},"required":["kind","degrees"],"additionalProperties":false},"##,
    r##"{"type":"null"}]}},"required":["measuredAt","sky","levels"],"additionalProperties":false}"##,
);

#[test]
fn client_reads_a_structured_result_as_its_type() {
    for (mode, revision) in
        [(Connect::Automatic, Revision::V2026_07_28), (Connect::Handshake, Revision::V2025_11_25)]
    {
        let client = connect(mode);
        assert_eq!(client.server().revision, revision);
        let tools = client.list_tools().unwrap();
        assert_eq!(tools[0].output_schema.as_deref(), Some(SCHEMA));
        let result = client.call_json("report", r#"{"place": "harbor"}"#).unwrap();
        assert_eq!(result.structured_as::<Weather>().unwrap(), weather(false));
        let error = result.structured_as::<Vec<u8>>().unwrap_err();
        assert!(error.to_string().starts_with("expected an array"), "{error}");
        let failed = client.call_json("report", r#"{"place": ""}"#).unwrap();
        assert!(failed.is_error());
        let error = failed.structured_as::<Weather>().unwrap_err();
        assert_eq!(error.to_string(), "the result has no structured content");
    }
}

#[test]
fn view_decodes_into_a_buffer_of_the_caller() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Labels<'a> {
        first: &'a str,
    }
    let json = mcp_proto::json::Json::parse(br#"{"first":"a\n"}"#).unwrap();
    assert_eq!(json.decode_in::<Labels>(&mut [0; 15]).unwrap(), Labels { first: "a\n" });
    let error = json.decode_in::<Labels>(&mut [0; 14]).unwrap_err();
    assert_eq!(error.to_string(), "the value is longer than the buffer");
}

/// Samples in memory of the caller.
#[derive(Schema, Serialize)]
struct Samples<'a> {
    #[tool(max_items = Self::MOST)]
    samples: &'a [i16],
}

impl Samples<'_> {
    const MOST: usize = 512;
}

#[test]
fn results_may_borrow_lists() {
    let expected = r#"{"type":"object","properties":{"samples":{"type":"array","items":{"type":"integer","minimum":-32768,"maximum":32767},"maxItems":512}},"required":["samples"],"additionalProperties":false}"#;
    assert_eq!(Samples::JSON_SCHEMA, expected);
}

#[derive(ToolArguments)]
struct Constants<'a> {
    #[tool(max_length = Self::LONGEST)]
    name: &'a str,
    #[tool(max_items = Self::LONGEST - 1)]
    items: Box<[u8]>,
}

impl Constants<'_> {
    const LONGEST: usize = 3;
}

#[test]
fn limits_may_be_constants_of_the_type() {
    let expected = r#""name":{"type":"string","maxLength":3},"items":{"type":"array","items":{"type":"integer","minimum":0,"maximum":255},"maxItems":2}"#;
    assert!(Constants::INPUT_SCHEMA.contains(expected), "{}", Constants::INPUT_SCHEMA);
    for (text, lengths) in [
        (r#"{"name":"abc","items":[1,2]}"#, Some((3, 2))),
        (r#"{"name":"abcd","items":[]}"#, None),
        (r#"{"name":"","items":[1,2,3]}"#, None),
    ] {
        let mut text = text.as_bytes().to_vec();
        let decoded = mcp_proto::json::decode_in_place::<Constants<'_>>(&mut text);
        assert_eq!(decoded.map(|it| (it.name.len(), it.items.len())).ok(), lengths);
    }
}
