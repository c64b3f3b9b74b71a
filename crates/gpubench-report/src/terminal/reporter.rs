//! The terminal reporter.

use std::collections::HashSet;

use super::columns::{self, Figure};
use super::comparison::comparison_page;
use super::explanation::{self, Message};
use super::options::{Detail, LEAST_WIDTH, ProgressDisplay, TerminalOptions};
use super::progress::ProgressLine;
use super::remarks::below_the_table;
use super::style::{BAD, DOUBTFUL, FAINT, GOOD, Styling, TITLE};
use super::table::Table;
use super::tree::{Line, Revealed, Tree};
use super::{contest, details, grading, last_run, ranking};
use crate::ranking::Rankings;
use crate::remarks::Remarks;
use crate::repeat;
use crate::wording::abilities;
use crate::{Output, OutputError, Progress, Reporter, summary};
use gpubench_contract::units::{counted, listed};
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, CaseKey, ComparisonComplete, ContestComplete, DeviceKind, Grading, Metric,
    ProblemComplete, Readings, RepeatedCommand, RunFinished, RunStarted, Verdict,
};
use gpubench_diagnostic::layout::{fitted, unbroken, width, wrapped};
use gpubench_diagnostic::printable_line;

/// Whether results have values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Figures {
    Expected,
    Absent,
}

/// Prints a tree of results as they arrive, and explains failures at the end.
pub struct TerminalReporter {
    output: Output,
    options: TerminalOptions,
    tree: Tree,
    table: Table<Figure>,
    progress: Option<ProgressLine>,
    device: Option<DeviceKind>,
    below: Below,
    repeated: RepeatedCommand,
    /// What the run grades, if it grades something.
    grading: Option<Box<Grading>>,
    figures: Figures,
}

/// What is shown below the tree of results.
#[derive(Default)]
struct Below {
    rankings: Rankings,
    contests: Vec<ContestComplete>,
    graded: Vec<ProblemComplete>,
    remarks: Remarks,
    failures: Vec<BenchmarkComplete>,
    comparison: Option<String>,
    since_last_run: String,
}

impl TerminalReporter {
    /// Returns a reporter that prints to `output`.
    pub fn new(output: Output, options: TerminalOptions) -> TerminalReporter {
        TerminalReporter {
            output,
            options,
            tree: Tree::default(),
            table: columns::table_for(
                options.table_width(),
                [],
                &Readings::default(),
                &[],
                &[],
                |figure| figure != Figure::OfPeak,
                options.styling,
            ),
            progress: None,
            device: None,
            below: Below::default(),
            repeated: RepeatedCommand::default(),
            grading: None,
            figures: Figures::Expected,
        }
    }

    /// Omits the columns of values, for runs that time nothing.
    pub fn without_figures(self) -> TerminalReporter {
        TerminalReporter {
            figures: Figures::Absent,
            ..self
        }
    }

    fn print(&mut self, text: &str) -> Result<(), OutputError> {
        self.progress.iter_mut().for_each(ProgressLine::clear);
        self.output.print(&fitted(text, self.options.width))
    }

    /// Returns the lines of a result: new lines of the tree, then the case with its values.
    fn lines_of(&mut self, result: &BenchmarkComplete) -> String {
        let (line, styling) = (self.options.table_width(), self.options.styling);
        let table = &self.table;
        let figures = columns::figures(table, result, line);
        let Some(Revealed {
            above,
            own,
            is_repeated,
        }) = self.tree.reveal(result.index)
        else {
            return format!("{}{figures}\n", printable_line(&result.label()));
        };
        let above = above.into_iter();
        let mut text: String = above.map(|name| heading(name, &result.metric, table, line)).collect();
        let has_details = self.options.detail == Detail::Full;
        text += &if is_repeated && !has_details {
            table.row(&styling.paint(FAINT, &own.continued), "", &figures)
        } else {
            entry(own, &figures, table, line)
        };
        if has_details {
            text += &details_below(own, result, self.options.width, styling);
        }
        text
    }

    fn explanations(&self, seed: &str) -> String {
        let mut text = String::new();
        for (position, failure) in self.below.failures.iter().enumerate() {
            text.push('\n');
            let message = Message::after(&self.below.failures[..position], failure);
            let seed = repeat::seed_of(failure, self.grading.as_deref(), seed);
            let command = repeat::command(&self.repeated, failure, seed);
            for line in explanation::lines(failure, message, &command, self.options.width, self.options.styling) {
                text += &line;
                text.push('\n');
            }
        }
        text
    }

    /// Returns the scores of submissions. A test has none, and a contest ranks them.
    fn scores(&self) -> String {
        match self.figures {
            Figures::Expected if self.below.contests.is_empty() => grading::table(&self.below.graded, self.options),
            Figures::Expected | Figures::Absent => String::new(),
        }
    }

    fn summary(&self, finished: &RunFinished) -> String {
        let style = match (finished.failed, finished.passed) {
            (1.., _) => BAD,
            (0, 0) => DOUBTFUL,
            _ => GOOD,
        };
        let styling = self.options.styling;
        let counts = summary::line(finished);
        let counts = listed(counts.split(", ").map(|count| Some(unbroken(count))));
        let counts = styling.paint(style, &counts);
        match self.device.and_then(|device| device.words().unverified) {
            // A comparison already has the notice.
            Some(notice) if self.figures == Figures::Expected && self.below.comparison.is_none() => {
                format!("\n{counts}\n{}\n", styling.paint(DOUBTFUL, notice))
            }
            _ => format!("\n{counts}\n"),
        }
    }
}

impl Reporter for TerminalReporter {
    fn run_started(&mut self, run: &RunStarted, cases: &[BenchmarkStarted]) -> Result<(), OutputError> {
        self.repeated = run.repeat.clone().unwrap_or_default();
        self.grading = run.grading.clone();
        self.tree = Tree::from_cases(cases);
        let is_timed = self.figures == Figures::Expected;
        let has_peak = run.device.peak_bandwidth.is_some();
        let wanted = |figure: Figure| match figure {
            Figure::Verdict => true,
            Figure::OfPeak => is_timed && has_peak,
            _ => is_timed,
        };
        let names = self.tree.lines().iter().map(Line::width);
        let readings = cases.iter().map(BenchmarkStarted::reading).collect();
        let metrics: Vec<Metric> = cases.iter().map(|case| case.metric.clone()).collect();
        let counters = cases.iter().filter_map(|case| Some(case.counters.first()?.as_str()));
        let counters: Vec<&str> = counters.collect();
        let (line, styling) = (self.options.table_width(), self.options.styling);
        self.table = columns::table_for(line, names, &readings, &metrics, &counters, wanted, styling);
        self.device = Some(run.device.kind);
        if self.options.progress == ProgressDisplay::Stderr {
            self.progress = Some(ProgressLine::new(run.cases));
        }
        if self.options.detail == Detail::Brief {
            return Ok(());
        }
        let title = self.options.styling.paint(TITLE, "cargo gpubench");
        let parts = [printable_line(&run.tool_version), described(run), amount(run, cases)];
        self.print(&format!("{title} {}\n\n", parts.join(" · ")))
    }

    fn benchmark_started(&mut self, started: &BenchmarkStarted) -> Result<(), OutputError> {
        self.progress.iter_mut().for_each(|line| line.start(started));
        Ok(())
    }

    fn progress(&mut self, progress: &Progress) -> Result<(), OutputError> {
        self.progress.iter_mut().for_each(|line| line.update(progress));
        Ok(())
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        // A contestant learns nothing else of a hidden case.
        if result.verdict.is_failure() && !result.is_hidden() {
            self.below.failures.push(result.clone());
        }
        // The scores rank submissions.
        if result.submission.is_none() {
            self.below.rankings.add(result);
        }
        // With full detail, the remarks of a passed case are below its line.
        if self.options.detail != Detail::Full || result.verdict != Verdict::Pass {
            self.below.remarks.add_result(result, &result.label());
        }
        self.progress.iter_mut().for_each(ProgressLine::advance);
        if self.options.detail == Detail::Brief {
            return Ok(());
        }
        let lines = self.lines_of(result);
        self.print(&lines)
    }

    fn contest_complete(&mut self, contest: &ContestComplete) -> Result<(), OutputError> {
        self.below.contests.push(contest.clone());
        Ok(())
    }

    fn problem_complete(&mut self, graded: &ProblemComplete) -> Result<(), OutputError> {
        self.below.graded.push(graded.clone());
        Ok(())
    }

    fn comparison_complete(&mut self, comparison: &ComparisonComplete) -> Result<(), OutputError> {
        // Print the comparison at the end, after the remarks on the run, where readers find it.
        self.below.comparison = Some(format!("\n{}", comparison_page(comparison, self.options)));
        Ok(())
    }

    fn compared_with_last_run(&mut self, comparison: &ComparisonComplete) -> Result<(), OutputError> {
        self.below.since_last_run = last_run::page(comparison, self.options);
        Ok(())
    }

    fn run_finished(&mut self, finished: &RunFinished) -> Result<(), OutputError> {
        self.progress.iter_mut().for_each(ProgressLine::clear);
        let rankings = match self.options.detail {
            Detail::Brief => String::new(),
            Detail::Table | Detail::Full => {
                ranking::table(&self.below.rankings, self.options)
                    + &contest::table(&self.below.contests, self.options)
                    + &self.scores()
            }
        };
        let remarks = below_the_table(&self.below.remarks, self.options);
        let comparison = self.below.comparison.as_deref().unwrap_or_default();
        let [above, summary] =
            [rankings + &remarks, self.summary(finished)].map(|page| fitted(&page, self.options.width));
        // The explanations are not wrapped again: a command must stay on one line so that users can
        // copy it.
        let text = above + &self.explanations(&finished.seed) + comparison + &self.below.since_last_run + &summary;
        self.output.print(&text)
    }
}

/// Returns `3 cases`, or `3 cases, 6 results` if a case has several.
fn amount(run: &RunStarted, results: &[BenchmarkStarted]) -> String {
    let cases: HashSet<CaseKey> = results.iter().map(|started| started.key().case).collect();
    let several = results.len() - cases.len();
    let results = (several > 0).then(|| unbroken(&counted(run.cases, "result")));
    listed([Some(unbroken(&counted(run.cases - several as u64, "case"))), results])
}

/// Returns a line of the tree that is not a case. A package's line has the column titles.
fn heading(line: &Line, metric: &Metric, table: &Table<Figure>, columns: usize) -> String {
    if line.is_package() {
        let name = table.styling.paint(TITLE, &line.name);
        table.row(&name, "", &columns::titles(table, metric))
    } else {
        branch(line, table.styling, columns) + "\n"
    }
}

/// Returns a case with its values, on the next line if the name is too long.
fn entry(line: &Line, figures: &str, table: &Table<Figure>, columns: usize) -> String {
    let continued = table.styling.paint(FAINT, &line.continued);
    table.row(&branch(line, table.styling, columns), &continued, figures)
}

/// Returns the name of a line after the tree's branches.
fn branch(line: &Line, styling: Styling, columns: usize) -> String {
    let [branches, continued] = [&line.branches, &line.continued].map(|branches| styling.paint(FAINT, branches));
    let names = wrapped(&line.name, columns.saturating_sub(width(&branches)));
    branches + &names.join(&format!("\n{continued}"))
}

/// Returns the details of a case, below its line and after the tree's branches.
fn details_below(line: &Line, result: &BenchmarkComplete, columns: usize, styling: Styling) -> String {
    let indent = format!("{}  ", line.continued);
    let room = columns.saturating_sub(width(&indent)).max(LEAST_WIDTH / 2);
    details::phrases(result)
        .iter()
        .flat_map(|phrase| wrapped(phrase, room))
        .map(|text| format!("{}\n", styling.paint(FAINT, &format!("{indent}{text}"))))
        .collect()
}

/// `CPU device: AMD EPYC 9654, 2 threads` or
/// `CUDA device: NVIDIA H200, 132 SMs, sm_90, driver 580.159`.
fn described(run: &RunStarted) -> String {
    let driver = run.environment.driver.as_ref();
    let driver = driver.map(|driver| format!("driver {}", printable_line(driver)));
    let title = run.device.kind.words().title;
    let named = format!("{title}: {}", printable_line(&run.device.title()));
    let parts = [Some(named)].into_iter().chain(abilities(&run.device)).chain([driver]);
    listed(parts.map(|part| part.map(|part| unbroken(&part))))
}
