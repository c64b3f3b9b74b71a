//! The comparison of two runs on the terminal.

use super::changes::{FROM_HISTORY, Figure, row_of, sign_of, table_for};
use super::functions::functions;
use super::options::{Detail, TerminalOptions};
use super::remarks::{below_the_table, noted};
use super::style::{DOUBTFUL, FAINT, TITLE};
use super::table::GAP;
use crate::remarks::{Remarks, named};
use crate::wording::{left_out, one_run, phrases};
use gpubench_contract::{Arrangement, ChangeVerdict, ComparedRun, ComparisonComplete, ComparisonRow, ThresholdSource};
use gpubench_diagnostic::layout::{fitted, padded, unbroken, width, with_heading};
use gpubench_diagnostic::printable_line;

/// Style of the word `hint`.
const HINT: anstyle::Style = anstyle::AnsiColor::Cyan.on_default();

/// Returns both runs, a row per benchmark, remarks, and the counts of verdicts. [`Detail::Brief`]
/// omits rows with no change or noise.
pub fn comparison_page(comparison: &ComparisonComplete, options: TerminalOptions) -> String {
    let page = Page { comparison, options };
    let rows: Vec<&ComparisonRow> = comparison
        .by_relevance()
        .into_iter()
        .filter(|row| options.detail != Detail::Brief || !row.verdict.is_quiet())
        .collect();
    let parts = [
        page.runs(),
        page.differences(),
        page.table(&rows),
        functions(&rows, options),
        page.remarks(),
        page.one_sided(),
        page.summary(),
        page.hints(),
    ];
    fitted(&parts.concat(), options.width)
}

/// Returns the runs with their properties, one per line.
pub fn runs_page(runs: &[ComparedRun], options: TerminalOptions) -> String {
    let runs: Vec<(&str, &ComparedRun)> = runs.iter().map(|run| ("", run)).collect();
    named_runs(&runs, options)
}

struct Page<'a> {
    comparison: &'a ComparisonComplete,
    options: TerminalOptions,
}

impl Page<'_> {
    fn paint(&self, style: anstyle::Style, text: &str) -> String {
        self.options.styling.paint(style, text)
    }

    /// Returns the compared runs.
    fn runs(&self) -> String {
        let ComparisonComplete {
            baseline, candidate, ..
        } = self.comparison;
        let together = match self.comparison.arrangement {
            Arrangement::Apart => String::new(),
            Arrangement::Interleaved => self.paint(FAINT, "measured in alternating windows") + "\n",
        };
        named_runs(&[("baseline   ", baseline), ("candidate  ", candidate)], self.options) + &together
    }

    fn differences(&self) -> String {
        let differences = self
            .comparison
            .differences
            .iter()
            .cloned()
            .chain(one_run(self.comparison));
        differences
            .map(|difference| noted(&printable_line(&difference), self.options))
            .collect()
    }

    fn table(&self, rows: &[&ComparisonRow]) -> String {
        if rows.is_empty() {
            return String::new();
        }
        let table = table_for(self.options.table_width(), rows, self.options.styling);
        let lines: String = rows.iter().map(|row| row_of(row, &table)).collect();
        let from_history = table.shows(Figure::Threshold) && rows.iter().any(|row| is_from_history(row));
        let footnote = if from_history {
            let text = format!("{FROM_HISTORY} from the device's history");
            self.paint(FAINT, &text) + "\n"
        } else {
            String::new()
        };
        format!("\n{}{lines}{footnote}", table.row("", "", &table.titles()))
    }

    /// Returns the remarks on rows. Remarks on the whole runs are already above.
    fn remarks(&self) -> String {
        let mut remarks = Remarks::default();
        for row in self.comparison.by_relevance() {
            let of_the_runs = |remark: &&String| {
                self.comparison
                    .differences
                    .iter()
                    .any(|difference| remark.ends_with(difference))
            };
            if let Some(remark) = row.remark.as_ref().filter(|remark| !of_the_runs(remark)) {
                remarks.add(remark.clone(), row.label());
            }
        }
        below_the_table(&remarks, self.options)
    }

    /// Returns the benchmarks that only one run has.
    fn one_sided(&self) -> String {
        let ComparisonComplete { new, removed, .. } = self.comparison;
        let lists = [("only in the candidate", new), ("only in the baseline", removed)];
        let lines = lists
            .into_iter()
            .filter(|(_, cases)| !cases.is_empty())
            .map(|(what, cases)| format!("\n{what}: {}\n", named(cases, printable_line)));
        lines.collect()
    }

    /// `1 regressed, 12 no change; 1 new`.
    fn summary(&self) -> String {
        let counts = tally(self.comparison, |verdict, count| self.paint(sign_of(verdict).1, count));
        let counts = counts.unwrap_or_else(|| "nothing to compare: neither run measured a benchmark".to_owned());
        let notice = self.comparison.candidate.device.kind.words().unverified;
        let notice = notice.map_or_else(String::new, |notice| self.paint(DOUBTFUL, notice) + "\n");
        format!("\n{counts}\n{}{notice}", self.left_out())
    }

    /// Returns the number of rows that `-t` hides.
    fn left_out(&self) -> String {
        let words = self.comparison.left_out.as_ref().map(left_out);
        words.map_or_else(String::new, |words| words + "\n")
    }

    fn hints(&self) -> String {
        let unlike = |row: &ComparisonRow| {
            row.remark
                .as_ref()
                .is_some_and(|remark| remark.starts_with("measured differently"))
        };
        let setups = self
            .comparison
            .rows
            .iter()
            .any(unlike)
            .then_some("`--allow-different-setups` compares them anyway");
        setups.map_or_else(String::new, |hint| format!("({}: {hint})\n", self.paint(HINT, "hint")))
    }
}

/// Returns the runs with their roles, one per line.
pub(super) fn named_runs(runs: &[(&str, &ComparedRun)], options: TerminalOptions) -> String {
    let names = runs.iter().map(|(_, run)| printable_line(&run.name));
    let widest = names.clone().map(|name| width(&name)).max().unwrap_or(0);
    let line = |((role, run), name): (&(&str, &ComparedRun), String)| {
        let phrases: Vec<String> = phrases(run).iter().map(|phrase| printable_line(phrase)).collect();
        let [role, name] = [(FAINT, *role), (TITLE, &*name)].map(|(style, text)| options.styling.paint(style, text));
        let head = role + &padded(&name, widest + GAP);
        with_heading(&head, [&*phrases.join(" · ")], options.width)
    };
    runs.iter().zip(names).map(line).collect()
}

fn is_from_history(row: &ComparisonRow) -> bool {
    row.change
        .as_ref()
        .is_some_and(|change| change.threshold_source == ThresholdSource::History)
}

/// Returns `1 regressed, 12 no change, 1 new`, with each count styled by `painted` and never split
/// across lines. `None` if all counts are zero.
pub(super) fn tally(
    comparison: &ComparisonComplete,
    painted: impl Fn(ChangeVerdict, &str) -> String,
) -> Option<String> {
    let counts = comparison.counts_shown(|verdict, count| painted(verdict, &count));
    let counts: Vec<String> = counts.iter().map(|count| unbroken(count)).collect();
    (!counts.is_empty()).then(|| counts.join(", "))
}
