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
