//! Findings for people, in the form of the compiler's.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use super::flaw::Flaw;
use super::session::Judged;
use gpubench_contract::units::counted;
use gpubench_diagnostic::{printable, printable_line};
use gpubench_measure::lint::Rule;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const PLACE: Style = AnsiColor::Blue.on_default().bold();
const HINT: Style = AnsiColor::Cyan.on_default();

/// Most cases that a finding names.
const MOST_NAMES: usize = 3;

/// Returns the findings, then the cases that could not be judged, then a summary.
pub(super) fn report(flaws: &[Flaw], judged: &Judged) -> String {
    let mut text: String = flaws.iter().map(about).collect();
    for (case, failure) in &judged.failures {
        let (case, message) = (printable_line(case), printable(&failure.message));
        let _ = writeln!(text, "{ERROR}error{ERROR:#}: `{case}` could not be judged: {message}\n");
    }
    text + &summary(flaws, judged)
}

fn about(flaw: &Flaw) -> String {
    let mut broken = flaw.broken.iter();
    let Some(first) = broken.next() else {
        return String::new();
    };
    let (file, line) = flaw.place();
    let output = printable_line(&flaw.output);
    let title = printable_line(&headline(first.rule, &first.finding.what, &output));
    let mut text = format!(
        "{ERROR}error[{}]{ERROR:#}: {title}\n  {PLACE}-->{PLACE:#} {}:{line}\n",
        first.rule.name(),
        printable_line(file)
    );
    let mut note = |note: &str| {
        let _ = writeln!(text, "   {PLACE}={PLACE:#} {}", printable_line(note));
    };
    let tolerance = flaw.tolerance.map_or_else(
        || "compared exactly".to_owned(),
        |(rtol, atol)| format!("tolerance rtol {rtol:e}, atol {atol:e}"),
    );
    note(&format!("problem `{}`, {tolerance}", flaw.problem));
    note(&cases(&first.cases, first.finding.found, first.finding.tried));
    for other in broken {
        let what = headline(other.rule, &other.finding.what, &output);
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

/// Returns what passes, or fails, as a sentence.
pub(super) fn headline(rule: Rule, what: &str, output: &str) -> String {
    match rule {
        Rule::NotFinite => format!("{what} in `{output}`"),
        Rule::TooStrict => format!("right answers fail as `{output}`: {what}"),
        _ => {
            let verb = if matches!(rule, Rule::Zeros | Rule::Ones | Rule::Permutation | Rule::PartialZeros) {
                "pass"
            } else {
                "passes"
            };
            format!("{} {verb} as `{output}`", what.trim_end())
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
    let can_be_fixed =
        flaw.better().is_some() && flaw.attribute.as_ref().is_some_and(|found| found.tolerance.is_some());
    let fix = if can_be_fixed {
        "; `--fix` writes that tolerance"
    } else {
        ""
    };
    format!("{}{fix}", rule.hint())
}

fn summary(flaws: &[Flaw], judged: &Judged) -> String {
    let findings: usize = flaws.iter().map(|flaw| flaw.broken.len()).sum();
    let mut parts = vec![format!(
        "{} in {}",
        counted(findings, "finding"),
        counted(judged.cases.len(), "judged case")
    )];
    if !judged.failures.is_empty() {
        parts.push(format!("{} could not be judged", judged.failures.len()));
    }
    if judged.skipped > 0 {
        parts.push(format!("{} not for the CPU device, or skipped", judged.skipped));
    }
    format!("{}\n", parts.join("; "))
}
