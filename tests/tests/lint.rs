//! `cargo gpubench lint`, on problems with known flaws, and on `kernels/problems`, which has none.
#![forbid(unsafe_code)]

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{Finished, Fixture, Run, repository};
use serde_json::Value;

fn lint(fixture: &Fixture, arguments: &[&str]) -> Finished {
    Run::on_verb("lint", fixture)
        .args(["--offline", "--trial-time", "20s"])
        .args(arguments.iter().copied())
        .finish()
}

/// Returns the rules that a benchmark of the fixture breaks, and the log.
fn broken_by(benchmark: &str) -> (Vec<String>, Value) {
    let filter = format!("^{benchmark}(::|$)");
    let finished = lint(&Fixture::new("flawed"), &["--export-sarif", "-", &filter]).expect_code(7);
    let log: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    let results = log["runs"][0]["results"].as_array().expect("results");
    let rule = |result: &Value| result["ruleId"].as_str().expect("a rule").to_owned();
    (results.iter().map(rule).collect(), log)
}

fn breaks(benchmark: &str, rules: &[&str]) {
    let (found, _) = broken_by(benchmark);
    for rule in rules {
        assert!(
            found.iter().any(|other| other == rule),
            "{benchmark}: {rule} not in {found:?}"
        );
    }
}

#[test]
fn zeros_pass_as_attention_whose_answers_are_below_the_tolerance() {
    breaks(
        "scaled_dot_attention",
        &["zeros_pass", "constant_passes", "stale_passes"],
    );
}

#[test]
fn a_norm_that_is_nearly_constant_need_not_be_computed() {
    breaks("frobenius_norm", &["simple_function_passes"]);
}

#[test]
fn a_sum_of_sizes_that_is_nearly_constant_need_not_be_computed() {
    breaks("l1_norm", &["simple_function_passes"]);
}

#[test]
fn a_constant_passes_as_the_sum_of_sigmoids() {
    breaks("matmul_sigmoid_sum", &["constant_passes"]);
}

#[test]
fn zeros_pass_as_a_power_of_a_matrix_of_small_numbers() {
    breaks("matrix_power", &["zeros_pass"]);
}

#[test]
fn zeros_pass_as_the_divergence_of_long_distributions() {
    breaks("kl_loss", &["zeros_pass"]);
}

#[test]
fn zeros_pass_as_the_end_of_products_that_fade_away() {
    breaks("cumprod", &["partial_zeros_pass"]);
}

#[test]
fn a_polynomial_passes_as_an_activation_on_a_short_interval() {
    breaks("soft_plus", &["simple_function_passes"]);
}

#[test]
fn inputs_rounded_to_tf32_pass_in_a_small_convolution() {
    let (found, log) = broken_by("conv_square_3d");
    assert_eq!(found, ["rounded_inputs"]);
    let place = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "src/lib.rs");
    let line = place["region"]["startLine"].as_u64().expect("a line") as usize;
    let source = std::fs::read_to_string(repository().join("tests/fixtures/flawed/src/lib.rs")).expect("a source");
    let below: Vec<&str> = source.lines().skip(line - 1).take(10).collect();
    assert!(below[0].starts_with("#[gpubench("), "{below:?}");
    assert!(below.iter().any(|line| line.contains("fn conv_square_3d")), "{below:?}");
}

#[test]
fn right_answers_fail_in_another_order_of_additions() {
    let (found, _) = broken_by("symmetric_matmul");
    assert_eq!(found, ["too_strict"]);
}

#[test]
fn an_input_far_below_the_tolerance_need_not_be_read() {
    let (found, _) = broken_by("idle_bias");
    assert_eq!(found, ["unread_input"]);
}

#[test]
fn twins_without_a_flaw_and_accepted_findings_are_clean() {
    let finished = lint(&Fixture::new("flawed"), &["^sound::"]).expect_code(0);
    assert_eq!(finished.stdout, "0 findings in 4 judged cases\n");
}

// A share of the elements may be outside the tolerance.
#[test]
fn half_of_the_elements_may_be_zeros_if_half_may_be_outside_the_tolerance() {
    let text = lint(&Fixture::new("flawed"), &["^shares::half"]).expect_code(7).stdout;
    for words in [
        "error[partial_zeros_pass]: zeros for the last 500 of 1000 elements pass as `y`\n",
        "tolerance rtol 1e-5, atol 0e0, or 200000 times as much in 50.0% of the elements\n",
        "(hint: choose a smaller `mismatched` or `cap`, or ",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn one_wrong_element_within_the_share_is_no_finding() {
    let finished = lint(&Fixture::new("flawed"), &["^shares::one_may"]).expect_code(0);
    assert_eq!(finished.stdout, "0 findings in 1 judged case\n");
}

// Checks of the author.
fn accepts(benchmark: &str, rule: &str, what: &str) {
    let text = lint(&Fixture::new("flawed"), &[&format!("^checked::{benchmark}")])
        .expect_code(7)
        .stdout;
    let title = format!("the check accepts {what}");
    assert!(text.contains(&title) && text.contains(rule), "{title} {rule}\n{text}");
    assert!(text.contains("(hint: reject it in the check"), "{text}");
}

#[test]
fn a_check_that_accepts_zeros_is_named() {
    accepts("zeros_are_welcome", "zeros_pass", "zeros as `y`");
}

#[test]
fn a_check_that_accepts_old_answers_is_named() {
    accepts(
        "any_possible_element",
        "stale_passes",
        "the answer to other inputs as `y`",
    );
}

#[test]
fn a_check_that_accepts_an_element_twice_is_named() {
    let what = "the right answer with element 0 twice as `indices`";
    accepts("an_index_twice", "one_wrong_element_passes", what);
}

#[test]
fn a_check_that_accepts_another_order_without_asking_for_it_is_named() {
    let what = "the right elements, each one place too early as `y`";
    accepts("same_sum", "permutation_passes", what);
}

#[test]
fn a_check_without_a_reference_that_accepts_what_no_input_decides_is_named() {
    accepts("any_permutation", "constant_passes", "0, 1, 2, and so on as `order`");
}

#[test]
fn a_check_that_rejects_the_reference_is_too_strict() {
    let text = lint(&Fixture::new("flawed"), &["^checked::rejects"])
        .expect_code(7)
        .stdout;
    let title =
        "error[too_strict]: right answers fail as `y`: the check rejects those of the reference: it is never right";
    assert!(text.contains(title), "{text}");
}

#[test]
fn sets_and_masks_are_no_findings() {
    let finished = lint(&Fixture::new("flawed"), &["^checked::a_"]).expect_code(0);
    assert_eq!(finished.stdout, "0 findings in 2 judged cases\n");
}

#[test]
fn only_blind_checks_are_accused_where_answers_are_right_in_several_ways() {
    let finished = lint(&Fixture::new("judged"), &[]).expect_code(100);
    let text = &finished.stdout;
    let accused: Vec<&str> = text.lines().filter(|line| line.contains(" = problem ")).collect();
    let words = |name: &str| format!("   = problem `checks::{name}`, judged by its check alone");
    assert_eq!(
        accused,
        ["any_number_but_zero_passes", "any_number_passes"].map(words),
        "{text}"
    );
    for words in [
        "`masks::everything_is_ignored::n=100` could not be judged: the check failed: the check ignores every element of `y`",
        "2 findings in 11 judged cases; 4 could not be judged; 3 with structs not judged\n",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn honest_problems_of_other_fixtures_are_clean() {
    for fixture in ["short", "tidy"] {
        let finished = lint(&Fixture::new(fixture), &[]).expect_code(0);
        assert!(finished.stdout.starts_with("0 findings in "), "{}", finished.stdout);
    }
}

#[test]
fn mistakes_of_newcomers_that_are_not_in_the_problem_are_no_findings() {
    let finished = lint(&Fixture::new("newcomer"), &[]).expect_code(100);
    let text = &finished.stdout;
    let accused: Vec<&str> = text.lines().filter(|line| line.starts_with("error[")).collect();
    let [not_finite, stale] = accused[..] else {
        panic!("{text}")
    };
    assert!(not_finite.starts_with("error[not_finite]: 64 of 64"), "{text}");
    assert!(
        stale.starts_with("error[stale_passes]: the answer to other inputs, which is always the same,"),
        "{text}"
    );
}

// Inputs.
#[test]
fn a_constant_far_below_the_tolerance_need_not_be_read() {
    let text = lint(&Fixture::new("flawed"), &["^shares::idle_constant"])
        .expect_code(7)
        .stdout;
    let title = "error[unread_input]: the answer with other contents of `shift` passes as `y`\n";
    assert!(text.contains(title), "{text}");
}

#[test]
fn the_precisions_that_pass_are_named() {
    let text = lint(&Fixture::new("flawed"), &["^shares::rough_ramp"])
        .expect_code(7)
        .stdout;
    let note = "the answer to inputs that were rounded to TF32, fp16 or bf16 passes as `y` too";
    assert!(text.contains(note), "{text}");
}

#[test]
fn cases_that_are_all_for_another_device_are_no_pass() {
    let finished = lint(&Fixture::new("flawed"), &["--export-sarif", "-", "^elsewhere::"]).expect_code(4);
    let message = "error: no case was judged: the selected ones are not for the CPU device, hold structs, or skipped\n";
    assert!(finished.stderr.contains(message), "{}", finished.stderr);
    let log: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!(log["runs"][0]["invocations"][0]["executionSuccessful"], false);
}

#[test]
fn a_name_that_no_finding_has_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = copied_fixture(folder.path().try_into().expect("UTF-8"));
    let file = copy.join("src/sound.rs");
    let source = std::fs::read_to_string(&file).expect("a source");
    std::fs::write(&file, source.replace("allow(rounded_inputs)", "allow(rounded_input)")).expect("written");
    let finished = lint(&Fixture::made_in(&copy), &["^sound::conv"]).expect_code(7);
    let hint = "`allow(rounded_input)` names no finding (hint: did you mean `rounded_inputs`?)";
    assert!(finished.stderr.contains(hint), "{}", finished.stderr);
}

#[test]
fn references_that_fail_are_named_and_do_not_stop_the_rest() {
    let words = ["--features", "broken", "--reference-timeout", "5s", "^broken::"];
    let finished = lint(&Fixture::new("flawed"), &words).expect_code(100);
    for text in [
        "error: `broken::panic::case::n=1024` could not be judged: the reference failed: it panicked: the table is missing",
        "error: `broken::hang::case::n=1024` could not be judged: the reference failed: your reference did not return within 5s (hint: ",
        "error: `broken::end::case::n=1024` could not be judged: the reference failed: the author process was killed by SIGABRT",
        "error[not_finite]: ",
        "1 finding in 1 judged case; 3 could not be judged\n",
    ] {
        assert!(finished.stdout.contains(text), "{text}\n{}", finished.stdout);
    }
}

#[test]
fn a_finding_names_the_line_the_problem_the_cases_and_a_remedy() {
    let finished = lint(&Fixture::new("flawed"), &["^scaled_dot_attention"]).expect_code(7);
    let text = &finished.stdout;
    for words in [
        "error[zeros_pass]: zeros pass as `out`\n  --> src/lib.rs:",
        "problem `scaled_dot_attention`, tolerance rtol 2e-2, atol 5e-3\n",
        "calls of `scaled_dot_attention::seq=64,embed=16`, `scaled_dot_attention::seq=64,embed=32`\n",
        "the answer to other inputs passes as `out` too, in 2 cases (stale_passes)\n",
        "(hint: tighten the tolerance, or choose inputs with larger answers; `--fix` writes that tolerance)\n",
    ] {
        assert!(text.contains(words), "{words}\n{text}");
    }
}

#[test]
fn nothing_selected_has_its_own_code() {
    let nothing = lint(&Fixture::new("flawed"), &["^nothing$"]).expect_code(4);
    assert_eq!(nothing.stdout, "");
    let hint = "`cargo gpubench --list` shows their names";
    assert!(nothing.stderr.contains(hint), "{}", nothing.stderr);
}

/// Copies the fixture, with its dependencies where they are.
fn copied_fixture(folder: &Utf8Path) -> Utf8PathBuf {
    let original = repository().join("tests/fixtures/flawed");
    let copy = folder.join("flawed-copy");
    std::fs::create_dir_all(copy.join("src")).expect("a folder");
    for file in [
        "src/lib.rs",
        "src/sound.rs",
        "src/broken.rs",
        "src/checked.rs",
        "src/elsewhere.rs",
        "src/shares.rs",
        "src/kernels.cu",
    ] {
        std::fs::copy(original.join(file), copy.join(file)).expect("copied");
    }
    let manifest = std::fs::read_to_string(original.join("Cargo.toml")).expect("a manifest");
    let runtime = repository().join("gpubench");
    let manifest = manifest.replace("../../../gpubench", runtime.as_str());
    std::fs::write(copy.join("Cargo.toml"), manifest).expect("written");
    copy
}

#[test]
fn a_fix_changes_only_the_numbers_of_a_clean_file_and_removes_the_finding() {
    let folder = tempfile::tempdir().expect("a folder");
    let copy = copied_fixture(folder.path().try_into().expect("UTF-8"));
    let fixture = Fixture::made_in(&copy);
    let file = copy.join("src/lib.rs");
    let before = std::fs::read_to_string(&file).expect("a source");
    let fix = ["--fix", "^scaled_dot_attention"];
    let refused = lint(&fixture, &fix).expect_code(2);
    assert!(
        refused.stderr.contains("is not in a repository of git"),
        "{}",
        refused.stderr
    );
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
        let done = Command::new("git")
            .current_dir(&copy)
            .args(identity)
            .args(arguments)
            .output();
        assert!(done.expect("git runs").status.success(), "{arguments:?}");
    };
    git(&["init", "-q"]);
    git(&["add", "src", "Cargo.toml"]);
    let refused = lint(&fixture, &fix).expect_code(2);
    assert!(
        refused.stderr.contains("changes that are not committed"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("`--allow-dirty`"), "{}", refused.stderr);
    assert_eq!(std::fs::read_to_string(&file).expect("a source"), before);
    git(&["commit", "-qm", "flawed"]);
    let fixed = lint(&fixture, &fix).expect_code(7);
    let after = std::fs::read_to_string(&file).expect("a source");
    let differing: Vec<_> = before.lines().zip(after.lines()).filter(|(a, b)| a != b).collect();
    let [(old, new)] = differing[..] else {
        panic!("{differing:?}")
    };
    assert_eq!(old, "    tolerance(rtol = 2e-2, /* as published */ atol = 5e-3),");
    assert!(new.contains(", /* as published */ atol = 5e-"), "{new}");
    assert!(fixed.stderr.contains("2e-2 is 2e-"), "{}", fixed.stderr);
    let again = lint(&fixture, &["^scaled_dot_attention"]).expect_code(0);
    assert_eq!(again.stdout, "0 findings in 2 judged cases\n");
}

#[test]
fn a_problem_without_a_kernel_is_judged() {
    breaks("unsolved", &["zeros_pass"]);
    let finished = lint(&Fixture::new("stated_problems"), &[]).expect_code(0);
    assert_eq!(finished.stdout, "0 findings in 8 judged cases\n");
}

#[test]
fn the_catalogue_is_clean() {
    let finished = Run::outside_of_workspaces(repository())
        .args(["lint", "--package", "gpubench-problems", "--offline", "--target-dir"])
        .args([Fixture::target_directory().as_str()])
        .finish()
        .expect_code(0);
    assert!(finished.stdout.starts_with("0 findings in "), "{}", finished.stdout);
}

#[test]
fn cases_with_structs_are_named_as_not_judged() {
    let finished = lint(
        &Fixture::new("judged"),
        &["^structs::right::", "^shares::all_are_right::"],
    );
    let text = &finished.stdout;
    assert!(
        text.contains("note: `structs::right::n=1000` was not judged: `hits` holds structs"),
        "{text}"
    );
    assert!(text.contains("in 1 judged case; 1 with structs not judged"), "{text}");
}
