//! Which cases of built libraries are run, and which are not.

use gpubench::catalog::Catalog;

use super::against::other_revision::OtherRevision;
use super::cases::{
    Case, CaseDevice, CaseError, CaseSelection, IgnoredSelection, Naming, PackageCatalog, full_names, select_cases,
};
use super::options::RunOptions;
use super::status::status;
use crate::build::Built;
use gpubench_device::Facts;
use gpubench_diagnostic::{Failure, chain, print_warning};

/// The cases of a run, and those that it leaves out.
#[derive(Clone, Debug)]
pub(super) struct ChosenCases {
    /// The packages that they come from.
    pub(super) packages: Vec<String>,
    /// What is selected.
    pub(super) cases: Vec<Case>,
    /// Cases that there are and that are not selected.
    pub(super) left_out: Vec<Case>,
}

impl ChosenCases {
    /// The cases that the command line selects.
    ///
    /// # Errors
    /// It selects none, or fits none.
    pub(super) fn of(
        options: &RunOptions,
        built: &Built,
        catalogs: &[Catalog],
        facts: &Facts,
    ) -> Result<ChosenCases, Failure> {
        let cases = cases_of(built, catalogs, CaseDevice::of(facts), &options.cases)?;
        if cases.is_empty() {
            let what = "every selected case is in another part of `--partition`: this part has none";
            status(options.output.verbosity, "Note", what);
        }
        let mut left_out = every_case(built, catalogs, CaseDevice::of(facts))?;
        let every: Vec<&Case> = left_out.iter().collect();
        let naming = Naming::for_packages(built.libraries.len());
        for name in options.cases.names.idle_skips(&every, naming) {
            print_warning(&format!(
                "no case is called `{name}`: `--skip` leaves out nothing by it"
            ));
        }
        let selected = full_names(&cases);
        left_out.retain(|case| !selected.contains(&case.full_name()));
        Ok(ChosenCases {
            packages: built.libraries.iter().map(|library| library.package.clone()).collect(),
            cases,
            left_out,
        })
    }

    /// Which form of names is shown.
    pub(super) fn naming(&self) -> Naming {
        Naming::for_packages(self.packages.len())
    }
}

/// The cases of the other revision that fit the command line, in whatever part of it: parts that
/// are counted begin elsewhere there. What does not fit is no failure of this one.
pub(super) fn choose_other_cases(
    options: &RunOptions,
    other: &OtherRevision,
    catalogs: &[Catalog],
    facts: &Facts,
) -> Vec<Case> {
    let selection = CaseSelection {
        partition: None,
        ..options.cases.clone()
    };
    cases_of(other.built(), catalogs, CaseDevice::of(facts), &selection).unwrap_or_else(|error| {
        print_warning(&format!("the baseline has nothing to compare with: {}", chain(&error)));
        Vec::new()
    })
}

/// The cases of the libraries on a device, ignored ones too.
pub(super) fn every_case(built: &Built, catalogs: &[Catalog], device: CaseDevice) -> Result<Vec<Case>, Failure> {
    let selection = CaseSelection {
        ignored: IgnoredSelection::Include,
        ..CaseSelection::default()
    };
    match cases_of(built, catalogs, device, &selection) {
        Err(CaseError::NothingSelected(_)) => Ok(Vec::new()),
        cases => Ok(cases?),
    }
}

fn cases_of(
    built: &Built,
    catalogs: &[Catalog],
    device: CaseDevice,
    selection: &CaseSelection,
) -> Result<Vec<Case>, CaseError> {
    let packages: Vec<PackageCatalog<'_>> = built
        .libraries
        .iter()
        .zip(catalogs)
        .map(|(library, catalog)| PackageCatalog {
            package: &library.package,
            library: &library.crate_name,
            catalog,
        })
        .collect();
    select_cases(&packages, device, selection)
}
