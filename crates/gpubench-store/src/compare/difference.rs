//! Differences between the setups of two runs or two results.

use std::fmt;

use gpubench_contract::units::size;
use gpubench_contract::{BenchmarkComplete, DeviceKind, DeviceWords, Environment, Flush, RunStarted};

/// A property that differs between two setups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    what: &'static str,
    baseline: String,
    candidate: String,
    pub(super) weight: Weight,
}

/// The effect of a difference on a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// It changes times regardless of the code, so results cannot be compared.
    Decides,
    /// It is only reported.
    Noted,
}

impl fmt::Display for Difference {
    /// Writes `driver: 570.86 in the baseline, 580.159 in the candidate`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} in the baseline, {} in the candidate",
            self.what, self.baseline, self.candidate
        )
    }
}

/// A property of a setup: its name, its value if known, and the weight of a difference.
type Fact = (&'static str, Option<String>, Weight);

/// Returns the differences between two runs.
pub(super) fn of_runs(baseline: &RunStarted, candidate: &RunStarted) -> Vec<Difference> {
    let is_the_host = |run: &RunStarted| run.device.kind.words().is_the_host;
    let processor = if is_the_host(baseline) && is_the_host(candidate) {
        ("processor", Weight::Decides)
    } else {
        ("host's processor", Weight::Noted)
    };
    differing([baseline, candidate].map(|run| facts_of_run(run, processor)))
}

/// Returns the differences between two results that are not differences between their runs.
pub(super) fn of_results(baseline: &BenchmarkComplete, candidate: &BenchmarkComplete) -> Vec<Difference> {
    differing([baseline, candidate].map(|result| {
        let mut facts = vec![("mode", Some(result.mode.to_string()), Weight::Decides)];
        facts.extend(facts_of_environment(&result.environment));
        let execution = result.execution.map(|execution| execution.as_str().to_owned());
        facts.push(("execution", execution, Weight::Decides));
        facts.push(("grade", text(result.grade), Weight::Noted));
        facts
    }))
}

fn facts_of_run(run: &RunStarted, (processor, weight): (&'static str, Weight)) -> Vec<Fact> {
    let (device, environment) = (&run.device, &run.environment);
    let mut facts = vec![
        ("device", Some(kind(device.kind)), Weight::Decides),
        ("device", Some(device.name.clone()), Weight::Decides),
        ("multiprocessors", text(device.multiprocessors), Weight::Decides),
        ("compute capability", text(device.capability), Weight::Decides),
        (processor, environment.cpu.clone(), weight),
    ];
    facts.extend(facts_of_environment(environment));
    facts.extend([
        ("compiler", environment.compiler.clone(), Weight::Noted),
        ("operating system's kernel", environment.kernel.clone(), Weight::Noted),
        ("version of the tool", Some(run.tool_version.clone()), Weight::Noted),
    ]);
    facts
}

fn facts_of_environment(environment: &Environment) -> [Fact; 5] {
    let flush = environment.flush.map(|flush| match flush {
        Flush::Read => "reads".to_owned(),
        Flush::Write => "writes".to_owned(),
    });
    let flushed = text(environment.flush_bytes.map(size));
    // Every version knows whether it has locked the clock: older ones never do.
    let locked = match environment.locked_sm_clock_mhz {
        Some(megahertz) => format!("{megahertz} MHz"),
        None => "none".to_owned(),
    };
    [
        ("driver", environment.driver.clone(), Weight::Decides),
        ("threads", text(environment.threads), Weight::Decides),
        ("cache flush", flush, Weight::Decides),
        ("bytes of the cache flush", flushed, Weight::Decides),
        ("locked clock", Some(locked), Weight::Decides),
    ]
}

fn text(fact: Option<impl fmt::Display>) -> Option<String> {
    fact.map(|fact| fact.to_string())
}

/// Returns the facts that differ. A fact that one side does not know never prevents a comparison.
fn differing([baseline, candidate]: [Vec<Fact>; 2]) -> Vec<Difference> {
    let sides = baseline.into_iter().zip(candidate);
    let differing = sides.filter(|((_, one, _), (_, other, _))| one != other);
    let differences = differing.map(|((what, baseline, weight), (_, candidate, _))| Difference {
        what,
        weight: if baseline.is_some() && candidate.is_some() {
            weight
        } else {
            Weight::Noted
        },
        baseline: known(baseline),
        candidate: known(candidate),
    });
    differences.collect()
}

fn known(fact: Option<String>) -> String {
    fact.unwrap_or_else(|| "unknown".to_owned())
}

/// Returns `the CPU device` or `a GPU`.
fn kind(kind: DeviceKind) -> String {
    let DeviceWords { article, noun, .. } = kind.words();
    format!("{article} {noun}")
}
