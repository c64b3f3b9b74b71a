//! Stored runs, and exported records of a run.

use std::io::Write;

use camino::Utf8Path;
use gpubench_contract::{Arrangement, BenchmarkComplete, BenchmarkStarted};
use gpubench_report::{
    CsvReporter, Detail, GITHUB_LIMIT, HtmlReport, JsonReporter, JunitReporter, MarkdownReporter, Output, OutputError,
    ProgressDisplay, Reporter, SamplesReporter, Styling, TerminalOptions, TerminalReporter, comparison_markdown,
    comparison_page,
};
use gpubench_store::compare::{NamedRun, Rules, compare};
use gpubench_store::{StoredRun, contests, read, save};
use gpubench_testing::{SampleRun, all_passed, competition, every_verdict, in_two_modes, on_gpu};

/// Reads a run, compares it with itself and shows it as `compare`, `report` and `--load-baseline`
/// do.
pub fn run(data: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    file.write_all(data).expect("room for the file");
    let path = Utf8Path::from_path(file.path()).expect("a path in UTF-8");
    let Ok(run) = read(path) else { return };
    let named = NamedRun { name: "run", run: &run };
    let comparison = compare(named, named, Arrangement::Apart, &Rules::default());
    let options = TerminalOptions {
        width: 80,
        styling: Styling::Ansi,
        progress: ProgressDisplay::Hidden,
        detail: Detail::Full,
    };
    let _ = comparison_page(&comparison, options);
    let _ = comparison_markdown(&comparison, GITHUB_LIMIT);
    let output = || Output::new("nowhere", Box::new(std::io::sink()));
    let reporters: [Box<dyn Reporter>; 6] = [
        Box::new(TerminalReporter::new(output(), options)),
        Box::new(JsonReporter::new(output())),
        Box::new(CsvReporter::new(output())),
        Box::new(SamplesReporter::new(output())),
        Box::new(MarkdownReporter::new(output())),
        Box::new(JunitReporter::new(output())),
    ];
    for mut reporter in reporters {
        show(&run, reporter.as_mut()).expect("nowhere takes everything");
    }
    let page = HtmlReport {
        run: &run,
        comparisons: &[comparison],
        devices: None,
        history: &[],
    };
    let _ = page.page();
}

/// Sends a run to a reporter, as the tool does for a stored one.
fn show(run: &StoredRun, reporter: &mut dyn Reporter) -> Result<(), OutputError> {
    let cases: Vec<BenchmarkStarted> = run.results.iter().map(BenchmarkComplete::announcement).collect();
    reporter.run_started(&run.run, &cases)?;
    for (case, result) in cases.iter().zip(&run.results) {
        reporter.benchmark_started(case)?;
        reporter.benchmark_complete(result)?;
    }
    for ranking in contests(run) {
        reporter.contest_complete(&ranking)?;
    }
    run.finished
        .iter()
        .try_for_each(|finished| reporter.run_finished(finished))
}

/// Returns sample runs, as stored runs and as lines of records.
pub fn seeds() -> Vec<Vec<u8>> {
    let runs = [
        every_verdict(),
        all_passed(),
        on_gpu(),
        competition(),
        in_two_modes(all_passed()),
    ];
    runs.iter().flat_map(|run| [stored(run), lines(run)]).collect()
}

fn stored(run: &SampleRun) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = Utf8Path::from_path(folder.path())
        .expect("a path in UTF-8")
        .join("run.json");
    let stored = StoredRun::new(
        run.started.clone(),
        run.results.clone(),
        Some(run.finished.clone()),
        None,
    );
    save(&path, &stored).expect("a stored run");
    std::fs::read(path).expect("a stored run")
}

fn lines(run: &SampleRun) -> Vec<u8> {
    let records = run.records();
    let lines = records
        .iter()
        .map(|record| serde_json::to_string(record).expect("a record can be written"));
    lines.collect::<Vec<_>>().join("\n").into_bytes()
}
