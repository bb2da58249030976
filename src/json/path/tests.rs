//! Tests of typed access to members.

use super::*;
use std::string::{String, ToString};

const TEXT: &str = r#"{"motor":[{"speed":12},{"speed":"fast","on":true}],"none":null,"a":{"b":{"c":{"d":{"e":{"f":{"g":[1]}}}}}},
    "big":9223372036854775808,"low":-1,"ratio":0.5}"#;

fn json() -> Json<'static> {
    Json::parse(TEXT.as_bytes()).unwrap()
}

fn message<T: core::fmt::Debug>(result: Result<T, AccessError<'_>>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn getters_return_typed_values() {
    let json = json();
    assert_eq!(json.at("motor").item(0).at("speed").integer(), Ok(12));
    assert_eq!(json.at("motor").item(0).at("speed").unsigned(), Ok(12));
    assert_eq!(json.at("motor").item(1).at("speed").string().unwrap(), "fast");
    assert_eq!(json.at("motor").item(1).at("on").boolean(), Ok(true));
    assert_eq!(json.at("ratio").number(), Ok("0.5"));
    assert_eq!(json.at("motor").array().unwrap().elements().count(), 2);
    assert_eq!(json.at("a").object().unwrap().members().count(), 1);
    assert_eq!(json.at("none").json().unwrap().raw(), "null");
    assert_eq!(json.at("big").unsigned(), Ok(1 << 63));
}

#[test]
fn error_names_the_path() {
    let json = json();
    let motor = json.at("motor");
    assert_eq!(
        message(motor.item(1).at("speed").integer()),
        "`motor[1].speed`: expected an integer, found a string"
    );
    assert_eq!(message(motor.item(2).at("speed").integer()), "`motor[2]` is missing");
    assert_eq!(message(motor.item(0).at("on").boolean()), "`motor[0].on` is missing");
    assert_eq!(message(motor.at("speed").integer()), "`motor`: expected an object, found an array");
    assert_eq!(message(json.item(0).integer()), "the value: expected an array, found an object");
    assert_eq!(message(json.at("big").integer()), "`big`: the integer is out of range");
    assert_eq!(
        message(json.at("low").unsigned()),
        "`low`: expected an integer of at least 0, found a number"
    );
    assert_eq!(message(json.at("ratio").integer()), "`ratio`: expected an integer, found a number");
    assert_eq!(message(json.at("none").string()), "`none`: expected a string, found null");
    assert!(json.at("nothing").json().unwrap_err().is_missing());
}

#[test]
fn long_path_loses_its_first_steps() {
    let deep = json().at("a").at("b").at("c").at("d").at("e").at("f");
    assert_eq!(message(deep.integer()), "`a.b.c.d.e.f`: expected an integer, found an object");
    assert_eq!(message(deep.at("g").integer()), "`….b.c.d.e.f.g`: expected an integer, found an array");
    assert_eq!(message(deep.at("g").item(0).string()), "`….c.d.e.f.g[0]`: expected a string, found a number");
}

#[test]
fn optional_value_is_absent_or_null() {
    let json = json();
    assert!(json.at("nothing").optional().is_none());
    assert!(json.at("none").optional().is_none());
    assert!(json.at("nothing").at("below").optional().is_none());
    assert_eq!(json.at("ratio").optional().map(At::number), Some(Ok("0.5")));
    // A value of the wrong kind on the path is still an error.
    let blocked = json.at("ratio").at("below").optional().unwrap();
    assert_eq!(message(blocked.integer()), "`ratio`: expected an object, found a number");
}

#[test]
fn result_is_smaller_than_clippy_limit() {
    assert!(size_of::<AccessError<'_>>() < 128);
}
