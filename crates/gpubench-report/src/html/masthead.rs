//! The top of the page: what was measured, where and when, and the outcome.

use std::collections::HashSet;
use std::time::Duration;

use super::facts::Facts;
use super::markup::{Element, Markup, element, note, span, text};
use super::names::{moment, revision};
use crate::wording::abilities;
use gpubench_contract::units::{byte_rate, flop_rate, listed, size, wall_time};
use gpubench_contract::{
    ChangeVerdict, ComparisonComplete, ComparisonRow, Device, ResultKey, RunEnd, RunFinished, Verdict,
};
use gpubench_store::StoredRun;

/// Returns the document's title.
pub(super) fn title(run: &StoredRun) -> String {
    format!("{} on {}", packages(run), run.run.device.title())
}

/// Returns the masthead.
pub(super) fn masthead(run: &StoredRun, comparisons: &[ComparisonComplete]) -> Element {
    let heading = element("h1")
        .child(span("name").text(packages(run)))
        .text(" on ")
        .child(span("isolated").text(run.run.device.title()));
    let notice = run
        .run
        .device
        .kind
        .words()
        .unverified
        .map(|notice| note("p").text(notice));
    element("header")
        .child(
            element("p")
                .class("eyebrow")
                .text(format_args!("cargo gpubench {}", run.run.tool_version)),
        )
        .child(heading)
        .child(outcome(run, comparisons))
        .child(notice)
        .child(facts(run).list())
}

fn packages(run: &StoredRun) -> String {
    match &run.run.packages[..] {
        [] => "Benchmarks".to_owned(),
        [only] => only.clone(),
        [first, second] => format!("{first} and {second}"),
        [first, others @ ..] => format!("{first} and {} other packages", others.len()),
    }
}

/// Returns the number of results per outcome, and how many of them changed since what they are
/// compared with.
fn outcome(run: &StoredRun, comparisons: &[ComparisonComplete]) -> Element {
    let of = |wanted: fn(Verdict) -> bool| run.results.iter().filter(|result| wanted(result.verdict)).count();
    let changed = |verdict| changed(comparisons, verdict);
    let counts = [
        Some(("good", of(|verdict| verdict == Verdict::Pass), "passed")),
        Some(("bad", of(Verdict::is_failure), "failed")),
        changed(ChangeVerdict::Regressed).map(|count| ("bad", count, "regressed")),
        changed(ChangeVerdict::Improved).map(|count| ("good", count, "improved")),
        Some(("doubtful", of(|verdict| verdict == Verdict::Skipped), "skipped")),
    ];
    let counts = counts.into_iter().flatten().map(|(class, count, what)| {
        let class = if count == 0 { "none" } else { class };
        Markup::from(
            span("count")
                .child(element("b").class(class).text(count))
                .text(format_args!(" {what}")),
        )
        .then(text(" "))
    });
    let ending = match &run.finished {
        Some(finished) => ending(finished),
        None => span("doubtful").text("The run did not finish.").into(),
    };
    element("p").class("outcome").children(counts).child(ending)
}

/// Returns the number of results with a verdict in any comparison, each counted once. `None` if
/// nothing was compared.
fn changed(comparisons: &[ComparisonComplete], verdict: ChangeVerdict) -> Option<usize> {
    let rows = comparisons.iter().flat_map(|comparison| &comparison.rows);
    let results: HashSet<ResultKey> = rows
        .filter(|row| row.verdict == verdict)
        .map(ComparisonRow::key)
        .collect();
    let left_out = comparisons.iter().filter_map(|comparison| comparison.left_out.as_ref());
    let left_out: usize = left_out.map(|left_out| left_out.count(verdict)).sum();
    (!comparisons.is_empty()).then_some(results.len() + left_out)
}

fn ending(finished: &RunFinished) -> Markup {
    let wall = wall_time(Duration::from_nanos(finished.wall_ns));
    let not_run = (finished.not_run > 0).then(|| {
        span("count")
            .child(element("b").class("doubtful").text(finished.not_run))
            .text(" not run ")
    });
    let how = match finished.end {
        RunEnd::Completed => format!("in {wall}"),
        RunEnd::FailedFast => format!("in {wall}, stopped at the first failure"),
        RunEnd::Interrupted => format!("in {wall}, interrupted"),
    };
    Markup::from(not_run).then(span("quiet").text(how))
}

fn facts(run: &StoredRun) -> Facts {
    let started = &run.run;
    let environment = &started.environment;
    let seed = run.finished.as_ref().map(|finished| &finished.seed);
    let host = [
        environment.cpu.clone(),
        environment.cpus.map(|cpus| format!("{cpus} processors")),
        environment.kernel.as_ref().map(|kernel| format!("Linux {kernel}")),
    ];
    Facts::default()
        .and("Device", text(device(&started.device)))
        .and_known("Peaks", peaks(&started.device))
        .and_known("Driver", environment.driver.as_ref())
        .and_known("Compiler", environment.compiler.as_ref())
        .and_known("Host", joined(host))
        .and_known("Cache flush", environment.flush_bytes.map(size))
        .and("Started", moment(&started.started_at))
        .and_known("Sources", run.revision.as_ref().map(revision))
        .and("Run", element("code").text(&started.run_id))
        .and_known("Seed", seed.filter(|seed| !seed.is_empty()))
}

/// `CUDA device, 132 SMs, sm_90, 60 MiB cache`.
fn device(device: &Device) -> String {
    let kind = device.kind.words().title.to_owned();
    listed([Some(kind)].into_iter().chain(abilities(device)))
}

/// `4.800 TB/s, f32 66.90 TFLOP/s, bf16 1070 TFLOP/s`.
fn peaks(device: &Device) -> Option<String> {
    let arithmetic = match &device.peak_arithmetic {
        Some(peaks) => listed(
            peaks
                .by_type()
                .map(|(of, rate)| Some(format!("{of} {}", flop_rate(rate?)))),
        ),
        None => device
            .peak_flops
            .map(|rate| flop_rate(rate).to_string())
            .unwrap_or_default(),
    };
    let bandwidth = device.peak_bandwidth.map(|rate| byte_rate(rate).to_string());
    joined([bandwidth, Some(arithmetic).filter(|known| !known.is_empty())])
}

/// Joins the known parts with commas. `None` if no part is known.
pub(super) fn joined<const N: usize>(parts: [Option<String>; N]) -> Option<String> {
    Some(listed(parts)).filter(|known| !known.is_empty())
}
