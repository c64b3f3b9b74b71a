//! How far the times of a case can be trusted.

use super::chart::{Scale, drawing, figure, label, line, rectangle};
use super::facts::Facts;
use super::markup::{Element, Markup, prose, text};
use super::names::grade;
use gpubench_contract::units::{counted, time};
use gpubench_contract::{BenchmarkComplete, Conservation, Execution};

const WIDTH: f64 = 240.0;
const HEIGHT: f64 = 34.0;

/// Returns the grade, clocks, inputs and windows. `None` if the case had no window.
pub(super) fn facts(result: &BenchmarkComplete) -> Option<Markup> {
    let execution = result.execution.map(|execution| match execution {
        Execution::Sealed => "the tool replayed a launch plan",
        Execution::Hosted => "hosted: host code launched the kernels",
        Execution::HostedSync => "hosted(sync): host code launched the kernels and may have waited for them; the time is the wall time of the host",
    });
    let graded = result.grade.map(|known| {
        let reason = result
            .grade_reason
            .as_ref()
            .map(|reason| prose(format_args!(": {reason}")));
        Markup::from(grade(known)).then(reason)
    });
    let counts = result.window_counts;
    let all = counted(result.windows, "window");
    let inputs = (result.windows > 0).then(|| format!("{} in {all}", result.distinct_inputs));
    let retaken = (counts.retaken > 0).then(|| format!("{} throttled and taken again, ", counts.retaken));
    let windows = (result.windows > 0).then(|| {
        format!(
            "{} warm-up, {} timed, {}{} early-check, {} of the control worker",
            counts.warm_up,
            counts.timed,
            retaken.unwrap_or_default(),
            counts.early_check,
            counts.control
        )
    });
    let mut facts = Facts::default()
        .and_known("Execution", execution)
        .and_known("SHA-256 of its own library", result.own_library_sha256.as_deref());
    if let Some(graded) = graded {
        facts = facts.and("Grade", graded);
    }
    let facts = facts.and_known("Distinct inputs", inputs).and_known("Windows", windows);
    let (facts, bullet) = match &result.conservation {
        Some(clocks) => (clocked(facts, clocks), bullet(clocks)),
        None => (facts, None),
    };
    facts.list().map(|list| Markup::from(list).then(bullet))
}

fn clocked(facts: Facts, clocks: &Conservation) -> Facts {
    facts
        .and("Claimed", text(time(clocks.claimed_ns)))
        .and("Observed", text(time(clocks.observed_ns)))
        .and_known("Control windows", clocks.control_ns.map(time))
        .and_known("Verified", clocks.verified_ns.map(time))
        .and_known("Excess", clocks.excess_ns.map(signed))
        .and_known("Bound", clocks.bound_ns.map(time))
}

/// Returns a time with its sign.
fn signed(nanoseconds: f64) -> String {
    let sign = if nanoseconds < 0.0 { "" } else { "+" };
    format!("{sign}{}", time(nanoseconds))
}

/// Returns a bullet chart of the excess against its bound.
fn bullet(clocks: &Conservation) -> Option<Element> {
    let (excess, bound) = (clocks.excess_ns?, clocks.bound_ns?.abs());
    let reach = (1.3 * bound).max(1.15 * excess.abs());
    let scale = Scale::new((-reach, reach), (4.0, WIDTH - 4.0));
    let (class, within) = if excess > bound {
        ("bar-bad", "above the bound")
    } else {
        ("bar-good", "within the bound")
    };
    let shapes = Markup::from(rectangle("band", (scale.at(-bound), scale.at(bound)), (4.0, 18.0)))
        .then(rectangle(class, (scale.at(0.0), scale.at(excess)), (8.0, 14.0)))
        .then(line("axis", (scale.at(0.0), 2.0), (scale.at(0.0), 20.0)))
        .then(label("t middle", scale.at(0.0), 31.0, "0"))
        .then(label("t middle", scale.at(bound), 31.0, signed(bound)));
    let words = format_args!(
        "Excess over the claims: {}, bound {}, {within}",
        time(excess),
        time(bound)
    );
    let drawing = drawing("bullet", (WIDTH, HEIGHT), words, shapes);
    let caption = text(format_args!("Excess over the claims: {within}."));
    Some(figure(drawing, caption).class("bullet"))
}
