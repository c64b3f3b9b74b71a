//! A file that was written by hand after NVBench's `json_printer`, and damaged copies of it.

use super::*;
use crate::compare::{NamedRun, Rules, compare};
use crate::{Home, RunName, load, load_to_compare};
use gpubench_contract::{Arrangement, ChangeVerdict, ComparisonComplete};
use gpubench_testing::on_gpu;

const WRITTEN_BY_HAND: &str = include_str!("written-by-hand.json");

fn parsed(text: &str) -> Result<StoredRun, StoreError> {
    parse(Utf8Path::new("nvbench.json"), text.as_bytes())
}

fn nvbench() -> StoredRun {
    parsed(WRITTEN_BY_HAND).unwrap()
}

fn candidate() -> StoredRun {
    let sample = on_gpu();
    StoredRun::new(sample.started, sample.results, Some(sample.finished), None)
}

fn compared(baseline: &StoredRun, candidate: &StoredRun) -> ComparisonComplete {
    let [baseline, candidate] =
        [("nvbench.json", baseline), ("this run", candidate)].map(|(name, run)| NamedRun { name, run });
    compare(baseline, candidate, Arrangement::Apart, &Rules::default())
}

#[test]
fn states_are_results_of_cold_calls_in_nanoseconds() {
    let run = nvbench();
    assert_eq!(run.run.device.name, "NVIDIA H200");
    assert_eq!(run.run.device.capability, Some(90));
    assert_eq!(run.run.tool_version, "NVBench 0.1.0");
    let named: Vec<String> = run.results.iter().map(|result| result.case.clone()).collect();
    assert_eq!(
        named,
        [
            "add_one::N=1024",
            "add_one::N=67108864",
            "rows::T=F32,rows=4096",
            "copy"
        ]
    );
    let stats = run.results[0].stats.as_ref().unwrap();
    assert_eq!((stats.n, stats.cv), (14832, Some(0.0312)));
    assert!((stats.value - 3389.0).abs() < 1e-6, "{}", stats.value);
    let skipped = &run.results[3];
    assert_eq!(skipped.verdict, Verdict::Skipped);
    assert_eq!(skipped.message.as_deref(), Some("Not enough memory"));
}

#[test]
fn a_case_with_the_same_name_and_axes_is_compared_and_never_judged() {
    let comparison = compared(&nvbench(), &candidate());
    let rows: Vec<(&str, ChangeVerdict)> = comparison.rows.iter().map(|row| (&*row.case, row.verdict)).collect();
    assert_eq!(
        rows,
        [
            ("axpy::add_one::n=1024", ChangeVerdict::Inconclusive),
            ("axpy::add_one::n=67108864", ChangeVerdict::Inconclusive)
        ]
    );
    let row = &comparison.rows[0];
    assert_eq!((row.baseline.n, row.baseline.workers), (14832, 1));
    let change = row.change.as_ref().unwrap();
    assert!((change.ratio - row.candidate.value.unwrap() / 3389.0).abs() < 1e-6);
    assert!(change.interval[0] < change.ratio && change.ratio < change.interval[1]);
    assert!(
        row.remark.as_ref().unwrap().contains("NVBench measures in one process"),
        "{row:?}"
    );
    assert_eq!(comparison.removed, ["rows::T=F32,rows=4096", "copy"]);
}

#[test]
fn the_interval_has_the_noise_of_nvbench() {
    let noisy = WRITTEN_BY_HAND.replace("0.0312", "0.9");
    let width = |run: &StoredRun| {
        let comparison = compared(run, &candidate());
        let [low, high] = comparison.rows[0].change.as_ref().unwrap().interval;
        high / low
    };
    assert!(width(&parsed(&noisy).unwrap()) > width(&nvbench()));
}

#[test]
fn another_device_is_not_compared() {
    let other = WRITTEN_BY_HAND.replace("NVIDIA H200", "NVIDIA GeForce RTX 4090");
    let comparison = compared(&parsed(&other).unwrap(), &candidate());
    assert_eq!(comparison.rows[0].verdict, ChangeVerdict::NotCompared);
}

#[test]
fn a_name_that_fits_two_cases_is_refused_by_name() {
    let mut two = candidate();
    let mut twin = two.results[0].clone();
    twin.benchmark = "other::add_one".into();
    two.results.push(twin);
    let comparison = compared(&nvbench(), &two);
    let said = comparison.differences.join("\n");
    assert!(
        said.contains("NVBench's `add_one::N=1024` fits `suite::axpy::add_one` and `suite::other::add_one`"),
        "{said}"
    );
    assert_eq!(comparison.rows.len(), 1);
}

#[test]
fn values_of_axes_are_compared_as_numbers_or_words() {
    let text = |text: &str| ParamValue::Text(text.into());
    assert!(is_same(&ParamValue::Int(2), &ParamValue::Float(2.0)));
    assert!(is_same(&text("F32"), &text("F32")) && is_same(&text("true"), &ParamValue::Bool(true)));
    assert!(!is_same(&ParamValue::Int(2), &ParamValue::Int(3)) && !is_same(&text("f32"), &text("F32")));
    assert_eq!([axis("T{ct}"), axis("N")], ["T", "N"]);
}

#[test]
fn what_cannot_be_mapped_is_refused_with_a_hint() {
    let two_devices = WRITTEN_BY_HAND.replacen("\"device\": 0", "\"device\": 1", 1);
    let no_states = r#"{"meta":{"version":{"json":{"major":1,"string":"1.0.0"},"nvbench":{"major":0,"string":"0.1.0"}}},"benchmarks":null}"#;
    let refusals = [
        two_devices,
        WRITTEN_BY_HAND.replace("\"device\": 0", "\"device\": 7"),
        WRITTEN_BY_HAND.replacen("\"major\": 1", "\"major\": 2", 1),
        WRITTEN_BY_HAND.replace("\"states\": [", "\"states\": 5, \"x\": ["),
        WRITTEN_BY_HAND[..WRITTEN_BY_HAND.len() / 2].to_owned(),
        no_states.to_owned(),
    ];
    let refusals = refusals.map(|text| gpubench_diagnostic::chain(&parsed(&text).unwrap_err()));
    insta::assert_snapshot!(refusals.join("\n"));
}

#[test]
fn times_that_are_no_times_are_none() {
    for bad in ["\"nan\"", "\"inf\"", "\"-1.0\"", "\"0\"", "\"x\"", "null", "[]"] {
        let text = WRITTEN_BY_HAND.replace("\"3.389e-06\"", bad);
        let run = parsed(&text).unwrap();
        assert_eq!(run.results[0].verdict, Verdict::Skipped, "{bad}");
    }
}

#[test]
fn such_a_file_can_be_compared_with_and_is_neither_a_run_nor_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = camino::Utf8PathBuf::from_path_buf(folder.path().join("nvbench.json")).unwrap();
    std::fs::write(&path, WRITTEN_BY_HAND).unwrap();
    let name = RunName::File(path.clone());
    assert_eq!(load_to_compare(&name, &Home::ABSENT).unwrap().results.len(), 4);
    let refused = load(&name, &Home::ABSENT).unwrap_err();
    assert!(refused.to_string().contains("NVBench"), "{refused}");
    crate::save(&path, &candidate()).unwrap_err();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), WRITTEN_BY_HAND);
}
