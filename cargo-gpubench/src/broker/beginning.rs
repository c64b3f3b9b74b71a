//! The beginning of a run's reports.

use std::collections::BTreeSet;

use super::cases::run_names::RunNames;
use super::lanes::job::announced;
use super::options::GradingOptions;
use super::recording::selected::Selected;
use super::reporting::{Reporting, Scoring};
use super::resumption::{Resumed, grading_of, resumption_of};
use super::settings::RunSettings;
use super::stored::bookkeeping::ResultPlan;
use crate::cdylibs::packages_of;
use gpubench_contract::{Device, Environment, RunStarted, SchemaVersion};
use gpubench_diagnostic::Failure;
use gpubench_store::{RecordsFile, StoredRun};

/// A run whose reports have begun.
pub(super) struct Begun {
    pub(super) reporting: Reporting,
    /// Positions of the cases whose results an earlier run had.
    pub(super) taken: BTreeSet<usize>,
}

/// Opens the reports and announces a run of benchmarks or submissions. Takes over results from
/// `records`.
///
/// # Errors
/// The history of the device cannot be used, a report cannot be opened, or the records are of
/// another run.
pub(super) fn begin_reports(
    names: &RunNames,
    selected: &Selected<'_>,
    settings: &RunSettings<'_>,
    (device, environment): (Device, Environment),
    plan: ResultPlan,
    records: Option<(RecordsFile, Option<StoredRun>)>,
) -> Result<Begun, Failure> {
    let options = settings.options;
    let of_cases = announced(names, selected.cases);
    let entrants = selected.entrants;
    let mut run = RunStarted {
        schema_version: SchemaVersion,
        run_id: names.run_id.clone(),
        started_at: jiff::Timestamp::now().to_string(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        seed_commitment: settings.seeds.commitment(),
        revision: plan.revision().cloned(),
        device,
        packages: packages_of(selected.libraries),
        cases: of_cases.iter().map(Vec::len).sum::<usize>() as u64,
        environment,
        repeat: Some(options.repeated_command()),
        grading: entrants.map(|entrants| Box::new(grading_of(options, selected, entrants))),
        resumption: (options.output.records.is_some() && entrants.is_none())
            .then(|| Box::new(resumption_of(options, selected))),
    };
    let verbosity = options.output.verbosity;
    let resumed = records.map(|records| Resumed::new(records, &mut run, &of_cases, selected, verbosity));
    let resumed = resumed.transpose()?;
    let is_taken = |case: &usize| resumed.as_ref().is_some_and(|resumed| resumed.has(*case));
    let taken = (0..selected.cases.len()).filter(is_taken).collect();
    let scoring = entrants.map(|entrants| Scoring {
        over: options
            .grading
            .as_ref()
            .and_then(GradingOptions::rival_submission)
            .map(str::to_owned),
        solutions: entrants.solutions(selected.catalogs),
    });
    Ok(Begun {
        reporting: Reporting::begin(options, plan, run, &of_cases.concat(), scoring, resumed)?,
        taken,
    })
}
