//! Archives run in a folder without sources, on a machine without cargo and without a Rust
//! compiler.
#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{BareMachine, Finished, Fixture, Run, nvrtc};
use serde_json::Value;

/// Returns an archive of the tidy fixture, made once.
fn archive() -> &'static Utf8Path {
    static ARCHIVE: OnceLock<Utf8PathBuf> = OnceLock::new();
    ARCHIVE.get_or_init(|| {
        let archive = Fixture::target_directory().join(format!("tidy-{}.tar.gz", std::process::id()));
        let made = Run::archiving(&Fixture::new("tidy"), &archive).finish().expect_code(0);
        assert_eq!(made.stdout, "");
        archive
    })
}

fn verdicts(finished: &Finished) -> Vec<(Value, Value, Value)> {
    let of = |result: &Value| {
        (
            result["case"].clone(),
            result["verdict"].clone(),
            result["cause"].clone(),
        )
    };
    finished.records().results().map(of).collect()
}

/// Returns the messages, with the archive's folder and name replaced.
fn messages(finished: &Finished, archive: &Utf8Path) -> String {
    finished.stderr.replace(archive.as_str(), "[archive]")
}

#[test]
fn an_archive_lists_the_cases_that_the_crate_lists() {
    let here = Run::on(&Fixture::new("tidy")).args(["--list"]).finish().expect_code(0);
    let there = BareMachine::new()
        .run(archive())
        .args(["--list"])
        .finish()
        .expect_code(0);
    assert_eq!(there.stdout, here.stdout);
    assert_eq!(there.stderr, "");
}

#[test]
fn an_archive_runs_without_cargo_with_the_same_verdicts_and_leaves_no_files() {
    let here = Run::on(&Fixture::new("tidy")).briefly().json().finish().expect_code(0);
    let machine = BareMachine::new();
    let there = machine.run(archive()).briefly().json().finish().expect_code(0);
    assert_eq!(verdicts(&there), verdicts(&here));
    assert_eq!(machine.left(), [""; 0]);
}

const NEW_INSTANTIATION: [&str; 3] = ["--axis", "threads=64", "one_block_a_row"];

#[test]
fn a_kernel_missing_from_the_archive_is_compiled_if_there_is_a_compiler() {
    let machine = BareMachine::with_a_cpp_compiler();
    let finished = machine.run(archive()).briefly().json().args(NEW_INSTANTIATION).finish();
    assert_eq!(verdicts(&finished.expect_code(0)).len(), 1);
}

#[test]
fn a_kernel_missing_from_the_archive_is_an_error_without_a_compiler() {
    let machine = BareMachine::new();
    let finished = machine.run(archive()).briefly().json().args(NEW_INSTANTIATION).finish();
    let records = finished.expect_code(96).records();
    let message = records.result("sums::one_block_a_row")["message"].clone();
    insta::assert_snapshot!(message.as_str().expect("a message"));
}

#[test]
fn a_failed_case_can_be_rerun_from_the_archive() {
    let finished = BareMachine::new()
        .run(archive())
        .briefly()
        .args(NEW_INSTANTIATION)
        .args(["--device", "cpu", "--schedule", "7"])
        .finish()
        .expect_code(96);
    let command = format!("cargo-gpubench gpubench --archive-file {} --device cpu ", archive());
    let stdout: String = finished
        .stdout
        .split_whitespace()
        .filter(|word| *word != "│")
        .collect::<Vec<_>>()
        .join(" ");
    assert!(stdout.contains(&command), "{stdout}");
    assert!(
        stdout.contains(" --schedule 7 ") && stdout.contains(" --exact "),
        "{stdout}"
    );
}

#[test]
fn kernels_are_compiled_for_a_gpu_on_a_machine_without_one() {
    let machine = BareMachine::new();
    let archive = machine.work.join("tidy.tar.gz");
    let nvrtc = nvrtc();
    let run = Run::archiving(&Fixture::new("tidy"), &archive);
    let run = run.args(["--gpu-arch", "sm_90", "--gpu-arch", "7.5", "--nvrtc", &nvrtc]);
    let made = run.finish().expect_code(0);
    assert!(!made.stderr.contains("warning"), "{}", made.stderr);
    for architecture in [" kernels for sm_90, ", " kernels for sm_75, "] {
        assert!(made.stderr.contains(architecture), "{}", made.stderr);
    }
    let there = BareMachine::new();
    let case = ["--exact", "sums::one_thread_a_row::rows=33,cols=100"];
    let run = there
        .run(&archive)
        .briefly()
        .json()
        .args(["--device", "cpu"])
        .args(case);
    let _ = run.finish().expect_code(0);
}

#[test]
fn an_architecture_unknown_to_the_compiler_is_replaced_with_a_warning() {
    let machine = BareMachine::new();
    let archive = machine.work.join("tidy.tar.gz");
    let nvrtc = nvrtc();
    let run = Run::archiving(&Fixture::new("tidy"), &archive);
    let run = run.args(["--gpu-arch", "sm_99", "--gpu-arch", "sm_130", "--nvrtc", &nvrtc]);
    let made = run.finish().expect_code(0);
    let warnings: Vec<&str> = made.stderr.lines().filter(|line| line.contains("warning")).collect();
    insta::assert_snapshot!(warnings.join("\n"), @r"
    warning: NVRTC 12.9 does not support sm_99: kernels are compiled for sm_90, whose code also runs on this GPU (hint: a newer version may support it)
    warning: NVRTC 12.9 does not support sm_130: kernels are compiled to PTX for sm_121, and the driver compiles the rest (hint: a newer version may support it)
    ");
}

#[test]
fn a_folder_for_extraction_is_kept_and_refused_if_it_exists() {
    let machine = BareMachine::new();
    let list = |more: &[&'static str]| {
        machine
            .run(archive())
            .args(["--list", "--extract-to", "kept"])
            .args(more.iter().copied())
    };
    let _ = list(&[]).finish().expect_code(0);
    assert!(machine.work.join("kept/libraries/tidy/libtidy.so").is_file());
    let refused = list(&[]).finish().expect_code(103);
    insta::assert_snapshot!(messages(&refused, archive()));
    let _ = list(&["--extract-overwrite"]).finish().expect_code(0);
}

#[test]
fn an_unusable_archive_is_an_error_with_a_hint() {
    let machine = BareMachine::new();
    let bytes = fs::read(archive()).expect("an archive");
    let broken = |name: &str, bytes: &[u8]| {
        let path = machine.programs.join(name);
        fs::write(&path, bytes).expect("written");
        path
    };
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    let archives = [
        ("missing", machine.programs.join("missing.tar.gz")),
        ("a text", broken("text", b"hello")),
        ("half", broken("half", &bytes[..bytes.len() / 2])),
        ("flipped", broken("flipped", &flipped)),
    ];
    let texts: Vec<String> = archives
        .iter()
        .map(|(case, archive)| {
            let refused = machine.run(archive).finish().expect_code(103);
            assert_eq!(refused.stdout, "", "{case}");
            format!("{case}:\n{}", messages(&refused, archive))
        })
        .collect();
    insta::assert_snapshot!(texts.join("\n"));
    assert_eq!(machine.left(), [""; 0]);
}

#[test]
fn an_unwritable_archive_is_an_error_with_its_path() {
    let machine = BareMachine::new();
    let missing = machine.work.join("missing");
    let refused = Run::archiving(&Fixture::new("tidy"), &missing.join("tidy.tar.gz"))
        .finish()
        .expect_code(103);
    assert!(refused.stderr.contains(&format!("`{missing}`")), "{}", refused.stderr);
    assert!(!missing.exists());
}

#[test]
fn a_kernel_that_does_not_compile_is_left_out_and_the_command_fails() {
    let machine = BareMachine::new();
    let archive = machine.work.join("hostile.tar.gz");
    let made = Run::archiving(&Fixture::new("hostile"), &archive)
        .finish()
        .expect_code(101);
    let words = [
        "lacks the kernels that could not be compiled",
        "src/sources/broken.cu:5:21",
        "(hint: ",
    ];
    for word in words {
        assert!(made.stderr.contains(word), "{word}: {}", made.stderr);
    }
    let listed = machine.run(&archive).args(["--list"]).finish().expect_code(0);
    assert!(listed.stdout.contains("later::honest"), "{}", listed.stdout);
}

#[test]
fn the_summary_counts_the_contents_of_the_archive() {
    let machine = BareMachine::new();
    let archive = machine.work.join("tidy.tar.gz");
    let made = Run::archiving(&Fixture::new("tidy"), &archive).finish().expect_code(0);
    let summary = made.stderr.lines().last().unwrap_or_default();
    assert!(summary.starts_with("    Archived 1 library, "), "{}", made.stderr);
    assert!(summary.contains(" kernels for "), "{}", made.stderr);
    assert!(summary.ends_with(&format!(" to {archive}")), "{}", made.stderr);
    let quiet = Run::archiving(&Fixture::new("tidy"), &archive)
        .args(["--quiet"])
        .finish();
    assert_eq!(quiet.expect_code(0).stderr, "");
}

fn overwrite_all_in(folder: &Path) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            overwrite_all_in(&path)
        } else {
            fs::write(&path, "exchanged").expect("it can be written")
        }
    }
}

#[test]
fn files_replaced_in_an_unpacked_archive_are_not_loaded() {
    let machine = BareMachine::new();
    let archive = machine.work.join("hosted.tar.gz");
    let made = Run::archiving(&Fixture::new("hosted"), &archive).finish();
    let _ = made.expect_code(0);
    let kept = machine.work.join("kept");
    let run = machine.run(&archive).briefly().json();
    let exchanged = machine.work.join("exchanged");
    let run = run.env("CARGO_GPUBENCH_TESTS_EXCHANGED", exchanged.as_str());
    let mut running = run.args(["--extract-to", "kept", "--ignored", "exchange"]).start();
    running.wait_for_record("the first case", |record| record["reason"] == "benchmark-started");
    overwrite_all_in(kept.as_std_path());
    fs::write(&exchanged, "").expect("it can be written");
    let finished = running.finish().expect_code(0);
    let passed = |case: &str| (Value::from(case), Value::from("pass"), Value::Null);
    let mut verdicts = verdicts(&finished);
    verdicts.sort_by_key(|(case, _, _)| case.to_string());
    assert_eq!(
        verdicts,
        [
            passed("exchange::by_plan::n=600"),
            passed("exchange::on_the_host::n=600")
        ]
    );
    let mut targets = fs::read_dir(kept.join("kernels")).expect("a folder");
    let kernels = targets.next().expect("a target").expect("a folder").path().join("0");
    for file in [kept.join("libraries/hosted/libhosted.so").into_std_path_buf(), kernels] {
        let found = fs::read_to_string(&file).expect("it is there");
        assert_eq!(found, "exchanged", "{}", file.display());
    }
}
