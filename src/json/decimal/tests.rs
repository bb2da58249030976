//! Tests of decimal numbers.

use super::*;
use std::string::ToString;

fn decimal(text: &str) -> Decimal {
    Decimal::parse(text).unwrap()
}

#[test]
fn numbers_are_parsed_and_written() {
    for (text, written) in [
        ("0", "0"),
        ("-0", "0"),
        ("-0.0e5", "0"),
        ("1", "1"),
        ("1.0", "1"),
        ("1.50", "1.5"),
        ("-12.25", "-12.25"),
        ("1e3", "1000"),
        ("12e-1", "1.2"),
        ("0.001", "0.001"),
        ("1E-7", "0.0000001"),
        ("1e-8", "1e-8"),
        ("123456789e-20", "123456789e-20"),
        ("1e18", "1000000000000000000"),
        ("1e19", "1e19"),
        ("9223372036854775807", "9223372036854775807"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("9223372036854775808", "9223372036854775800"),
        ("92233720368547758080", "92233720368547758e3"),
        ("0.12345678901234567890123", "0.1234567890123456789"),
        ("123456789012345678901234567890", "1234567890123456789e11"),
        ("1e99999999999999999999", "1e32767"),
        ("1e-99999999999999999999", "1e-32768"),
        ("0e99999999999999999999", "0"),
    ] {
        assert_eq!(decimal(text).to_string(), written, "{text}");
        assert_eq!(decimal(written), decimal(text), "the written text has the same value");
        assert!(crate::json::Json::parse(written.as_bytes()).unwrap().number().is_some());
    }
}

#[test]
fn text_that_is_no_json_number_is_rejected() {
    for text in [
        "", "-", "+1", "01", ".5", "1.", "1.e1", "1e", "1e+", "1e-", "1e+-1", "e1", "1 ", " 1", "1x", "0x1",
        "NaN",
    ] {
        assert_eq!(Decimal::parse(text), None, "{text}");
    }
}

#[test]
fn order_is_numeric() {
    // The strings are in rising order. The numbers in one string are equal.
    let rising = [
        "-1e32767",
        "-1e20 -100000000000000000000",
        "-9223372036854775808",
        "-9223372036854775807",
        "-2",
        "-1.5",
        "-1 -1.0 -10e-1",
        "-0.1",
        "-1e-32768",
        "0 -0 0.00 0e9",
        "1e-32768",
        "0.09",
        "0.1 1e-1 0.10",
        "0.11",
        "1 1.000",
        "1.5",
        "2",
        "9.9",
        "10 1e1",
        "11",
        "99",
        "100",
        "9223372036854775806",
        "9223372036854775807",
        "1e19",
        "1e20",
        "1.1e20",
        "1e32767",
    ];
    let numbers = rising
        .iter()
        .enumerate()
        .flat_map(|(rank, texts)| texts.split(' ').map(move |text| (rank, decimal(text))));
    for (rank, number) in numbers.clone() {
        for (other_rank, other) in numbers.clone() {
            assert_eq!(number.cmp(&other), rank.cmp(&other_rank), "{number} {other}");
            assert_eq!(number == other, rank == other_rank, "{number} {other}");
        }
    }
}

#[test]
fn integers_convert_to_decimals() {
    assert_eq!(Decimal::from(250u8), decimal("250"));
    assert_eq!(Decimal::from(-5i32), decimal("-5"));
    assert_eq!(Decimal::from(i64::MIN), decimal("-9223372036854775808"));
    assert_eq!(Decimal::from(u64::MAX), decimal("18446744073709551615"));
    assert_eq!(Decimal::from(u64::MAX).to_string(), "1844674407370955161e1");
    assert_eq!(Decimal::from(0u64), Decimal::ZERO);
    let half = Decimal::new(50, -2);
    assert_eq!((half.mantissa(), half.exponent()), (5, -1));
    assert_eq!(Decimal::new(10, i16::MAX).to_string(), "10e32767");
    assert_eq!(Decimal::new(i64::MIN, i16::MIN).to_string(), "-9223372036854775808e-32768");
}

#[test]
fn digits_of_any_integer_are_written() {
    for value in [0, 1, 9, 10, 99, 100, 12_345, u64::from(u32::MAX), u64::MAX] {
        assert_eq!(digits(value, &mut [0; 20]), value.to_string());
    }
}

#[cfg(feature = "serde")]
#[test]
fn decimals_are_encoded_as_numbers() {
    use crate::buffer::BufferMut;
    use crate::json::{EncodeError, Writer};
    use std::collections::BTreeMap;

    let encode = |decimal: Decimal, room: &mut [u8]| {
        let limit = room.len();
        let mut writer = Writer::new(BufferMut::Lent(room), 0, limit);
        writer
            .serialize(&[Some(decimal)])
            .map(|()| std::string::String::from_utf8(writer.written().to_vec()).unwrap())
    };
    for text in ["0", "-12.25", "21.5", "0.000001", "1000", "-9223372036854775808"] {
        let decimal = decimal(text);
        let expected = std::format!("[{text}]");
        assert_eq!(encode(decimal, &mut [0; 64]), Ok(expected.clone()));
        assert_eq!(serde_json::to_string(&[decimal]).unwrap(), expected.replace("0.000001", "1e-6"));
        assert_eq!(serde_json::from_str::<[Decimal; 1]>(&expected).unwrap(), [decimal]);
    }
    for text in ["1.234567890123456789", "-1e-32768", "1e32767", "-1.234567890123456789e-7"] {
        assert_eq!(encode(decimal(text), &mut [0; 64]), Ok(std::format!("[{}]", decimal(text))));
    }
    assert!(serde_json::to_string(&decimal("1e400")).is_err());
    assert_eq!(encode(decimal("21.5"), &mut [0; 4]), Err(EncodeError::TooLong));
    let mut room = [0; 32];
    let mut writer = Writer::new(BufferMut::Lent(&mut room), 0, 32);
    writer.serialize(&BTreeMap::from([(decimal("1.5"), 1)])).unwrap();
    assert_eq!(writer.written(), br#"{"1.5":1}"#);
}
