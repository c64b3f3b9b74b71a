//! The cases of built libraries that a run selects, and the rest.

use gpubench::catalog::{Benchmark, Catalog};

use crate::broker::against::other_revision::OtherRevision;
use crate::broker::cases::{
    Case, CaseDevice, CaseError, CaseSelection, IgnoredSelection, LibraryCatalog, Naming, full_names, select_cases,
    selection_warnings,
};
use crate::broker::contest::Contests;
use crate::broker::options::case_readings::{ReadingError, choose_readings};
use crate::broker::options::{CaseOrder, RunOptions};
use crate::broker::status::status;
use crate::cdylibs::{Built, packages_of};
use gpubench_device::Facts;
use gpubench_diagnostic::{Failure, chain, print_warning};

/// The cases of a run, and the cases that it leaves out.
#[derive(Clone, Debug)]
pub(in crate::broker) struct ChosenCases {
    /// Names of their packages.
    pub(in crate::broker) packages: Vec<String>,
    /// The selected cases.
    pub(in crate::broker) cases: Vec<Case>,
    /// The existing cases that are not selected.
    pub(in crate::broker) left_out: Vec<Case>,
}

impl ChosenCases {
    /// Returns the cases that the command line selects.
    ///
    /// # Errors
    /// No case is selected or matches, the modes of a case are invalid, or there is no contest.
    pub(in crate::broker) fn new(
        options: &RunOptions,
        built: &Built,
        catalogs: &[Catalog],
        facts: &Facts,
    ) -> Result<ChosenCases, Failure> {
        let device = CaseDevice::from_facts(facts);
        let warnings = selection_warnings(&library_catalogs(built, catalogs), device, &options.cases);
        warnings.iter().for_each(|warning| print_warning(warning));
        let mut cases = cases_of(built, catalogs, device, &options.cases)?;
        choose_readings(&mut cases, options, (built, catalogs), facts)?;
        if options.order == CaseOrder::InContests {
            let contests = Contests::among(&cases, |case| benchmark_of(case, catalogs));
            contests.check(&cases, catalogs.iter().flat_map(|catalog| &catalog.benchmarks))?;
        }
        if cases.is_empty() {
            let what = "this part of `--partition` has none of the selected cases";
            status(options.output.verbosity, "Note", what);
        }
        let mut left_out = every_case(built, catalogs, device)?;
        let selected = full_names(&cases);
        left_out.retain(|case| !selected.contains(&case.full_name()));
        Ok(ChosenCases {
            packages: packages_of(&built.libraries),
            cases,
            left_out,
        })
    }

    /// Returns the number of results that the cases will have.
    pub(in crate::broker) fn results(&self) -> usize {
        self.cases.iter().map(|case| case.readings().count()).sum()
    }

    /// Returns the form in which names are shown.
    pub(in crate::broker) fn naming(&self) -> Naming {
        Naming::for_packages(self.packages.len())
    }
}

fn benchmark_of<'b>(case: &Case, catalogs: &'b [Catalog]) -> Option<&'b Benchmark> {
    catalogs.get(case.library)?.benchmarks.get(case.benchmark)
}

/// Returns the baseline's cases that match the command line. Ignores `--partition`: its counted
/// parts start at other cases there. A selection that matches nothing only prints a warning; a
/// baseline without benchmarks has none.
///
/// # Errors
/// The modes of a case are invalid.
pub(in crate::broker) fn choose_other_cases(
    options: &RunOptions,
    other: &OtherRevision,
    catalogs: &[Catalog],
    facts: &Facts,
) -> Result<Vec<Case>, ReadingError> {
    if other.built().libraries.is_empty() {
        return Ok(Vec::new());
    }
    let selection = CaseSelection {
        partition: None,
        ..options.cases.clone()
    };
    let cases = cases_of(other.built(), catalogs, CaseDevice::from_facts(facts), &selection);
    let mut cases = cases.unwrap_or_else(|error| {
        print_warning(&format!("the baseline has nothing to compare: {}", chain(&error)));
        Vec::new()
    });
    choose_readings(&mut cases, options, (other.built(), catalogs), facts)?;
    Ok(cases)
}

/// Returns the cases of the libraries on a device, including ignored ones.
pub(in crate::broker) fn every_case(
    built: &Built,
    catalogs: &[Catalog],
    device: CaseDevice,
) -> Result<Vec<Case>, Failure> {
    let selection = CaseSelection {
        ignored: IgnoredSelection::Include,
        ..CaseSelection::default()
    };
    match cases_of(built, catalogs, device, &selection) {
        Err(CaseError::NothingSelected(_)) => Ok(Vec::new()),
        cases => Ok(cases?),
    }
}

/// Returns the selected cases of the libraries on a device.
///
/// # Errors
/// No case is selected, or the selection does not fit the benchmarks.
pub(in crate::broker) fn cases_of(
    built: &Built,
    catalogs: &[Catalog],
    device: CaseDevice,
    selection: &CaseSelection,
) -> Result<Vec<Case>, CaseError> {
    select_cases(&library_catalogs(built, catalogs), device, selection)
}

fn library_catalogs<'a>(built: &'a Built, catalogs: &'a [Catalog]) -> Vec<LibraryCatalog<'a>> {
    let libraries = built.libraries.iter().zip(catalogs);
    let catalogs = libraries.map(|(library, catalog)| LibraryCatalog {
        package: &library.package,
        library: &library.crate_name,
        catalog,
    });
    catalogs.collect()
}
