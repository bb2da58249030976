//! Strategies for JSON texts with white space, escapes and duplicates, valid or damaged.

use crate::matching;
use proptest::prelude::*;
use proptest::strategy::Union;

type Text = BoxedStrategy<String>;

fn space() -> Text {
    prop_oneof![6 => Just(String::new()), 1 => matching("[ \t\r\n]{1,3}")].boxed()
}

fn number() -> Text {
    prop_oneof![
        4 => matching("-?[1-9][0-9]{0,4}|0"),
        1 => matching("-?(0|[1-9][0-9]{0,22})(\\.[0-9]{1,6})?([eE][+-]?[0-9]{1,3})?"),
    ]
    // `-0` is an integer in `mcp-proto`, and a float in `serde_json`.
    .prop_filter("-0", |text| text != "-0")
    .boxed()
}

/// Generates characters in any JSON spelling.
fn spelled() -> Text {
    prop_oneof![
        8 => matching("[a-z]{1,12}"),
        2 => matching("[ -!#-\\[\\]-~]{1,20}"),
        2 => matching("\\PC").prop_filter("needs an escape", |text| !text.contains(['"', '\\'])),
        2 => prop::sample::select(vec!["\\\"", "\\\\", "\\/", "\\b", "\\f", "\\n", "\\r", "\\t"]).prop_map(str::to_owned),
        2 => any::<char>().prop_map(|character| {
            let mut units = [0; 2];
            character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
        }),
        1 => matching("\\\\u00[2-7][0-9A-Fa-f]"),
    ]
    .boxed()
}

/// Generates a string with its quotes.
pub(crate) fn string() -> Text {
    prop::collection::vec(spelled(), 0..8).prop_map(|parts| format!("\"{}\"", parts.concat())).boxed()
}

fn scalar() -> Text {
    prop_oneof![
        2 => number(),
        3 => string(),
        1 => prop::sample::select(vec!["true", "false", "null"]).prop_map(str::to_owned),
    ]
    .boxed()
}

/// Generates a member name, often one of a few.
fn name() -> Text {
    let known = prop::sample::select(vec![
        "\"id\"",
        "\"\\u0069d\"",
        "\"method\"",
        "\"params\"",
        "\"par\\u0061ms\"",
        "\"result\"",
        "\"error\"",
        "\"jsonrpc\"",
        "\"jsonrpc2\"",
        "\"\"",
        "\"Struct\"",
        "\"Newtype\"",
        "\"7\"",
    ]);
    prop_oneof![2 => known.prop_map(str::to_owned), 1 => string()].boxed()
}

fn array(item: Text) -> Text {
    let items = prop::collection::vec((space(), item, space()), 0..5);
    (items, space())
        .prop_map(|(items, space)| {
            let items: Vec<_> = items.into_iter().map(|(left, item, right)| left + &item + &right).collect();
            if items.is_empty() { format!("[{space}]") } else { format!("[{}]", items.join(",")) }
        })
        .boxed()
}

fn object(value: Text) -> Text {
    let members = prop::collection::vec((space(), name(), space(), value, space()), 0..6);
    (members, space())
        .prop_map(|(members, space)| {
            let members: Vec<_> = members
                .into_iter()
                .map(|(left, name, middle, value, right)| {
                    format!("{left}{name}{middle}:{right}{value}{left}")
                })
                .collect();
            if members.is_empty() { format!("{{{space}}}") } else { format!("{{{}}}", members.join(",")) }
        })
        .boxed()
}

fn value() -> Text {
    scalar()
        .prop_recursive(5, 40, 5, |inner| prop_oneof![array(inner.clone().boxed()), object(inner.boxed())])
        .boxed()
}

/// Generates any JSON text.
pub(crate) fn json() -> Text {
    (space(), value(), space()).prop_map(|(left, value, right)| left + &value + &right).boxed()
}

/// Generates a text whose outermost value is an object, often with members of a JSON-RPC message.
pub(crate) fn message() -> Text {
    (space(), object(value()), space()).prop_map(|(left, value, right)| left + &value + &right).boxed()
}

/// Generates a text near the depth limit, with brackets of both kinds.
fn deep() -> Text {
    (120u32..135, any::<[u64; 2]>(), scalar(), any::<bool>())
        .prop_map(|(levels, kinds, inner, filled)| {
            let is_object = |level: u32| kinds[level as usize % 2] >> (level / 2 % 64) & 1 == 1;
            let open = |level| if is_object(level) { "{\"]\":" } else { "[" };
            let close = |level| if is_object(level) { "}" } else { "]" };
            let filler = if filled || is_object(levels - 1) { inner } else { String::new() };
            let (before, behind): (String, String) =
                ((0..levels).map(open).collect(), (0..levels).rev().map(close).collect());
            before + &filler + &behind
        })
        .boxed()
}

/// Generates a string with its quotes, with random surrogate halves and invalid escapes.
pub(crate) fn odd_string() -> Text {
    let odd = prop::sample::select(vec![
        "\\ud83d", "\\uDE00", "\\udbff", "\\uDFFF", "\\uD7FF", "\\uE000", "\\u0000", "\\u007f", "\\u0080",
        "\\u07FF", "\\u0800", "\\uFFFF", "\\u12", "\\x41", "\\", "\u{7f}", "\u{1f}", "\u{0}", "é", "😀",
        "\u{fffd}",
    ]);
    let part = prop_oneof![4 => odd.prop_map(str::to_owned), 1 => spelled()];
    prop::collection::vec(part, 0..6).prop_map(|parts| format!("\"{}\"", parts.concat())).boxed()
}

/// Generates a number, mostly near the bounds of a type, in any notation.
pub(crate) fn any_number() -> Text {
    let bounds =
        [8, 16, 32, 53, 63, 64, 127].map(|bits| 1u128 << bits).into_iter().chain([0, u128::MAX, 10, 1000]);
    let digits = (prop::sample::select(bounds.collect::<Vec<_>>()), -2i128..=2)
        .prop_map(|(bound, by)| bound.saturating_add_signed(by).to_string());
    let digits = prop_oneof![4 => digits, 1 => matching("[1-9][0-9]{0,45}")];
    let rest = prop_oneof![
        4 => Just(String::new()),
        1 => matching("\\.0{1,3}"),
        1 => matching("\\.[0-9]{1,25}"),
        1 => matching("[eE][+-]?[0-9]{1,2}"),
        1 => matching("\\.[0-9]{1,5}[eE][+-]?[0-9]{1,3}"),
        1 => matching("e-?99999999999999999999"),
    ];
    (matching("-?"), digits, rest).prop_map(|(sign, digits, rest)| sign + &digits + &rest).boxed()
}

/// Generates a text, usually JSON, with at most three changes.
pub(crate) fn damaged() -> BoxedStrategy<Vec<u8>> {
    damage(prop_oneof![10 => json(), 10 => message(), 2 => deep(), 1 => odd_string(), 1 => any_number()])
}

/// Generates one of these texts with at most three changes. A change inserts, replaces or removes a byte, or truncates
/// the text.
pub(crate) fn damage(texts: impl Strategy<Value = String> + 'static) -> BoxedStrategy<Vec<u8>> {
    let byte = prop_oneof![
        4 => prop::sample::select(b"{}[]\",:\\/u0123456789abcdefE+-.tn \n\t\r".to_vec()),
        1 => any::<u8>(),
        1 => prop::sample::select(vec![0xC2, 0xE0, 0xED, 0xF0, 0xF4, 0x80, 0x9F, 0xA0, 0xBF, 0xFF]),
    ];
    let change = (any::<prop::sample::Index>(), 0u8..4, byte);
    (texts, prop::collection::vec(change, 0..4))
        .prop_map(|(text, changes)| {
            let mut text = text.into_bytes();
            for (place, what, byte) in changes {
                let at = place.index(text.len() + 1);
                match what {
                    0 => text.insert(at, byte),
                    1 if at < text.len() => text[at] = byte,
                    2 if at < text.len() => drop(text.remove(at)),
                    3 if byte < 32 => text.truncate(at),
                    _ => {}
                }
            }
            text
        })
        .boxed()
}

/// Generates mostly a value of `right`, sometimes any value.
fn likely(right: impl Strategy<Value = String> + 'static) -> Text {
    prop_oneof![60 => right, 1 => value()].boxed()
}

fn integer(digits: &str) -> Text {
    let pattern = format!("-?[1-9][0-9]{{0,{digits}}}|0");
    matching(&pattern).boxed()
}

fn float() -> Text {
    "-?[1-9][0-9]{0,3}(\\.[0-9]{1,3})?(e[0-9])?|0\\.5|-0\\.25|-0|1e-3".boxed()
}

fn choice() -> Text {
    prop_oneof![
        Just("\"Unit\"".to_owned()),
        Just("{\"Unit\":null}".to_owned()),
        integer("8").prop_map(|number| format!("{{ \"Newtype\" : {number} }}")),
        string().prop_map(|string| format!("{{\"Tuple\":[7, {string}]}}")),
        Just("{\"Struct\":{\"level\":null,\"on\":true,\"more\":[{}]}}".to_owned()),
        likely(Just("\"Uni\\u0074\"".to_owned())),
    ]
    .boxed()
}

fn letter() -> Text {
    prop_oneof![Just("\"x\"".to_owned()), Just("\"\\ud83d\\ude00\"".to_owned()), Just("\"\\n\"".to_owned())]
        .boxed()
}

fn mapping(name: Text, value: Text) -> Text {
    prop::collection::vec((name, space(), value), 0..4)
        .prop_map(|members| {
            let members: Vec<_> =
                members.into_iter().map(|(name, space, value)| format!("{name}{space}:{value}")).collect();
            format!("{{{}}}", members.join(","))
        })
        .boxed()
}

/// Generates an object for the type `Everything` of the module `json`. Members come in any order. One member may be
/// missing, and one may occur twice. A few values do not fit the type.
pub(crate) fn everything() -> Text {
    let leaf = fields(Just("null".to_owned()).boxed());
    prop_oneof![2 => fields(Just("null".to_owned()).boxed()), 1 => fields(leaf)].boxed()
}

fn fields(inner: Text) -> Text {
    // In names that are numbers, `serde_json` refuses escapes, and the decoder of `mcp-proto` accepts them.
    let other_name = string().prop_filter("escaped", |text| !text.contains('\\'));
    let number_name = prop_oneof![20 => matching("\"[1-9][0-9]{0,3}\""), 1 => other_name].boxed();
    let fields: Vec<(&str, Text)> = vec![
        ("byte", matching("[1-9]?[0-9]|1[0-9][0-9]|25[0-6]").boxed()),
        ("wide", integer("18")),
        ("widest", integer("36")),
        ("most", matching("[1-9][0-9]{0,37}").boxed()),
        ("ratio", float()),
        ("single", float()),
        ("on", prop::sample::select(vec!["true", "false"]).prop_map(str::to_owned).boxed()),
        ("letter", letter()),
        ("owned", string()),
        ("either", string()),
        ("maybe", prop_oneof![Just("null".to_owned()), integer("3")].boxed()),
        ("nothing", Just("null".to_owned()).boxed()),
        ("pair", string().prop_map(|string| format!("[3 , {string} ]")).boxed()),
        ("choices", array(choice())),
        ("names", mapping(string(), integer("5"))),
        ("numbers", mapping(number_name, Just("true".to_owned()).boxed())),
        ("inner", inner),
    ];
    let count = fields.len();
    let members: Vec<Text> = fields
        .into_iter()
        .map(|(name, value)| {
            (space(), likely(value))
                .prop_map(move |(space, value)| format!("\"{name}\":{space}{value}"))
                .boxed()
        })
        .collect();
    let dropped = Union::new_weighted(vec![(20, Just(count).boxed()), (1, (0..count).boxed())]);
    (members.prop_shuffle(), dropped, any::<prop::sample::Index>(), 0u8..40)
        .prop_map(move |(mut members, dropped, place, twice)| {
            if dropped < members.len() {
                members.remove(dropped);
            }
            if twice == 0 {
                members.push(members[place.index(members.len())].clone());
            }
            format!("{{{}}}", members.join(","))
        })
        .boxed()
}
