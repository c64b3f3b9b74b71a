//! Charts of time and rate over an axis.

use super::outline::outline;
use super::pages::{plain_page, stored};
use gpubench_contract::{BenchmarkComplete, CounterRate, Execution, ParamValue, Params, Verdict};
use gpubench_store::StoredRun;
use gpubench_testing::{competition, every_verdict, on_gpu};

/// Returns the section of a page's outline, if it has it.
fn section(page: &str) -> Option<String> {
    let section = outline(page);
    let section = section.split("## Over an axis").nth(1)?;
    Some(section.split("\n    section").next().unwrap_or_default().to_owned())
}

/// A result of `benchmark` at these values of axes.
fn result(like: &BenchmarkComplete, benchmark: &str, axes: &[(&str, ParamValue)], time: f64) -> BenchmarkComplete {
    let mut result = like.clone();
    let mut stats = like.stats.clone().unwrap();
    let factor = time / stats.value;
    stats.value = time;
    stats.ci95 = stats.ci95.map(|interval| interval.map(|bound| bound * factor));
    result.stats = Some(stats);
    result.benchmark = benchmark.to_owned();
    result.problem = None;
    result.params = Params(
        axes.iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()))
            .collect(),
    );
    result.case = result.full_name();
    result
}

fn int(value: i64) -> ParamValue {
    ParamValue::Int(value)
}

/// Two kernels of a problem at seven sizes, each with two block sizes of its own for one of them.
fn sizes() -> StoredRun {
    let mut run = stored(on_gpu());
    let like = run.results[0].clone();
    run.results.clear();
    for power in (10..=22).step_by(2) {
        let n = 1i64 << power;
        for (benchmark, blocks, factor) in [
            ("scale::naive", None, 3.0),
            ("scale::tiled", Some(128), 1.2),
            ("scale::tiled", Some(256), 1.0),
        ] {
            let mut axes = vec![("n", int(n))];
            axes.extend(blocks.map(|block| ("block", int(block))));
            let time = 900.0 + n as f64 * 0.002 * factor;
            let mut result = result(&like, benchmark, &axes, time);
            result.problem = Some("scale".to_owned());
            result.own_axes = blocks.map(|_| "block".to_owned()).into_iter().collect();
            result.throughput.bytes_per_s = Some(8.0 * n as f64 / time * 1e9);
            run.results.push(result);
        }
    }
    run
}

#[test]
fn kernels_of_a_problem_are_lines_of_one_chart() {
    insta::assert_snapshot!(section(&plain_page(&sizes())).unwrap());
}

#[test]
fn pages_are_deterministic() {
    assert_eq!(plain_page(&sizes()), plain_page(&sizes()));
}

#[test]
fn a_run_without_a_numeric_axis_has_no_chart() {
    let mut run = stored(competition());
    assert!(section(&plain_page(&run)).is_some());
    for result in &mut run.results {
        for (_, value) in &mut result.params.0 {
            *value = ParamValue::Text(value.to_string());
        }
    }
    assert_eq!(section(&plain_page(&run)), None);
}

#[test]
fn other_axes_have_a_chart_per_combination() {
    let mut run = stored(on_gpu());
    let like = run.results[0].clone();
    run.results.clear();
    for n in [1024, 4096, 16384] {
        for dtype in ["f32", "bf16"] {
            let axes = [("n", int(n)), ("T", ParamValue::Text(dtype.to_owned()))];
            run.results.push(result(&like, "norm", &axes, n as f64));
        }
    }
    let section = section(&plain_page(&run)).unwrap();
    assert!(
        section.contains("### norm T=f32") && section.contains("### norm T=bf16"),
        "{section}"
    );
}

#[test]
fn the_axis_with_the_most_values_is_drawn() {
    let mut run = stored(on_gpu());
    let like = run.results[0].clone();
    run.results.clear();
    for (rows, columns) in [(1, 1), (2, 1), (1, 2), (2, 2), (1, 3), (2, 3)] {
        let axes = [("rows", int(rows)), ("columns", int(columns))];
        run.results
            .push(result(&like, "sum", &axes, 10.0 * (rows * columns) as f64));
    }
    let section = section(&plain_page(&run)).unwrap();
    assert!(section.contains("time over columns from 1 to 3"), "{section}");
    assert!(
        section.contains("### sum rows=1") && section.contains("### sum rows=2"),
        "{section}"
    );
}

#[test]
fn cases_without_a_value_interrupt_the_line_and_are_named() {
    let mut run = sizes();
    let lines = |page: &str| page.matches("class=\"line line-0\"").count();
    assert!(lines(&plain_page(&run)) > 0);
    let failed = &mut run.results[9];
    (failed.verdict, failed.stats) = (Verdict::WrongOutput, None);
    assert_eq!(failed.benchmark, "scale::naive");
    let page = plain_page(&run);
    assert!(
        section(&page)
            .unwrap()
            .contains("Without a value: scale::naive n=65536 (wrong-output)")
    );
    let path = page.split("class=\"line line-0\" d=\"").nth(1).unwrap();
    let path = path.split('"').next().unwrap();
    assert_eq!(path.matches('M').count(), 2, "{path}");
}

#[test]
fn values_that_a_logarithm_cannot_show_are_left_out() {
    let mut run = sizes();
    for (result, value) in run.results.iter_mut().zip([0.0, -1.0, f64::NAN, f64::INFINITY]) {
        result.stats.as_mut().unwrap().value = value;
    }
    run.results[5].params.0[0].1 = int(0);
    run.results[6].params.0[0].1 = ParamValue::Float(-2.5);
    run.results[7].params.0[0].1 = ParamValue::Bool(true);
    run.results[8].stats.as_mut().unwrap().ci95 = Some([0.0, f64::INFINITY]);
    run.results[9].throughput.bytes_per_s = Some(0.0);
    let page = plain_page(&run);
    let drawn = page.split("<section id=\"scaling\"").nth(1).unwrap();
    let drawn = drawn.split("</section>").next().unwrap();
    assert!(!drawn.contains("NaN") && !drawn.contains("inf "), "{drawn}");
    section(&page).unwrap();
}

#[test]
fn more_lines_than_can_be_told_apart_are_counted() {
    let mut run = stored(on_gpu());
    let like = run.results[0].clone();
    run.results.clear();
    for kernel in 0..11 {
        for n in [1024, 2048] {
            let mut result = result(
                &like,
                &format!("k{kernel:02}"),
                &[("n", int(n))],
                (n * (20 - kernel)) as f64,
            );
            result.problem = Some("many".to_owned());
            run.results.push(result);
        }
    }
    let section = section(&plain_page(&run)).unwrap();
    assert!(
        section.contains("The 8 best at the largest n are drawn; 3 more are in the table."),
        "{section}"
    );
    let list = section.lines().filter(|line| line.trim_start().starts_with("li: k"));
    let list: Vec<&str> = list.map(str::trim).collect();
    assert_eq!((list.len(), list[0]), (8, "li: k03"), "{section}");
}

#[test]
fn times_of_the_host_and_counters_have_names_of_their_own() {
    let mut run = sizes();
    for result in &mut run.results {
        if result.benchmark == "scale::naive" {
            result.execution = Some(Execution::HostedSync);
        }
        result.throughput.counters = vec![CounterRate {
            name: "tokens".to_owned(),
            amount: 10,
            per_s: 2e9,
        }];
    }
    let section = section(&plain_page(&run)).unwrap();
    assert!(
        section.contains("scale::naive wall time") && section.contains("(tokens over n"),
        "{section}"
    );
}

#[test]
fn hostile_names_stay_text() {
    let mut run = sizes();
    for result in &mut run.results {
        result.benchmark = "</svg><script>alert(1)</script>".to_owned();
        result.params.0[0].0 = "\"><img src=x>".to_owned();
    }
    let page = plain_page(&run);
    assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
    section(&page).unwrap();
}

#[test]
fn failures_of_one_cause_are_one_group() {
    let mut run = stored(every_verdict());
    let failure = run
        .results
        .iter()
        .find(|result| result.verdict.is_failure())
        .unwrap()
        .clone();
    run.results = (0..8)
        .map(|n| {
            let mut result = failure.clone();
            result.params = Params(vec![("n".to_owned(), int(n))]);
            result.message = Some(if n < 3 {
                "the same".to_owned()
            } else {
                format!("message {n}")
            });
            result
        })
        .collect();
    let page = outline(&plain_page(&run));
    let attention = page
        .split("## Needs attention")
        .nth(1)
        .unwrap()
        .split("## ")
        .next()
        .unwrap();
    assert!(attention.contains(", 8 cases"), "{attention}");
    assert_eq!(attention.matches("the same").count(), 1, "{attention}");
    assert!(
        attention.contains("With other messages:") && !attention.contains("message 7"),
        "{attention}"
    );
    for n in 0..8 {
        assert!(attention.contains(&format!("n={n}")), "{attention}");
    }
}
