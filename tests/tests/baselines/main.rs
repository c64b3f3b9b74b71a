//! Baselines: saving, comparing, refusing, and surviving a killed save.
#![forbid(unsafe_code)]

mod compared;
mod devices;
mod kept;
mod unharmed;

use std::sync::OnceLock;

use camino::Utf8Path;
use gpubench_tests::{Fixture, Records, Run, steadied};
use serde_json::Value;

/// Returns a run of five workers, with enough samples for a comparison.
fn paced() -> Run {
    Run::on(&Fixture::new("paced"))
        .args([
            "--workers",
            "5",
            "--min-samples",
            "40",
            "--max-samples",
            "40",
            "--max-time",
            "1min",
        ])
        .args(["--flush-bytes", "256KiB", "--threads", "1"])
}

/// Returns a run that loads a stored run and measures nothing.
fn loaded(run: &str) -> Run {
    Run::on(&Fixture::new("paced")).args(["--load-baseline", run])
}

/// Saves a stored run as a baseline.
fn save_run(run: &str, baseline: &Utf8Path) {
    let _ = loaded(run)
        .args(["--save-baseline", baseline.as_str()])
        .finish()
        .expect_code(0);
}

/// Returns the records of one run of all cases. The times vary with the machine, so tests compare
/// the run with copies of it, and without its noise.
fn records() -> &'static [Value] {
    static RECORDS: OnceLock<Vec<Value>> = OnceLock::new();
    let run = || steadied(paced().json().finish().expect_code(0).records().all());
    RECORDS.get_or_init(run)
}

fn comparison(records: &Records) -> &Value {
    records.the("comparison-complete")
}

fn verdict_of(records: &Records, benchmark: &str) -> Value {
    let rows = comparison(records)["rows"].as_array().expect("a list");
    let found = rows.iter().find(|row| row["benchmark"] == benchmark);
    found.unwrap_or_else(|| panic!("no row for `{benchmark}`"))["verdict"].clone()
}
