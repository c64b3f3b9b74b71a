//! Results as a Markdown table, for a comment on a pull request.

use super::contest::{rank, remarks as contest_remarks, subject, value, words};
use super::grading;
use super::markdown_text::{GITHUB_LIMIT, code, plain, remark};
use super::pull_request::comparison_below_results;
use super::remarks::{Remarks, named};
use super::wording::capitalized;
use super::{Output, OutputError, Reporter};
use gpubench_contract::units::{byte_rate, counted, counter_rate, flop_rate, listed, percent};
use gpubench_contract::{
    BenchmarkComplete, BenchmarkStarted, ComparisonComplete, ContestComplete, Metric, ProblemComplete, Readings,
    RunFinished, RunStarted, Throughput,
};

/// Writes a table with one row per result, as soon as it has its verdict. Remarks and the
/// summary follow below. The output fits into one GitHub comment: rows and remarks beyond the limit
/// are counted.
pub struct MarkdownReporter {
    output: Output,
    /// Remaining bytes.
    left: usize,
    rows_left_out: usize,
    remarks: Remarks,
    /// Bytes reserved for a comparison below the table.
    for_the_comparison: usize,
    /// What to say below the rankings of contests.
    below_contests: Vec<String>,
    graded: Vec<ProblemComplete>,
    /// Whether the table's header is written. It waits for the name of the metric.
    has_head: bool,
    columns: Columns,
}

/// What the columns depend on.
#[derive(Default)]
struct Columns {
    /// The readings of all results. If they differ, they have a column.
    readings: Readings,
    /// Whether a case has counters. If so, they have a column.
    has_counters: bool,
}

/// Bytes reserved for the last lines.
const FOR_THE_SUMMARY: usize = 512;

/// Bytes reserved for rows of failures.
const FOR_FAILURES: usize = 8 * 1024;

/// Titles after those of case and mode, and below them the alignment.
const HEAD: [&str; 2] = [
    "| Verdict | VALUE | ± 95% | CV | n | Bandwidth | Compute ",
    "|:--------|-------:|-------:|---:|--:|----------:|--------:",
];

impl MarkdownReporter {
    /// Returns a reporter that writes to `output`.
    pub fn new(output: Output) -> MarkdownReporter {
        MarkdownReporter {
            output,
            left: GITHUB_LIMIT,
            rows_left_out: 0,
            remarks: Remarks::default(),
            for_the_comparison: 0,
            below_contests: Vec::new(),
            graded: Vec::new(),
            has_head: false,
            columns: Columns::default(),
        }
    }

    /// Reserves half of the space for a comparison.
    pub fn beside_a_comparison(self) -> MarkdownReporter {
        MarkdownReporter {
            for_the_comparison: GITHUB_LIMIT / 2,
            ..self
        }
    }

    fn print(&mut self, text: &str) -> Result<(), OutputError> {
        self.left = self.left.saturating_sub(text.len());
        self.output.print(text)
    }

    /// Returns the bytes available for results.
    fn room(&self) -> usize {
        self.left.saturating_sub(FOR_THE_SUMMARY + self.for_the_comparison)
    }

    /// Returns the bytes available for a row.
    fn room_for(&self, result: &BenchmarkComplete) -> usize {
        let failures = if result.verdict.is_failure() { 0 } else { FOR_FAILURES };
        self.room().saturating_sub(failures)
    }

    /// Writes each remark once, then the number of omitted rows and remarks.
    fn end_table(&mut self) -> Result<(), OutputError> {
        let rows = std::mem::take(&mut self.rows_left_out);
        self.note(rows, "row")?;
        let mut left_out = 0;
        for (text, cases) in std::mem::take(&mut self.remarks).iter() {
            let quote = format!("\n> ⚠️ {} ({})\n", remark(text), named(cases, code));
            if quote.len() > self.room() {
                left_out += 1;
            } else {
                self.print(&quote)?;
            }
        }
        self.note(left_out, "remark")
    }

    /// Writes what is below the rankings of contests.
    fn end_contests(&mut self) -> Result<(), OutputError> {
        for below in std::mem::take(&mut self.below_contests) {
            self.print(&format!("\n{}\n", remark(&below)))?;
        }
        Ok(())
    }

    fn note(&mut self, left_out: usize, what: &str) -> Result<(), OutputError> {
        if left_out == 0 {
            return Ok(());
        }
        let (what, are) = (counted(left_out, what), if left_out == 1 { "is" } else { "are" });
        self.print(&format!(
            "\n{what} {are} omitted: a GitHub comment can have at most {GITHUB_LIMIT} bytes.\n"
        ))
    }
}

impl Reporter for MarkdownReporter {
    fn run_started(&mut self, run: &RunStarted, cases: &[BenchmarkStarted]) -> Result<(), OutputError> {
        self.columns = Columns {
            readings: cases.iter().map(BenchmarkStarted::reading).collect(),
            has_counters: cases.iter().any(|case| !case.counters.is_empty()),
        };
        let (version, device) = (plain(&run.tool_version), plain(&run.device.title()));
        let notice = run.device.kind.words().unverified;
        let note = notice.map_or_else(String::new, |notice| format!("\n{notice}\n"));
        self.print(&format!("`cargo gpubench` {version} on {device}\n{note}\n"))
    }

    fn benchmark_complete(&mut self, result: &BenchmarkComplete) -> Result<(), OutputError> {
        if !std::mem::replace(&mut self.has_head, true) {
            self.print(&head(&self.columns, &result.metric))?;
        }
        self.remarks.add_result(result, &result.label());
        let row = row(result, &self.columns);
        if row.len() > self.room_for(result) {
            self.rows_left_out += 1;
            return Ok(());
        }
        self.print(&row)
    }

    fn contest_complete(&mut self, contest: &ContestComplete) -> Result<(), OutputError> {
        self.end_table()?;
        for below in contest_remarks([contest]) {
            if !self.below_contests.contains(&below) {
                self.below_contests.push(below);
            }
        }
        let table = contest_table(contest);
        if table.len() > self.room() {
            self.note(1, "ranking")
        } else {
            self.print(&table)
        }
    }

    fn problem_complete(&mut self, graded: &ProblemComplete) -> Result<(), OutputError> {
        self.graded.push(graded.clone());
        Ok(())
    }

    fn comparison_complete(&mut self, comparison: &ComparisonComplete) -> Result<(), OutputError> {
        self.end_table()?;
        self.end_contests()?;
        let room = self.left.saturating_sub(FOR_THE_SUMMARY);
        self.print(&format!("\n{}", comparison_below_results(comparison, room)))
    }

    fn run_finished(&mut self, finished: &RunFinished) -> Result<(), OutputError> {
        self.end_table()?;
        self.end_contests()?;
        let graded = std::mem::take(&mut self.graded);
        for table in grading::tables(&graded) {
            let table = score_table(&table);
            if table.len() > self.room() {
                self.note(1, "table of scores")?;
            } else {
                self.print(&table)?;
            }
        }
        self.print(&format!("\n{}\n", super::summary::line(finished)))
    }
}

/// Returns the ranking of a contest as a table.
fn contest_table(contest: &ContestComplete) -> String {
    let problem = code(&contest.reading().label(&contest.problem));
    let about = [contest.params.to_string(), subject(contest)];
    let about: Vec<String> = about
        .iter()
        .filter(|part| !part.is_empty())
        .map(|part| plain(part))
        .collect();
    let metric = plain(&capitalized(&contest.metric.name));
    let rows = contest.contestants.iter().map(|contestant| {
        let name = code(&contestant.name());
        let (value, words) = (value(contest, contestant), remark(&words(contest, contestant)));
        format!("| {} | {name} | {value} | {words} |\n", rank(contestant))
    });
    let below = contest.remark.as_ref().map(|below| format!("\n{}\n", remark(below)));
    format!(
        "\n{problem} {}\n\n| Rank | Kernel | {metric} | Relative to the winner |\n|:-----|:-------|-------:|:-----------------------|\n{}{}",
        about.join(", "),
        rows.collect::<String>(),
        below.unwrap_or_default()
    )
}

/// Returns the scores of a problem's submissions as a table.
fn score_table(graded: &[&ProblemComplete]) -> String {
    let problem = code(&graded[0].reading().label(&graded[0].problem));
    let optional = grading::optional(graded);
    let rows = graded.iter().map(|one| {
        let words = [grading::failure(one), grading::remarks(one)];
        let words: Vec<String> = words.into_iter().flatten().collect();
        let mut cells = vec![
            grading::rank(one),
            code(&one.submission),
            grading::value(one),
            grading::interval(one),
        ];
        cells.extend(optional.iter().map(|(_, figure)| figure(one)));
        cells.push(remark(&words.join(", ")));
        format!("| {} |\n", cells.join(" | "))
    });
    let titles: String = optional
        .iter()
        .map(|(title, _)| format!(" {} |", capitalized(title)))
        .collect();
    let below = grading::no_sol_score(graded).map(|why| format!("\n{}\n", remark(&why)));
    format!(
        "\n{problem} {}\n\n| Rank | Submission | Score | ± 95% |{titles} Outcome |\n|:-----|:-----------|------:|------:|{}:--------|\n{}{}",
        plain(&grading::subject(graded)),
        "------:|".repeat(optional.len()),
        rows.collect::<String>(),
        below.unwrap_or_default()
    )
}

/// Returns the table's header.
fn head(columns: &Columns, metric: &Metric) -> String {
    let mode = if columns.readings.differ() {
        ["| Case | Mode ", "|:-----|:-----"]
    } else {
        ["| Case ", "|:-----"]
    };
    let last = if columns.has_counters {
        ["| Counters | Grade |", "|---------:|:------|"]
    } else {
        ["| Grade |", "|:------|"]
    };
    let lines = mode
        .into_iter()
        .zip(HEAD)
        .zip(last)
        .map(|((first, others), last)| format!("{first}{others}{last}\n"));
    lines
        .collect::<String>()
        .replace("VALUE", &plain(&capitalized(&metric.name)))
}

/// Returns a row, with cells for the reading and the counters if there are such columns.
fn row(result: &BenchmarkComplete, columns: &Columns) -> String {
    let stats = result.stats.as_ref().filter(|_| !result.verdict.is_failure());
    let verdict = match result.verdict {
        verdict if verdict.is_failure() => format!("**{verdict}**"),
        verdict => verdict.to_string(),
    };
    let cause = result.cause.map(|cause| format!(": {cause}")).unwrap_or_default();
    let cells = [
        format!("{verdict}{cause}"),
        shown(stats.map(|stats| result.metric.quantity(stats.value))),
        shown(stats.and_then(|stats| stats.relative_interval()).map(percent)),
        shown(stats.and_then(|stats| stats.cv).map(percent)),
        shown(stats.map(|stats| stats.n)),
        shown(
            stats
                .and(result.throughput.bytes_per_s)
                .map(|rate| bandwidth(rate, result.throughput.of_peak_bandwidth)),
        ),
        shown(stats.and(result.throughput.flops_per_s).map(flop_rate)),
    ];
    let counters = columns
        .has_counters
        .then(|| counters(stats.map(|_| &result.throughput)));
    let cells: Vec<String> = cells.into_iter().chain(counters).chain([shown(result.grade)]).collect();
    let name = format!("{} {}", plain(&result.package), code(&result.case));
    let reading = columns.readings.differ().then(|| plain(&result.reading().to_string()));
    let first: Vec<String> = std::iter::once(name).chain(reading).collect();
    format!("| {} | {} |\n", first.join(" | "), cells.join(" | "))
}

/// `1.204 G tokens/s, 3.120 k images/s`.
fn counters(throughput: Option<&Throughput>) -> String {
    let counters = throughput.into_iter().flat_map(|throughput| &throughput.counters);
    listed(counters.map(|counter| Some(plain(&counter_rate(&counter.name, counter.per_s).to_string()))))
}

/// `2.451 TB/s (51.1% of peak)`.
fn bandwidth(bytes_per_second: f64, of_peak: Option<f64>) -> String {
    match of_peak {
        Some(share) => format!("{} ({} of peak)", byte_rate(bytes_per_second), percent(share)),
        None => byte_rate(bytes_per_second).to_string(),
    }
}

fn shown(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
