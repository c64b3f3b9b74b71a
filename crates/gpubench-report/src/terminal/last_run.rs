//! What changed since the last run, below the table.

use super::changes::sign_of;
use super::comparison::tally;
use super::options::{Detail, TerminalOptions};
use super::style::{FAINT, TITLE};
use gpubench_contract::units::{change, counted};
use gpubench_contract::{ChangeVerdict, ComparisonComplete, ComparisonRow};
use gpubench_diagnostic::layout::{fitted, padded, width};
use gpubench_diagnostic::printable_line;

/// Maximum number of rows. The others are counted.
const ROWS: usize = 20;

/// Returns a line for each result that changed, and the counts of verdicts. One line if nothing
/// changed, which [`Detail::Brief`] omits. Empty if no result has a last one.
pub(super) fn page(comparison: &ComparisonComplete, options: TerminalOptions) -> String {
    let rows = comparison.by_relevance();
    let changed: Vec<&ComparisonRow> = rows.into_iter().filter(|row| is_change(row.verdict)).collect();
    if comparison.rows.is_empty() || changed.is_empty() && options.detail == Detail::Brief {
        return String::new();
    }
    let since = printable_line(&format!("since {}:", comparison.baseline.name));
    let since = options.styling.paint(FAINT, &since);
    let mut counts = comparison.clone();
    counts.new.clear();
    counts.removed.clear();
    let counts = tally(&counts, |verdict, count| {
        options.styling.paint(sign_of(verdict).1, count)
    })
    .unwrap_or_default();
    let signs = changed.iter().map(|row| width(&words(row.verdict))).max();
    let sizes = changed.iter().map(|row| width(&size(row))).max();
    let (signs, sizes) = (signs.unwrap_or_default(), sizes.unwrap_or_default());
    let lines = changed.iter().take(ROWS).map(|row| {
        let verdict = padded(&words(row.verdict), signs);
        let verdict = options.styling.paint(sign_of(row.verdict).1, &verdict);
        let size = options.styling.paint(TITLE, &format!("{:>sizes$}", size(row)));
        let name = printable_line(&row.label());
        format!("  {verdict}  {size}  {name}{}\n", values(row))
    });
    let more = changed.len().saturating_sub(ROWS);
    let more = (more > 0).then(|| format!("  and {}\n", counted(more, "more change")));
    let lines: String = lines.chain(more).collect();
    let page = format!("\n{since} {counts}\n{lines}");
    fitted(&page, options.width)
}

fn is_change(verdict: ChangeVerdict) -> bool {
    matches!(
        verdict,
        ChangeVerdict::NowFails | ChangeVerdict::Regressed | ChangeVerdict::Improved
    )
}

/// `✗ regressed`.
fn words(verdict: ChangeVerdict) -> String {
    format!("{} {verdict}", sign_of(verdict).0)
}

/// `+10.9%`.
fn size(row: &ComparisonRow) -> String {
    row.change
        .as_ref()
        .map(|figures| change(figures.ratio))
        .unwrap_or_default()
}

/// `, 81.20 µs before, 90.10 µs now`, or the verdict of a case that fails.
fn values(row: &ComparisonRow) -> String {
    let shown = |value: f64| row.metric.quantity(value);
    match (row.baseline.value, row.candidate.value) {
        (Some(before), Some(now)) => format!(", {} before, {} now", shown(before), shown(now)),
        _ => format!(", {}", row.candidate.verdict),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ProgressDisplay, Styling};
    use gpubench_contract::Verdict;
    use gpubench_testing::every_change;

    fn since_last_run(verdicts: &[ChangeVerdict]) -> ComparisonComplete {
        let mut comparison = every_change();
        comparison.baseline.name = "the last run, 2026-11-29 18:40 UTC".to_owned();
        comparison.rows.retain(|row| verdicts.contains(&row.verdict));
        comparison
    }

    fn shown(comparison: &ComparisonComplete, columns: usize, detail: Detail) -> String {
        let options = TerminalOptions {
            width: columns,
            styling: Styling::Plain,
            progress: ProgressDisplay::Hidden,
            detail,
        };
        page(comparison, options)
    }

    #[test]
    fn each_changed_result_has_a_line() {
        insta::assert_snapshot!(shown(&since_last_run(ChangeVerdict::ALL), 120, Detail::Table));
    }

    #[test]
    fn narrow_lines_are_wrapped() {
        insta::assert_snapshot!(shown(&since_last_run(ChangeVerdict::ALL), 40, Detail::Table));
    }

    #[test]
    fn one_line_says_that_nothing_changed_and_what_was_not_decided() {
        let quiet = since_last_run(&[ChangeVerdict::NoChange, ChangeVerdict::Inconclusive]);
        let page = shown(&quiet, 120, Detail::Table);
        assert_eq!(page.trim().lines().count(), 1, "{page}");
        assert!(
            page.starts_with("\nsince the last run, 2026-11-29 18:40 UTC: "),
            "{page}"
        );
        assert!(page.contains("inconclusive") && page.contains("no change"), "{page}");
        assert_eq!(shown(&quiet, 120, Detail::Brief), "");
    }

    #[test]
    fn without_a_last_result_there_is_nothing_to_say() {
        assert_eq!(shown(&since_last_run(&[]), 120, Detail::Table), "");
    }

    #[test]
    fn many_changes_are_counted() {
        let mut comparison = since_last_run(&[ChangeVerdict::Regressed]);
        let row = comparison.rows[0].clone();
        comparison.rows = vec![row; ROWS + 2];
        let page = shown(&comparison, 120, Detail::Brief);
        assert!(page.ends_with("  and 2 more changes\n"), "{page}");
        assert_eq!(page.trim().lines().count(), ROWS + 2, "{page}");
    }

    #[test]
    fn names_stay_on_their_line() {
        let mut comparison = since_last_run(&[ChangeVerdict::NowFails]);
        let row = &mut comparison.rows[0];
        row.candidate.verdict = Verdict::Crashed;
        row.case = "a\nb\x1b[31m".to_owned();
        let page = shown(&comparison, 120, Detail::Table);
        assert!(!page.contains('\x1b') && page.trim().lines().count() == 2, "{page}");
    }
}
