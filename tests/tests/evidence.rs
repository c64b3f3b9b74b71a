//! The evidence of a run, from which its verdicts are decided again.
#![forbid(unsafe_code)]

use camino::Utf8Path;
use gpubench_tests::{FakeGpu, Fixture, Run, RunFolder};

/// Runs cases, right and wrong ones, and returns the file of their results.
fn kept(run: Run, folder: &RunFolder) -> String {
    let file = folder.path("run.jsonl").into_string();
    let _ = run.args(["--evidence", "--export-json", &file]).finish();
    file
}

fn judged(file: &str, code: i32) -> String {
    let run = Run::on_verb("judge", &Fixture::new("tidy")).args([file]);
    run.finish().expect_code(code).stdout
}

#[test]
fn verdicts_of_right_and_wrong_cases_are_decided_again_from_a_record() {
    let folder = RunFolder::new();
    let run = Run::on(&Fixture::new("hostile")).briefly().args(["--device", "cpu"]);
    let file = kept(run.args(["--include-ignored", "answers", "faults"]), &folder);
    let told = judged(&file, 0);
    // What the checks cannot tell is found later than the verdict.
    assert!(
        told.contains("recorded error (blind-check), unverified; its samples alone: pass, unverified"),
        "{told}"
    );
    assert!(told.contains(" 0 not as recorded, "), "{told}");
}

#[test]
fn sealed_times_of_a_gpu_are_decided_again_from_a_record() {
    let folder = RunFolder::new();
    let gpu = FakeGpu::new();
    let file = kept(
        gpu.run(&Fixture::new("tidy")).briefly().args(["sums::one_thread"]),
        &folder,
    );
    assert_eq!(
        judged(&file, 0),
        "1 result: 1 as recorded, 0 recorded more strictly, 0 not as recorded, 0 without evidence\n"
    );
}

#[test]
fn a_forged_verdict_is_told_and_fails() {
    let folder = RunFolder::new();
    let run = Run::on(&Fixture::new("tidy"))
        .briefly()
        .args(["--device", "cpu", "sums::one_thread"]);
    let file = kept(run, &folder);
    let honest = std::fs::read_to_string(&file).expect("written");
    // One element of one call was wrong, and the verdict hides it.
    let (before, evidence) = honest.split_once("\"evidence\":").expect("it was kept");
    let forged = evidence.replacen("\"matched\":33", "\"matched\":32", 1);
    assert_ne!(forged, evidence);
    let forged = format!("{before}\"evidence\":{forged}");
    std::fs::write(&file, forged).expect("written");
    let told = judged(&file, 100);
    assert!(
        told.contains("recorded pass, unverified; its evidence shows: wrong-output (mismatch)"),
        "{told}"
    );
}

#[test]
fn without_the_option_nothing_is_kept() {
    let folder = RunFolder::new();
    let file = folder.path("run.jsonl").into_string();
    let run = Run::on(&Fixture::new("tidy"))
        .briefly()
        .args(["--device", "cpu", "sums::one_thread"]);
    let _ = run.args(["--export-json", &file]).finish().expect_code(0);
    assert!(
        !std::fs::read_to_string(Utf8Path::new(&file))
            .expect("written")
            .contains("evidence")
    );
    let told = judged(&file, 0);
    assert!(told.ends_with("1 without evidence\n"), "{told}");
}
