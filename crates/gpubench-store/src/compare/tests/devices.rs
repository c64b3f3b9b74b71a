//! The results of several devices next to each other.

use super::*;
use crate::testing::{self, Size, on_gpu};

const SIZE: Size = Size {
    workers: 3,
    samples: 20,
};

/// Returns a run on a GPU of a name.
fn on(name: &str, seed: u64, benchmarks: &[(&str, f64)]) -> StoredRun {
    on_gpu(name, testing::run(seed, benchmarks, SIZE))
}

fn matrix(runs: &[&StoredRun]) -> Option<DeviceMatrix> {
    const NAMES: [&str; 4] = ["a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"];
    let runs = NAMES.iter().zip(runs).map(|(name, run)| NamedRun { name, run });
    device_matrix(&runs.collect::<Vec<_>>())
}

fn titles(runs: &[&StoredRun]) -> Vec<String> {
    let columns = matrix(runs).expect("several devices").columns;
    columns.into_iter().map(|column| column.title).collect()
}

fn standings(row: &DeviceRow) -> Vec<Option<Standing>> {
    row.cells.iter().map(|cell| cell.as_ref()?.standing).collect()
}

#[test]
fn one_device_has_no_matrix() {
    let (one, later) = (on("H100", 1, &[("axpy", 100.0)]), on("H100", 2, &[("axpy", 50.0)]));
    assert_eq!(matrix(&[]), None);
    assert_eq!(matrix(&[&one]), None);
    assert_eq!(matrix(&[&one, &later, &one]), None);
}

#[test]
fn a_part_of_a_device_is_another_device() {
    let whole = on("H100", 1, &[("axpy", 100.0)]);
    let mut part = on("H100", 2, &[("axpy", 500.0)]);
    part.run.device.multiprocessors = Some(16);
    assert_eq!(titles(&[&whole, &part]), ["H100, a.jsonl", "H100, b.jsonl"]);
}

#[test]
fn hosts_uuids_and_names_of_runs_tell_devices_of_one_name_apart_in_this_order() {
    let other = on("A100", 1, &[("axpy", 100.0)]);
    let with = |seed, host: Option<&str>, uuid: &str| {
        let mut run = on("H100", seed, &[("axpy", 100.0)]);
        run.run.environment.host = host.map(str::to_owned);
        run.run.device.uuids = vec![uuid.to_owned()];
        run
    };
    let [one, two, three] = [
        with(2, Some("n1"), "GPU-1"),
        with(3, Some("n2"), "GPU-2"),
        with(4, None, "GPU-1"),
    ];
    assert_eq!(titles(&[&other, &one]), ["A100", "H100"]);
    assert_eq!(titles(&[&other, &one, &two]), ["A100", "H100, n1", "H100, n2"]);
    assert_eq!(titles(&[&other, &two, &three]), ["A100", "H100, GPU-2", "H100, GPU-1"]);
    assert_eq!(
        titles(&[&other, &one, &three]),
        ["A100", "H100, b.jsonl", "H100, c.jsonl"]
    );
}

#[test]
fn a_run_that_is_named_twice_has_one_column() {
    let (one, other) = (on("H100", 1, &[("axpy", 100.0)]), on("A100", 2, &[("axpy", 200.0)]));
    assert_eq!(titles(&[&one, &other, &one]), ["H100", "A100"]);
}

#[test]
fn values_whose_intervals_overlap_are_tied_and_others_have_a_ratio_to_the_best() {
    let run = |name, seed, axpy| on(name, seed, &[("axpy", axpy)]);
    let runs = [run("H100", 1, 100.0), run("A100", 2, 200.0), run("H200", 1, 100.0)];
    let of = matrix(&[&runs[1], &runs[0], &runs[2]]).expect("several devices");
    let [row] = &of.rows[..] else { panic!("{:?}", of.rows) };
    assert_eq!(
        standings(row),
        [Some(Standing::Worse), Some(Standing::Best), Some(Standing::Tied)]
    );
    let ratios: Vec<f64> = row
        .cells
        .iter()
        .map(|cell| cell.as_ref().unwrap().ratio.unwrap())
        .collect();
    assert!(
        (1.9..2.1).contains(&ratios[0]) && ratios[1..] == [1.0, 1.0],
        "{ratios:?}"
    );
}

#[test]
fn of_a_metric_that_should_be_high_the_highest_is_best() {
    let mut runs = [on("H100", 1, &[("axpy", 100.0)]), on("A100", 2, &[("axpy", 200.0)])];
    for run in &mut runs {
        run.results[0].metric.better = Better::Higher;
    }
    let of = matrix(&[&runs[0], &runs[1]]).expect("several devices");
    assert_eq!(standings(&of.rows[0]), [Some(Standing::Worse), Some(Standing::Best)]);
}

#[test]
fn a_case_that_did_not_pass_has_a_verdict_and_no_value() {
    let one = on("H100", 1, &[("axpy", 100.0), ("scan", 1.0), ("both", 1.0)]);
    let mut other = on("A100", 2, &[("axpy", 100.0), ("scan", 1.0), ("both", 1.0)]);
    let verdicts = [Verdict::WrongOutput, Verdict::Skipped, Verdict::Pass];
    for (result, verdict) in other.results.iter_mut().zip(verdicts) {
        result.verdict = verdict;
    }
    let of = matrix(&[&one, &other]).expect("several devices");
    for (row, verdict) in of.rows.iter().zip(&verdicts[..2]) {
        let cell = row.cells[1].as_ref().expect("a result");
        assert_eq!(
            (cell.verdict, cell.value, cell.ci95, cell.ratio),
            (*verdict, None, None, None)
        );
        assert_eq!(
            standings(row),
            [None, None],
            "a value alone is not the best of anything"
        );
    }
    assert_eq!(standings(&of.rows[2]).iter().flatten().count(), 2);
}

#[test]
fn runs_without_a_case_in_common_have_rows_with_one_result_each() {
    let (one, other) = (on("H100", 1, &[("axpy", 100.0)]), on("A100", 2, &[("scan", 200.0)]));
    let of = matrix(&[&one, &other]).expect("several devices");
    let cells: Vec<[bool; 2]> = of
        .rows
        .iter()
        .map(|row| [row.cells[0].is_some(), row.cells[1].is_some()])
        .collect();
    assert_eq!(cells, [[true, false], [false, true]]);
}

#[test]
fn a_case_that_every_run_skipped_has_no_row() {
    let mut runs = [on("H100", 1, &[("axpy", 100.0)]), on("A100", 2, &[("axpy", 200.0)])];
    for run in &mut runs {
        run.results[0].verdict = Verdict::Skipped;
    }
    assert_eq!(matrix(&[&runs[0], &runs[1]]).expect("several devices").rows, []);
}

#[test]
fn the_cpu_device_is_not_ranked_with_gpus() {
    let (gpu, other) = (on("H100", 1, &[("axpy", 100.0)]), on("A100", 2, &[("axpy", 200.0)]));
    let on_cpu = |name, seed, axpy| {
        let mut run = on(name, seed, &[("axpy", axpy)]);
        run.run.device.kind = DeviceKind::Cpu;
        run.results[0].device.kind = DeviceKind::Cpu;
        run
    };
    let (cpu, slower) = (on_cpu("EPYC", 3, 10.0), on_cpu("Xeon", 4, 20.0));
    let of = |runs: &[&StoredRun]| standings(&matrix(runs).expect("several devices").rows[0]);
    assert_eq!(
        of(&[&cpu, &gpu, &other]),
        [None, Some(Standing::Best), Some(Standing::Worse)]
    );
    assert_eq!(of(&[&cpu, &slower]), [Some(Standing::Best), Some(Standing::Worse)]);
}

#[test]
fn another_revision_tool_or_driver_is_said_with_its_columns() {
    let mut runs = [on("H100", 1, &[]), on("A100", 2, &[]), on("H200", 3, &[])];
    let revision = |commit: &str, modified| {
        Some(Revision {
            commit: commit.to_owned(),
            branch: None,
            modified,
        })
    };
    runs[0].revision = revision("012345678", false);
    runs[1].revision = revision("012345678", true);
    runs[1].run.environment.driver = None;
    runs[2].run.tool_version = "0.2.0".to_owned();
    let of = matrix(&[&runs[0], &runs[1], &runs[2]]).expect("several devices");
    let unknown = UNKNOWN_REVISION;
    assert_eq!(
        of.differences,
        [
            format!("revision: 012345678 (H100), 012345678, modified (A100), {unknown} (H200)"),
            "version of the tool: 0.1.0 (H100; A100), 0.2.0 (H200)".to_owned(),
            "driver: 580.159 (CUDA 13.0) (H100; H200), unknown (A100)".to_owned(),
        ]
    );
}

#[test]
fn the_value_of_most_columns_comes_last_without_their_titles() {
    let mut runs = [1, 2, 3, 4].map(|seed| on(&format!("H{seed}"), seed, &[]));
    runs[1].run.tool_version = "0.2.0".to_owned();
    let of = matrix(&runs.iter().collect::<Vec<_>>()).expect("several devices");
    assert_eq!(of.differences, ["version of the tool: 0.2.0 (H2), 0.1.0 (the others)"]);
}

#[test]
fn other_work_is_said_in_the_row() {
    let mut runs = [on("H100", 1, &[("axpy", 100.0)]), on("A100", 2, &[("axpy", 200.0)])];
    for (run, (bytes, counter)) in runs.iter_mut().zip([(1 << 20, 7), (1 << 21, 7)]) {
        let result = &mut run.results[0];
        let work = Amounts {
            flops: Some(3_000_000_007),
            counters: vec![("tokens".to_owned(), counter)],
            ..Amounts::declared(Some(bytes), None)
        };
        let value = result.stats.as_ref().unwrap().value;
        result.throughput = Throughput::new(work, value, Peaks::default());
    }
    let remark = |runs: &[StoredRun; 2]| matrix(&[&runs[0], &runs[1]]).unwrap().rows[0].remark.clone();
    let declared = "declared bytes: 1048576 (H100), 2097152 (A100)";
    assert_eq!(remark(&runs).as_deref(), Some(declared));
    runs[1].results[0].execution = Some(Execution::HostedSync);
    let expected = format!("execution: sealed (H100), hosted-sync (A100); {declared}");
    assert_eq!(remark(&runs), Some(expected));
    runs[1].results[0].verdict = Verdict::Crashed;
    assert_eq!(remark(&runs), None, "work of a failed case means nothing");
}
