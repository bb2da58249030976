//! Intended differences between `mcp-proto` and `serde-json-core`, each with an example.
//!
//! In the descriptions, *here* means `mcp-proto`, and *there* means `serde-json-core`.
//!
//! Texts are read with a buffer for escapes (`from_slice_escaped`). Without the buffer, `serde-json-core` does not
//! decode escapes.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mcp_proto::json::{DEPTH_LIMIT, EncodeError, Json, decode_in_place, to_string};
use mcp_proto_proptests::differences::deepest;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json_core::str::EscapedStr;

/// An intended difference between the two libraries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Difference {
    // Differences of the encoder that the output reveals.
    /// The hexadecimal digits of an escape are lowercase here, as in `serde_json`.
    UppercaseEscape,
    /// Here, a float has an exponent if `Debug` of `core` writes the float with an exponent. There, other floats have
    /// an exponent. The values are equal.
    FloatNotation,
    /// If two shortest texts are equally near to a float, the text of the greater number is written here, as by `Debug`
    /// of `core`.
    FloatTie,
    // Differences of the encoder that depend on the type.
    /// A `char`, an integer of 128 bits and a tuple variant are written here, as in `serde_json`. There, the encoder
    /// panics.
    UnwritableType,
    /// An error from an implementation of `Serialize` is returned here. There, the encoder panics.
    CustomError,
    /// A map key that is not a string becomes a string here, or is refused. There it is written like a value.
    NameThatIsNoString,
    /// The name of a field or variant is escaped here. There it is verbatim, which is not JSON if it contains a quote.
    EscapedFieldName,
    /// Bytes are an array of numbers here, as in `serde_json`. There they are verbatim.
    Bytes,
    /// The depth is limited to 128 open containers here. There, the stack is the limit.
    DepthOfOutput,
    /// Here, the private structs of `serde_json` for numbers and raw JSON are written as the JSON text that they
    /// contain. There they are objects.
    PrivateName,
    /// The type `EscapedStr` of `serde-json-core` is escaped text there, and ordinary text here.
    EscapedStr,
    // Differences of the decoder that the text reveals. `serde-json-core` accepts the invalid texts of the next four
    // differences.
    /// Control characters in a string are not JSON.
    ControlCharacter,
    /// `\u+041` is not JSON.
    PlusInEscape,
    /// `[,1 2]` is not JSON.
    LeadingComma,
    /// A float that Rust can parse is not always JSON: `+1`, `01`, `.5`, `1.`.
    FloatOfRust,
    /// A float beyond the range of its type is refused here, as in `serde_json`. There, the float is infinite.
    HugeFloat,
    /// `null` is no float here, as in `serde_json`. There it is `NaN`.
    NullFloat,
    /// The depth is limited to 128 open containers here. There, the stack is the limit.
    DepthOfInput,
    /// Characters beyond U+FFFF may be escaped here, as surrogate pairs. There such an escape is refused.
    SurrogatePair,
    /// `-0` is an unsigned integer here, as in JSON Schema. There it is refused.
    MinusZero,
    /// For a type with `derive(ToolArguments)`, `1.0` is an integer here, as in JSON Schema. There it is refused.
    WholeFraction,
    /// An empty text is an empty object here, because a call may omit its arguments.
    NoText,
    // Differences of the decoder that depend on the type.
    /// A type that needs `deserialize_any` can be read here: untagged, internally tagged, flattened. There it is
    /// refused.
    AnyValue,
    /// Bytes, and integers of 128 bits, can be read here. There they are refused.
    UnreadableType,
    /// A member name can be an owned string, a number or an enum here. There it must be a `&str`, or the decoder
    /// panics.
    NameType,
    /// A string with escapes can be borrowed here, because it is decoded in place.
    BorrowedEscape,
    /// The tag of a type with `derive(ToolArguments)` may stand anywhere in the object here.
    TagAnywhere,
    /// An ignored value must be JSON here. There, any text up to the next comma or bracket is accepted, except a text
    /// that is only `null`.
    IgnoredValue,
}

impl Difference {
    const ALL: [Difference; 28] = [
        Difference::UppercaseEscape,
        Difference::FloatNotation,
        Difference::FloatTie,
        Difference::UnwritableType,
        Difference::CustomError,
        Difference::NameThatIsNoString,
        Difference::EscapedFieldName,
        Difference::Bytes,
        Difference::DepthOfOutput,
        Difference::PrivateName,
        Difference::EscapedStr,
        Difference::ControlCharacter,
        Difference::PlusInEscape,
        Difference::LeadingComma,
        Difference::FloatOfRust,
        Difference::HugeFloat,
        Difference::NullFloat,
        Difference::DepthOfInput,
        Difference::SurrogatePair,
        Difference::MinusZero,
        Difference::WholeFraction,
        Difference::NoText,
        Difference::AnyValue,
        Difference::UnreadableType,
        Difference::NameType,
        Difference::BorrowedEscape,
        Difference::TagAnywhere,
        Difference::IgnoredValue,
    ];

    /// Returns the difference that explains why `serde-json-core` writes the token `theirs` where `mcp-proto` writes
    /// `ours`, or `None` if no difference explains this.
    pub(crate) fn of_tokens(ours: &str, theirs: &str) -> Option<Difference> {
        if ours.starts_with('"') {
            return (ours == lowercase_escapes(theirs)).then_some(Difference::UppercaseEscape);
        }
        if !is_float(ours) || !is_float(theirs) {
            return None;
        }
        let [a, b] = [ours, theirs].map(significant_digits);
        if a == b {
            return (ours.parse::<f64>() == theirs.parse::<f64>()).then_some(Difference::FloatNotation);
        }
        let equal = ours.parse::<f32>() == theirs.parse::<f32>() && a.len() <= 9
            || ours.parse::<f64>() == theirs.parse::<f64>();
        (equal && a.len() == b.len()).then_some(Difference::FloatTie)
    }

    /// Returns the difference that explains why only one of the two decoders accepts a text. `ours` and `theirs` are
    /// the `Debug` output of the values; `None` means that the decoder refused the text.
    pub(crate) fn of_text(text: &[u8], ours: Option<&str>, theirs: Option<&str>) -> Option<Difference> {
        let tokens = tokens(text);
        let number = |matches: fn(&str) -> bool| {
            tokens.iter().any(|token| is_number(token) && matches(&text_of(token)))
        };
        let string =
            |matches: fn(&[u8]) -> bool| tokens.iter().any(|token| token[0] == b'"' && matches(token));
        let is_json = Json::parse(text).is_ok();
        let found = match (ours, theirs) {
            (None, Some(_)) if is_json => [
                (Difference::NullFloat, tokens.contains(&&b"n"[..])),
                (Difference::HugeFloat, number(|number| number.parse().is_ok_and(f64::is_infinite))),
                (Difference::HugeFloat, number(|number| number.parse().is_ok_and(f32::is_infinite))),
            ]
            .to_vec(),
            (None, Some(_)) => vec![
                (Difference::DepthOfInput, deepest(text) > u32::from(DEPTH_LIMIT)),
                (Difference::LeadingComma, tokens.windows(2).any(|pair| pair == [b"[", b","])),
                (Difference::ControlCharacter, string(|string| string.iter().any(|byte| *byte < 0x20))),
                (Difference::PlusInEscape, string(|string| contains(string, b"\\u+"))),
                (
                    Difference::FloatOfRust,
                    number(|number| Json::parse(number.as_bytes()).is_err() && number.parse::<f64>().is_ok()),
                ),
            ],
            (Some(_), None) => vec![
                (Difference::NoText, tokens.is_empty()),
                (Difference::MinusZero, number(|number| number == "-0")),
                (Difference::SurrogatePair, string(|string| contains(&string.to_ascii_lowercase(), b"\\ud"))),
            ],
            _ => vec![],
        };
        found.into_iter().find_map(|(difference, applies)| applies.then_some(difference))
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn is_number(token: &[u8]) -> bool {
    token[0].is_ascii_digit() || matches!(token[0], b'-' | b'+' | b'.')
}

fn text_of(token: &[u8]) -> String {
    String::from_utf8_lossy(token).into_owned()
}

fn is_float(text: &str) -> bool {
    text.contains(['.', 'e']) && text.parse::<f64>().is_ok()
}

fn significant_digits(number: &str) -> String {
    let mantissa = number.split('e').next().unwrap_or_default();
    mantissa.replace(['-', '.'], "").trim_matches('0').to_owned()
}

/// Returns the text with lowercase digits in the escapes of control characters.
fn lowercase_escapes(text: &str) -> String {
    let mut parts = text.split("\\u00");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| {
        let (digits, rest) = part.split_at(2);
        all + "\\u00" + &digits.to_lowercase() + rest
    })
}

/// Splits a text into strings, numbers and single other bytes. Drops the white space between them. The text may be
/// damaged.
pub(crate) fn tokens(text: &[u8]) -> Vec<&[u8]> {
    let (mut tokens, mut rest) = (vec![], text);
    while let Some(first) = rest.first() {
        let (mut escaped, mut number) = (false, is_number(rest));
        let ends = |byte: &u8| match first {
            b'"' => {
                let ends = *byte == b'"' && !escaped;
                escaped = *byte == b'\\' && !escaped;
                ends
            }
            _ => {
                number &= matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                !number
            }
        };
        let behind =
            rest[1..].iter().position(ends).map_or(rest.len(), |at| at + 1 + usize::from(*first == b'"'));
        let (token, tail) = rest.split_at(behind);
        if !first.is_ascii_whitespace() {
            tokens.push(token);
        }
        rest = tail;
    }
    tokens
}

/// Returns the output of `serde-json-core`, or `None` if `serde-json-core` panics. The output may be invalid UTF-8.
pub(crate) fn their_text<T: Serialize + ?Sized>(value: &T) -> Option<Vec<u8>> {
    let mut text = vec![0; 1 << 16];
    let length =
        catch_unwind(AssertUnwindSafe(|| serde_json_core::to_slice(value, &mut text))).ok()?.unwrap();
    text.truncate(length);
    Some(text)
}

/// Returns the value that `mcp-proto` decodes, as its `Debug` output. Returns `None` if the text does not fit the type,
/// or is neither JSON nor empty.
pub(crate) fn our_value<T: DeserializeOwned + Debug>(text: &[u8]) -> Option<String> {
    if !text.trim_ascii().is_empty() {
        Json::parse(text).ok()?;
    }
    decode_in_place::<T>(&mut text.to_vec()).ok().map(|value| format!("{value:?}"))
}

/// Returns the value that `serde-json-core` decodes, as its `Debug` output, or `None` if decoding fails.
pub(crate) fn their_value<'a, T: Deserialize<'a> + Debug>(text: &'a [u8]) -> Option<String> {
    let mut escapes = vec![0; text.len()];
    serde_json_core::from_slice_escaped::<T>(text, &mut escapes).ok().map(|(value, _)| format!("{value:?}"))
}

/// Checks the output of both libraries. `None` means an error here, and a panic there.
#[track_caller]
fn writes<T: Serialize + ?Sized>(value: &T, ours: Option<&str>, theirs: Option<&str>) {
    assert_eq!(to_string(value).ok().as_deref(), ours);
    assert_eq!(their_text(value).as_deref(), theirs.map(str::as_bytes));
}

/// Checks the values of both libraries, and that `of_text` explains their difference as `listed`.
#[track_caller]
fn reads<T: DeserializeOwned + Debug>(
    text: &str,
    ours: Option<&str>,
    theirs: Option<&str>,
    listed: Option<Difference>,
) {
    let values = (our_value::<T>(text.as_bytes()), their_value::<T>(text.as_bytes()));
    assert_eq!((values.0.as_deref(), values.1.as_deref()), (ours, theirs), "{text}");
    assert_eq!(Difference::of_text(text.as_bytes(), ours, theirs), listed, "{text}");
}

fn panics<T: DeserializeOwned + Debug>(text: &str) -> bool {
    catch_unwind(|| their_value::<T>(text.as_bytes())).is_err()
}

struct Fails;

impl Serialize for Fails {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(S::Error::custom("no"))
    }
}

struct Raw(&'static [u8]);

impl Serialize for Raw {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(self.0)
    }
}

#[derive(Serialize)]
enum Pair {
    Pair(u8, u8),
}

#[derive(Serialize)]
struct Quoted {
    #[serde(rename = "a\"")]
    field: u8,
}

#[derive(Serialize)]
struct Nested(Option<Box<[Nested; 1]>>);

impl Nested {
    fn new(depth: u8) -> Nested {
        (0..depth).fold(Nested(None), |inner, _| Nested(Some(Box::new([inner]))))
    }
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct Tree(Vec<Tree>);

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[allow(dead_code)]
enum Untagged {
    Number(u8),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "t")]
enum Tagged {
    A,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct Flat {
    #[serde(flatten)]
    one: One,
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct One {
    one: u8,
}

#[derive(Debug, mcp_proto::ToolArguments)]
#[allow(dead_code)]
struct Level {
    level: u8,
}

#[derive(Debug, mcp_proto::ToolArguments)]
#[serde(tag = "kind")]
#[allow(dead_code)]
enum Draw {
    At { x: u8 },
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
enum Name {
    A,
}

/// Checks the example of a difference. In this `match`, a new difference without an example is a compile error.
fn show(difference: Difference) {
    let listed = Some(difference);
    match difference {
        Difference::UppercaseEscape => {
            writes("\u{1f}\\u001F", Some(r#""\u001f\\u001F""#), Some(r#""\u001F\\u001F""#));
            assert_eq!(Difference::of_tokens(r#""\u001f""#, r#""\u001F""#), listed);
            assert_eq!(Difference::of_tokens(r#""\u001f""#, r#""\u001E""#), None);
        }
        Difference::FloatNotation => {
            writes(&1e-5, Some("1e-5"), Some("0.00001"));
            writes(&1e13f32, Some("10000000000000.0"), Some("1e13"));
            assert_eq!(Difference::of_tokens("1e-5", "0.00001"), listed);
            assert_eq!(Difference::of_tokens("1e-5", "0.000011"), None);
            assert_eq!(Difference::of_tokens("1", "1.0"), None);
        }
        Difference::FloatTie => {
            writes(&1_235_188.3_f32, Some("1235188.3"), Some("1235188.2"));
            assert_eq!(Difference::of_tokens("1235188.3", "1235188.2"), listed);
            assert_eq!(Difference::of_tokens("1235188.3", "1235188.1"), None);
            assert_eq!(Difference::of_tokens("0.3", "0.2"), None);
        }
        Difference::UnwritableType => {
            writes(&'a', Some("\"a\""), None);
            writes(&1i128, Some("1"), None);
            writes(&1u128, Some("1"), None);
            writes(&Pair::Pair(1, 2), Some(r#"{"Pair":[1,2]}"#), None);
        }
        Difference::CustomError => writes(&[Fails], None, None),
        Difference::NameThatIsNoString => {
            writes(&BTreeMap::from([(1, true)]), Some(r#"{"1":true}"#), Some("{1:true}"));
            writes(&BTreeMap::from([([1], true)]), None, Some("{[1]:true}"));
            writes(&BTreeMap::from([(Name::A, true)]), Some(r#"{"A":true}"#), Some(r#"{"A":true}"#));
        }
        Difference::EscapedFieldName => {
            writes(&Quoted { field: 1 }, Some(r#"{"a\"":1}"#), Some(r#"{"a"":1}"#))
        }
        Difference::Bytes => writes(&Raw(b"ab"), Some("[97,98]"), Some("ab")),
        Difference::DepthOfOutput => {
            for (depth, fits) in [(128, true), (129, false)] {
                let expected = "[".repeat(depth.into()) + "null" + &"]".repeat(depth.into());
                writes(&Nested::new(depth), Some(&*expected).filter(|_| fits), Some(&expected));
            }
        }
        Difference::PrivateName => {
            let theirs = r#"{"$serde_json::private::Number":"1.50"}"#;
            writes(&serde_json::from_str::<serde_json::Number>("1.50").unwrap(), Some("1.50"), Some(theirs));
        }
        Difference::EscapedStr => writes(&EscapedStr("\\n"), Some(r#""\\n""#), Some(r#""\n""#)),
        Difference::ControlCharacter => reads::<String>("\"\n\"", None, Some(r#""\n""#), listed),
        Difference::PlusInEscape => reads::<String>(r#""\u+041""#, None, Some("\"A\""), listed),
        Difference::LeadingComma => {
            reads::<Vec<u8>>("[ ,1 2]", None, Some("[1, 2]"), listed);
            reads::<Vec<u8>>("[1 2]", None, None, None);
        }
        Difference::FloatOfRust => {
            for text in ["+1", "01", "1.", ".5e1"] {
                assert!(their_value::<f64>(text.as_bytes()).is_some());
                reads::<f64>(text, None, their_value::<f64>(text.as_bytes()).as_deref(), listed);
            }
            reads::<i32>("01", None, None, None);
        }
        Difference::HugeFloat => {
            reads::<f64>("1e999", None, Some("inf"), listed);
            reads::<[f32; 1]>("[-1e39]", None, Some("[-inf]"), listed);
        }
        Difference::NullFloat => reads::<f64>("null", None, Some("NaN"), listed),
        Difference::DepthOfInput => {
            let nested = "[".repeat(129) + &"]".repeat(129);
            reads::<Tree>(&nested, None, their_value::<Tree>(nested.as_bytes()).as_deref(), listed);
            assert!(their_value::<Tree>(nested.as_bytes()).is_some());
        }
        Difference::SurrogatePair => reads::<String>(r#""\uD83D\ude00""#, Some("\"😀\""), None, listed),
        Difference::MinusZero => {
            reads::<u8>("-0", Some("0"), None, listed);
            reads::<i8>("-0", Some("0"), Some("0"), None);
        }
        Difference::WholeFraction => {
            reads::<Level>(r#"{"level":1.0}"#, Some("Level { level: 1 }"), None, None);
            reads::<One>(r#"{"one":1.0}"#, None, None, None);
        }
        Difference::NoText => reads::<BTreeMap<u8, u8>>(" ", Some("{}"), None, listed),
        Difference::AnyValue => {
            reads::<Untagged>("1", Some("Number(1)"), None, None);
            reads::<Tagged>(r#"{"t":"A"}"#, Some("A"), None, None);
            reads::<Flat>(r#"{"one":1}"#, Some("Flat { one: One { one: 1 } }"), None, None);
        }
        Difference::UnreadableType => {
            reads::<i128>("1", Some("1"), None, None);
            reads::<u128>("1", Some("1"), None, None);
            reads::<std::ffi::CString>("[97]", Some("\"a\""), None, None);
        }
        Difference::NameType => {
            for text in [r#"{"1":true}"#, r#"{"A":true}"#] {
                assert!(panics::<BTreeMap<String, bool>>(text));
                assert!(our_value::<BTreeMap<String, bool>>(text.as_bytes()).is_some());
            }
            assert!(panics::<BTreeMap<u8, bool>>(r#"{"1":true}"#));
            assert!(panics::<BTreeMap<Name, bool>>(r#"{"A":true}"#));
            assert_eq!(our_value::<BTreeMap<Name, bool>>(br#"{"A":true}"#).unwrap(), "{A: true}");
        }
        Difference::BorrowedEscape => {
            let mut text = *br#""a\n""#;
            assert!(serde_json_core::from_slice_escaped::<&str>(&text, &mut [0; 8]).is_err());
            assert_eq!(decode_in_place::<&str>(&mut text).unwrap(), "a\n");
        }
        Difference::TagAnywhere => {
            reads::<Draw>(r#"{"x":1,"kind":"At"}"#, Some("At { x: 1 }"), None, None);
            reads::<Draw>(r#"{"kind":"At","x":1}"#, Some("At { x: 1 }"), Some("At { x: 1 }"), None);
        }
        Difference::IgnoredValue => {
            reads::<One>(r#"{"one":1,"x":what?}"#, None, Some("One { one: 1 }"), None);
            reads::<IgnoredAny>("null", Some("IgnoredAny"), None, None);
        }
    }
}

#[test]
fn each_listed_difference_from_serde_json_core_exists() {
    assert_eq!(to_string(&[Fails]), Err(EncodeError::Invalid));
    Difference::ALL.into_iter().for_each(show);
}
