//! The JSON writer of the public interface against `serde_json`, and under misuse.

use mcp_proto::Decimal;
use mcp_proto::client::{ClientConfig, Connect};
use mcp_proto::json::{Json, Writer};
use mcp_proto::{Action, Buffer, Client, Millis, State};
use mcp_proto_proptests::transfer::transfer;
use proptest::prelude::*;
use serde_json::{Map, Number, Value, json};

static CONFIG: ClientConfig = ClientConfig::new("c", "1").connect(Connect::Handshake);

/// Moves bytes until no more move. Returns the output.
fn run_until_idle(client: &mut Client<'_>, mut input: &[u8]) -> String {
    let mut output = Vec::new();
    loop {
        match client.poll(Millis(0)) {
            Action::Io(io) => {
                if !transfer(io, &mut input, &mut output) {
                    return String::from_utf8(output).unwrap();
                }
            }
            Action::Event => drop(client.event()),
            Action::Closed => panic!("the server closed"),
        }
    }
}

/// Returns the line of a notification whose params `body` writes, or `None` if the client does not send the
/// notification. `room` is the length of the transmit buffer.
fn written(room: usize, body: &dyn Fn(&mut Writer<'_>)) -> Option<String> {
    let mut client = Client::new(&CONFIG, Buffer::grown(512), Buffer::grown(room)).unwrap();
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
    run_until_idle(&mut client, &[answer.as_bytes(), b"\n"].concat());
    assert_eq!(client.state(), State::Ready);
    let sent = client.notify("x", body).is_ok();
    let output = run_until_idle(&mut client, b"");
    assert_eq!(output.is_empty(), !sent, "{output}");
    assert_eq!(output.matches('\n').count(), usize::from(sent), "{output}");
    sent.then_some(output)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        ("-?[1-9][0-9]{0,16}", -300i16..300).prop_map(|(digits, power)| {
            let text = Decimal::new(digits.parse().expect("digits"), power).to_string();
            Value::Number(text.parse::<Number>().expect("a number"))
        }),
        any::<String>().prop_map(Value::from),
        "[\"\\\\\u{0}-\u{1f}\u{7f}\u{2028}😀a]{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Writes a value. `way` selects among the methods of the writer that write the same value.
fn write(out: &mut Writer<'_>, value: &Value, way: u8) {
    match value {
        Value::Null => out.null(),
        Value::Bool(value) => out.boolean(*value),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(value), _) => out.integer(value),
            (_, Some(value)) => out.unsigned(value),
            _ => out.decimal(Decimal::parse(number.as_str()).expect("a number")),
        },
        Value::String(text) => {
            let json = value.to_string();
            match way % 4 {
                0 => out.string(text),
                1 => out.display(&text.as_str()),
                2 => out.text(Json::parse(json.as_bytes()).unwrap().string().unwrap()),
                _ => out.display(&format_args!("{text}")),
            }
        }
        Value::Array(_) | Value::Object(_) if way % 5 == 4 => {
            let text = serde_json::to_string_pretty(value).unwrap();
            match way % 2 {
                0 => out.raw(&text).unwrap(),
                _ => out.json(Json::parse(text.as_bytes()).unwrap()),
            }
        }
        Value::Array(items) => {
            out.begin_array();
            items.iter().for_each(|item| write(out, item, way.wrapping_mul(7).wrapping_add(1)));
            out.end_array();
        }
        Value::Object(members) => {
            out.begin_object();
            write_members(out, members, way);
            out.end_object();
        }
    }
}

fn write_members(out: &mut Writer<'_>, members: &Map<String, Value>, way: u8) {
    for (name, value) in members {
        out.key(name);
        write(out, value, way.wrapping_mul(5).wrapping_add(3));
    }
}

/// Returns the value with all numbers in one notation, because the exponents of `serde_json` may differ.
fn with_normal_numbers(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(Decimal::parse(number.as_str()).expect("a number").to_string()),
        Value::Array(items) => items.iter().map(with_normal_numbers).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), with_normal_numbers(value))).collect()
        }
        other => other.clone(),
    }
}

/// An operation of the writer.
#[derive(Debug, Clone)]
enum Operation {
    BeginArray,
    EndArray,
    BeginObject,
    EndObject,
    Key(String),
    Text(String),
    Integer(i64),
    Bytes(Vec<u8>),
    Raw(&'static str),
    Mark,
    Rollback,
    Field(i64),
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        2 => Just(Operation::BeginArray),
        2 => Just(Operation::EndArray),
        2 => Just(Operation::BeginObject),
        2 => Just(Operation::EndObject),
        4 => "[a-c]".prop_map(Operation::Key),
        2 => any::<String>().prop_map(Operation::Text),
        3 => any::<i64>().prop_map(Operation::Integer),
        1 => prop::collection::vec(any::<u8>(), 0..9).prop_map(Operation::Bytes),
        1 => prop::sample::select(vec!["1", " [1,\n2] ", "{", "\"a\": 1", "]", ",", "1 2", ""]).prop_map(Operation::Raw),
        1 => Just(Operation::Mark),
        1 => Just(Operation::Rollback),
        3 => any::<i64>().prop_map(Operation::Field),
    ]
}

proptest! {
    #![proptest_config(crate::config(600))]

    #[test]
    fn serde_json_reads_what_the_writer_writes(value in value(), way: u8) {
        let text = written(65_536, &|out| {
            out.key("value");
            write(out, &value, way);
        });
        let read: Value = serde_json::from_str(&text.unwrap()).unwrap();
        prop_assert_eq!(with_normal_numbers(&read["params"]["value"]), with_normal_numbers(&value));
    }

    #[test]
    fn misused_writer_sends_json_or_nothing(operations in prop::collection::vec(operation(), 0..12), room in 320usize..420) {
        let text = written(room, &|out| {
            let mut mark = out.mark();
            for act in &operations {
                match act {
                    Operation::BeginArray => out.begin_array(),
                    Operation::EndArray => out.end_array(),
                    Operation::BeginObject => out.begin_object(),
                    Operation::EndObject => out.end_object(),
                    Operation::Key(key) => out.key(key),
                    Operation::Text(text) => out.string(&text.repeat(4)),
                    Operation::Integer(value) => out.integer(*value),
                    Operation::Bytes(bytes) => out.base64(bytes),
                    Operation::Raw(text) => drop(out.raw(text)),
                    Operation::Mark => mark = out.mark(),
                    Operation::Rollback => out.rollback(mark),
                    Operation::Field(value) => out.field_integer("n", *value),
                }
            }
        });
        if let Some(text) = text {
            let read: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(&read["method"], &json!("x"));
            prop_assert!(read.as_object().unwrap().len() <= 3, "a member outside the params: {}", text);
        }
    }
}
