//! Snapshots of a comparison in every report.

use super::{broken_lines, written};
use crate::*;
use gpubench_contract::{Arrangement, ChangeVerdict, ComparisonComplete, ComparisonRow, DeviceKind, Record, Verdict};
use gpubench_testing::{compared_run, every_change, on_another_device};

fn page(comparison: &ComparisonComplete, width: usize, styling: Styling, detail: Detail) -> String {
    let options = TerminalOptions {
        width,
        styling,
        progress: ProgressDisplay::Hidden,
        detail,
    };
    comparison_page(comparison, options)
}

fn plain(comparison: &ComparisonComplete, width: usize) -> String {
    page(comparison, width, Styling::Plain, Detail::Table)
}

#[test]
fn the_sample_has_every_verdict() {
    for verdict in ChangeVerdict::ALL.iter().copied() {
        assert!(every_change().count(verdict) > 0, "{verdict}");
    }
}

#[test]
fn comparison_of_120_columns() {
    insta::assert_snapshot!(plain(&every_change(), 120));
}

#[test]
fn comparison_of_30_columns() {
    insta::assert_snapshot!(plain(&every_change(), 30));
}

#[test]
fn comparison_of_80_columns() {
    insta::assert_snapshot!(plain(&every_change(), 80));
}

#[test]
fn comparison_of_120_columns_in_colour() {
    let text = page(&every_change(), 120, Styling::Ansi, Detail::Table);
    insta::assert_snapshot!(text.replace('\x1b', "␛"));
}

#[test]
fn comparison_in_brief() {
    insta::assert_snapshot!(page(&every_change(), 100, Styling::Plain, Detail::Brief));
}

#[test]
fn comparison_with_another_device() {
    insta::assert_snapshot!(plain(&on_another_device(), 80));
}

#[test]
fn comparison_of_runs_without_a_benchmark_in_common() {
    let mut comparison = every_change();
    comparison.rows.clear();
    insta::assert_snapshot!(plain(&comparison, 80));
}

#[test]
fn comparison_in_alternating_windows_on_the_cpu_device() {
    let mut comparison = every_change();
    comparison.arrangement = Arrangement::Interleaved;
    comparison.differences.clear();
    comparison.candidate.device.kind = DeviceKind::Cpu;
    comparison.rows.truncate(2);
    for change in comparison.rows.iter_mut().filter_map(|row| row.change.as_mut()) {
        change.drift = None;
    }
    insta::assert_snapshot!(plain(&comparison, 80));
}

/// Three runs compared with a fourth. They differ in their benchmarks.
fn several() -> Vec<ComparisonComplete> {
    let mut second = every_change();
    second.candidate.name = "a-rather-long-name".into();
    second.differences.clear();
    second.rows.rotate_left(3);
    second.rows.truncate(4);
    vec![every_change(), second, on_another_device()]
}

fn several_in(width: usize, styling: Styling, detail: Detail) -> String {
    let options = TerminalOptions {
        width,
        styling,
        progress: ProgressDisplay::Hidden,
        detail,
    };
    comparisons_page(&several(), options)
}

#[test]
fn comparison_of_four_runs() {
    insta::assert_snapshot!(several_in(100, Styling::Plain, Detail::Table));
}

#[test]
fn comparison_of_four_runs_in_brief() {
    insta::assert_snapshot!(several_in(80, Styling::Plain, Detail::Brief));
}

#[test]
fn colours_change_nothing_in_a_page_of_several_runs() {
    let styled = several_in(100, Styling::Ansi, Detail::Table);
    let stripped = anstream::adapter::strip_str(&styled).to_string();
    assert_eq!(stripped, several_in(100, Styling::Plain, Detail::Table));
}

#[test]
fn hidden_small_changes_still_count_and_rows_without_a_change_remain() {
    let mut comparison = every_change();
    comparison.keep_changes_of(0.03);
    let kept: Vec<&str> = comparison
        .rows
        .iter()
        .map(|row| row.case.split("::").next().unwrap())
        .collect();
    assert_eq!(kept, ["axpy", "softmax", "reduce", "scan", "gemm", "gemm"]);
    for verdict in ChangeVerdict::ALL.iter().copied() {
        assert_eq!(comparison.count(verdict), every_change().count(verdict), "{verdict}");
    }
    let left_out = comparison.left_out.as_ref().map(crate::wording::left_out);
    assert_eq!(
        left_out.as_deref(),
        Some("3 changes are below the threshold of 3.00% (`-t`) and not shown")
    );
    let line = serde_json::to_string(&comparison).unwrap();
    assert_eq!(serde_json::from_str::<ComparisonComplete>(&line).unwrap(), comparison);
}

#[test]
fn colours_change_nothing_but_colours() {
    for width in [40, 80, 120] {
        for comparison in [every_change(), on_another_device()] {
            let styled = page(&comparison, width, Styling::Ansi, Detail::Table);
            let stripped = anstream::adapter::strip_str(&styled).to_string();
            assert_eq!(stripped, plain(&comparison, width));
        }
    }
}

#[test]
fn a_terminal_breaks_no_line() {
    for width in 30..140 {
        let pages = [
            plain(&every_change(), width),
            several_in(width, Styling::Plain, Detail::Table),
        ];
        for page in pages {
            let broken = broken_lines(&page, width);
            assert!(broken.is_empty(), "{width}: {broken:#?}");
        }
    }
}

#[test]
fn comment_for_a_pull_request() {
    insta::assert_snapshot!(comparison_markdown(&every_change(), GITHUB_LIMIT));
}

#[test]
fn a_comment_shows_problems_first_and_unfolded() {
    let comment = comparison_markdown(&every_change(), GITHUB_LIMIT);
    assert!(
        comment.starts_with("### `cargo gpubench`: ❌ 1 now fails, "),
        "{comment}"
    );
    let first_row = comment
        .lines()
        .find(|line| line.starts_with("| ") && !line.starts_with("| Verdict"));
    assert!(
        first_row.is_some_and(|row| row.starts_with("| ❌ **now fails**: `wrong-output` | `gemm::tiled` |")),
        "{comment}"
    );
    let before_folds = comment.split("<details>").next().unwrap_or_default();
    assert!(before_folds.contains("`gemm::tiled`"), "{comment}");
}

#[test]
fn a_failed_candidate_without_a_measured_baseline_is_shown_unfolded() {
    let mut comparison = every_change();
    let row = comparison
        .rows
        .iter_mut()
        .find(|row| row.verdict == ChangeVerdict::NotCompared);
    let row = row.expect("there is one");
    row.candidate.verdict = Verdict::Error;
    row.remark = Some("the candidate ended in `error: compile-failed`".into());
    let page = plain(&comparison, 80);
    let shown = page.lines().find(|line| line.starts_with("gemm::wgmma"));
    assert!(shown.is_some_and(|row| row.ends_with("  ✗ failed: error")), "{page}");
    comparison.rows.retain(|row| row.verdict != ChangeVerdict::NowFails);
    let comment = comparison_markdown(&comparison, GITHUB_LIMIT);
    assert!(comment.starts_with("### `cargo gpubench`: ❌ "), "{comment}");
    let before_folds = comment.split("<details>").next().unwrap_or_default();
    assert!(
        before_folds.contains("| ❌ **failed**: `error` | `gemm::wgmma` |")
            && before_folds.contains("| the candidate ended in `error: compile-failed` |"),
        "{comment}"
    );
    assert!(!comment.contains("not compared</summary>"), "{comment}");
}

#[test]
fn a_comment_has_the_notice_about_the_device_once() {
    let mut run = compared_run();
    run.started.device.kind = DeviceKind::Cpu;
    let comparison = run.comparison.as_mut().expect("it was compared");
    comparison.candidate.device.kind = DeviceKind::Cpu;
    let alone = comparison_markdown(comparison, GITHUB_LIMIT);
    let with_its_run = written(&run, |output| MarkdownReporter::new(output).beside_a_comparison());
    let notice = DeviceKind::Cpu.words().unverified.unwrap();
    for comment in [alone, with_its_run] {
        assert_eq!(comment.matches(notice).count(), 1, "{comment}");
    }
}

#[test]
fn comment_about_another_device() {
    insta::assert_snapshot!(comparison_markdown(&on_another_device(), GITHUB_LIMIT));
}

#[test]
fn a_comment_never_exceeds_githubs_limit_and_counts_omitted_rows() {
    for rows in [100, 1_000, 5_000] {
        let mut comparison = every_change();
        let original = comparison.rows.clone();
        comparison.rows = (0..rows)
            .map(|index| ComparisonRow {
                case: format!("suite::bench_{index}::n=1024"),
                ..original[index % original.len()].clone()
            })
            .collect();
        comparison.removed = (0..rows).map(|index| format!("gone_{index}")).collect();
        let comment = comparison_markdown(&comparison, GITHUB_LIMIT);
        assert!(comment.len() <= GITHUB_LIMIT, "{rows}: {}", comment.len());
        assert!(comment.ends_with("</details>\n"), "{rows}");
        assert_eq!(
            comment.matches("<details>").count(),
            comment.matches("</details>").count(),
            "{rows}"
        );
        let left_out: Option<usize> = comment
            .lines()
            .find_map(|line| line.split_once(" rows are omitted")?.0.parse().ok());
        let named = (0..rows)
            .filter(|index| comment.contains(&format!("`suite::bench_{index}::n=1024`")))
            .count();
        let gone = (0..rows)
            .filter(|index| comment.contains(&format!("- `gone_{index}`\n")))
            .count();
        let new = comment.matches("- `attention::flash`\n").count();
        assert_eq!(2 * rows + 1 - named - gone - new, left_out.unwrap_or(0), "{rows}");
    }
}

#[test]
fn names_cannot_break_out_of_a_comment() {
    let mut comparison = every_change();
    let wild = "a``b`|c\n| d <script>@everyone";
    comparison.rows[0].case = wild.into();
    comparison.rows[0].baseline_case = wild.into();
    comparison.rows[0].remark = Some("odd `x` <img> |".into());
    comparison.candidate.device.name = "<script>|@you `x`".into();
    let comment = comparison_markdown(&comparison, GITHUB_LIMIT);
    assert!(
        comment.contains("| no change | ```a``b`\\|c \\| d <script>@everyone``` |"),
        "{comment}"
    );
    assert!(comment.contains("&lt;script&gt;\\|&#64;you \\`x\\`"), "{comment}");
    assert!(comment.contains("| odd `x` &lt;img&gt; \\| |"), "{comment}");
}

#[test]
fn rows_are_sorted_by_relevance() {
    let comparison = every_change();
    let verdicts: Vec<ChangeVerdict> = comparison.by_relevance().iter().map(|row| row.verdict).collect();
    use gpubench_contract::ChangeVerdict::*;
    assert_eq!(
        verdicts,
        [
            NowFails,
            Regressed,
            Regressed,
            Improved,
            Inconclusive,
            NotCompared,
            WithinNoise,
            NoChange,
            NoChange
        ]
    );
    assert!(
        comparison.by_relevance()[1].case.starts_with("reduce"),
        "the larger regression comes first"
    );
}

#[test]
fn a_name_in_its_other_form_is_not_another_benchmark() {
    let mut row = every_change().rows.remove(0);
    row.baseline_case = format!("suite::{}", row.case);
    assert_eq!(row.baseline_name(), None);
    row.baseline_case = "other::axpy".into();
    assert_eq!(row.baseline_name(), Some("other::axpy"));
}

#[test]
fn a_comparison_is_one_line_of_json_and_reads_back() {
    let record = Record::ComparisonComplete(Box::new(every_change()));
    let line = serde_json::to_string(&record).unwrap();
    insta::assert_snapshot!(line);
    assert_eq!(serde_json::from_str::<Record>(&line).unwrap(), record);
}
