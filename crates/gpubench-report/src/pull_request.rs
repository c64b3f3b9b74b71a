//! A comparison as GitHub Markdown, for a comment on a pull request.

use super::markdown_text::{GITHUB_LIMIT, code, plain, remark};
use super::wording;
use super::wording::{interval, level};
use gpubench_contract::units::{change, percent};
use gpubench_contract::{
    Arrangement, ChangeVerdict, ComparedResult, ComparedRun, ComparisonComplete, ComparisonRow, FunctionChange,
    ThresholdSource,
};

/// Bytes reserved for the number of omitted rows.
pub(super) const FOR_THE_NOTE: usize = 160;

/// Returns a comment of at most `limit` bytes, or of a few thousand if `limit` is smaller. Changes
/// come first, unchanged benchmarks and the environment are folded. Rows that do not fit are
/// counted.
pub fn comparison_markdown(comparison: &ComparisonComplete, limit: usize) -> String {
    comment(comparison, limit, comparison.candidate.device.kind.words().unverified)
}

/// Returns the comparison as part of a comment, below the candidate's results, with notes on its
/// device.
pub(super) fn comparison_below_results(comparison: &ComparisonComplete, limit: usize) -> String {
    comment(comparison, limit, None)
}

fn comment(comparison: &ComparisonComplete, limit: usize, notice: Option<&str>) -> String {
    let environment = environment(comparison);
    let alarm = if comparison.has_failed() { "❌ " } else { "" };
    let head = format!(
        "### `cargo gpubench`: {alarm}{}\n\n{}",
        summary(comparison),
        introduction(comparison, notice)
    );
    let mut body = Body {
        text: head,
        left: limit.saturating_sub(environment.len() + FOR_THE_NOTE),
        left_out: 0,
    };
    body.left = body.left.saturating_sub(body.text.len());
    let rows = comparison.by_relevance();
    let (failed, others): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.has_failed());
    let of = |verdicts: fn(ChangeVerdict) -> bool| others.iter().copied().filter(move |row| verdicts(row.verdict));
    let changed = |verdict: ChangeVerdict| !verdict.is_quiet() && verdict != ChangeVerdict::NotCompared;
    let first = failed.iter().copied().chain(of(changed));
    body.section(&table_head(comparison), first.map(row), "\n");
    body.section(
        "<details>\n<summary>Instructions by function</summary>\n\n| Benchmark | Function | Baseline | Candidate | Difference |\n|:--|:--|--:|--:|--:|\n",
        of(changed).flat_map(functions),
        "\n</details>\n\n",
    );
    let one_sided = [
        ("Only in the candidate", &comparison.new),
        ("Only in the baseline", &comparison.removed),
    ];
    for (title, cases) in one_sided {
        body.section(
            &format!("{title}:\n\n"),
            cases.iter().map(|case| format!("- {}\n", code(case))),
            "\n",
        );
    }
    let not_compared = of(|verdict| verdict == ChangeVerdict::NotCompared).count();
    body.section(
        &format!("<details>\n<summary>{not_compared} not compared</summary>\n\n| Benchmark | Why |\n|:--|:--|\n"),
        of(|verdict| verdict == ChangeVerdict::NotCompared).map(reason),
        "\n</details>\n\n",
    );
    let quiet = of(ChangeVerdict::is_quiet).count();
    body.section(
        &format!(
            "<details>\n<summary>{quiet} without a change</summary>\n\n{}",
            table_head(comparison)
        ),
        of(ChangeVerdict::is_quiet).map(row),
        "\n</details>\n\n",
    );
    body.finished() + &environment
}

/// A text that grows row by row up to a limit.
pub(super) struct Body {
    pub(super) text: String,
    pub(super) left: usize,
    pub(super) left_out: usize,
}

impl Body {
    /// Adds a section with the rows that fit. Adds nothing if no row fits.
    pub(super) fn section(&mut self, head: &str, rows: impl Iterator<Item = String>, tail: &str) {
        let mut room = self.left.checked_sub(head.len() + tail.len());
        let mut kept = String::new();
        for row in rows {
            match room.and_then(|room| room.checked_sub(row.len())) {
                Some(rest) => {
                    room = Some(rest);
                    kept.push_str(&row);
                }
                None => self.left_out += 1,
            }
        }
        if let (Some(room), false) = (room, kept.is_empty()) {
            self.left = room;
            self.text.extend([head, &kept, tail]);
        }
    }

    /// Returns the text, with the number of omitted rows.
    pub(super) fn finished(mut self) -> String {
        if self.left_out > 0 {
            let note = format!(
                "{} rows are omitted: a GitHub comment can have at most {GITHUB_LIMIT} bytes.\n\n",
                self.left_out
            );
            self.text.push_str(&note);
        }
        self.text
    }
}

/// `1 now fails, 2 regressed, 1 improved, 30 no change, 1 new`.
fn summary(comparison: &ComparisonComplete) -> String {
    match comparison.counts() {
        none if none.is_empty() => "nothing to compare".to_owned(),
        counts => counts.join(", "),
    }
}

fn introduction(comparison: &ComparisonComplete, notice: Option<&str>) -> String {
    let ComparisonComplete {
        baseline, candidate, ..
    } = comparison;
    let how = match comparison.arrangement {
        Arrangement::Apart => "",
        Arrangement::Interleaved => ", measured in alternating windows",
    };
    let mut text = format!("{} against {}{how}.\n", titled(candidate), titled(baseline));
    text.extend(notice.map(|notice| format!("\n{notice}\n")));
    text.extend(
        comparison
            .undecided()
            .map(|undecided| format!("\n> ⚠️ {}\n", remark(&undecided))),
    );
    text.extend(wording::one_run(comparison).map(|same| format!("\n> ⚠️ {}\n", remark(&same))));
    text.extend(
        comparison
            .differences
            .iter()
            .map(|difference| format!("\n> ⚠️ {}\n", plain(difference))),
    );
    text.extend(
        comparison
            .left_out
            .iter()
            .map(|left_out| format!("\n{}.\n", remark(&wording::left_out(left_out)))),
    );
    text + "\n"
}

/// `` `change` (012345678 on main) ``.
fn titled(run: &ComparedRun) -> String {
    format!("{} ({})", code(&run.name), plain(&wording::revision_of(run)))
}

fn table_head(comparison: &ComparisonComplete) -> String {
    let confidence = comparison
        .rows
        .iter()
        .find_map(|row| Some(row.change.as_ref()?.confidence));
    let interval = confidence.map_or("Interval".to_owned(), |confidence| {
        format!("{} interval", level(confidence))
    });
    format!(
        "| Verdict | Benchmark | Baseline | Candidate | Change | {interval} | Threshold | Remark |\n|:--|:--|--:|--:|--:|:-:|--:|:--|\n"
    )
}

fn row(row: &ComparisonRow) -> String {
    let shown = |text: Option<String>| text.unwrap_or_default();
    let value = |result: &ComparedResult| shown(result.value.map(|value| row.metric.quantity(value).to_string()));
    let figures = row.change.as_ref();
    let threshold = figures.map(|figures| match figures.threshold_source {
        ThresholdSource::Floor => percent(figures.threshold),
        ThresholdSource::History => format!("{} (history)", percent(figures.threshold)),
    });
    let cells = [
        verdict(row),
        name(row),
        value(&row.baseline),
        value(&row.candidate),
        shown(figures.map(|figures| {
            let drift = figures.drift.map(|drift| format!(" (drift {})", change(drift)));
            change(figures.ratio) + &drift.unwrap_or_default()
        })),
        shown(figures.map(|figures| interval(figures.interval))),
        shown(threshold),
        shown(row.remark.as_deref().map(remark)),
    ];
    format!("| {} |\n", cells.join(" | "))
}

/// Returns a row for each of the largest changes of functions.
fn functions(row: &ComparisonRow) -> Vec<String> {
    let (largest, more) = row.largest_functions();
    let line = |of: &FunctionChange| {
        let share = of.ratio().map(|ratio| format!(" ({})", change(ratio)));
        let difference = format!("{:+}{}", of.difference(), share.unwrap_or_default());
        format!(
            "| {} | {} | {} | {} | {difference} |\n",
            name(row),
            code(&of.name()),
            of.baseline,
            of.candidate
        )
    };
    let further = wording::further_functions(more).map(|further| format!("| {} | {further} | | | |\n", name(row)));
    let of_code = wording::shown_machine_code(row).map(|change| {
        let text = plain(&wording::machine_code_change(change));
        format!("| {} | {text} | | | |\n", name(row))
    });
    largest.iter().map(line).chain(further).chain(of_code).collect()
}

/// Returns why a benchmark is not compared.
fn reason(row: &ComparisonRow) -> String {
    let why = row.remark.as_deref().map(remark).unwrap_or_default();
    format!("| {} | {why} |\n", name(row))
}

fn verdict(row: &ComparisonRow) -> String {
    match row.verdict {
        ChangeVerdict::NowFails => format!("❌ **now fails**: {}", code(&row.candidate.verdict.to_string())),
        _ if row.has_failed() => format!("❌ **failed**: {}", code(&row.candidate.verdict.to_string())),
        ChangeVerdict::Regressed => "❌ **regressed**".to_owned(),
        ChangeVerdict::Improved => "✅ **improved**".to_owned(),
        ChangeVerdict::Inconclusive => "❔ inconclusive".to_owned(),
        quiet => quiet.to_string(),
    }
}

fn name(row: &ComparisonRow) -> String {
    match row.baseline_name() {
        Some(other) => format!("{} against {}", code(&row.label()), code(other)),
        None => code(&row.label()),
    }
}

/// Returns the environments of both runs, folded.
fn environment(comparison: &ComparisonComplete) -> String {
    let [baseline, candidate] = [&comparison.baseline, &comparison.candidate].map(surroundings);
    let shown = |fact: Option<String>| plain(fact.as_deref().unwrap_or("unknown"));
    let rows: String = baseline
        .into_iter()
        .zip(candidate)
        .map(|((what, baseline), (_, candidate))| format!("| {what} | {} | {} |\n", shown(baseline), shown(candidate)))
        .collect();
    format!(
        "<details>\n<summary>Environment</summary>\n\n| | Baseline | Candidate |\n|:--|:--|:--|\n{rows}\n</details>\n"
    )
}

fn surroundings(run: &ComparedRun) -> [(&'static str, Option<String>); 6] {
    let commit = run.revision.as_ref().map(|revision| revision.commit.clone());
    [
        ("Device", Some(run.device.name.clone())),
        ("Driver", run.driver.clone()),
        ("Revision", commit),
        ("Started", Some(run.started_at.clone())),
        ("Tool", Some(run.tool_version.clone())),
        ("Run", Some(run.run_id.clone())),
    ]
}
