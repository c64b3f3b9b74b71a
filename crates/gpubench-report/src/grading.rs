//! Words about the scores of submissions.

use gpubench_contract::units::{flop_rate, percent};
use gpubench_contract::{OVER_REFERENCE, PassedCases, ProblemComplete, ScoreRule, Speedup, Verdict};
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
    let rule = table.iter().find_map(|one| Some(one.score.as_ref()?.rule));
    let cases = table.iter().map(|one| one.public.cases).max().unwrap_or_default();
    match rule {
        _ if cases < 2 => "scores".to_owned(),
        Some(ScoreRule::Last) => "scores: the last case".to_owned(),
        Some(ScoreRule::ArithmeticMean) => format!("scores: arithmetic mean over {cases} cases"),
        Some(ScoreRule::GeometricMean) | None => format!("scores: geometric mean over {cases} cases"),
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

/// Returns the mean rate of the declared operations, if each case has one.
pub(super) fn mean_rate(one: &ProblemComplete) -> String {
    let rate = one.score.as_ref().and_then(|score| score.mean_flops_per_s);
    rate.map(|rate| flop_rate(rate).to_string()).unwrap_or_default()
}

/// Returns the SOL score, if there is one.
pub(super) fn sol_score(one: &ProblemComplete) -> String {
    let light = one.score.as_ref().and_then(|score| score.speed_of_light);
    let score = light.and_then(|light| light.sol_score);
    score.map(|score| format!("{score:.3}")).unwrap_or_default()
}

/// A figure that only some submissions have: its title, and its text.
pub(super) type Optional = (&'static str, fn(&ProblemComplete) -> String);

/// Returns the optional figures that a submission of the table has.
pub(super) fn optional(table: &[&ProblemComplete]) -> Vec<Optional> {
    let all: [Optional; 2] = [("mean rate", mean_rate), ("SOL score", sol_score)];
    let is_known = |(_, figure): &Optional| table.iter().any(|one| !figure(one).is_empty());
    all.into_iter().filter(is_known).collect()
}

/// Returns why submissions that are compared with one have no SOL score.
pub(super) fn no_sol_score(table: &[&ProblemComplete]) -> Option<String> {
    let mut compared = table
        .iter()
        .filter_map(|one| one.score.as_ref().filter(|score| score.speedup.is_some()));
    let why = compared.find_map(|score| score.no_speed_of_light.as_ref())?;
    Some(format!("no SOL score: {why}"))
}

/// Returns half the width of the interval relative to the score, if it has one.
pub(super) fn interval(one: &ProblemComplete) -> String {
    let relative = one.score.as_ref().and_then(|score| {
        let [low, high] = score.ci95?;
        Some((high - low) / 2.0 / score.value)
    });
    relative
        .map(|relative| format!("±{}", percent(relative)))
        .unwrap_or_default()
}

/// Returns why a submission has no score. `None` if it has one.
pub(super) fn failure(one: &ProblemComplete) -> Option<String> {
    if one.score.is_some() {
        return None;
    }
    let cause = one.cause.map(|cause| format!(": {cause}")).unwrap_or_default();
    Some(match one.verdict {
        Verdict::Pass => "a case was skipped, or did not run".to_owned(),
        verdict => format!("{verdict}{cause}"),
    })
}

/// Returns what else is known of a submission: its speed-up and ties, or how many cases passed.
pub(super) fn remarks(one: &ProblemComplete) -> Option<String> {
    let Some(score) = &one.score else {
        return passed(one);
    };
    let speedup = score.speedup.as_ref().filter(|speedup| speedup.over != one.submission);
    let speedup = speedup.map(|speedup| faster(speedup, one.public.cases));
    let parts: Vec<String> = [speedup, ties(&one.ties)].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Returns all that is known besides rank and score, on one line.
pub(super) fn words(one: &ProblemComplete) -> String {
    let interval = Some(interval(one)).filter(|interval| !interval.is_empty());
    let parts: Vec<String> = [interval, failure(one), remarks(one)].into_iter().flatten().collect();
    parts.join(", ")
}

fn passed(one: &ProblemComplete) -> Option<String> {
    let of = |count: PassedCases| format!("{} of {}", count.passed, count.cases);
    match (one.public.cases, one.hidden.cases) {
        (0 | 1, 0) => None,
        (_, 0) => Some(format!("{} cases passed", of(one.public))),
        _ => Some(format!(
            "{} public and {} hidden cases passed",
            of(one.public),
            of(one.hidden)
        )),
    }
}

fn faster(speedup: &Speedup, cases: u64) -> String {
    let times = times(speedup.ratio);
    let ratio = match (speedup.over.as_str(), speedup.ci95) {
        (OVER_REFERENCE, Some([low, high])) => {
            let relative = percent((high - low) / 2.0 / speedup.ratio);
            format!("{times} ±{relative} as fast as the reference")
        }
        (OVER_REFERENCE, None) => format!("{times} as fast as the reference"),
        (over, _) => format!("{times} as fast as `{over}`"),
    };
    match cases {
        0 | 1 => ratio,
        _ => format!(
            "{ratio}, faster in {:.0} of {cases} cases",
            speedup.fast_1 * cases as f64
        ),
    }
}

/// Returns a factor with two decimals, or with two digits if that would hide it.
fn times(ratio: f64) -> String {
    match ratio {
        small if small > 0.0 && small < 0.095 => {
            let decimals = 1 - small.log10().floor() as i32;
            format!("{small:.*}×", decimals.clamp(2, 12) as usize)
        }
        _ => format!("{ratio:.2}×"),
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

#[cfg(test)]
mod tests {
    use super::times;

    #[test]
    fn a_small_factor_keeps_two_digits() {
        let texts = [0.0, 0.0035, 0.000_000_31, 0.0949, 0.1, 0.95, 3.2, 1234.5].map(times);
        let expected = [
            "0.00×",
            "0.0035×",
            "0.00000031×",
            "0.095×",
            "0.10×",
            "0.95×",
            "3.20×",
            "1234.50×",
        ];
        assert_eq!(texts, expected);
    }
}
