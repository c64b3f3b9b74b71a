//! The section of one case, with all its data.

use std::time::Duration;

use super::attention::{explanation, outcome, positions};
use super::facts::Facts;
use super::markup::{self, Element, Markup, element, list, prose, span, text};
use super::names::{Anchor, case_name};
use super::trend::Past;
use super::{audit, checks, distribution, integrity, kernels, sequence, steps, surroundings, trend};
use crate::repeat;
use crate::wording::capitalized;
use gpubench_contract::units::{byte_rate, counter_rate, flop_rate, percent, time, wall_time};
use gpubench_contract::{BenchmarkComplete, ChangeVerdict, ComparisonComplete, Stats, Throughput, Verdict};
use gpubench_store::StoredRun;

/// Maximum number of cases for which sections are open by default.
const FEW: usize = 4;

/// Returns the section with all cases.
pub(super) fn section(run: &StoredRun, comparisons: &[ComparisonComplete], past: &Past<'_>) -> Element {
    let cases = positions(run).map(|(anchor, result)| {
        let fold = fold(run, result, comparisons);
        case(run, anchor, result, past, fold)
    });
    markup::section("details", "Case details").children(cases)
}

/// Returns the foldable section of a case. It is open if the case failed or regressed, or if there
/// are few cases.
fn fold(run: &StoredRun, result: &BenchmarkComplete, comparisons: &[ComparisonComplete]) -> Element {
    let mut rows = comparisons.iter().flat_map(|comparison| &comparison.rows);
    let regressed = rows.any(|row| row.verdict == ChangeVerdict::Regressed && row.is_of(result));
    if run.results.len() <= FEW || regressed || result.verdict.is_failure() {
        element("details").with("open", "")
    } else {
        element("details")
    }
}

fn case(run: &StoredRun, anchor: Anchor, result: &BenchmarkComplete, past: &Past<'_>, fold: Element) -> Element {
    let value = result
        .stats
        .as_ref()
        .filter(|_| result.verdict == Verdict::Pass)
        .map(|stats| span("summary-figure").text(result.metric.quantity(stats.value)));
    let summary = element("summary")
        .child(element("h3").child(case_name(result)))
        .text(" ")
        .child(outcome(result))
        .text(" ")
        .child(value);
    // The anchor is inside, so that following a link unfolds the case.
    let body = element("div")
        .class("case-body")
        .with("id", anchor)
        .child(content(result, past))
        .child(again(run, result));
    fold.class("case").child(summary).child(body)
}

/// Returns the command that runs a failed case again.
fn again(run: &StoredRun, result: &BenchmarkComplete) -> Option<Element> {
    let seed = repeat::seed_of(result, run.run.grading.as_deref(), &run.finished.as_ref()?.seed);
    let repeated = run.run.repeat.as_ref()?;
    (result.verdict.is_failure() && !result.is_hidden()).then(|| {
        let command = repeat::command(repeated, result, seed);
        let command = element("pre").with("tabindex", "0").text(command);
        element("div").child(element("p").text("Run it alone:")).child(command)
    })
}

fn content(result: &BenchmarkComplete, past: &Past<'_>) -> Markup {
    let stats = result.stats.as_ref();
    let notices = result.notices.iter().map(|notice| element("li").child(prose(notice)));
    let notices = list("remarks", notices);
    let figures = [
        stats.and_then(|stats| distribution::figure(result, stats)),
        sequence::figure(result),
        trend::figure(result, past.get(result)),
    ];
    let figures: Vec<Element> = figures.into_iter().flatten().collect();
    let figures = (!figures.is_empty()).then(|| element("div").class("figures").children(figures));
    let groups = [
        group(
            "Samples",
            stats.map(|stats| samples(result, stats)).unwrap_or_default().list(),
        ),
        group("Work", work(&result.throughput).list()),
        group("Integrity", integrity::facts(result)),
        group("A call asks the driver for", audit::facts(result)),
        group("Surroundings", surroundings::facts(result)),
    ];
    explanation(result)
        .then(notices)
        .then(figures)
        .then(element("div").class("groups").children(groups.into_iter().flatten()))
        .then(kernels::table(result))
        .then(steps::table(result))
        .then(checks::table(result))
}

fn group(title: &str, content: Option<impl Into<Markup>>) -> Option<Element> {
    let content = content?;
    Some(
        element("div")
            .class("group")
            .child(element("h4").text(title))
            .child(content),
    )
}

fn samples(result: &BenchmarkComplete, stats: &Stats) -> Facts {
    let (metric, name) = (&result.metric, capitalized(&result.metric.name));
    Facts::default()
        .and(&name, element("b").text(metric.quantity(stats.value)))
        .and_known("95% interval", stats.ci95.map(|interval| metric.range(interval)))
        .and("Median", text(metric.quantity(stats.median)))
        .and("Quartiles", text(metric.range([stats.q1, stats.q3])))
        .and("Range", text(metric.range([stats.min, stats.max])))
        .and("Mean", text(metric.quantity(stats.mean)))
        .and_known(
            "Deviation",
            stats.stddev.map(|deviation| match stats.cv {
                Some(cv) => format!("{}, {}", metric.quantity(deviation), percent(cv)),
                None => metric.quantity(deviation).to_string(),
            }),
        )
        .and("Samples", text(stats.n))
        .and_known("Workers", (result.workers.len() > 1).then_some(result.workers.len()))
        .and_known("Disturbed", sequence::disturbances(result))
        .and_known("Stopped by", result.stop.as_ref().map(|stop| stop.reason))
        .and_known("Mode", Some(result.mode))
        .and_known("Cache", result.cache)
        .and_known(
            "Calls per sample",
            (result.calls_per_sample > 1).then_some(result.calls_per_sample),
        )
        .and_known(
            "Single calls",
            result.single_calls.map(|times| {
                let quartiles = metric.range([times.q1_ns, times.q3_ns]);
                format!("{}, quartiles {quartiles}", time(times.median_ns))
            }),
        )
        .and_known(
            "Host time per call",
            result.host_ns.as_ref().map(|host| time(host.median_ns)),
        )
        .and_known("Empty measurement", result.event_overhead_ns.map(time))
        .and_known("Empty call, from outside", result.empty_call_ns.map(time))
        .and_known("A call, from outside", result.call_wall_ns.map(time))
        .and_known("Time on the device", result.device_work.map(|work| time(work.busy_ns)))
        .and("Took", text(wall_time(Duration::from_nanos(result.wall_ns))))
}

fn work(throughput: &Throughput) -> Facts {
    let both = throughput.flops_per_s.zip(throughput.bytes_per_s);
    let intensity = both
        .map(|(flops, bytes)| flops / bytes)
        .filter(|intensity| intensity.is_finite());
    let facts = Facts::default()
        .and_known("Bandwidth", throughput.bytes_per_s.map(byte_rate))
        .and_known("of peak", throughput.of_peak_bandwidth.map(percent))
        .and_known("Compute", throughput.flops_per_s.map(flop_rate))
        .and_known("of peak", throughput.of_peak_flops.map(percent))
        .and_known(
            "Intensity",
            intensity.map(|intensity| format!("{} FLOP/B", crate::wording::three_digits(intensity))),
        );
    throughput.counters.iter().fold(facts, |facts, counter| {
        let rate = counter_rate(&counter.name, counter.per_s);
        facts.and(&capitalized(&counter.name), text(rate))
    })
}
