//! What a run's results are compared with and where they are kept, found out before anything is measured.

use std::collections::HashSet;

use camino::{Utf8Path, Utf8PathBuf};

use super::fences::fences;
use super::noise_floors::NoiseFloors;
use super::stored_cases::{case_of, chosen};
use super::stored_run::load_run;
use crate::broker::BaselineError;
use crate::broker::against::opponent::OtherResults;
use crate::broker::cases::{Case, CaseSelection, Disposition, NameFilter, Naming, Reach};
use crate::broker::code::libraries::OpenedArchive;
use crate::broker::options::{
    BaselineOptions, HistoryOptions, JudgingOptions, Newcomers, PageTarget, Recording, ResultOptions, ResultSource,
    Verbosity,
};
use crate::broker::places::Places;
use crate::error::ExpectedError;
use gpubench_contract::units::counted;
use gpubench_contract::{Arrangement, BenchmarkComplete, ComparisonComplete, RunFinished, RunStarted};
use gpubench_contract::{DeviceIdentity, Revision};
use gpubench_diagnostic::print_warning;
use gpubench_diagnostic::printable_line;
use gpubench_report::{HtmlReport, Outlet, OutputError, Passage, address};
use gpubench_store::compare::{Contestant, Fences, Rules, compare};
use gpubench_store::history::{self, History, HistoryEntry, Tail};
use gpubench_store::{Destination, Home, Others, RunName, Saved, StoreError, StoredRun};

/// What a run's results are compared with and where they are kept.
#[derive(Debug)]
pub(in crate::broker) struct Bookkeeping {
    baseline: Option<Baseline>,
    saving: Option<Saving>,
    recording: Recording,
    histories: Option<Utf8PathBuf>,
    past: Option<History>,
    revision: Option<Revision>,
    judging: JudgingOptions,
    floors: NoiseFloors,
    /// Where a page about the results is written to.
    page: Option<Outlet>,
    /// What the run is called beside its baseline.
    candidate: String,
    verbosity: Verbosity,
}

/// What the results are compared with.
#[derive(Debug)]
struct Baseline {
    name: RunName,
    newcomers: Newcomers,
    run: StoredRun,
}

/// What the results are saved as.
#[derive(Debug)]
struct Saving {
    name: RunName,
    destination: Destination,
    /// Full names of the cases that it gets results of.
    cases: HashSet<String>,
    /// What becomes of the other results that are there.
    others: Others,
}

impl Bookkeeping {
    /// Reads what is compared with, and makes sure that what is to be written can be.
    ///
    /// # Errors
    /// A baseline cannot be read, a file cannot be written, or there is nowhere to keep what is to be kept.
    pub(in crate::broker) fn open(
        options: &ResultOptions,
        places: &Places,
        verbosity: Verbosity,
    ) -> Result<Bookkeeping, ExpectedError> {
        let home = places.home();
        let baseline = match &options.baseline {
            Some(options) => Some(Baseline::load(options, home)?),
            None => None,
        };
        let saving = options
            .save
            .as_ref()
            .map(|name| Saving::prepare(name, home))
            .transpose()?;
        Ok(Bookkeeping {
            baseline,
            saving,
            recording: options.history.recording,
            histories: histories(&options.history, home)?,
            past: None,
            revision: places.revision(options),
            judging: options.judging,
            floors: NoiseFloors::default(),
            page: page(options.page.as_ref(), home)?,
            candidate: match &options.source {
                ResultSource::Measured => "this run".to_owned(),
                ResultSource::Loaded(name) => name.to_string(),
            },
            verbosity,
        })
    }

    /// Takes note of how large a change of each case must be.
    pub(in crate::broker) fn heed(&mut self, floors: NoiseFloors) {
        self.floors = floors;
    }

    /// Takes note of the archive that the run's libraries come from: only that knows where their sources stood.
    pub(in crate::broker) fn heed_archive(&mut self, archive: &OpenedArchive) {
        self.candidate = archive.path().to_string();
        self.revision = archive.revision().cloned();
    }

    /// Leaves out of the baseline what the run leaves out, and makes sure that it has what is to be measured. `left_out` are cases that there are and that
    /// were not selected: what the baseline has of them was not removed.
    ///
    /// # Errors
    /// It lacks some, and that is refused.
    pub(in crate::broker) fn fit_baseline(
        &mut self,
        names: &NameFilter,
        packages: &[String],
        cases: &[Case],
        left_out: &[Case],
    ) -> Result<(), BaselineError> {
        let Some(baseline) = &mut self.baseline else {
            return Ok(());
        };
        let stored: HashSet<String> = baseline.run.results.iter().map(case_name).collect();
        let to_run = cases.iter().filter(|case| case.disposition == Disposition::Run);
        let naming = Naming::for_packages(packages.len());
        let lacking: Vec<String> = to_run
            .filter(|case| !stored.contains(&case.full_name()))
            .map(|case| case.name_as(naming))
            .collect();
        if !lacking.is_empty() && baseline.newcomers == Newcomers::Refused {
            return Err(BaselineError::Lacks {
                baseline: baseline.name.to_string(),
                lacking,
                of: cases.len(),
            });
        }
        let selected: HashSet<String> = cases.iter().map(Case::full_name).collect();
        let left_out: HashSet<String> = left_out.iter().map(Case::full_name).collect();
        let results = std::mem::take(&mut baseline.run.results);
        let (ours, others): (Vec<_>, Vec<_>) = results
            .into_iter()
            .partition(|result| selected.contains(&case_name(result)));
        let others = others
            .into_iter()
            .filter(|result| packages.contains(&result.package) && !left_out.contains(&case_name(result)))
            .collect();
        baseline.run.results = [ours, chosen(others, names, naming)].concat();
        Ok(())
    }

    /// Takes note of which results are saved, so that those of other benchmarks stay where they are. `left_out` are cases that there are and that were not selected.
    pub(in crate::broker) fn heed_what_is_saved(
        &mut self,
        selection: &CaseSelection,
        packages: &[String],
        cases: &[Case],
        left_out: &[Case],
    ) {
        let Some(saving) = &mut self.saving else { return };
        let full_names = |cases: &[Case]| cases.iter().map(Case::full_name).collect();
        saving.cases = full_names(cases);
        saving.others = match selection.reach() {
            Reach::Part => Others::Stay,
            Reach::Everything => Others::GoWithTheirBenchmarks {
                packages: packages.iter().cloned().collect(),
                left_out: full_names(left_out),
            },
        };
    }

    /// The same for a run that is loaded: where its sources stood is known, and it is in the history already if it should be.
    ///
    /// # Errors
    /// As [`fit_baseline`](Self::fit_baseline).
    pub(in crate::broker) fn heed_loaded(
        &mut self,
        names: &NameFilter,
        packages: &[String],
        results: &[BenchmarkComplete],
        revision: Option<Revision>,
    ) -> Result<(), BaselineError> {
        let cases: Vec<Case> = results.iter().map(case_of).collect();
        self.revision = revision;
        self.recording = Recording::Off;
        if let Some(saving) = &mut self.saving {
            saving.cases = cases.iter().map(Case::full_name).collect();
            // All of a run takes the place of another, as a copy of its file would.
            saving.others = if names.is_everything() {
                Others::Go
            } else {
                Others::Stay
            };
        }
        self.fit_baseline(names, packages, &cases, &[])
    }

    /// Reads the history of the run's device, now that the device is known, and makes sure that the run can be added to it and to what stays of the baseline that it is saved as.
    ///
    /// # Errors
    /// The history is damaged, of a later tool, no history, or cannot be written; what would stay of the baseline is of another device.
    pub(in crate::broker) fn begin(&mut self, run: &RunStarted) -> Result<(), StoreError> {
        let identity = DeviceIdentity::of(run);
        if let Some(Saving {
            destination,
            cases,
            others,
            ..
        }) = &self.saving
        {
            destination.ensure_keepable(&identity, cases, others)?;
        }
        let is_needed = self.baseline.is_some() || self.page.is_some() || self.recording == Recording::On;
        if let Some(folder) = self.histories.as_deref().filter(|_| is_needed) {
            self.past = history::of_device(folder, &identity)?;
            if self.recording == Recording::On {
                history::ensure_writable(folder, &identity)?;
            }
        }
        Ok(())
    }

    /// The run as it is stored.
    pub(in crate::broker) fn stored(
        &self,
        run: RunStarted,
        results: Vec<BenchmarkComplete>,
        finished: RunFinished,
    ) -> StoredRun {
        StoredRun::of(run, results, Some(finished), self.revision.clone())
    }

    /// The results beside those of the revision that they were measured in turns with, where the run came to its end.
    pub(in crate::broker) fn compare_in_turns(
        &self,
        candidate: &StoredRun,
        other: OtherResults,
    ) -> Option<ComparisonComplete> {
        let OtherResults {
            name,
            revision,
            compiler,
            results,
            looks,
        } = other;
        if !candidate.is_complete() {
            print_warning(&format!(
                "the run did not come to its end: it is not compared with `{name}`"
            ));
            return None;
        }
        let mut run = candidate.run.clone();
        run.environment.compiler = compiler.or(run.environment.compiler);
        let baseline = StoredRun::of(run, results, candidate.finished.clone(), revision);
        // What runs apart differ by says nothing of two that drift together.
        let rules = Rules {
            fences: Fences::default(),
            looks,
            ..self.rules(&candidate.results)
        };
        let [baseline, ours] =
            [(&*name, &baseline), (&*self.candidate, candidate)].map(|(name, run)| Contestant { name, run });
        Some(compare(baseline, ours, Arrangement::Interleaved, &rules))
    }

    fn rules(&self, results: &[BenchmarkComplete]) -> Rules {
        let fences = self.past.as_ref().map(|past| fences(past, results)).unwrap_or_default();
        Rules {
            floors: self.floors.of_results(results),
            ..self.judging.rules(fences)
        }
    }

    /// The results beside those of the baseline, where there is one and the run came to its end.
    pub(in crate::broker) fn compare(&self, candidate: &StoredRun) -> Option<ComparisonComplete> {
        let baseline = self.baseline.as_ref().filter(|_| candidate.is_complete())?;
        let rules = self.rules(&candidate.results);
        let name = baseline.name.to_string();
        let baseline = Contestant {
            name: &name,
            run: &baseline.run,
        };
        let candidate = Contestant {
            name: &self.candidate,
            run: candidate,
        };
        Some(compare(baseline, candidate, Arrangement::Apart, &rules))
    }

    /// Whether a comparison is a reason to fail.
    pub(in crate::broker) fn passage(&self, comparison: &ComparisonComplete) -> Passage {
        self.judging.gate.passage(comparison)
    }

    /// Saves the run and adds it to the history, and gives what keeps it from the one or the other. A run that did not come to its end is not kept: what it
    /// lacks would look removed.
    pub(in crate::broker) fn keep(&self, stored: &StoredRun) -> Vec<StoreError> {
        if !stored.is_complete() {
            self.say_what_is_not_done();
            return Vec::new();
        }
        let saved = self.saving.as_ref().map(|saving| self.save(saving, stored));
        let recorded = match (&self.recording, &self.histories) {
            (Recording::On, Some(folder)) => Some(self.record(folder, stored)),
            _ => None,
        };
        saved.into_iter().chain(recorded).filter_map(Result::err).collect()
    }

    /// Writes the page about the results, whether they are complete or not.
    ///
    /// # Errors
    /// It cannot be written.
    pub(in crate::broker) fn write_page(
        &self,
        run: &StoredRun,
        comparisons: &[ComparisonComplete],
    ) -> Result<(), OutputError> {
        let Some(outlet) = &self.page else { return Ok(()) };
        let report = HtmlReport {
            run,
            comparisons,
            history: self.past.as_ref().map_or(&[], |past| &past.entries),
        };
        outlet.write(&report.page())?;
        if let Some(file) = outlet.file() {
            self.say("Report", &address(file));
        }
        Ok(())
    }

    fn save(&self, saving: &Saving, stored: &StoredRun) -> Result<(), StoreError> {
        let Saving {
            name,
            destination,
            others,
            ..
        } = saving;
        let Saved {
            kept,
            gone,
            spared,
            lost,
        } = destination.save(stored.clone(), others)?;
        if gone > 0 {
            let results = counted(gone, "result");
            print_warning(&format!(
                "`{name}` had {results} of benchmarks that this run does not have any more: they are no longer in it"
            ));
        }
        if !spared.is_empty() {
            print_warning(&format!(
                "`{name}` keeps the earlier results of what passed in it and failed now: {}",
                listed(&spared)
            ));
        }
        if !lost.is_empty() {
            print_warning(&format!(
                "`{name}` had good results, measured otherwise than this run, of what failed now: {}; they are no longer in it",
                listed(&lost)
            ));
        }
        self.say("Saved", &format!("`{name}` ({})", destination.path()));
        if kept > 0 {
            let results = counted(kept, "result");
            self.say(
                "Kept",
                &format!("{results} in `{name}` of benchmarks that this run did not measure"),
            );
        }
        Ok(())
    }

    fn record(&self, folder: &Utf8Path, stored: &StoredRun) -> Result<(), StoreError> {
        let appended = history::append(folder, &DeviceIdentity::of(&stored.run), &HistoryEntry::of(stored))?;
        if appended.tail == Tail::Unfinished {
            let path = &appended.path;
            print_warning(&format!(
                "the last line of the history `{path}` was unfinished and has been cut off"
            ));
        }
        self.say("Recorded", &format!("run {} ({})", stored.run.run_id, appended.path));
        Ok(())
    }

    fn say_what_is_not_done(&self) {
        let undone = [
            self.baseline
                .as_ref()
                .map(|baseline| format!("compared with `{}`", baseline.name)),
            self.saving.as_ref().map(|saving| format!("saved as `{}`", saving.name)),
            (self.recording == Recording::On).then(|| "added to the history".to_owned()),
        ];
        let undone: Vec<String> = undone.into_iter().flatten().collect();
        if !undone.is_empty() {
            let undone = undone.join(", nor ");
            print_warning(&format!("the run did not come to its end: it is not {undone}"));
        }
    }

    /// As cargo tells of its steps.
    fn say(&self, step: &str, what: &str) {
        if self.verbosity > Verbosity::Quiet {
            anstream::eprintln!("{step:>12} {what}");
        }
    }
}

impl Baseline {
    fn load(options: &BaselineOptions, home: &Home) -> Result<Baseline, StoreError> {
        let BaselineOptions { name, newcomers } = options;
        let run = load_run(name, home)?;
        Ok(Baseline {
            name: name.clone(),
            newcomers: *newcomers,
            run,
        })
    }
}

impl Saving {
    fn prepare(name: &RunName, home: &Home) -> Result<Saving, StoreError> {
        let destination = Destination::of(name, home)?;
        Ok(Saving {
            name: name.clone(),
            destination,
            cases: HashSet::new(),
            others: Others::default(),
        })
    }
}

/// A few of some names, and how many more there are.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = names.iter().take(SHOWN);
    let shown: Vec<String> = shown.map(|name| format!("`{}`", printable_line(name))).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Where histories are; a folder must be named where there is no target directory.
fn histories(options: &HistoryOptions, home: &Home) -> Result<Option<Utf8PathBuf>, StoreError> {
    match (options.folder.clone().or_else(|| home.histories()), options.recording) {
        (None, Recording::On) => Err(StoreError::HomelessHistory),
        (folder, _) => Ok(folder),
    }
}

/// Where the page is; a file must be named where there is no target directory, and it must be possible to write it.
fn page(target: Option<&PageTarget>, home: &Home) -> Result<Option<Outlet>, ExpectedError> {
    let outlet = match target {
        None => return Ok(None),
        Some(PageTarget::Outlet(outlet)) => outlet.clone(),
        Some(PageTarget::TargetDirectory) => Outlet::File(home.page().ok_or(StoreError::HomelessPage)?),
    };
    outlet.ensure_writable()?;
    Ok(Some(outlet))
}

/// The name of a result's case as [`Case::full_name`] has it.
fn case_name(result: &BenchmarkComplete) -> String {
    case_of(result).full_name()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_out_of_a_file_are_listed_on_one_line_and_the_rest_is_counted() {
        let names: Vec<String> = (1..=7).map(|number| format!("a::b{number}\nwarning: x")).collect();
        let listed = listed(&names);
        assert!(listed.starts_with("`a::b1 warning: x`, `a::b2"), "{listed}");
        assert!(listed.ends_with("`a::b5 warning: x` and 2 more"), "{listed}");
    }
}
