//! The cases of a run.

use std::collections::{BTreeSet, HashSet};

use gpubench::catalog::{Benchmark, Catalog, DeviceKind, Requirement};

use super::expansion::{axes_on, combinations, first_combination, override_axes};
use super::{
    AxisOverride, Case, CaseError, Disposition, EmptyReason, IgnoredSelection, NameFilter, NamePattern, Naming,
    Partition, ShownBy,
};
use crate::config::{Metrics, Modes};
use gpubench_contract::{DeviceWords, Mode};
use gpubench_device::{Backend, Facts};
use gpubench_diagnostic::closest;

/// Most cases of a run.
pub(in crate::broker) const MOST_CASES: usize = 100_000;

/// The catalog of a library.
#[derive(Clone, Copy, Debug)]
pub struct LibraryCatalog<'a> {
    /// The package.
    pub package: &'a str,
    /// The library's name in Rust. The catalog also has benchmarks of the library's dependencies,
    /// which do not count as its own.
    pub library: &'a str,
    /// The catalog.
    pub catalog: &'a Catalog,
}

/// The device facts that decide which cases run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaseDevice {
    /// The kind of device.
    pub kind: DeviceKind,
    /// Compute capability as `major * 10 + minor`; 0 on the CPU device.
    pub capability: u32,
}

impl CaseDevice {
    /// Extracts them from a device's facts.
    pub fn from_facts(facts: &Facts) -> CaseDevice {
        CaseDevice {
            kind: facts.device.kind,
            capability: facts.device.capability,
        }
    }
}

/// The selection of the command line.
#[derive(Clone, Debug, Default)]
pub struct CaseSelection {
    /// By name.
    pub names: NameFilter,
    /// By the mark `ignore`.
    pub ignored: IgnoredSelection,
    /// Other values for axes.
    pub axes: Vec<AxisOverride>,
    /// Only one part of the selected cases.
    pub partition: Option<Partition>,
    /// What the user probably meant by the only filter, if it matches no name: "the subcommand
    /// `compare`".
    pub meant: Option<String>,
    /// What shows the names of the cases.
    pub shown_by: ShownBy,
}

/// How much of the cases a selection covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectedPart {
    /// Every case that is not ignored, with the declared values of its axes.
    Everything,
    /// Only some cases, or other values.
    Part,
}

impl CaseSelection {
    /// Returns how much of the cases the selection covers.
    pub fn reach(&self) -> SelectedPart {
        let is_everything = self.names.is_everything()
            && self.axes.is_empty()
            && self.partition.is_none()
            && self.ignored != IgnoredSelection::Only;
        if is_everything {
            SelectedPart::Everything
        } else {
            SelectedPart::Part
        }
    }
}

/// Returns the cases to run or to report as skipped, in the order of `catalogs`, their benchmarks
/// and their axes. A `--partition` may be empty.
///
/// # Errors
///
/// No selected benchmark has an axis, a value has the wrong type for its axis, two cases have the
/// same name, or there are too many cases or none.
pub fn select_cases(
    catalogs: &[LibraryCatalog<'_>],
    device: CaseDevice,
    selection: &CaseSelection,
) -> Result<Vec<Case>, CaseError> {
    let naming = naming_of(catalogs);
    let candidates = candidates(catalogs, device, &selection.axes);
    refuse_same_names(&candidates)?;

    let fitting = matching_by_name(&candidates, &selection.names, naming);
    let (selected, left_out): (Vec<_>, Vec<_>) = fitting
        .into_iter()
        .partition(|candidate| selection.ignored.admits(candidate.benchmark.selection));
    let reached = if selected.is_empty() { &candidates } else { &selected };
    refuse_unknown_axes(reached, &selection.axes)?;
    if selected.is_empty() {
        // Of these, the filters saw one case only.
        let too_many = |misfit: &&CaseError| matches!(misfit, CaseError::TooMany { .. });
        let misfits = candidates.iter().filter_map(|candidate| candidate.misfit.as_ref());
        if let Some(misfit) = misfits.into_iter().find(too_many) {
            return Err(misfit.clone());
        }
        let because = why_nothing(catalogs, &candidates, left_out.len(), selection, naming);
        return Err(CaseError::NothingSelected(because));
    }
    let all: Vec<_> = selected
        .into_iter()
        .map(|candidate| candidate.misfit.map_or(Ok(candidate.case), Err))
        .collect::<Result<_, _>>()?;
    Ok(match selection.partition {
        Some(partition) => partition.select(all),
        None => all,
    })
}

/// Returns the packages of the libraries, each once.
fn packages_of<'a>(catalogs: &[LibraryCatalog<'a>]) -> Vec<&'a str> {
    let mut packages: Vec<&str> = catalogs.iter().map(|catalog| catalog.package).collect();
    packages.dedup();
    packages
}

fn naming_of(catalogs: &[LibraryCatalog<'_>]) -> Naming {
    Naming::for_packages(packages_of(catalogs).len())
}

/// A case that the filters may select.
#[derive(Clone, Debug)]
struct Candidate<'a> {
    case: Case,
    benchmark: &'a Benchmark,
    /// A value of the command line that does not fit the benchmark's axis: the case then has the
    /// declared values. Or too many values: then this is the benchmark's only case. An error only
    /// if the case is selected.
    misfit: Option<CaseError>,
}

fn candidates<'a>(
    catalogs: &[LibraryCatalog<'a>],
    device: CaseDevice,
    overrides: &[AxisOverride],
) -> Vec<Candidate<'a>> {
    let mut candidates = Vec::new();
    for (
        library,
        LibraryCatalog {
            package,
            library: name,
            catalog,
        },
    ) in catalogs.iter().enumerate()
    {
        for (position, benchmark) in own_benchmarks(catalog, name) {
            let declared = axes_on(benchmark, device.kind);
            let (axes, misfit) = match override_axes(benchmark, &declared, overrides) {
                Ok(axes) => (axes, None),
                Err(misfit) => (declared, Some(misfit)),
            };
            let room = MOST_CASES.saturating_sub(candidates.len());
            let (points, misfit) = match combinations(&axes, room) {
                Some(points) => (points, misfit),
                None => {
                    let benchmark = benchmark.path.clone();
                    let too_many = CaseError::TooMany {
                        benchmark,
                        most: MOST_CASES,
                    };
                    (vec![first_combination(&axes)], Some(too_many))
                }
            };
            candidates.extend(points.into_iter().map(|params| Candidate {
                case: Case {
                    package: package.to_string(),
                    library,
                    benchmark: position,
                    path: benchmark.path.clone(),
                    params,
                    modes: Modes::only(Mode::Cold),
                    metrics: Metrics::TIME,
                    counters: benchmark.counters.clone(),
                    disposition: disposition(benchmark, device),
                },
                benchmark,
                misfit: misfit.clone(),
            }));
        }
    }
    candidates
}

/// Returns the benchmarks of a library, with their positions in its catalog.
pub(super) fn own_benchmarks<'a>(catalog: &'a Catalog, library: &str) -> impl Iterator<Item = (usize, &'a Benchmark)> {
    let all = catalog.benchmarks.iter().enumerate();
    all.filter(move |(_, benchmark)| benchmark.library == library)
}

/// Returns the number of a library's own problems.
fn own_problems(catalog: &LibraryCatalog<'_>) -> usize {
    let problems = catalog.catalog.problems.iter();
    problems
        .filter(|problem| problem.outline.library == catalog.library)
        .count()
}

fn refuse_same_names(candidates: &[Candidate<'_>]) -> Result<(), CaseError> {
    let mut seen = HashSet::new();
    match candidates
        .iter()
        .map(|candidate| candidate.case.full_name())
        .find(|name| !seen.insert(name.clone()))
    {
        Some(name) => Err(CaseError::SameName { name }),
        None => Ok(()),
    }
}

fn matching_by_name<'a>(candidates: &[Candidate<'a>], names: &NameFilter, naming: Naming) -> Vec<Candidate<'a>> {
    let cases: Vec<_> = candidates.iter().map(|candidate| &candidate.case).collect();
    let chosen = names.choose(&cases, naming);
    candidates
        .iter()
        .zip(chosen)
        .filter(|(_, chosen)| *chosen)
        .map(|(candidate, _)| candidate.clone())
        .collect()
}

fn refuse_unknown_axes(candidates: &[Candidate<'_>], overrides: &[AxisOverride]) -> Result<(), CaseError> {
    let known: BTreeSet<&str> = candidates
        .iter()
        .flat_map(|candidate| &candidate.case.params)
        .map(|(name, _)| name.as_str())
        .collect();
    match overrides.iter().find(|other| !known.contains(other.name.as_str())) {
        None => Ok(()),
        Some(unknown) => Err(CaseError::UnknownAxis {
            axis: unknown.name.clone(),
            closest: closest(&unknown.name, known.iter().copied()).map(str::to_owned),
            known: known.into_iter().map(str::to_owned).collect(),
        }),
    }
}

fn why_nothing(
    catalogs: &[LibraryCatalog<'_>],
    candidates: &[Candidate<'_>],
    left_out: usize,
    selection: &CaseSelection,
    naming: Naming,
) -> EmptyReason {
    if candidates.is_empty() {
        return EmptyReason::NoBenchmarks {
            packages: packages_of(catalogs).into_iter().map(str::to_owned).collect(),
            problems: catalogs.iter().map(own_problems).sum(),
        };
    }
    if left_out > 0 {
        return EmptyReason::Ignored {
            fitting: left_out,
            asked: selection.ignored,
        };
    }
    let without_skip = NameFilter {
        skip: Vec::new(),
        ..selection.names.clone()
    };
    let fitting = matching_by_name(candidates, &without_skip, naming).len();
    if fitting > 0 {
        return EmptyReason::Skipped { fitting };
    }
    let names: Vec<_> = candidates
        .iter()
        .map(|candidate| candidate.case.name_as(naming))
        .collect();
    EmptyReason::NoNameFits {
        of: candidates.len(),
        closest: probable_name(selection, &names),
        meant: selection.meant.clone(),
        shown_by: selection.shown_by.clone(),
    }
}

/// Returns the name that the user probably meant. For a whole name, a name that contains it or a
/// similar one; for an expression, a similar part of a name.
fn probable_name(selection: &CaseSelection, names: &[String]) -> Option<String> {
    let similar = selection.names.filters.iter().find_map(|filter| match filter {
        NamePattern::Search(_) if selection.meant.is_some() => None,
        _ => similar_name(filter, names),
    });
    similar.map(str::to_owned)
}

fn similar_name<'n>(pattern: &NamePattern, names: &'n [String]) -> Option<&'n str> {
    match pattern {
        NamePattern::Exact(wanted) => {
            let whole = names.iter().find(|name| name.contains(wanted));
            whole
                .map(String::as_str)
                .or_else(|| closest(wanted, names.iter().map(String::as_str)))
        }
        NamePattern::Search(wanted) => {
            let parts = names.iter().flat_map(|name| name.split("::"));
            closest(wanted.as_str(), parts)
        }
    }
}

/// Returns whether the device meets the requirements of a benchmark.
fn disposition(benchmark: &Benchmark, device: CaseDevice) -> Disposition {
    match benchmark
        .requirements
        .iter()
        .find_map(|requirement| lack(requirement, device))
    {
        None => Disposition::Run,
        Some(reason) => Disposition::Skip(reason),
    }
}

/// Returns what the device lacks for a requirement.
fn lack(requirement: &Requirement, device: CaseDevice) -> Option<String> {
    match *requirement {
        Requirement::Device(kind) if kind == device.kind => None,
        Requirement::Device(kind) => {
            let DeviceWords { article, title, .. } = Backend::from_kind(kind).words();
            Some(format!("needs {article} {title}"))
        }
        Requirement::Capability(least) => match device.capability {
            // The device has no compute capability.
            0 => Some(format!(
                "needs a CUDA device of compute capability {}",
                capability_text(least)
            )),
            has if has >= least => None,
            has => Some(format!(
                "needs compute capability {}; the device has {}",
                capability_text(least),
                capability_text(has)
            )),
        },
    }
}

fn capability_text(capability: u32) -> String {
    format!("{}.{}", capability / 10, capability % 10)
}

mod warnings;

pub(crate) use warnings::selection_warnings;

#[cfg(test)]
mod tests;
