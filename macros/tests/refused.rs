//! What cannot be in the schema is an error of the compiler that says what to do.

#[test]
fn what_the_schema_cannot_say_is_refused() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
