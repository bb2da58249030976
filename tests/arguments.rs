//! Tools with derived arguments: schemas, decoding, errors.

use crate::support::transport::{give_input, take_output};
use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto::{Action, Decimal, Millis, Next, Server, ToolArguments};

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

/// The action that follows.
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
static CONFIG: ServerConfig = ServerConfig::new("lights", "1").features(&[&TOOLS]);

/// Returns a server's responses to these requests, in a session of this revision.
fn answers(revision: &str, requests: &[String]) -> Vec<String> {
    let initialize = format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    );
    let input = [&[initialize], requests].concat().join("\n") + "\n";
    let (mut input, mut output) = (input.as_bytes(), Vec::new());
    let (mut rx, mut tx) = ([0; 1024], [0; 2048]);
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
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

// Requirements E-X10 and E-X12 of docs/http-rules.md.
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
    // The range of a field is also checked if the field has a header.
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
        (r#"{"name":"a","percent":256}"#, "`percent`: expected an integer from 0 to 255, found 256"),
        (r#"{"name":"a","name":"b"}"#, "duplicate field `name`"),
        (r#"{"name":"a","level":1}"#, "unknown field `level`, expected one of `name`, `percent`, `then`"),
        (r#"{"name":"a","then":[]}"#, "`then`: expected an object, found []"),
        (r#"{"name":"a","then":{}}"#, "`then`: missing field `what`"),
        (r#"{"name":"a","then":{"what":7}}"#, "`then.what`: unknown value 7, expected one of `fade`, `off`"),
        (
            r#"{"name":"a","then":{"what":"on"}}"#,
            "`then.what`: unknown value \"on\", expected one of `fade`, `off`",
        ),
        (r#"{"name":"a","then":{"what":"off","x":1}}"#, "`then`: unknown field `x`, there are none"),
        (r#"{"name":"a","then":{"what":"off","what":"off"}}"#, "`then`: duplicate field `what`"),
        (
            r#"{"name":"a","then":{"seconds":[1,-1],"what":"fade"}}"#,
            "`then.seconds[1]`: expected an integer from 0 to 65535, found -1",
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

/// Sets the temperature of a room.
#[derive(Debug, PartialEq, ToolArguments)]
struct SetTarget {
    #[tool(range = 5.0..=30.5)]
    celsius: Decimal,
    #[tool(minimum = -0.5, default = 1.5)]
    tolerance: Decimal,
    limit: Option<Decimal>,
}

#[test]
fn decimal_argument_has_a_schema_with_decimal_bounds() {
    assert_eq!(
        SetTarget::INPUT_SCHEMA,
        concat!(
            r#"{"type":"object","properties":{"#,
            r#""celsius":{"type":"number","minimum":5.0,"maximum":30.5},"#,
            r#""tolerance":{"type":"number","minimum":-0.5,"default":1.5},"#,
            r#""limit":{"type":["number","null"]}"#,
            r#"},"required":["celsius"],"additionalProperties":false}"#,
        )
    );
}

#[test]
fn decimal_argument_is_exact_and_within_its_bounds() {
    let decode = |arguments: &str| {
        mcp_proto::json::decode_in_place::<SetTarget>(&mut arguments.as_bytes().to_vec())
            .map_err(|error| error.to_string())
    };
    let exact = |text| Decimal::parse(text).unwrap();
    for (arguments, [celsius, tolerance], limit) in [
        (r#"{"celsius":21.5}"#, ["21.5", "1.5"], None),
        (r#"{"celsius":5,"tolerance":-0.5,"limit":null}"#, ["5", "-0.5"], None),
        (r#"{"celsius":3.05e1,"limit":0.1}"#, ["30.5", "1.5"], Some("0.1")),
        (r#"{"celsius":20.000000000000000001}"#, ["20", "1.5"], None),
    ] {
        let [celsius, tolerance] = [celsius, tolerance].map(exact);
        let expected = SetTarget { celsius, tolerance, limit: limit.map(exact) };
        assert_eq!(decode(arguments), Ok(expected), "{arguments}");
    }
    for (arguments, error) in [
        (r#"{"celsius":30.51}"#, "`celsius`: expected a number of at least 5.0 and at most 30.5"),
        (r#"{"celsius":4.999999999}"#, "`celsius`: expected a number of at least 5.0 and at most 30.5"),
        (r#"{"celsius":"21.5"}"#, "`celsius`: expected a number, found \"21.5\""),
        (r#"{"celsius":20,"tolerance":-1}"#, "`tolerance`: expected a number of at least -0.5"),
        (r#"{"celsius":20,"limit":true}"#, "`limit`: expected a number, found true"),
    ] {
        assert_eq!(decode(arguments), Err(error.to_owned()), "{arguments}");
    }
}

#[test]
fn decimal_decodes_from_other_formats_like_from_text() {
    for text in ["21.5", "-3", "0.1", "1e300", "-2.2250738585072014e-308", "18446744073709551610"] {
        assert_eq!(serde_json::from_str::<Decimal>(text).unwrap(), Decimal::parse(text).unwrap());
    }
    assert!(serde_json::from_str::<Decimal>("\"21.5\"").is_err());
}

#[derive(Debug, PartialEq, ToolArguments)]
struct Display {
    title: heapless::String<4>,
    #[tool(min_length = 1, max_length = 2)]
    unit: Option<heapless::String<8>>,
    #[tool(min_items = 1)]
    colors: heapless::Vec<u8, 3>,
    #[tool(max_items = 2)]
    rows: heapless::Vec<heapless::String<2>, 4>,
}

#[test]
fn heapless_arguments_keep_the_limits_of_their_schema() {
    assert_eq!(
        Display::INPUT_SCHEMA,
        concat!(
            r#"{"type":"object","properties":{"title":{"type":"string","maxLength":4},"#,
            r#""unit":{"type":["string","null"],"minLength":1,"maxLength":2},"#,
            r#""colors":{"type":"array","items":{"type":"integer","minimum":0,"maximum":255},"minItems":1,"maxItems":3},"#,
            r#""rows":{"type":"array","items":{"type":"string","maxLength":2},"maxItems":2}"#,
            r#"},"required":["title","colors","rows"],"additionalProperties":false}"#,
        )
    );
    let decodes = |title: &str, unit: &str, colors: &str, rows: &str| {
        let text = format!(r#"{{"title":"{title}","unit":{unit},"colors":{colors},"rows":{rows}}}"#);
        mcp_proto::json::decode_in_place::<Display>(&mut text.into_bytes()).is_ok()
    };
    for (title, unit, colors, rows, is_valid) in [
        ("abcd", "null", "[1]", "[]", true),
        ("\u{e4}\u{e4}", "\"\u{1F4A1}\u{1F4A1}\"", "[1,2,3]", r#"["ab","c"]"#, true),
        // Three characters in six bytes.
        ("\u{e4}\u{e4}\u{e4}", "null", "[1]", "[]", false),
        ("abcde", "null", "[1]", "[]", false),
        ("a", "\"\"", "[1]", "[]", false),
        ("a", "\"abc\"", "[1]", "[]", false),
        ("a", "null", "[]", "[]", false),
        ("a", "null", "[1,2,3,4]", "[]", false),
        ("a", "null", "[1]", r#"["a","b","c"]"#, false),
        ("a", "null", "[1]", r#"["abc"]"#, false),
    ] {
        assert_eq!(decodes(title, unit, colors, rows), is_valid, "{title} {unit} {colors} {rows}");
    }
}

/**
 * Moves the arm:
 *
 * - up
 * - down
 */
#[derive(ToolArguments)]
struct MoveArm {
    /** How far,
     * in millimeters.
     */
    _distance: u8,
    /** The joints:
        - shoulder
        * elbow
    */
    _joints: u8,
    #[doc = "Speeds:\n* slow\n* fast"]
    _speed: u8,
}

#[test]
fn description_lacks_the_margin_of_a_block_comment() {
    assert_eq!(MoveArm::DESCRIPTION, Some("Moves the arm:\n\n- up\n- down"));
    for description in
        ["How far, in millimeters.", r"The joints:\n- shoulder\n* elbow", r"Speeds:\n* slow\n* fast"]
    {
        assert!(MoveArm::INPUT_SCHEMA.contains(&format!(r#""description":"{description}""#)));
    }
}

/// Types, traits and modules with the names of those that generated code uses.
#[allow(non_camel_case_types, dead_code)]
mod shadowed {
    use ::mcp_proto::{FormContent, Schema, ToolArguments, complete, prompt, resource, router, tool};

    struct Option;
    struct Result;
    struct Some;
    struct Ok;
    struct Err;
    struct String;
    struct bool;
    struct i128;
    struct str;
    struct u8;
    struct usize;
    trait Default {}
    trait From {}
    mod core {}
    mod std {}
    mod mcp_proto {}

    #[derive(ToolArguments)]
    #[serde(default)]
    pub(super) struct Arguments<'a> {
        #[tool(range = 1..=9, default = 3)]
        pub(super) number: u32,
        #[tool(range = 0.5..=1.5)]
        float: f32,
        #[tool(min_length = 1)]
        text: &'a ::core::primitive::str,
        #[tool(default = Speed::Some)]
        speed: Speed,
    }

    impl ::core::default::Default for Arguments<'_> {
        fn default() -> Self {
            Arguments { number: 1, float: 1.0, text: "", speed: Speed::None }
        }
    }

    #[derive(ToolArguments)]
    enum Speed {
        None,
        Some,
    }

    #[derive(ToolArguments)]
    #[serde(tag = "kind")]
    enum Action {
        Ok,
        Err { id: i8 },
    }

    #[derive(Schema)]
    struct Page<T> {
        items: [T; 2],
    }

    #[derive(FormContent)]
    struct Form {
        #[tool(default = 1.5)]
        size: f64,
        #[tool(default = Speed::Some)]
        speed: Speed,
    }

    #[tool]
    fn act(_: Arguments<'_>) -> u32 {
        1
    }

    #[derive(ToolArguments)]
    struct Name<'a> {
        name: &'a ::core::primitive::str,
    }

    #[prompt]
    fn ask(_: Name<'_>) -> &'static ::core::primitive::str {
        ""
    }

    #[resource("a:{id}")]
    fn read(id: i8) -> i8 {
        id
    }

    #[complete(prompt = "ask", argument = "name")]
    fn names(_typed: &::core::primitive::str) -> [&'static ::core::primitive::str; 1] {
        [""]
    }

    pub(super) static ROUTER: ::mcp_proto::server::Router<'_, ()> = router![act, ask, read, names];
}

#[test]
fn generated_code_uses_no_name_of_its_surroundings() {
    assert_eq!(shadowed::ROUTER.features().len(), 4);
    let decoded =
        mcp_proto::json::decode_in_place::<shadowed::Arguments<'_>>(&mut br#"{"text":"a"}"#.to_vec())
            .map(|arguments| arguments.number);
    assert_eq!(decoded.ok(), Some(3));
}

#[derive(Debug, PartialEq, ToolArguments)]
struct Widest {
    #[tool(range = 1..=340282366920938463463374607431768211455)]
    unsigned: u128,
    #[tool(minimum = -170141183460469231731687303715884105728, default = -1)]
    signed: i128,
    #[tool(minimum = 1, default = 340282366920938463463374607431768211455)]
    most: u128,
    #[tool(range = u128::MAX - 1..=u128::MAX)]
    constant: Option<u128>,
}

#[test]
fn bounds_have_up_to_128_bits() {
    for part in [
        r#""unsigned":{"type":"integer","minimum":1,"maximum":340282366920938463463374607431768211455}"#,
        r#""minimum":-170141183460469231731687303715884105728,"maximum":170141183460469231731687303715884105727"#,
        r#""default":340282366920938463463374607431768211455}"#,
        r#""minimum":340282366920938463463374607431768211454,"maximum":340282366920938463463374607431768211455}}"#,
    ] {
        assert!(Widest::INPUT_SCHEMA.contains(part), "{}", Widest::INPUT_SCHEMA);
    }
    let mut text = *br#"{"unsigned":340282366920938463463374607431768211455}"#;
    let expected = Widest { unsigned: u128::MAX, signed: -1, most: u128::MAX, constant: None };
    assert_eq!(mcp_proto::json::decode_in_place::<Widest>(&mut text).ok(), Some(expected));
}
