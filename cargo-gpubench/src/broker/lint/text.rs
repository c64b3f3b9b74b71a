//! Findings for people, in the form of the compiler's.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use gpubench::catalog::Tolerance;

use super::flaw::{BrokenRule, Flaw};
use super::hidden::HiddenFlaw;
use super::session::Judged;
use gpubench_contract::units::counted;
use gpubench_diagnostic::{printable, printable_line};
use gpubench_measure::lint::{Judge, Rule};
use gpubench_measure::verdict::tolerance_in_words;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const PLACE: Style = AnsiColor::Blue.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// Most cases that a finding names.
const MOST_NAMES: usize = 3;

/// Returns the findings, then the cases that could not be judged, then a summary.
pub(super) fn report(flaws: &[Flaw], hidden: &[HiddenFlaw], judged: &Judged) -> String {
    let mut text: String = flaws.iter().map(about).chain(hidden.iter().map(about_hidden)).collect();
    for (case, failure) in &judged.failures {
        let (case, message) = (printable_line(case), printable(&failure.message));
        let _ = writeln!(text, "{ERROR}error{ERROR:#}: `{case}` could not be judged: {message}\n");
    }
    for (case, tensor) in &judged.with_structs {
        let (case, tensor) = (printable_line(case), printable_line(tensor));
        let _ = writeln!(
            text,
            "{HINT}note{HINT:#}: `{case}` was not judged: `{tensor}` holds structs, for which no wrong answers are tried\n"
        );
    }
    text + &summary(flaws, hidden, judged)
}

fn about(flaw: &Flaw) -> String {
    let mut broken = flaw.broken.iter();
    let Some(first) = broken.next() else {
        return String::new();
    };
    let (file, line) = flaw.place();
    let title = printable_line(&headline(flaw, first));
    let mut text = format!(
        "{ERROR}error[{}]{ERROR:#}: {title}\n  {PLACE}-->{PLACE:#} {}:{line}\n",
        first.rule.name(),
        printable_line(file)
    );
    let mut note = |note: &str| {
        let _ = writeln!(text, "   {PLACE}={PLACE:#} {}", printable_line(note));
    };
    note(&format!("problem `{}`, {}", flaw.problem, judged_by(flaw)));
    note(&cases(&first.cases, first.finding.found, first.finding.tried));
    for other in broken {
        let what = headline(flaw, other);
        note(&format!(
            "{what} too, in {} ({})",
            counted(other.cases.len(), "case"),
            other.rule.name()
        ));
    }
    if let Some((rtol, atol)) = flaw.better() {
        let what = if flaw.shrink.is_some_and(|shrink| shrink < 0) {
            "pass right answers"
        } else {
            "reject this, and pass rounding errors"
        };
        note(&format!("rtol {rtol:e}, atol {atol:e} would {what}"));
    }
    text + &format!("   ({HINT}hint{HINT:#}: {})\n\n", hint(flaw, first.rule))
}

fn about_hidden(flaw: &HiddenFlaw) -> String {
    let (rule, (file, line)) = (Rule::HiddenIsPublic, &flaw.place);
    let shown: Vec<String> = flaw
        .cases
        .iter()
        .take(MOST_NAMES)
        .map(|case| format!("`{case}`"))
        .collect();
    format!(
        "{ERROR}error[{}]{ERROR:#}: {}\n  {PLACE}-->{PLACE:#} {}:{line}\n   {PLACE}={PLACE:#} {}\n   ({HINT}hint{HINT:#}: {})\n\n",
        rule.name(),
        flaw.headline(),
        printable_line(file),
        printable_line(&format!("problem `{}`, for example {}", flaw.problem, shown.join(", "))),
        rule.hint()
    )
}

/// Returns what decides whether an output passes.
fn judged_by(flaw: &Flaw) -> String {
    let tolerance = match tolerance_in_words(flaw.tolerance) {
        _ if flaw.tolerance == Tolerance::ByCheck => return "judged by its check alone".to_owned(),
        Some(bounds) => format!("tolerance {bounds}"),
        None => "compared exactly".to_owned(),
    };
    match flaw.judge {
        Judge::Reference => tolerance,
        Judge::ReferenceAndCheck | Judge::Check => format!("judged by its check, then {tolerance}"),
    }
}

/// Returns what passes, or fails, as a sentence.
pub(super) fn headline(flaw: &Flaw, broken: &BrokenRule) -> String {
    let (rule, what, output) = (broken.rule, broken.finding.what.trim_end(), &flaw.output);
    match rule {
        Rule::NotFinite => format!("{what} in `{output}`"),
        Rule::TooStrict => format!("right answers fail as `{output}`: {what}"),
        _ if flaw.judge != Judge::Reference => {
            format!("the check accepts {} as `{output}`", what.trim_end_matches(','))
        }
        _ => {
            let verb = if matches!(rule, Rule::Zeros | Rule::Ones | Rule::Permutation | Rule::PartialZeros) {
                "pass"
            } else {
                "passes"
            };
            format!("{what} {verb} as `{output}`")
        }
    }
}

fn cases(names: &[String], found: u32, tried: u32) -> String {
    let shown: Vec<String> = names.iter().take(MOST_NAMES).map(|name| format!("`{name}`")).collect();
    let more = match names.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("in {found} of {tried} calls of {}{more}", shown.join(", "))
}

/// Returns what to do, with the option that does it.
pub(super) fn hint(flaw: &Flaw, rule: Rule) -> String {
    let fix = if flaw.numbers().is_some() {
        "; `--fix` writes that tolerance"
    } else {
        ""
    };
    let of_rule = match flaw.tolerance {
        Tolerance::Mostly { .. } if rule != Rule::TooStrict => {
            format!("choose a smaller `mismatched` or `cap`, or {}", rule.hint())
        }
        _ => rule.hint().to_owned(),
    };
    let is_of_inputs = matches!(rule, Rule::NotFinite | Rule::UnreadInput);
    let advice = match flaw.judge {
        Judge::Reference => of_rule,
        _ if is_of_inputs => of_rule,
        _ if rule == Rule::TooStrict && flaw.shrink.is_none() => {
            "accept in the check what the reference gives".to_owned()
        }
        Judge::Check => "reject it in the check, or add `reference = ..`".to_owned(),
        Judge::ReferenceAndCheck if rule == Rule::Permutation => {
            "reject it in the check, or write `in_any_order()` there if the order does not matter".to_owned()
        }
        Judge::ReferenceAndCheck if flaw.tolerance == Tolerance::Exact => "reject it in the check".to_owned(),
        Judge::ReferenceAndCheck => format!("reject it in the check, or {of_rule}"),
    };
    format!("{advice}{fix}")
}

fn summary(flaws: &[Flaw], hidden: &[HiddenFlaw], judged: &Judged) -> String {
    let of_outputs: usize = flaws.iter().map(|flaw| flaw.broken.len()).sum();
    let findings = of_outputs + hidden.len();
    let mut parts = vec![format!(
        "{} in {}",
        counted(findings, "finding"),
        counted(judged.cases.len(), "judged case")
    )];
    if !judged.failures.is_empty() {
        parts.push(format!("{} could not be judged", judged.failures.len()));
    }
    if !judged.with_structs.is_empty() {
        parts.push(format!("{} with structs not judged", judged.with_structs.len()));
    }
    if judged.skipped > 0 {
        parts.push(format!("{} not for the CPU device, or skipped", judged.skipped));
    }
    format!("{}\n", parts.join("; "))
}
