//! Words and signs that all reports for people share.

use gpubench_contract::units::{change, counted, listed, percent, size};
use gpubench_contract::{
    BenchmarkComplete, Better, Cause, ChangeVerdict, Check, ComparedRun, ComparisonComplete, ComparisonRow, Device,
    FunctionChange, LeftOut, MachineCodeChange, MachineCodeOutcome, Metric, OpcodeChange, Revision, UNKNOWN_REVISION,
    Verdict,
};

/// Returns the words for a lower and a higher value: `faster` and `slower` for times.
pub(super) fn lower_and_higher(metric: &Metric) -> [&'static str; 2] {
    match metric.better {
        _ if metric.is_time() => ["faster", "slower"],
        Better::Lower => ["better", "worse"],
        Better::Higher => ["worse", "better"],
    }
}

/// Returns the word for the best value.
pub(super) fn best(metric: &Metric) -> &'static str {
    if metric.is_time() { "fastest" } else { "best" }
}

/// Returns the metric of a comparison, from its first row.
pub(super) fn metric_of(comparison: &ComparisonComplete) -> Metric {
    let first = comparison.rows.first();
    first.map_or_else(Metric::time, |row| row.metric.clone())
}

/// Returns a mean over calls: `2`, or `0.50` where calls differ.
pub(super) fn mean(number: f64) -> String {
    if number.fract() == 0.0 {
        number.to_string()
    } else {
        format!("{number:.2}")
    }
}

/// Returns a mean number of things: `2 ioctl`.
pub(super) fn mean_of(number: f64, what: &str) -> String {
    format!("{} {what}", mean(number))
}

/// Returns a word with a capital letter.
pub(super) fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// Returns a remark if a run is compared with itself.
pub(super) fn one_run(comparison: &ComparisonComplete) -> Option<String> {
    let run = &comparison.candidate.run_id;
    let remark = || format!("both are the same run, `{run}`");
    comparison.is_of_one_run().then(remark)
}

/// `expf in softmax: 20000 → 20500 instructions (+500, +2.5%)`.
pub(super) fn function_change(of: &FunctionChange) -> String {
    let share = of
        .ratio()
        .map(|ratio| format!(", {}", change(ratio)))
        .unwrap_or_default();
    format!(
        "{}: {} → {} instructions ({:+}{share})",
        of.name(),
        of.baseline,
        of.candidate,
        of.difference()
    )
}

/// `and 3 more functions`. `None` if there are none.
pub(super) fn further_functions(more: usize) -> Option<String> {
    let what = if more == 1 { "function" } else { "functions" };
    (more > 0).then(|| format!("and {more} more {what}"))
}

/// The largest number of opcodes that are named.
const OPCODES_SHOWN: usize = 6;

/// `SASS of softmax: FADD 4 → 8, LDG.E 1 → 2`.
pub(super) fn machine_code_change(of: &MachineCodeChange) -> String {
    let what = match of.outcome {
        MachineCodeOutcome::Same => "the same".to_owned(),
        MachineCodeOutcome::Unknown => match &of.reason {
            Some(reason) => format!("not known ({reason})"),
            None => "not known".to_owned(),
        },
        MachineCodeOutcome::Changed if of.opcodes.is_empty() => {
            "the same opcodes in another order or with other operands".to_owned()
        }
        MachineCodeOutcome::Changed => {
            let change = |of: &OpcodeChange| format!("{} {} → {}", of.opcode, of.baseline, of.candidate);
            let shown: Vec<String> = of.opcodes.iter().take(OPCODES_SHOWN).map(change).collect();
            let more = match of.opcodes.len().saturating_sub(OPCODES_SHOWN) {
                0 => String::new(),
                more => format!(" and {}", counted(more as u64, "more opcode")),
            };
            shown.join(", ") + &more
        }
    };
    format!("SASS of {}: {what}", of.kernel)
}

/// Returns the changes of the machine code of the kernels whose functions are shown.
pub(super) fn shown_machine_code(row: &ComparisonRow) -> impl Iterator<Item = &MachineCodeChange> {
    let (largest, _) = row.largest_functions();
    let is_shown = |code: &&MachineCodeChange| largest.iter().any(|function| function.kernel == code.kernel);
    row.machine_code.iter().filter(is_shown)
}

/// `3 changes are below the threshold of 50.0% (-t) and not shown, 1 of them regressed`.
pub(super) fn left_out(left_out: &LeftOut) -> String {
    let all: u64 = left_out.verdicts.values().sum();
    let changes = if all == 1 {
        "1 change is"
    } else {
        &format!("{all} changes are")
    };
    let regressed = match left_out.count(ChangeVerdict::Regressed) {
        0 => String::new(),
        regressed => format!(", {regressed} of them regressed"),
    };
    let threshold = percent(left_out.least_change);
    format!("{changes} below the threshold of {threshold} (`-t`) and not shown{regressed}")
}

/// `012345678 on main, modified`.
pub(super) fn revision_of(run: &ComparedRun) -> String {
    let revision = run.revision.as_ref();
    revision.map_or_else(|| UNKNOWN_REVISION.to_owned(), Revision::in_words)
}

/// Returns the properties of a run in a few phrases: revision, start, device with driver.
pub(super) fn phrases(run: &ComparedRun) -> Vec<String> {
    let began = run.started_at.get(..16);
    let began = began.map(|began| format!("{} UTC", began.replace('T', " ")));
    let device = match &run.driver {
        Some(driver) => format!("{}, driver {driver}", run.device.name),
        None => run.device.name.clone(),
    };
    [Some(revision_of(run)), began, Some(device)]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns a verdict's sign, for readers who skim.
pub(super) fn sign(verdict: Verdict) -> char {
    match verdict {
        Verdict::Pass => '✓',
        Verdict::Skipped => '-',
        Verdict::Error => '!',
        _ => '✗',
    }
}

/// Returns the sign of a change, for readers who skim.
pub(super) fn change_sign(verdict: ChangeVerdict) -> char {
    match verdict {
        ChangeVerdict::NowFails | ChangeVerdict::Regressed => '✗',
        ChangeVerdict::Improved => '✓',
        ChangeVerdict::Inconclusive => '?',
        ChangeVerdict::NotCompared => '!',
        ChangeVerdict::WithinNoise => '~',
        ChangeVerdict::NoChange => '=',
    }
}

/// Returns the meaning of a cause if its name is not clear by itself: a space and parentheses.
pub(super) fn gloss(cause: Cause) -> &'static str {
    match cause {
        Cause::Unwritten => " (elements were never written)",
        Cause::Stale => " (the output of the previous call)",
        Cause::Cached => " (the output of the first call)",
        Cause::Partial => " (part of the output was not written)",
        Cause::Constant => " (all elements are equal)",
        Cause::Incomplete => " (the output changed after the call)",
        Cause::ClaimTooShort => " (the referee's clock measured more time)",
        Cause::WorksBetweenWindows => " (work of the code under test ran between calls)",
        Cause::NotReproducible => " (a second recording gave a different plan)",
        _ => "",
    }
}

/// Returns `2 threads`, `32 MiB cache`, or `132 SMs`, `sm_90`, `60 MiB cache`, where known.
pub(super) fn abilities(device: &Device) -> [Option<String>; 3] {
    [
        device
            .multiprocessors
            .map(|count| counted(count, device.kind.words().unit)),
        device.capability.map(|capability| format!("sm_{capability}")),
        device.l2_bytes.map(|bytes| format!("{} cache", size(bytes))),
    ]
}

/// `99%`, `99.9%`.
pub(super) fn level(confidence: f64) -> String {
    // Use exact decimal digits: 0.999 times 100 is not 99.9.
    format!("{}%", (confidence * 1e8).round() / 1e6)
}

/// `-0.42% to +1.10%`.
pub(super) fn interval([low, high]: [f64; 2]) -> String {
    format!("{} to {}", change(low), change(high))
}

/// Returns the wrong outputs of a case that its message does not describe. The message has the name
/// of the one that decided the verdict.
pub(super) fn wrong_besides_message(result: &BenchmarkComplete) -> impl Iterator<Item = &Check> + Clone {
    let message = result.message.as_deref().unwrap_or_default();
    let is_described = move |check: &Check| message.contains(&format!("`{}`", check.output));
    let wrong = result.checks.iter().filter(|check| check.matched < check.elements);
    wrong.filter(move |check| !is_described(check))
}

/// `4 of 16 elements wrong; first at index 5 [1, 1]: expected 0.5, got 0.25; largest error 0.25
/// absolute, 0.5 relative`.
pub(super) fn found_in(check: &Check) -> String {
    let count = Some(format!(
        "{} of {} elements wrong",
        check.elements.saturating_sub(check.matched),
        check.elements
    ));
    let first = check.first_wrong.as_ref().map(|first| {
        let place = coordinates(first.index, &check.shape);
        format!(
            "first at index {}{place}: expected {}, got {}",
            first.index, first.expected, first.got
        )
    });
    [count, first, largest_error(check)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ")
}

/// Where the wrong elements of an output lie, and the first of them, a line each. Nothing if there
/// is only one, which the message names. Elements that were not written have no values.
fn wrong_elements(check: &Check, cause: Option<Cause>) -> Vec<String> {
    if check.wrong.len() < 2 {
        return Vec::new();
    }
    if matches!(cause, Some(Cause::Unwritten | Cause::Partial)) {
        return check.pattern.iter().cloned().collect();
    }
    let first = match &check.pattern {
        Some(pattern) => format!("{pattern}; the first:"),
        None => format!("the first wrong elements of `{}`:", check.output),
    };
    let names: Vec<String> = check
        .wrong
        .iter()
        .map(|wrong| match coordinates(wrong.index, &check.shape) {
            place if place.is_empty() => format!("[{}]", wrong.index),
            place => place.trim_start().to_owned(),
        })
        .collect();
    let longest = names.iter().map(String::len).max().unwrap_or(0);
    let elements = names.iter().zip(&check.wrong);
    let elements =
        elements.map(|(name, wrong)| format!("  {name:longest$}  expected {}, got {}", wrong.expected, wrong.got));
    std::iter::once(first).chain(elements).collect()
}

/// Returns the lines about the wrong elements of the first output that has several.
pub(super) fn first_wrong_elements(result: &BenchmarkComplete) -> Vec<String> {
    let mut outputs = result.checks.iter().map(|check| wrong_elements(check, result.cause));
    outputs.find(|lines| !lines.is_empty()).unwrap_or_default()
}

/// `largest error 0.25 absolute, 0.5 relative`. Where a check alone judges, no element is expected
/// that others could differ from.
fn largest_error(check: &Check) -> Option<String> {
    check.tolerance.as_ref()?;
    let errors = [(check.max_abs_error, "absolute"), (check.max_rel_error, "relative")];
    let known = listed(errors.map(|(error, what)| Some(format!("{} {what}", three_digits(error?)))));
    (!known.is_empty()).then(|| format!("largest error {known}"))
}

/// Returns a number rounded to three significant digits, in its shortest form.
pub(super) fn three_digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    format!("{rounded:?}")
}

/// Returns ` [row, column]` for a flat index. Empty if it adds nothing to the index.
pub(super) fn coordinates(index: u64, shape: &[u64]) -> String {
    let elements = shape
        .iter()
        .try_fold(1u64, |product, extent| product.checked_mul(*extent));
    if shape.len() < 2 || elements.is_none_or(|elements| index >= elements) {
        return String::new();
    }
    let mut rest = index;
    let mut place: Vec<String> = shape
        .iter()
        .rev()
        .map(|extent| {
            let coordinate = rest % extent;
            rest /= extent;
            coordinate.to_string()
        })
        .collect();
    place.reverse();
    format!(" [{}]", place.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_index_is_shown_with_its_coordinates() {
        assert_eq!(coordinates(5, &[2, 4]), " [1, 1]");
        assert_eq!(coordinates(23, &[2, 3, 4]), " [1, 2, 3]");
        assert_eq!(coordinates(5, &[16]), "");
        assert_eq!(coordinates(8, &[2, 4]), "");
        assert_eq!(coordinates(0, &[0, 4]), "");
        assert_eq!(coordinates(1, &[u64::MAX, u64::MAX]), "");
    }

    #[test]
    fn errors_are_rounded_to_useful_digits() {
        assert_eq!(
            [0.25, 1.23456e-7, 0.0, 65_504.0].map(three_digits),
            ["0.25", "1.23e-7", "0.0", "65500.0"]
        );
    }
}
