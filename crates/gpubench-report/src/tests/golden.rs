//! Snapshots of the sample runs in every report.

use super::play::Play;
use gpubench_contract::{Amounts, DeviceKind, Peaks, Record, RunEnd, RunFinished, Throughput};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::rc::Rc;

use crate::*;
use gpubench_contract::Verdict;
use gpubench_testing::{
    SampleRun, all_passed, compared_run, competition, every_verdict, in_contests, in_two_modes, on_gpu,
};

/// A writer with readable contents.
#[derive(Clone, Default)]
struct Page(Rc<RefCell<Vec<u8>>>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Page {
    fn output(&self) -> Output {
        Output::new("page", Box::new(self.clone()))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }
}

/// Returns a reporter's output for a run.
pub(crate) fn written<R: Reporter>(run: &SampleRun, reporter: impl FnOnce(Output) -> R) -> String {
    let page = Page::default();
    run.play(&mut reporter(page.output())).unwrap();
    page.text()
}

fn terminal(run: &SampleRun, width: usize, styling: Styling) -> String {
    let options = TerminalOptions {
        width,
        styling,
        progress: ProgressDisplay::Hidden,
        detail: Detail::Table,
    };
    written(run, |output| TerminalReporter::new(output, options))
}

/// Returns a text with visible escape sequences.
fn visible(text: &str) -> String {
    text.replace('\x1b', "␛")
}

#[test]
fn the_sample_run_has_every_verdict() {
    let seen: BTreeSet<_> = every_verdict().results.iter().map(|result| result.verdict).collect();
    assert_eq!(seen, Verdict::ALL.iter().copied().collect());
}

#[test]
fn table_of_120_columns() {
    insta::assert_snapshot!(terminal(&every_verdict(), 120, Styling::Plain));
}

#[test]
fn table_of_80_columns() {
    insta::assert_snapshot!(terminal(&every_verdict(), 80, Styling::Plain));
}

#[test]
fn table_of_30_columns() {
    insta::assert_snapshot!(terminal(&every_verdict(), 30, Styling::Plain));
}

#[test]
fn table_of_120_columns_in_colour() {
    insta::assert_snapshot!(visible(&terminal(&every_verdict(), 120, Styling::Ansi)));
}

#[test]
fn table_of_80_columns_in_colour() {
    insta::assert_snapshot!(visible(&terminal(&every_verdict(), 80, Styling::Ansi)));
}

#[test]
fn table_where_everything_passed_on_a_gpu() {
    insta::assert_snapshot!(terminal(&all_passed(), 100, Styling::Plain));
}

#[test]
fn table_of_120_columns_on_a_gpu() {
    insta::assert_snapshot!(terminal(&on_gpu(), 120, Styling::Plain));
}

#[test]
fn table_of_80_columns_on_a_gpu() {
    insta::assert_snapshot!(terminal(&on_gpu(), 80, Styling::Plain));
}

#[test]
fn table_of_two_modes_in_120_columns() {
    insta::assert_snapshot!(terminal(&in_two_modes(on_gpu()), 120, Styling::Plain));
}

#[test]
fn table_of_two_modes_in_80_columns() {
    insta::assert_snapshot!(terminal(&in_two_modes(every_verdict()), 80, Styling::Plain));
}

#[test]
fn rankings_of_two_modes_are_separate() {
    insta::assert_snapshot!(terminal(&in_two_modes(competition()), 80, Styling::Plain));
}

#[test]
fn a_contest_names_ranks_ties_and_who_dropped_out() {
    let page = terminal(&in_contests(competition()), 100, Styling::Plain);
    let (_, rankings) = page.split_once("matmul::square").unwrap();
    insta::assert_snapshot!(rankings.split("suite matmul::wrong").next().unwrap());
}

#[test]
fn a_contest_in_markdown() {
    let page = written(&in_contests(competition()), MarkdownReporter::new);
    let (_, rankings) = page.split_once("\n\n`matmul::square`").unwrap();
    insta::assert_snapshot!(rankings);
}

#[test]
fn markdown_table_of_two_modes() {
    insta::assert_snapshot!(written(&in_two_modes(on_gpu()), MarkdownReporter::new));
}

/// The first cases process tokens, and the first one images too.
fn with_counters(mut run: SampleRun) -> SampleRun {
    for (position, result) in run.results.iter_mut().enumerate().take(2) {
        let time_ns = result.stats.as_ref().unwrap().value;
        let amounts = Amounts {
            counters: [("tokens", 4096_u64 >> (10 * position)), ("images", 8)]
                .into_iter()
                .take(2 - position)
                .map(|(name, amount)| (name.to_owned(), amount))
                .collect(),
            ..Amounts::default()
        };
        result.throughput.counters = Throughput::new(amounts, time_ns, Peaks::default()).counters;
        run.cases[position].counters = result.throughput.counter_names();
    }
    run
}

#[test]
fn a_run_with_counters_has_a_column_for_them() {
    let run = with_counters(on_gpu());
    let pages = [
        terminal(&run, 140, Styling::Plain),
        terminal(&run, 70, Styling::Plain),
        written(&run, MarkdownReporter::new),
        written(&run, CsvReporter::new),
    ];
    insta::assert_snapshot!(pages.join("\n"));
}

#[test]
fn names_of_counters_that_are_not_from_the_tool_do_no_harm() {
    let mut run = with_counters(on_gpu());
    let name = "\x1b[2J|<b>\n::error::".to_owned() + &"x".repeat(500);
    run.results[0].throughput.counters[0].name.clone_from(&name);
    run.cases[0].counters[0] = name;
    let table = terminal(&run, 140, Styling::Plain);
    let pages = [
        table.clone(),
        written(&run, MarkdownReporter::new),
        written(&run, CsvReporter::new),
    ];
    for page in pages {
        assert!(!page.contains('\x1b') && !page.contains("\n::error"), "{page}");
    }
    assert!(!table.contains("xxx"), "the column does not fit\n{table}");
    assert!(!written(&run, MarkdownReporter::new).contains("<b>"));
}

#[test]
fn a_test_suite_of_two_modes_has_no_name_twice() {
    let text = written(&in_two_modes(every_verdict()), JunitReporter::new);
    let names: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("<testcase name=\""))
        .collect();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{text}");
}

#[test]
fn markdown_table_on_a_gpu() {
    insta::assert_snapshot!(written(&on_gpu(), MarkdownReporter::new));
}

#[test]
fn comma_separated_values_on_a_gpu() {
    insta::assert_snapshot!(written(&on_gpu(), CsvReporter::new));
}

#[test]
fn comma_separated_values_of_a_run_that_was_compared() {
    let text = written(&compared_run(), |output| {
        CsvReporter::new(output).awaiting_a_comparison()
    });
    insta::assert_snapshot!(text);
    let header = |text: &str| text.lines().next().map(str::to_owned);
    assert_eq!(
        header(&text),
        header(&written(&on_gpu(), CsvReporter::new)),
        "the header is always the same"
    );
}

#[test]
fn comma_separated_values_of_a_run_whose_comparison_did_not_happen() {
    let awaited = written(&on_gpu(), |output| CsvReporter::new(output).awaiting_a_comparison());
    assert_eq!(awaited, written(&on_gpu(), CsvReporter::new));
}

#[test]
fn a_compared_run_has_the_notice_about_the_cpu_device_once() {
    let mut run = SampleRun {
        comparison: compared_run().comparison,
        ..every_verdict()
    };
    let comparison = run.comparison.as_mut().expect("a comparison");
    comparison.candidate.device.kind = DeviceKind::Cpu;
    let text = terminal(&run, 120, Styling::Plain);
    let notice = DeviceKind::Cpu.words().unverified.unwrap();
    assert_eq!(text.matches(notice).count(), 1, "{text}");
}

#[test]
fn json_lines_on_a_gpu() {
    let text = written(&on_gpu(), JsonReporter::new);
    insta::assert_snapshot!(text);
}

#[test]
fn table_with_every_detail() {
    let options = TerminalOptions {
        width: 100,
        styling: Styling::Plain,
        progress: ProgressDisplay::Hidden,
        detail: Detail::Full,
    };
    let mut run = every_verdict();
    run.results.truncate(4);
    insta::assert_snapshot!(written(&run, |output| TerminalReporter::new(output, options)));
}

#[test]
fn table_with_every_detail_on_a_gpu() {
    let options = TerminalOptions {
        width: 100,
        styling: Styling::Plain,
        progress: ProgressDisplay::Hidden,
        detail: Detail::Full,
    };
    let mut run = on_gpu();
    run.results.drain(..2);
    run.cases.drain(..2);
    insta::assert_snapshot!(written(&run, |output| TerminalReporter::new(output, options)));
}

#[test]
fn table_of_cases_that_were_only_checked() {
    let mut run = every_verdict();
    for result in &mut run.results {
        result.stats = None;
        result.samples.clear();
    }
    let options = TerminalOptions {
        width: 80,
        styling: Styling::Plain,
        progress: ProgressDisplay::Hidden,
        detail: Detail::Table,
    };
    insta::assert_snapshot!(written(&run, |output| TerminalReporter::new(output, options).without_figures()));
}

#[test]
fn brief_output_is_failures_and_the_summary() {
    let options = TerminalOptions {
        width: 100,
        styling: Styling::Plain,
        progress: ProgressDisplay::Hidden,
        detail: Detail::Brief,
    };
    let text = written(&every_verdict(), |output| TerminalReporter::new(output, options));
    assert!(text.starts_with("\n✗ suite image::grayscale"), "{text}");
    assert!(text.contains("3 passed, 8 failed, 1 skipped"));
    let text = written(&all_passed(), |output| TerminalReporter::new(output, options));
    assert_eq!(text, "\n1 passed, 0 failed, 0 skipped in 14.2 s\n");
}

#[test]
fn table_of_implementations_that_compete() {
    insta::assert_snapshot!(terminal(&competition(), 100, Styling::Plain));
}

#[test]
fn table_of_an_interrupted_run() {
    let mut run = every_verdict();
    run.results.truncate(1);
    run.finished = RunFinished {
        passed: 1,
        failed: 0,
        skipped: 0,
        not_run: 11,
        end: RunEnd::Interrupted,
        ..run.finished
    };
    insta::assert_snapshot!(terminal(&run, 80, Styling::Plain));
}

#[test]
fn colours_change_nothing_but_colours() {
    for width in [30, 80, 120] {
        let styled = terminal(&every_verdict(), width, Styling::Ansi);
        let stripped = anstream::adapter::strip_str(&styled).to_string();
        assert_eq!(stripped, terminal(&every_verdict(), width, Styling::Plain));
    }
}

/// Returns the lines that a terminal of this width would break within a word: lines of several
/// words that are longer.
pub(crate) fn broken_lines(page: &str, width: usize) -> Vec<&str> {
    let is_broken = |line: &&str| {
        let words = line.trim_start_matches(|letter: char| !letter.is_alphanumeric());
        gpubench_diagnostic::layout::width(line) > width && words.contains(' ')
    };
    page.lines().filter(is_broken).collect()
}

#[test]
fn a_terminal_breaks_no_line_except_a_command_to_copy() {
    for width in 30..140 {
        for run in [every_verdict(), on_gpu(), competition(), compared_run()] {
            let page = terminal(&run, width, Styling::Plain);
            let mut broken = broken_lines(&page, width);
            broken.retain(|line| !line.starts_with("  │ run it alone: "));
            assert!(broken.is_empty(), "{width}: {broken:#?}");
        }
    }
}

#[test]
fn text_in_a_pipe_is_not_wrapped() {
    let page = terminal(&on_gpu(), gpubench_diagnostic::layout::UNBOUNDED, Styling::Plain);
    let header = page.lines().next().unwrap_or_default();
    assert!(header.len() > 80 && header.ends_with("cases"), "{header}");
}

#[test]
fn each_case_is_printed_as_soon_as_it_is_done() {
    let run = every_verdict();
    let page = Page::default();
    let options = TerminalOptions {
        width: 80,
        styling: Styling::Plain,
        progress: ProgressDisplay::Hidden,
        detail: Detail::Table,
    };
    let mut reporter = TerminalReporter::new(page.output(), options);
    reporter.run_started(&run.started, &run.cases).unwrap();
    assert!(!page.text().contains("len=1048576"));
    reporter.benchmark_complete(&run.results[0]).unwrap();
    assert!(page.text().contains("len=1048576"));
    assert!(!page.text().contains("len=16777216"));
}

#[test]
fn results_out_of_order_are_still_below_their_benchmark() {
    let run = every_verdict();
    let mut shuffled = every_verdict();
    shuffled.cases.clone_from(&run.cases);
    shuffled.results.reverse();
    let text = terminal(&shuffled, 120, Styling::Plain);
    for case in ["len=1048576", "bf16", "endless"] {
        assert_eq!(
            text.lines()
                .filter(|line| line.contains(case) && line.contains('─'))
                .count(),
            1,
            "{case}"
        );
    }
    assert!(text.find("mma").unwrap() < text.find("copy").unwrap());
}

#[test]
fn json_lines() {
    let text = written(&every_verdict(), JsonReporter::new);
    assert_eq!(text.lines().count(), 2 + 2 * 12);
    insta::assert_snapshot!(text);
}

#[test]
fn json_lines_are_the_records_and_read_back() {
    let run = every_verdict();
    let text = written(&run, JsonReporter::new);
    let read: Vec<Record> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(read, run.records());
}

#[test]
fn comma_separated_values() {
    insta::assert_snapshot!(written(&every_verdict(), CsvReporter::new));
}

#[test]
fn markdown_table() {
    insta::assert_snapshot!(written(&every_verdict(), MarkdownReporter::new));
}

#[test]
fn every_reporter_gets_every_event_and_the_first_error_is_returned() {
    let page = Page::default();
    let (reader, closed) = io::pipe().unwrap();
    drop(reader);
    let mut reporters = Reporters(vec![
        Box::new(JsonReporter::new(Output::new("pipe", Box::new(closed)))),
        Box::new(JsonReporter::new(page.output())),
    ]);
    let run = every_verdict();
    let failure = reporters
        .tell(|reporter| reporter.run_started(&run.started, &run.cases))
        .unwrap_err();
    assert!(matches!(failure, OutputError::Closed { .. }));
    assert_eq!(page.text().lines().count(), 1);
}
