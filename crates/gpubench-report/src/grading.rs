//! Words about the scores of submissions.

use gpubench_contract::units::percent;
use gpubench_contract::{ProblemComplete, Score, ScoreRule, Speedup};
use gpubench_diagnostic::in_backticks;

/// Most ties of a submission that are named; more are counted.
const TIES_NAMED: usize = 3;

/// Returns the submissions of one problem and one way of measuring together, best first, then those
/// without a score in their order.
pub(super) fn tables(graded: &[ProblemComplete]) -> Vec<Vec<&ProblemComplete>> {
    let mut tables: Vec<Vec<&ProblemComplete>> = Vec::new();
    for one in graded {
        let is_like = |table: &&mut Vec<&ProblemComplete>| {
            (&table[0].package, &table[0].problem) == (&one.package, &one.problem)
                && table[0].reading() == one.reading()
        };
        match tables.iter_mut().find(is_like) {
            Some(table) => table.push(one),
            None => tables.push(vec![one]),
        }
    }
    for table in &mut tables {
        table.sort_by_key(|one| one.rank.unwrap_or(u64::MAX));
    }
    tables
}

/// Returns what the scores are, after the problem's name.
pub(super) fn subject(table: &[&ProblemComplete]) -> String {
    let public = table.iter().map(|one| one.cases - one.hidden).max();
    let rule = table.iter().find_map(|one| Some(one.score.as_ref()?.rule));
    match (public, rule) {
        (Some(cases @ 2..), Some(ScoreRule::GeometricMean)) => format!("scores: geometric mean over {cases} cases"),
        (Some(cases @ 2..), Some(ScoreRule::ArithmeticMean)) => format!("scores: arithmetic mean over {cases} cases"),
        (Some(2..), Some(ScoreRule::Last)) => "scores: the last case".to_owned(),
        _ => "scores".to_owned(),
    }
}

/// Returns the rank, or a dash.
pub(super) fn rank(one: &ProblemComplete) -> String {
    one.rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string())
}

/// Returns the score with its unit, if there is one.
pub(super) fn value(one: &ProblemComplete) -> String {
    let value = one.score.as_ref().map(|score| one.metric.quantity(score.value));
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Returns what else is known of a score, or why there is none.
pub(super) fn words(one: &ProblemComplete) -> String {
    let Some(score) = &one.score else {
        let cause = one.cause.map(|cause| format!(": {cause}")).unwrap_or_default();
        let passed = match one.cases {
            0 | 1 => String::new(),
            cases => format!(", {} of {cases} cases passed", one.passed),
        };
        return format!("{}{cause}{passed}", one.verdict);
    };
    let speedup = score.speedup.as_ref().filter(|speedup| speedup.over != one.submission);
    let speedup = speedup.map(|speedup| faster(speedup, one.cases - one.hidden));
    let parts = [interval(score), speedup, ties(&one.ties)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn interval(score: &Score) -> Option<String> {
    let [low, high] = score.ci95?;
    Some(format!("±{}", percent((high - low) / 2.0 / score.value)))
}

fn faster(speedup: &Speedup, cases: u64) -> String {
    let ratio = format!("{:.2}× as fast as `{}`", speedup.ratio, speedup.over);
    match cases {
        0 | 1 => ratio,
        _ => format!(
            "{ratio}, faster in {:.0} of {cases} cases",
            speedup.fast_1 * cases as f64
        ),
    }
}

fn ties(ties: &[String]) -> Option<String> {
    let named = ties.iter().take(TIES_NAMED).map(String::as_str);
    match ties.len() {
        0 => None,
        1..=TIES_NAMED => Some(format!("ties with {}", in_backticks(named))),
        all => Some(format!(
            "ties with {} and {} more",
            in_backticks(named),
            all - TIES_NAMED
        )),
    }
}
