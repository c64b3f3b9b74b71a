//! The figures that only some scores have.

use crate::*;
use camino::Utf8PathBuf;
use gpubench_contract::{CacheState, Verdict};
use gpubench_store::{StoredRun, graded};
use gpubench_testing::{competition, submitted};

/// Returns the scores over `matmul::naive` in the reports for people. With peaks, the cases take
/// four times as long as the device allows, and those of the baseline 12.8 times.
fn shown(peak_bandwidth: Option<f64>) -> String {
    let mut run = submitted(competition());
    run.started.device.peak_bandwidth = peak_bandwidth;
    (run.started.device.peak_flops, run.started.device.peak_arithmetic) = (None, None);
    for result in &mut run.results {
        result.cache = Some(CacheState::Cold);
        let slower = if result.benchmark == "matmul::naive" { 3.2 } else { 1.0 };
        result.throughput.of_peak_bandwidth = peak_bandwidth.map(|_| 0.25 / slower);
    }
    let stored = StoredRun::new(
        run.started.clone(),
        run.results.clone(),
        Some(run.finished.clone()),
        None,
    );
    let graded = graded(&stored, Some("matmul::naive"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = Utf8PathBuf::from_path_buf(folder.path().join("page")).expect("UTF-8");
    let text = |reporter: &mut dyn Reporter| {
        reporter.run_started(&run.started, &run.cases).expect("it is written");
        let all = graded.iter().try_for_each(|one| reporter.problem_complete(one));
        all.expect("it is written");
        reporter.run_finished(&run.finished).expect("it is written");
        let text = std::fs::read_to_string(&path).expect("a text");
        let from = text.find("matmul scores").map_or(0, |at| at);
        text[from..].to_owned()
    };
    let options = TerminalOptions {
        width: 100,
        styling: Styling::Plain,
        progress: ProgressDisplay::Hidden,
        detail: Detail::Table,
    };
    let output = || Output::file(&path).expect("a file");
    let terminal = text(&mut TerminalReporter::new(output(), options));
    terminal + "\n---\n" + &text(&mut MarkdownReporter::new(output()))
}

#[test]
fn scores_with_a_mean_rate_and_an_sol_score() {
    insta::assert_snapshot!(shown(Some(1e12)));
}

#[test]
fn an_sol_score_that_is_missing_has_a_word_why() {
    insta::assert_snapshot!(shown(None));
}

#[test]
fn nobody_has_a_score_if_cases_did_not_run() {
    let mut run = submitted(competition());
    run.finished.not_run = 1;
    let stored = StoredRun::new(run.started, run.results, Some(run.finished), None);
    let graded = graded(&stored, None);
    assert!(graded.iter().all(|one| one.score.is_none() && one.rank.is_none()));
    assert!(graded.iter().any(|one| one.verdict == Verdict::Pass));
}
