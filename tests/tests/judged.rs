//! Answers that are right in several ways pass, and kernels that profit from it do not.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

use gpubench_tests::{Fixture, Records, Run, ends};

/// Runs all cases of the crate once.
fn records() -> &'static Records {
    static RECORDS: OnceLock<Records> = OnceLock::new();
    RECORDS.get_or_init(|| {
        let run = Run::on(&Fixture::new("judged")).briefly().json();
        run.args(["--include-ignored"]).finish().expect_code(100).records()
    })
}

fn assert_passes(benchmark: &str) {
    let result = records().result(benchmark);
    assert_eq!(result["verdict"], "pass", "{benchmark}: {}", result["message"]);
}

// A share of the elements.
#[test]
fn a_share_of_the_elements_may_differ_up_to_the_cap() {
    assert_passes("shares::all_are_right");
    assert_passes("shares::ten_are_rough");
    let checks = ["shares::all_are_right", "shares::ten_are_rough"].map(|name| &records().result(name)["checks"][0]);
    let [right, rough] = checks;
    assert!(right.get("mismatched").is_none(), "{right}");
    assert_eq!((&rough["matched"], &rough["mismatched"]), (&1000.into(), &10.into()));
    assert!(rough["first_wrong"].is_null(), "{rough}");
    assert_eq!(rough["tolerance"]["mismatched"]["share"], 0.01);
    assert_eq!(rough["tolerance"]["mismatched"]["cap"], 1000.0);
}

ends! {
    one_element_more_than_the_share_is_a_mismatch:
        "shares::eleven_are_rough" is "wrong-output", "mismatch", "11 of 1000 elements of `y` are wrong", "or 1000 times as much in 1.00% of the elements";
    an_element_beyond_the_cap_is_a_mismatch: "shares::one_is_far_off" is "wrong-output", "mismatch", "1 of 1000", "`y[417]`";
    an_element_that_is_not_a_number_is_not_within_the_share: "shares::one_is_nan" is "wrong-output", "non-finite", "1 of 1000", "`y[999]`";
    an_element_that_is_not_written_is_not_within_the_share: "shares::one_is_not_written" is "wrong-output", "partial", "1 of 1000", "`y[417]`";
    zeros_are_not_within_the_share: "shares::all_are_zero" is "wrong-output", "constant", "`y`";
    an_old_answer_is_not_within_the_share: "shares::all_are_old" is "wrong-output", "cached", "`y`";
    the_share_of_one_output_is_not_that_of_another: "shares::each_output_has_its_own" is "wrong-output", "mismatch", "1 of 1000 elements of `z`";
    a_percentage_is_refused: "shares::a_percentage_is_no_share" is "error", "recording-failed", "`mismatched` is a share of the elements, above 0 and below 1, not 5";
    a_cap_within_the_tolerance_is_refused: "shares::a_cap_within_the_tolerance" is "error", "recording-failed", "above 1, not 0.5";
    a_cap_that_allows_anything_is_refused: "shares::a_cap_without_an_end" is "error", "recording-failed", "finite and above 1";
    a_cap_of_an_exact_comparison_is_refused: "shares::a_cap_of_nothing" is "error", "recording-failed", "`rtol` or `atol` must be above 0";
}

// Masks.
#[test]
fn ignored_elements_may_hold_anything() {
    assert_passes("masks::leaves_padding");
    assert_passes("masks::nan_in_padding");
}

ends! {
    elements_that_are_not_ignored_are_judged: "masks::wrong_in_front" is "wrong-output", "mismatch", "1 of 1000", "`y[3, 0]`", "got 7";
    writes_behind_a_masked_output_are_found: "masks::past_the_end" is "wrong-output", "out-of-bounds", "right after the end of `y`";
    zeros_outside_of_the_mask_are_found: "masks::zeros" is "wrong-output", "mismatch", "got 0";
    old_answers_outside_of_the_mask_are_found: "masks::first_answer" is "wrong-output", "cached", "`y`";
    a_mask_of_everything_is_an_error:
        "masks::everything_is_ignored" is "error", "reference-failed", "the check ignores every element of `y`";
}

// Checks without a reference.
#[test]
fn a_check_accepts_every_right_answer() {
    assert_passes("checks::positive");
    assert_passes("checks::either_sign");
    let check = &records().result("checks::either_sign")["checks"][0];
    assert_eq!(
        (&check["matched"], &check["stale_output_passes"]),
        (&1000.into(), &false.into())
    );
    assert!(check["tolerance"].is_null(), "{check}");
}

ends! {
    a_rejected_output_has_the_reason_of_the_check:
        "checks::one_is_wrong" is "wrong-output", "mismatch", "the check rejects call 1: `y[417]` is 3, which is no square root of";
    a_check_that_meets_nan_rejects_it: "checks::not_a_number" is "wrong-output", "mismatch", "`y[0]` is NaN";
    a_nan_that_the_check_overlooks_is_rejected:
        "checks::the_check_overlooks_nan" is "wrong-output", "mismatch", "is NaN, which is right only where a reference expects it";
    zeros_are_rejected: "checks::zeros" is "wrong-output", "constant", "the check says: `y[0]` is 0";
    what_was_not_written_is_rejected: "checks::nothing" is "wrong-output", "unwritten", "nothing was written to `y` in call 1";
    an_old_answer_is_rejected: "checks::first_answer" is "wrong-output", "cached", "the check says: `y[";
    a_check_that_accepts_zeros_judges_no_kernel:
        "checks::any_number_passes" is "error", "blind-check", "it also accepts", "add `reference = ..`";
    a_check_that_accepts_old_answers_judges_no_kernel:
        "checks::any_number_but_zero_passes" is "error", "blind-check", "it also accepts the right answers to other inputs as `y`";
    a_check_that_panics_is_the_authors_error: "checks::the_check_panics" is "error", "reference-failed", "the check failed", "panicked", "index out of bounds";
    a_tolerance_without_a_reference_is_refused:
        "checks::tolerance_without_reference" is "error", "recording-failed", "only a check: remove the tolerance";
}

/// It panics on zeros and on old answers, which the kernel has not written.
#[test]
fn a_check_may_assert() {
    assert_passes("checks::the_check_asserts");
}

// Orders.
#[test]
fn elements_may_come_in_any_order() {
    assert_passes("orders::backwards");
}

#[test]
fn an_index_of_an_equal_value_is_right() {
    assert_passes("orders::the_first");
    assert_passes("orders::the_last");
}

ends! {
    an_element_that_is_there_twice_hides_no_other: "orders::one_twice" is "wrong-output", "mismatch", "of 1000 elements of `y`";
    zeros_are_not_the_elements: "orders::zeros" is "wrong-output", "constant", "`y`";
    no_index_may_be_there_twice: "orders::an_index_twice" is "wrong-output", "mismatch", "of 32 elements of `indices`";
    an_index_of_another_value_is_wrong: "orders::off_by_one" is "wrong-output", "mismatch", "1 of 32 elements of `indices`";
}

// Structs.
#[test]
fn fields_of_structs_are_compared_each_by_its_tolerance() {
    for name in ["right", "within_tolerance", "moves", "copies"] {
        assert_passes(&format!("structs::{name}"));
    }
    let checks = records().result("structs::within_tolerance")["checks"]
        .as_array()
        .unwrap();
    let names: Vec<_> = checks.iter().map(|check| check["output"].as_str().unwrap()).collect();
    assert_eq!(names, ["hits[].value", "hits[].index", "hits[].at[]"]);
    let [value, index, at] = &checks[..] else {
        panic!("{checks:?}")
    };
    assert_eq!(
        (&value["tolerance"]["rtol"], &value["elements"]),
        (&1e-4.into(), &1000.into())
    );
    assert!(value["max_rel_error"].as_f64() > Some(1e-6) && index["max_abs_error"] == 0.0);
    assert_eq!(
        (&at["elements"], &at["shape"]),
        (&2000.into(), &serde_json::json!([1000, 2]))
    );
}

#[test]
fn padding_of_structs_may_hold_anything() {
    assert_passes("structs::other_padding");
}

ends! {
    a_wrong_field_has_its_name:
        "structs::one_index_wrong" is "wrong-output", "mismatch", "1 of 1000 elements of `hits[].index`", "first wrong element `hits[417].index`: expected ", " exactly, got ";
    a_field_beyond_its_tolerance_is_wrong:
        "structs::one_value_wrong" is "wrong-output", "mismatch", "1 of 1000 elements of `hits[].value`", "`hits[417].value`", "rtol 1e-4";
    an_element_of_an_array_in_a_struct_has_its_name:
        "structs::one_place_wrong" is "wrong-output", "mismatch", "1 of 2000 elements of `hits[].at[]`", "`hits[417].at[1]`", "got 7";
    a_field_that_is_not_a_number_is_found: "structs::one_is_nan" is "wrong-output", "non-finite", "1 of 1000", "`hits[999].value`";
    a_struct_that_is_not_written_is_found: "structs::one_is_not_written" is "wrong-output", "partial", "1 of 1000", "were not written in call 1", "`hits[417].value`";
    a_field_that_no_struct_has_written_is_found:
        "structs::one_field_is_not_written" is "wrong-output", "unwritten", "nothing was written to `hits[].index` in call 1";
    a_kernel_that_writes_one_field_of_each_struct_is_found:
        "structs::only_one_field" is "wrong-output", "unwritten", "nothing was written to `hits[].value` in call 1";
    structs_that_are_not_written_are_found: "structs::nothing" is "wrong-output", "unwritten", "nothing was written to `hits[].value`";
    structs_of_zeros_are_wrong: "structs::zeros" is "wrong-output", "constant", "every element of `hits[].value` is 0.0";
    a_write_behind_the_structs_is_found: "structs::past_the_end" is "crashed", "out-of-bounds", "past the end of `hits` (16000 bytes)";
    structs_of_the_first_call_are_found: "structs::first_answer" is "wrong-output", "cached", "`hits[].value`", "the expected output of the first call";
    structs_of_the_previous_call_are_found: "structs::previous_answer" is "wrong-output", "stale", "`hits[].value`", "the expected output of the previous call";
    one_field_of_the_previous_call_is_found: "structs::previous_value" is "wrong-output", "stale", "`hits[].value`";
    structs_that_were_left_as_given_are_found:
        "structs::moves_half" is "wrong-output", "partial", "750 of 1500 elements of `particles[].position[]` were not written", "`particles[0, 0].position[0]`";
    a_part_of_an_array_that_was_left_is_found:
        "structs::moves_on_two_axes" is "wrong-output", "partial", "500 of 1500", "`particles[0, 0].position[2]`";
    a_distribution_does_not_fill_structs:
        "structs::filled_with_bits" is "error", "recording-failed", "tensor `given`", "fill them with `ByCpu` or `ByKernel`";
    fields_count_as_outputs: "structs::too_many_fields" is "error", "plan-invalid", "62 outputs, of which each field of structs is one; the limit is 60";
}
