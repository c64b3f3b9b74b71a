//! What was not alike when two runs, or two results, were measured.

use std::fmt;

use gpubench_contract::units::size;
use gpubench_contract::{BenchmarkComplete, DeviceKind, DeviceWords, EarlierRun, Environment, Execution, Flush};

/// One thing that was not alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    what: &'static str,
    baseline: String,
    candidate: String,
    pub(super) weight: Weight,
}

/// What a difference means for a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    /// Times change with it, whatever the code does.
    Decides,
    /// It is good to know.
    Noted,
}

impl fmt::Display for Difference {
    /// `driver: 570.86 in the baseline, 580.159 in the candidate`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} in the baseline, {} in the candidate",
            self.what, self.baseline, self.candidate
        )
    }
}

/// Differences between two runs.
pub(super) fn of_runs(baseline: &EarlierRun, candidate: &EarlierRun) -> Vec<Difference> {
    let (one, other) = (&baseline.device, &candidate.device);
    let mut found = Findings::default();
    found.decides("device", kind(one.kind), kind(other.kind));
    found.decides("device", &one.name, &other.name);
    found.known("multiprocessors", one.multiprocessors, other.multiprocessors);
    found.known("compute capability", one.capability, other.capability);
    let (processor, weight) = match one.kind.words().is_the_host && other.kind.words().is_the_host {
        true => ("processor", Weight::Decides),
        false => ("host's processor", Weight::Noted),
    };
    found.maybe(
        processor,
        baseline.environment.cpu.as_ref(),
        candidate.environment.cpu.as_ref(),
        weight,
    );
    found.of_environments(&baseline.environment, &candidate.environment);
    let noted = |environment: &Environment| (environment.compiler.clone(), environment.kernel.clone());
    let ((compiler, kernel), (other_compiler, other_kernel)) =
        (noted(&baseline.environment), noted(&candidate.environment));
    found.maybe("compiler", compiler, other_compiler, Weight::Noted);
    found.maybe("operating system's kernel", kernel, other_kernel, Weight::Noted);
    found.noted("version of the tool", &baseline.tool_version, &candidate.tool_version);
    found.0
}

/// Differences between two results that their runs do not tell of.
pub(super) fn of_results(baseline: &BenchmarkComplete, candidate: &BenchmarkComplete) -> Vec<Difference> {
    let mut found = Findings::default();
    found.decides("caches before a call", baseline.mode, candidate.mode);
    found.of_environments(&baseline.environment, &candidate.environment);
    let execution = |result: &BenchmarkComplete| result.execution.map(Execution::as_str);
    found.maybe("execution", execution(baseline), execution(candidate), Weight::Decides);
    let grade = |result: &BenchmarkComplete| result.grade;
    found.maybe("grade", grade(baseline), grade(candidate), Weight::Noted);
    found.0
}

#[derive(Default)]
struct Findings(Vec<Difference>);

impl Findings {
    fn of_environments(&mut self, one: &Environment, other: &Environment) {
        self.maybe("driver", one.driver.as_ref(), other.driver.as_ref(), Weight::Decides);
        self.known("threads", one.threads, other.threads);
        let flush = |environment: &Environment| {
            environment.flush.map(|flush| match flush {
                Flush::Read => "reads",
                Flush::Write => "writes",
            })
        };
        self.maybe("cache flush", flush(one), flush(other), Weight::Decides);
        let flushed = |environment: &Environment| environment.flush_bytes.map(size);
        self.maybe(
            "bytes of the cache flush",
            flushed(one),
            flushed(other),
            Weight::Decides,
        );
    }

    fn decides(&mut self, what: &'static str, one: impl fmt::Display, other: impl fmt::Display) {
        self.add(what, &one, &other, Weight::Decides);
    }

    fn noted(&mut self, what: &'static str, one: impl fmt::Display, other: impl fmt::Display) {
        self.add(what, &one, &other, Weight::Noted);
    }

    fn known(&mut self, what: &'static str, one: Option<u64>, other: Option<u64>) {
        self.maybe(what, one, other, Weight::Decides);
    }

    /// What one side does not know cannot be held against the other.
    fn maybe(
        &mut self,
        what: &'static str,
        one: Option<impl fmt::Display>,
        other: Option<impl fmt::Display>,
        weight: Weight,
    ) {
        const UNKNOWN: &str = "not known";
        match (&one, &other) {
            (Some(one), Some(other)) => self.add(what, one, other, weight),
            (Some(one), None) => self.add(what, one, &UNKNOWN, Weight::Noted),
            (None, Some(other)) => self.add(what, &UNKNOWN, other, Weight::Noted),
            (None, None) => {}
        }
    }

    fn add(&mut self, what: &'static str, one: &dyn fmt::Display, other: &dyn fmt::Display, weight: Weight) {
        let (baseline, candidate) = (one.to_string(), other.to_string());
        if baseline != candidate {
            self.0.push(Difference {
                what,
                baseline,
                candidate,
                weight,
            });
        }
    }
}

/// `the CPU device`, `a GPU`.
fn kind(kind: DeviceKind) -> String {
    let DeviceWords { article, noun, .. } = kind.words();
    format!("{article} {noun}")
}
