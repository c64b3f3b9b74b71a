use super::case_name::naming;
use super::page::{is_jump, page};
use super::trend::trends;
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
            value: *value,
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
fn with_steps() -> History {
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
fn earlier_runs_with_jumps_are_shown() {
    let mut medians = [3648.0; 50];
    medians[2..].fill(4000.0);
    let page = shown(&history(&medians), 80);
    assert!(
        page.contains("\n29 earlier runs without a jump\n2026-10-03 13:43  "),
        "{page}"
    );
    assert_eq!(
        page.matches(" µs").count(),
        1 + 20 + 2,
        "a jump, the latest runs, first and last"
    );
    assert_eq!(page.matches('▲').count(), 1);
}

#[test]
fn fewer_than_ten_runs_have_no_usual_change() {
    let of = |medians: &[f64]| trends(&history(medians)).remove(0);
    let nine = of(&[100.0; 9]);
    assert_eq!(nine.usual_change, None);
    assert_eq!(of(&[100.0; 10]).usual_change, Some(0.0));
    assert!(!is_jump(&nine, 0.04), "4 % may be usual");
    assert!(is_jump(&nine, -0.06));
    assert!(is_jump(&of(&[100.0; 10]), 0.04));
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
