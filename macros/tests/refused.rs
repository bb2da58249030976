//! What cannot be in the schema is an error of the compiler that says what to do.

#[test]
fn unsupported_types_are_compile_errors() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
