use super::case_name::naming;
use super::page::page;
use super::trend;
use crate::broker::cases::Naming;
use gpubench_contract::{BenchmarkHistory, DeviceIdentity, Metric, Mode, Record, Revision};
use gpubench_diagnostic::layout::width;
use gpubench_store::history::{History, HistoryCase, HistoryEntry, Tail};
use gpubench_testing::on_gpu;

/// Returns one run per day from October 1, each of another revision.
fn history(medians_ns: &[f64]) -> History {
    let entry = |(day, value): (usize, &f64)| HistoryEntry {
        run_id: format!("{day:04x}"),
        started_at: format!("2026-10-{:02}T13:43:00Z", day % 31 + 1),
        tool_version: "0.1.0".to_owned(),
        revision: Some(Revision {
            commit: format!(
                "{:016x}{:024x}",
                0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(day as u64 + 1),
                0
            ),
            branch: None,
            modified: day % 2 == 1,
        }),
        cases: vec![HistoryCase {
            case: "suite::axpy::add_one::n=1024".to_owned(),
            mode: Mode::Cold,
            metric: Metric::time(),
            gpu: None,
            value: *value,
            twin_ns: None,
            ci95: Some([value * 0.99, value * 1.01]),
            n: 30,
            workers: 5,
        }],
    };
    History {
        identity: DeviceIdentity::from_run(&on_gpu().started),
        entries: medians_ns.iter().enumerate().map(entry).collect(),
        tail: Tail::Whole,
    }
}

/// Steady values with one step up and one step down.
pub(super) fn with_steps() -> History {
    let steady = [
        0.0, 3.0, -2.0, 4.0, 1.0, -3.0, 2.0, 0.0, -1.0, 3.0, 1.0, -2.0, 2.0, 0.0, 3.0, -1.0,
    ];
    let step = |day: usize| if (6..11).contains(&day) { 0.09 } else { 0.0 };
    let medians = steady.iter().enumerate();
    history(
        &medians
            .map(|(day, noise)| 3648.0 * (1.0 + noise / 1000.0 + step(day)))
            .collect::<Vec<_>>(),
    )
}

fn trends(history: &History) -> Vec<BenchmarkHistory> {
    trend::trends(std::slice::from_ref(history)).remove(0)
}

fn shown(history: &History, line: usize) -> String {
    let page = page(&history.identity, &trends(history), Naming::AcrossPackages, line);
    anstream::adapter::strip_str(&page).to_string()
}

#[test]
fn page_of_80_columns() {
    insta::assert_snapshot!(shown(&with_steps(), 80));
}

#[test]
fn page_of_120_columns_in_colour() {
    let history = with_steps();
    insta::assert_snapshot!(
        page(&history.identity, &trends(&history), Naming::AcrossPackages, 120).replace('\x1b', "␛")
    );
}

#[test]
fn page_of_a_single_run() {
    insta::assert_snapshot!(shown(&history(&[205_200.0]), 80));
}

#[test]
fn the_change_between_two_runs_appears_once() {
    let page = shown(&history(&[2e5, 1e5]), 80);
    assert_eq!(page.matches("-50.0%").count(), 1, "{page}");
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for line in 30..130 {
        for text in shown(&with_steps(), line).lines() {
            assert!(width(text) <= line, "{line}: {text}");
        }
    }
}

#[test]
fn names_start_with_the_package_only_if_there_are_several() {
    let mut history = history(&[1.0]);
    let page_of = |history: &History| {
        let trends = trends(history);
        let page = page(&history.identity, &trends, naming(&trends), 80);
        anstream::adapter::strip_str(&page).to_string()
    };
    assert!(page_of(&history).contains("\naxpy::add_one::n=1024  1 run, times in UTC\n"));
    let other = HistoryCase {
        case: "other::sort".to_owned(),
        ..history.entries[0].cases[0].clone()
    };
    history.entries[0].cases.push(other);
    let page = page_of(&history);
    assert!(page.contains("\nsuite::axpy::add_one::n=1024  1 run, times in UTC\n"));
    assert!(page.contains("\nother::sort  1 run, times in UTC\n"));
}

#[test]
fn names_cannot_move_the_cursor() {
    let mut history = history(&[1.0, 2.0]);
    history.identity.name = "evil\x1b[2J".to_owned();
    history.entries[1].cases[0].case = "axpy\x1b[31m\r".to_owned();
    let page = page(&history.identity, &trends(&history), Naming::AcrossPackages, 80);
    assert!(!page.contains("\x1b[2J") && !page.contains("\x1b[31m") && !page.contains('\r'));
}

#[test]
fn earlier_runs_with_changes_are_shown() {
    let mut medians = [3648.0; 50];
    medians[12..].fill(4000.0);
    let page = shown(&history(&medians), 80);
    assert!(
        page.contains("\n29 earlier runs without a change\n2026-10-13 13:43  "),
        "{page}"
    );
    assert_eq!(
        page.matches(" µs").count(),
        1 + 20 + 2,
        "a change, the latest runs, first and last"
    );
    assert_eq!(page.matches("▲ +9.65% from here on").count(), 1);
}

#[test]
fn a_single_slow_run_has_no_mark() {
    let mut medians = [3648.0; 30];
    medians[25] = 9000.0;
    let page = shown(&history(&medians), 80);
    assert!(page.contains("+147%") && !page.contains('▲'), "{page}");
}

#[test]
fn a_change_of_the_machine_is_named_so() {
    let mut slower = history(&[3648.0; 30]);
    for (day, entry) in slower.entries.iter_mut().enumerate() {
        let factor = if day < 20 { 1.0 } else { 1.1 };
        entry.cases[0].value *= factor;
        entry.cases[0].twin_ns = Some(2000.0 * factor);
    }
    let page = shown(&slower, 80);
    assert!(page.contains("+10.0%, the machine") && !page.contains('▲'), "{page}");
}

#[test]
fn another_driver_or_gpu_is_a_known_break() {
    let before = history(&[3648.0; 20]);
    let mut after = history(&[4000.0; 20]);
    after.identity.driver = Some("590.44".to_owned());
    for entry in &mut after.entries {
        entry.started_at = entry.started_at.replace("2026-10", "2026-11");
        entry.cases[0].twin_ns = Some(2000.0);
    }
    let of = |histories: &[History]| trend::trends(histories);
    let page = |all: &[BenchmarkHistory]| {
        let page = page(&all[0].device, all, Naming::AcrossPackages, 80);
        anstream::adapter::strip_str(&page).to_string()
    };
    let trends = of(&[before.clone(), after.clone()]);
    assert!(trends.iter().flatten().all(|trend| trend.changes.is_empty()));
    assert_eq!(trends[0][0].known_break, None);
    let shown = page(&trends[1]);
    assert!(shown.contains("became 590.44; level +9.65%\n"), "{shown}");

    let mut both = before;
    both.entries.extend(after.entries);
    for (day, entry) in both.entries.iter_mut().enumerate() {
        let uuid = if day < 20 {
            "GPU-5be1c0de-0001"
        } else {
            "GPU-7a7a7a7a-0002"
        };
        entry.cases[0].gpu = Some(uuid.to_owned());
    }
    let shown = page(&of(&[both])[0]);
    assert!(
        shown.contains(
            "20 runs on GPU-7a7a7a7a, times in UTC\nknown break: GPU GPU-5be1c0de became GPU-7a7a7a7a; level"
        ),
        "{shown}"
    );
}

#[test]
fn fewer_than_ten_runs_have_neither_usual_changes_nor_changes_of_level() {
    let of = |medians: &[f64]| trends(&history(medians)).remove(0);
    let nine = of(&[1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 2.0].map(|value| 100.0 * value));
    assert_eq!((nine.usual_change, &nine.changes[..]), (None, &[][..]));
    assert_eq!(of(&[100.0; 10]).usual_change, Some(0.0));
}

#[test]
fn cases_follow_the_order_of_the_latest_run_and_removed_ones_come_last() {
    let mut history = history(&[1.0, 2.0, 3.0]);
    let named = |name: &str| HistoryCase {
        case: name.to_owned(),
        ..history.entries[0].cases[0].clone()
    };
    let (a, b, c) = (named("a"), named("b"), named("c"));
    history.entries[0].cases = vec![c, a.clone()];
    history.entries[2].cases = vec![b, a];
    let trends = trends(&history);
    let names: Vec<(&str, usize)> = trends
        .iter()
        .map(|trend| (trend.case.as_str(), trend.runs.len()))
        .collect();
    assert_eq!(
        names,
        [("b", 1), ("a", 2), ("suite::axpy::add_one::n=1024", 1), ("c", 1)]
    );
}

#[test]
fn the_record_matches_the_schema() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../crates/gpubench-contract/schema/gpubench-v2.schema.json"
    );
    let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let history: BenchmarkHistory = trends(&with_steps()).remove(0);
    let record = serde_json::to_value(Record::BenchmarkHistory(Box::new(history))).unwrap();
    assert_eq!(record["reason"], "benchmark-history");
    assert!(validator.is_valid(&record), "{record:#}");
}
