//! Tools with derived arguments: schemas, decoding, errors.

#![cfg(feature = "derive")]

use crate::support::transport::{give_input, take_output};
use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Millis, Next, Server, ToolArguments};

/// Sets one of the lights.
///
/// It takes a moment.
#[derive(ToolArguments)]
struct SetLight<'a> {
    /// Which one.
    name: &'a str,
    #[tool(range = 0..=100)]
    percent: u8,
    then: Option<After>,
}

/// What happens later.
#[derive(ToolArguments)]
#[serde(tag = "what", rename_all = "lowercase")]
enum After {
    Fade { colors: Option<char>, seconds: [u16; 2] },
    Off,
}

/// Values that HTTP repeats in header fields.
#[derive(ToolArguments)]
struct Deploy<'a> {
    #[tool(header = "Region")]
    region: &'a str,
    /// How many.
    #[tool(header = "Count", range = 1..=9, default = 3)]
    count: u8,
    #[tool(header = "Dry-Run")]
    dry_run: Option<bool>,
    options: Option<Options>,
}

#[derive(ToolArguments)]
struct Options {
    #[tool(header = "Speed")]
    speed: Speed,
}

#[derive(Debug, PartialEq, ToolArguments)]
#[serde(rename_all = "lowercase")]
enum Speed {
    Slow,
    Fast,
}

static TOOLS: Tools = Tools::new(&[Tool::with_arguments::<SetLight>("set_light")]);
static INFO: ServerConfig = ServerConfig::new("lights", "1").features(&[&TOOLS]);

/// A server's responses to these requests, in a session of this revision.
fn answers(revision: &str, requests: &[String]) -> Vec<String> {
    let initialize = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    );
    let input = [&[initialize], requests].concat().join("\n") + "\n";
    let (mut input, mut output) = (input.as_bytes(), Vec::new());
    let (mut rx, mut tx) = ([0; 1024], [0; 2048]);
    let mut server = Server::new(&INFO, &mut rx, &mut tx).unwrap();
    loop {
        match server.poll(Millis(0)) {
            Action::Io(io) => match io.next() {
                Next::Write(out) => {
                    take_output(out, usize::MAX, &mut output);
                }
                Next::Read(receive) if input.is_empty() => receive.eof(),
                Next::Read(receive) => _ = give_input(receive, usize::MAX, &mut input),
                Next::Wait => {}
            },
            Action::Event => {
                if let Some(Event::Call(call)) = server.event() {
                    call.with(|call, SetLight { name, percent, then }| {
                        let then = then.map_or("nothing", |then| match then {
                            After::Fade { seconds: [0, _], colors: None } => "a fade at once",
                            After::Fade { .. } => "a fade",
                            After::Off => "off",
                        });
                        call.text(format_args!("{name} is at {percent}, then {then}"));
                    });
                }
            }
            Action::Closed => break,
        }
    }
    let output = String::from_utf8(output).unwrap();
    output.lines().skip(1).map(str::to_owned).collect()
}

fn call(arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"set_light","arguments":{arguments}}}}}"#
    )
}

#[test]
fn derived_tool_is_listed_with_its_schema() {
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned();
    let listed = answers("2025-11-25", &[list]);
    let answer: serde_json::Value = serde_json::from_str(&listed[0]).unwrap();
    let tool = &answer["result"]["tools"][0];
    assert_eq!(tool["description"], "Sets one of the lights.\n\nIt takes a moment.");
    assert_eq!(
        tool["inputSchema"],
        serde_json::from_str::<serde_json::Value>(SetLight::INPUT_SCHEMA).unwrap()
    );
    assert_eq!(tool["inputSchema"].get("description"), None);
    assert_eq!(tool["inputSchema"]["properties"]["then"]["oneOf"][2]["type"], "null");
}

// E-X10, E-X12
#[test]
fn fields_with_a_header_are_annotated_in_the_schema() {
    static TOOLS: Tools = Tools::new(&[Tool::with_arguments::<Deploy>("deploy")]);
    assert!(TOOLS.get("deploy").is_some());
    assert_eq!(
        Deploy::INPUT_SCHEMA,
        concat!(
            r#"{"type":"object","properties":{"#,
            r#""region":{"type":"string","x-mcp-header":"Region"},"#,
            r#""count":{"type":"integer","description":"How many.","minimum":1,"maximum":9,"default":3,"#,
            r#""x-mcp-header":"Count"},"#,
            r#""dry_run":{"type":"boolean","x-mcp-header":"Dry-Run"},"#,
            r#""options":{"type":["object","null"],"properties":{"#,
            r#""speed":{"type":"string","enum":["slow","fast"],"x-mcp-header":"Speed"}"#,
            r#"},"required":["speed"],"additionalProperties":false}"#,
            r#"},"required":["region"],"additionalProperties":false}"#,
        )
    );
    let mut text = *br#"{"region":"eu","dry_run":null,"options":{"speed":"fast"}}"#;
    let Deploy { region, count, dry_run, options } = mcp_proto::json::decode_in_place(&mut text).unwrap();
    let speed = options.map(|options| options.speed);
    assert_eq!((region, count, dry_run, speed), ("eu", 3, None, Some(Speed::Fast)));
    // The limits of a field with a header hold.
    assert!(
        mcp_proto::json::decode_in_place::<Deploy>(&mut br#"{"region":"eu","count":10}"#.to_vec()).is_err()
    );
}

#[test]
fn valid_derived_arguments_reach_the_handler() {
    for (arguments, text) in [
        (r#"{"name":"d\u0065sk","percent":1e2}"#, "desk is at 100, then nothing"),
        (r#"{"then":null,"percent":0,"name":""}"#, " is at 0, then nothing"),
        (r#"{"name":"a","percent":1,"then":{"what":"off"}}"#, "a is at 1, then off"),
        (
            r#"{"then":{"seconds":[0.0,1],"wh\u0061t":"f\u0061de"},"name":"a","percent":1}"#,
            "a is at 1, then a fade at once",
        ),
    ] {
        let answer = answers("2025-11-25", &[call(arguments)]);
        assert!(answer[0].contains(&format!(r#""text":"{text}""#)), "{answer:?}");
        assert!(!answer[0].contains("isError"), "{answer:?}");
    }
}

#[test]
fn invalid_derived_arguments_are_answered_with_the_field_name() {
    for (arguments, why) in [
        ("{}", "missing field `name`"),
        (r#"{"name":"a","percent":101}"#, "`percent`: expected an integer from 0 to 100"),
        (r#"{"name":"a","percent":256}"#, "`percent`: expected u8, found 256"),
        (r#"{"name":"a","name":"b"}"#, "duplicate field `name`"),
        (r#"{"name":"a","level":1}"#, "unknown field `level`, expected one of `name`, `percent`, `then`"),
        (r#"{"name":"a","then":[]}"#, "`then`: expected an object, found []"),
        (r#"{"name":"a","then":{}}"#, "`then`: missing field `what`"),
        (
            r#"{"name":"a","then":{"what":7}}"#,
            "`then.what`: unknown variant 7, expected one of `fade`, `off`",
        ),
        (
            r#"{"name":"a","then":{"what":"on"}}"#,
            "`then.what`: unknown variant \"on\", expected one of `fade`, `off`",
        ),
        (r#"{"name":"a","then":{"what":"off","x":1}}"#, "`then`: unknown field `x`, there are none"),
        (r#"{"name":"a","then":{"what":"off","what":"off"}}"#, "`then`: duplicate field `what`"),
        (
            r#"{"name":"a","then":{"seconds":[1,-1],"what":"fade"}}"#,
            "`then.seconds[1]`: expected u16, found -1",
        ),
    ] {
        let escaped = why.replace('"', "\\\"");
        let answer = answers("2025-11-25", &[call(arguments)]);
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"content":[{{"type":"text","text":"Invalid arguments: {escaped}"}}],"isError":true}}}}"#
        );
        assert_eq!(answer, [expected]);
        let answer = answers("2025-06-18", &[call(arguments)]);
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32602,"message":"Invalid arguments: {escaped}"}}}}"#
        );
        assert_eq!(answer, [expected]);
    }
}

#[test]
fn members_beside_derived_arguments_are_still_read() {
    type Around<'a> = (SetLight<'a>, u8);
    let read = |text: &str| {
        let mut text = text.as_bytes().to_vec();
        mcp_proto::json::decode_in_place::<Around<'_>>(&mut text)
            .map(|(light, level)| (light.percent, level))
            .ok()
    };
    // Only derived decoders accept a whole number with a decimal point.
    assert_eq!(read(r#"[{"name":"a","percent":2.0},7]"#), Some((2, 7)));
    for end in ["}", " }", r#","then":null}"#, r#","then":{"what":"off"}}"#, r#","then":{"what":"off"} }"#] {
        assert_eq!(read(&format!(r#"[{{"name":"a","percent":2{end},7]"#)), Some((2, 7)));
        assert_eq!(read(&format!(r#"[{{"name":"a","percent":2{end},7.0]"#)), None);
    }
}
