//! Mistakes that compile are reported with their position, also in a `no_std` crate that renames
//! the runtime.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

use gpubench_tests::{Fixture, Records, Run, ends};

fn records() -> &'static Records {
    static RECORDS: OnceLock<Records> = OnceLock::new();
    RECORDS.get_or_init(|| {
        let finished = Run::on(&Fixture::new("mistaken")).briefly().json().finish();
        finished.records()
    })
}

ends! {
    an_integer_for_a_float_is_named_with_its_line_and_the_declaration:
        "integer_for_a_float" is "error", "plan-invalid", "src/lib.rs:56: argument 3, for `factor`, is an `i32`, but `float` is expected", "`scale(const float *x, float *y, float factor, size_t n)`";
    a_buffer_of_doubles_for_floats_is_named:
        "doubles_for_floats" is "error", "plan-invalid", "argument 1, for `x`, is an `InOut<f64>`, but `const float *` is expected; the kernel is `", "(hint: use a buffer of `f32`)";
    fields_in_another_order_are_named:
        "fields_in_another_order" is "error", "plan-invalid", "src/lib.rs:66: argument 3, for `window`, is a `Window`", "`last: u32`", "`first`";
    an_omitted_argument_is_named:
        "argument_left_out" is "error", "plan-invalid", "src/lib.rs:71: the launch has 3 arguments for 4 parameters: `float factor` is missing";
    a_misspelt_tensor_is_named_with_the_nearest:
        "misspelt_tensor" is "error", "recording-failed", "src/lib.rs:75: `misspelt_tensor`: no tensor is called `xx`", "did you mean `x`?";
    a_misspelt_slice_of_a_problem_is_named_with_the_nearest:
        "of_a_misspelt_problem" is "error", "recording-failed", "`misspelt`: no tensor is called `xs`", "did you mean `x`?";
    work_that_does_not_fit_its_type_is_named_with_its_line:
        "work_that_wraps" is "error", "recording-failed", "attempt to multiply with overflow (at src/lib.rs:";
    an_answer_that_is_never_a_number_is_not_judged:
        "never_a_number" is "error", "blind-check", "every element of `y` was NaN in every call, as expected", "choose inputs with finite answers";
    a_write_of_one_element_too_many_names_the_element:
        "one_too_far" is "wrong-output", "out-of-bounds", "4 bytes were written out of bounds", "where `y[1000]` would be";
}

#[test]
fn an_axis_without_values_is_told() {
    let run = Run::on(&Fixture::new("mistaken")).args(["--list", "honest"]);
    let told = run.finish().expect_code(0).stderr;
    let words = "`mistaken::without_values` has no cases, because its axis `n` has no values";
    assert!(told.contains(words), "{told}");
}

#[test]
fn a_crate_without_the_standard_library_is_measured() {
    let result = records().result("honest");
    assert_eq!(result["verdict"], "pass", "{}", result["message"]);
}

#[test]
fn an_unused_input_is_a_notice() {
    let result = records().result("input_left_out");
    assert_eq!(result["verdict"], "pass", "{}", result["message"]);
    let notices = result["notices"].to_string();
    assert!(notices.contains("no launch uses the input `bias`"), "{notices}");
}
