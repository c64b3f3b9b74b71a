//! What decides the results of a grading besides its submissions.

use std::collections::BTreeMap;
use std::fmt::Debug;

use crate::archive::Digest;
use crate::broker::dataset::DatasetProblem;
use crate::broker::grading::Entrants;
use crate::broker::options::{LibrarySource, MasterSeed, MeasurementOptions, OtherRuns, Rival, RunOptions};
use crate::broker::recording::selected::Selected;
use crate::config::CaseLayers;
use gpubench_contract::{Grading, Resumption};

/// Returns what decides the results of a run's submissions. Two runs with equal parts would give
/// the same verdicts.
pub(in crate::broker) fn grading_of(options: &RunOptions, selected: &Selected<'_>, entrants: &Entrants) -> Grading {
    let library = &selected.libraries[entrants.library_of_problem()];
    let code: Vec<Option<Digest>> = library.code.iter().map(Digest::of_copy).collect();
    let problem = format!("{code:?} {:?}", entrants.dataset().map(DatasetProblem::stated));
    Grading {
        problem: entrants.problem_name().to_owned(),
        problem_sha256: Digest::from_bytes(problem.as_bytes()).to_string(),
        settings_sha256: settings_of(options, library.settings),
        resumed: Vec::new(),
    }
}

/// Returns what decides the results of a run's benchmarks.
pub(in crate::broker) fn resumption_of(options: &RunOptions, selected: &Selected<'_>) -> Resumption {
    let libraries = selected.libraries.iter();
    let code: Vec<Vec<Option<Digest>>> = libraries
        .map(|library| library.code.iter().map(Digest::of_copy).collect())
        .collect();
    let own = selected.cases.iter().filter_map(|case| {
        let named = selected.benchmark(case)?.own_library.as_ref()?;
        let library = selected.library(case);
        let copy = library.own_libraries.copy(&library.root, named).ok();
        Some((named, copy.and_then(|copy| Digest::of_copy(&copy))))
    });
    let own: BTreeMap<&String, Option<Digest>> = own.collect();
    let packages: Vec<_> = selected.libraries.iter().map(|library| library.settings).collect();
    Resumption {
        code_sha256: Digest::from_bytes(format!("{code:?} {own:?}").as_bytes()).to_string(),
        settings_sha256: settings_of(options, packages),
        resumed: Vec::new(),
    }
}

/// Returns the digest of the settings that results depend on. `packages` are those of manifests.
fn settings_of(options: &RunOptions, packages: impl Debug) -> String {
    let grading = options.grading.as_ref();
    let python = match &options.libraries {
        LibrarySource::Dataset(dataset) => Some(&dataset.python),
        LibrarySource::Build(_) | LibrarySource::Archive { .. } => None,
    };
    // These decide no verdict and no time.
    let measurement = MeasurementOptions {
        seed: MasterSeed::Fresh,
        other_runs: OtherRuns::Awaited,
        keep_callgrind: None,
        keep_wrong_outputs: None,
        cases: CaseLayers::default(),
        ..options.measurement.clone()
    };
    let CaseLayers {
        given,
        overrides,
        profile,
    } = &options.measurement.cases;
    let overrides: Vec<_> = overrides
        .iter()
        .map(|one| (one.filter.as_str(), one.settings))
        .collect();
    let settings = format!(
        "{:?}",
        (
            options.action,
            &options.cases,
            &options.device,
            measurement,
            (given, overrides, profile, packages),
            grading.map(|grading| {
                let has_reference_in_turns = grading.over == Some(Rival::Reference);
                (grading.cases, grading.compile_within, has_reference_in_turns)
            }),
            python,
        )
    );
    Digest::from_bytes(settings.as_bytes()).to_string()
}
