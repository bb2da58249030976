//! Unsupported types are compile errors with advice.

#[test]
fn unsupported_types_are_compile_errors() {
    trybuild::TestCases::new().compile_fail("cases/*.rs");
}
