//! What a run's results are compared with and where they are stored.
//!
//! [`ResultTargets`] are resolved before any build, a [`ResultPlan`] fits the run's cases, and
//! [`Bookkeeping`] has the history of its device.

use std::collections::HashSet;

use super::baseline::Baseline;
use super::fences::fences;
use super::noise_floors::NoiseFloors;
use super::saving::SavePlan;
use crate::broker::BaselineError;
use crate::broker::against::results::OtherResults;
use crate::broker::cases::{Case, NameFilter};
use crate::broker::choice::chosen::ChosenCases;
use crate::broker::lanes::expected::PastDurations;
use crate::broker::options::{HistoryOptions, JudgingOptions, LastRun, PageTarget, ResultOptions, Verbosity};
use crate::broker::places::Places;
use crate::broker::status::{moment, status};
use gpubench_contract::units::{counted, listed};
use gpubench_contract::{
    Arrangement, BenchmarkComplete, ComparisonComplete, DeviceIdentity, ResultKey, Revision, RunFinished, RunStarted,
};
use gpubench_diagnostic::{Failure, chain, print_warning};
use gpubench_report::{GateResult, HtmlReport, OutputError, OutputTarget, address};
use gpubench_store::compare::{Fences, NamedRun, Rules, compare};
use gpubench_store::history::History;
use gpubench_store::{Destination, Home, Replaced, RunName, StoreError, StoredRun, keep_last_run, last_run};

/// What a run's results are compared with and where they are stored, before its cases are known.
#[derive(Debug)]
pub(crate) struct ResultTargets {
    baseline: Option<Baseline>,
    /// The name to save the results under, and its destination.
    save: Option<(RunName, Destination)>,
    origin: Origin,
    records: Records,
}

/// What a run's results are compared with and where they are stored, for the cases of the run.
#[derive(Debug)]
pub(crate) struct ResultPlan {
    baseline: Option<Baseline>,
    save: Option<SavePlan>,
    replaced: Replaced,
    origin: Origin,
    records: Records,
    floors: NoiseFloors,
}

/// The parts that do not depend on the run's cases.
#[derive(Debug)]
struct Records {
    history: HistoryOptions,
    /// Where to write a page about the results.
    page: Option<OutputTarget>,
    judging: JudgingOptions,
    verbosity: Verbosity,
    last_run: LastRun,
    /// The folder of the last results.
    home: Home,
}

/// What to do with the results of a run in progress.
#[derive(Debug)]
pub(crate) struct Bookkeeping {
    plan: ResultPlan,
    /// The history of the device.
    past: Option<History>,
}

/// The origin of a run's code.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// The name in a comparison with the baseline.
    pub(crate) name: String,
    /// The revision of the sources.
    pub(crate) revision: Option<Revision>,
}

impl ResultTargets {
    /// Reads the baseline, and checks that all outputs can be written.
    ///
    /// # Errors
    /// A baseline cannot be read, a file cannot be written, or there is no place to store results.
    pub(crate) fn open(
        options: &ResultOptions,
        places: &Places,
        verbosity: Verbosity,
    ) -> Result<ResultTargets, Failure> {
        let home = places.home();
        let baseline = options.baseline.as_ref().map(|options| Baseline::load(options, home));
        let save = options.save.as_ref();
        let save = save.map(|name| Destination::new(name, home).map(|destination| (name.clone(), destination)));
        Ok(ResultTargets {
            baseline: baseline.transpose()?,
            save: save.transpose()?,
            origin: Origin {
                name: "this run".to_owned(),
                revision: places.revision(),
            },
            records: Records {
                history: HistoryOptions::resolved(options, home)?,
                page: page(options.page.as_ref(), home)?,
                judging: options.judging,
                verbosity,
                last_run: options.last_run,
                home: home.clone(),
            },
        })
    }

    /// Adapts the targets to the cases of a run. `replaced` says which other results of
    /// the file that the run is saved to may go.
    ///
    /// # Errors
    /// The baseline lacks a selected benchmark, and the options do not allow that.
    pub(crate) fn of_cases(
        self,
        names: &NameFilter,
        ours: &ChosenCases,
        replaced: Replaced,
        origin: Option<Origin>,
        floors: NoiseFloors,
    ) -> Result<ResultPlan, BaselineError> {
        let baseline = self.baseline.map(|baseline| baseline.fitted(names, ours));
        Ok(ResultPlan {
            baseline: baseline.transpose()?,
            save: self.save.map(|(name, destination)| SavePlan {
                name,
                destination,
                results: ours.cases.iter().flat_map(Case::result_keys).collect(),
                replaced: replaced.clone(),
            }),
            replaced,
            origin: origin.unwrap_or(self.origin),
            records: self.records,
            floors,
        })
    }
}

impl ResultPlan {
    /// Returns the revision of the run's sources.
    pub(crate) fn revision(&self) -> Option<&Revision> {
        self.origin.revision.as_ref()
    }

    /// Reads the history of the run's device. Checks that the run can be added to the history, and
    /// replaces no other results when it is saved.
    ///
    /// # Errors
    /// The history is damaged, of a later version, not a history, or not writable; or results
    /// would be lost.
    pub(crate) fn begin(self, run: &RunStarted) -> Result<Bookkeeping, StoreError> {
        let device = DeviceIdentity::from_run(run);
        if let Some(save) = &self.save {
            save.ensure_nothing_is_lost()?;
        }
        let Records { history, page, .. } = &self.records;
        let needs_past = self.baseline.is_some() || page.is_some() || history.is_recorded;
        let past = if needs_past { history.of_device(&device)? } else { None };
        Ok(Bookkeeping { plan: self, past })
    }
}

impl Bookkeeping {
    /// Returns the part of an incomplete run that both sides have measured, and reduces the results
    /// of the other side to it. `None` if that is nothing.
    fn measured_on_both_sides(
        candidate: &StoredRun,
        name: &str,
        other: &mut Vec<BenchmarkComplete>,
    ) -> Option<StoredRun> {
        let ours: HashSet<ResultKey> = candidate.results.iter().map(BenchmarkComplete::key).collect();
        other.retain(|result| ours.contains(&result.key()));
        let theirs: HashSet<ResultKey> = other.iter().map(BenchmarkComplete::key).collect();
        if theirs.is_empty() {
            print_warning(&format!("the run is incomplete and is not compared with `{name}`"));
            return None;
        }
        let measured = counted(theirs.len(), "result");
        print_warning(&format!(
            "the run is incomplete: only {measured} of it is compared with `{name}`"
        ));
        let results = candidate.results.iter().filter(|result| theirs.contains(&result.key()));
        Some(StoredRun {
            results: results.cloned().collect(),
            ..candidate.clone()
        })
    }

    /// Returns the run in its stored form.
    pub(crate) fn stored(&self, run: RunStarted, results: Vec<BenchmarkComplete>, finished: RunFinished) -> StoredRun {
        StoredRun::new(run, results, Some(finished), self.plan.origin.revision.clone())
    }

    /// Compares a run with the baseline that it alternated with. Of an incomplete run, what both
    /// sides have measured is compared: each of these results is as good as in a complete run.
    pub(crate) fn compare_interleaved(&self, candidate: &StoredRun, other: OtherResults) -> Option<ComparisonComplete> {
        let OtherResults {
            name,
            revision,
            compiler,
            mut results,
            analyses,
        } = other;
        let part;
        let candidate = if candidate.is_complete() {
            candidate
        } else {
            part = Self::measured_on_both_sides(candidate, &name, &mut results)?;
            &part
        };
        let mut run = candidate.run.clone();
        run.environment.compiler = Some(compiler);
        run.revision.clone_from(&revision);
        let baseline = StoredRun::new(run, results, candidate.finished.clone(), revision);
        // Differences between separate runs say nothing about two sides that drift together.
        let rules = Rules {
            fences: Fences::default(),
            analyses,
            ..self.rules(&candidate.results)
        };
        let [baseline, ours] =
            [(&*name, &baseline), (&*self.plan.origin.name, candidate)].map(|(name, run)| NamedRun { name, run });
        Some(compare(baseline, ours, Arrangement::Interleaved, &rules))
    }

    fn rules(&self, results: &[BenchmarkComplete]) -> Rules {
        let fences = self.past.as_ref().map(|past| fences(past, results)).unwrap_or_default();
        Rules {
            floors: self.plan.floors.of_results(results),
            ..self.plan.records.judging.rules(fences)
        }
    }

    /// Compares a complete run with the stored baseline, if there is one.
    pub(crate) fn compare(&self, candidate: &StoredRun) -> Option<ComparisonComplete> {
        let baseline = self.plan.baseline.as_ref().filter(|_| candidate.is_complete())?;
        let rules = self.rules(&candidate.results);
        let name = baseline.asked.name.to_string();
        let baseline = NamedRun {
            name: &name,
            run: &baseline.run,
        };
        let candidate = NamedRun {
            name: &self.plan.origin.name,
            run: candidate,
        };
        Some(compare(baseline, candidate, Arrangement::Apart, &rules))
    }

    /// Returns how long results took when they were last measured. Unknown ones are no failure:
    /// only the order of cases depends on it.
    pub(crate) fn past_durations(&self, run: &RunStarted, wanted: Vec<BenchmarkComplete>) -> PastDurations {
        let Records {
            home,
            last_run: use_of_last,
            ..
        } = &self.plan.records;
        if *use_of_last == LastRun::Ignored {
            return PastDurations::default();
        }
        let wanted = StoredRun::new(run.clone(), wanted, None, None);
        let last = last_run(home, &wanted).ok().flatten();
        PastDurations::of(last.iter().flat_map(|last| &last.results))
    }

    /// Compares a complete run with the last results of its cases, if there are any. A failure is
    /// only a warning: nobody asked for the comparison.
    pub(crate) fn compare_with_last_run(&self, candidate: &StoredRun) -> Option<ComparisonComplete> {
        let Records {
            home,
            last_run: use_of_last,
            ..
        } = &self.plan.records;
        if *use_of_last != LastRun::Compared || !candidate.is_complete() {
            return None;
        }
        let last = last_run(home, candidate).unwrap_or_else(|error| {
            print_warning(&format!("cannot compare with the last run: {}", chain(&error)));
            None
        })?;
        let name = name_of_last_run(&last);
        let [last, candidate] =
            [(&*name, &last), (&*self.plan.origin.name, candidate)].map(|(name, run)| NamedRun { name, run });
        Some(compare(
            last,
            candidate,
            Arrangement::Apart,
            &self.rules(&candidate.run.results),
        ))
    }

    /// Keeps the results of a complete run for the next one.
    fn keep_for_the_next_run(&self, stored: &StoredRun) {
        let Records { home, last_run, .. } = &self.plan.records;
        if *last_run == LastRun::Ignored {
            return;
        }
        if let Err(error) = keep_last_run(home, stored, &self.plan.replaced) {
            print_warning(&format!(
                "cannot keep this run to compare the next one with: {} (hint: remove the file, or add `--no-last-run`)",
                chain(&error)
            ));
        }
    }

    /// Returns whether a comparison makes the command fail.
    pub(crate) fn passage(&self, comparison: &ComparisonComplete) -> GateResult {
        self.plan.records.judging.gate.passage(comparison)
    }

    /// Saves the run and adds it to the history. Returns the failures. Does not store an incomplete
    /// run: its missing benchmarks would look removed.
    pub(crate) fn keep(&self, stored: &StoredRun) -> Vec<StoreError> {
        if !stored.is_complete() {
            self.warn_of_skipped_steps();
            return Vec::new();
        }
        self.keep_for_the_next_run(stored);
        let ResultPlan { save, records, .. } = &self.plan;
        let saved = save.as_ref().map(|save| save.save(stored, records.verbosity));
        let recorded = records.history.record(stored, records.verbosity);
        saved.into_iter().chain([recorded]).filter_map(Result::err).collect()
    }

    /// Writes the page about the results, complete or not.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn write_page(&self, run: &StoredRun, comparisons: &[ComparisonComplete]) -> Result<(), OutputError> {
        let Some(outlet) = &self.plan.records.page else {
            return Ok(());
        };
        let report = HtmlReport {
            run,
            comparisons,
            devices: None,
            history: self.past.as_ref().map_or(&[], |past| &past.entries),
        };
        outlet.write(&report.page())?;
        if let Some(file) = outlet.file() {
            status(self.plan.records.verbosity, "Report", address(file));
        }
        Ok(())
    }

    fn warn_of_skipped_steps(&self) {
        let plan = &self.plan;
        let undone = [
            plan.baseline
                .as_ref()
                .map(|baseline| format!("compared with `{}`", baseline.asked.name)),
            plan.save.as_ref().map(|save| format!("saved as `{}`", save.name)),
            plan.records
                .history
                .is_recorded
                .then(|| "added to the history".to_owned()),
        ];
        let undone: Vec<String> = undone.into_iter().flatten().collect();
        if !undone.is_empty() {
            let undone = undone.join(", nor ");
            print_warning(&format!("the run is incomplete and is not {undone}"));
        }
    }
}

/// Returns how to name the last results: `the last run, 2026-11-29 18:40 UTC`.
fn name_of_last_run(last: &StoredRun) -> String {
    let run_id = &last.run.run_id;
    if last.results.iter().any(|result| result.run_id != *run_id) {
        return "their last runs".to_owned();
    }
    let revision = last.revision.as_ref().map(Revision::short);
    let named = [
        Some("the last run".to_owned()),
        Some(moment(&last.run.started_at)),
        revision,
    ];
    listed(named)
}

/// Returns the target of the page and checks that it is writable. Without a target directory, the
/// options must name a file.
fn page(target: Option<&PageTarget>, home: &Home) -> Result<Option<OutputTarget>, Failure> {
    let outlet = match target {
        None => return Ok(None),
        Some(PageTarget::OutputTarget(outlet)) => outlet.clone(),
        Some(PageTarget::TargetDirectory) => OutputTarget::File(home.page()?),
    };
    outlet.ensure_writable()?;
    Ok(Some(outlet))
}
