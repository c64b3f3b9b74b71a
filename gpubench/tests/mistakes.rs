//! Mistakes in a kernel crate are compile errors at the wrong word, and the message shows what was
//! expected.

#[test]
fn a_mistake_is_a_compile_error_that_says_what_was_expected() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/mistakes/*.rs");
}
