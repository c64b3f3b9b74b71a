//! The benchmark `known_length` of the suite: times next to what the kernel saw on the device's
//! clock.
#![forbid(unsafe_code)]

use std::sync::OnceLock;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{FakeGpu, Fixture, Records, Run, repository};
use serde_json::Value;

/// Returns a crate with this benchmark only, which all tests share.
fn known_length() -> Fixture {
    static FOLDER: OnceLock<(tempfile::TempDir, Utf8PathBuf)> = OnceLock::new();
    let (_, folder) = FOLDER.get_or_init(|| {
        let temporary = tempfile::tempdir().expect("a folder");
        let folder = Utf8Path::from_path(temporary.path())
            .expect("the name is text")
            .to_owned();
        std::fs::create_dir_all(folder.join("src")).expect("a folder");
        let runtime = repository().join("gpubench");
        let manifest = format!(
            "[package]\nname = \"lengths\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
             [dependencies]\ngpubench = {{ path = {runtime:?} }}\n"
        );
        std::fs::write(folder.join("Cargo.toml"), manifest).expect("it is written");
        std::fs::write(folder.join("src/lib.rs"), "pub mod known_length;\n").expect("it is written");
        let suite = repository().join("kernels/problems/src");
        for file in ["known_length.rs", "known_length.cu"] {
            std::fs::copy(suite.join(file), folder.join("src").join(file)).expect("it is copied");
        }
        (temporary, folder)
    });
    Fixture::made_in(folder)
}

/// The lengths of a case, in nanoseconds.
#[derive(Debug)]
struct Lengths {
    /// What the kernel was asked for.
    least: f64,
    /// The median by the device's clock.
    known: f64,
    /// What the mode reports.
    reported: f64,
}

fn lengths(result: &Value) -> Lengths {
    let checks = result["checks"].as_array().expect("checks");
    let elapsed = checks.iter().find(|check| check["output"] == "elapsed_ns");
    let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{value}: {result}"));
    Lengths {
        least: number(&result["params"]["ns"]),
        known: number(&elapsed.expect("the output")["median_abs_error"]),
        reported: number(&result["stats"]["value"]),
    }
}

fn measured(run: Run, modes: &str) -> Records {
    let run = run.args(["--mode", modes, "--max-time", "20ms"]).json();
    run.finish().expect_code(0).records()
}

#[test]
fn no_mode_reports_a_time_shorter_than_the_kernel_saw() {
    let records = measured(Run::on(&known_length()), "cold,warm,hot,graph");
    assert_eq!(records.results().count(), 5 * 4);
    for result in records.results() {
        assert_eq!(result["verdict"], "pass", "{}", result["message"]);
        let lengths = lengths(result);
        assert!(lengths.known >= lengths.least, "{}: {lengths:?}", result["mode"]);
        // Busy processors interrupt kernels too, but hardly half of those that are much shorter
        // than a time slice.
        assert!(
            lengths.least > 1e5 || lengths.known < 2.0 * lengths.least + 1e6,
            "{}: {lengths:?}",
            result["mode"]
        );
        assert!(lengths.reported >= lengths.least, "{}: {lengths:?}", result["mode"]);
    }
}

#[test]
fn a_claim_below_the_length_of_the_kernel_shows() {
    let gpu = FakeGpu::new();
    let reported = |claimed: &str| {
        let run = gpu.run(&known_length()).env("FAKE_CUDA_CLAIMED", claimed);
        let records = measured(run.args(["--exact", "known_length::spin::ns=1000000"]), "cold");
        lengths(records.result("known_length::spin::ns=1000000"))
    };
    let honest = reported("1");
    assert!(honest.reported >= honest.known, "{honest:?}");
    let false_claim = reported("0.01");
    assert!(false_claim.reported < false_claim.least, "{false_claim:?}");
}
