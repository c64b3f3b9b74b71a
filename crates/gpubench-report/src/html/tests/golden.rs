//! Snapshots of pages.

use super::outline::outline;
use super::pages::{full_page, page_after_a_step, plain_page, stored};
use crate::HtmlReport;
use gpubench_contract::{BenchmarkComplete, ParamValue, Params, RunEnd, Verdict};
use gpubench_testing::{
    competition, every_verdict, in_contests, in_two_modes, on_gpu, runs_on_devices, several_devices, submitted,
};

#[test]
fn page_with_workers_a_comparison_and_a_history() {
    insta::assert_snapshot!(outline(&full_page()));
}

#[test]
fn page_with_every_verdict_on_the_cpu_device() {
    insta::assert_snapshot!(outline(&plain_page(&stored(every_verdict()))));
}

#[test]
fn page_of_implementations_that_compete() {
    let page = outline(&plain_page(&stored(competition())));
    let rankings = page.split("## Rankings").nth(1).unwrap();
    insta::assert_snapshot!(rankings.split("## ").next().unwrap());
}

#[test]
fn page_of_a_contest() {
    let page = outline(&plain_page(&stored(in_contests(competition()))));
    let rankings = page.split("## Rankings").nth(1).unwrap();
    insta::assert_snapshot!(rankings.split("## ").next().unwrap());
}

#[test]
fn page_of_graded_submissions() {
    let page = outline(&plain_page(&stored(submitted(competition()))));
    let scores = page.split("## Scores").nth(1).unwrap();
    insta::assert_snapshot!(scores.split("## ").next().unwrap());
    let order = ["## Cases", "## Scores", "## Rankings"].map(|section| page.find(section));
    assert!(order.is_sorted() && order[0].is_some(), "{order:?}");
    assert!(!outline(&plain_page(&stored(competition()))).contains("Scores"));
}

/// Returns a result as its hidden case, the first.
fn hidden(of: &BenchmarkComplete, verdict: Verdict) -> BenchmarkComplete {
    let mut hidden = BenchmarkComplete {
        index: 100 + of.index,
        case: format!("{}::hidden=1", of.benchmark),
        params: Params([("hidden".to_owned(), ParamValue::Int(1))].into()),
        verdict,
        stats: None,
        samples: Vec::new(),
        ..of.clone()
    };
    hidden.submission.as_mut().expect("it is one").hidden_case = Some(1);
    hidden
}

#[test]
fn hidden_cases_count_in_a_score_and_show_a_verdict_alone() {
    let mut run = stored(submitted(competition()));
    run.results.push(hidden(&run.results[0], Verdict::Pass));
    run.results.push(hidden(&run.results[2], Verdict::WrongOutput));
    let page = outline(&plain_page(&run));
    let scores = page.split("## Scores").nth(1).unwrap();
    insta::assert_snapshot!(scores.split("## ").next().unwrap());
    let details: Vec<&str> = page
        .split("## Case details")
        .nth(1)
        .unwrap()
        .split("hidden=1")
        .skip(1)
        .collect();
    assert!(!details.is_empty());
    for shown in &details {
        let of_case = shown.split("### ").next().unwrap();
        assert!(!of_case.contains("samples") && !of_case.contains("±"), "{of_case}");
    }
}

#[test]
fn page_of_two_modes() {
    let page = outline(&plain_page(&stored(in_two_modes(on_gpu()))));
    let cases = page.split("## Cases").nth(1).unwrap();
    insta::assert_snapshot!(cases.split("## ").next().unwrap());
    assert!(page.contains("add_one n=1024 warm"), "{page}");
}

#[test]
fn page_of_a_run_on_one_of_several_devices() {
    let (_, run) = runs_on_devices(1).remove(0);
    let report = HtmlReport {
        devices: Some(&several_devices(8)),
        run: &run,
        comparisons: &[],
        history: &[],
    };
    let page = report.page();
    assert!(page.contains("<li><a href=\"#devices\">Devices</a></li>"), "{page}");
    let linked = page
        .split("id=\"devices\"")
        .nth(1)
        .unwrap()
        .split("</section>")
        .next()
        .unwrap();
    assert_eq!(linked.matches("href=\"#case-").count(), 5, "{linked}");
    let page = outline(&page);
    let devices = page.split("## Devices").nth(1).unwrap();
    insta::assert_snapshot!(devices.split("## ").next().unwrap());
    assert!(
        !outline(&plain_page(&run)).contains("Devices"),
        "one device has no section"
    );
}

#[test]
fn page_of_an_unfinished_run_says_so() {
    let mut run = stored(every_verdict());
    run.results.truncate(2);
    run.finished = None;
    assert!(outline(&plain_page(&run)).contains("The run did not finish."));
}

#[test]
fn page_of_an_interrupted_run_counts_cases_not_run() {
    let mut run = stored(on_gpu());
    if let Some(finished) = &mut run.finished {
        finished.end = RunEnd::Interrupted;
        finished.not_run = 3;
    }
    let page = outline(&plain_page(&run));
    assert!(page.contains("3 not run") && page.contains("interrupted"), "{page}");
}

#[test]
fn a_run_without_cases_has_a_page() {
    let mut run = stored(on_gpu());
    run.results.clear();
    assert!(outline(&plain_page(&run)).contains("0 cases"));
}

#[test]
fn a_history_has_earlier_runs_but_not_the_run_itself() {
    let page = outline(&full_page());
    assert!(page.contains("in 12 earlier runs and this one"), "{page}");
    assert!(!outline(&plain_page(&stored(on_gpu()))).contains("earlier run"));
}

#[test]
fn a_change_of_level_is_in_the_chart_and_in_its_caption() {
    let page = page_after_a_step(8);
    assert_eq!(page.matches("class=\"tick dashed\"").count(), 1, "{page}");
    let words = outline(&page);
    assert_eq!(words.matches("Level changed by +9.").count(), 1, "{words}");
    assert!(words.contains("2026-11-08 08:00 UTC"), "{words}");
    assert!(
        !outline(&page_after_a_step(12)).contains("Level changed"),
        "two runs are no level"
    );
}
