//! The cases of a run.

use std::collections::{BTreeSet, HashSet};

use gpubench::catalog::{Benchmark, Catalog, DeviceKind, Requirement};

use super::expansion::{axes_on, combinations, override_axes};
use super::{
    AxisOverride, Case, CaseError, Disposition, EmptyReason, IgnoredSelection, NameFilter, NamePattern, Naming,
    Partition,
};
use gpubench_contract::DeviceWords;
use gpubench_device::{Backend, Facts};
use gpubench_diagnostic::closest;

/// Most cases of a run.
const MOST_CASES: usize = 100_000;

/// What a crate says about its benchmarks.
#[derive(Clone, Copy, Debug)]
pub struct PackageCatalog<'a> {
    /// The package.
    pub package: &'a str,
    /// Its library's name in Rust. The catalog also has the benchmarks of libraries that this one
    /// depends on; they are not the package's.
    pub library: &'a str,
    /// Its catalog.
    pub catalog: &'a Catalog,
}

/// What the choice of cases depends on of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaseDevice {
    /// Its kind.
    pub kind: DeviceKind,
    /// Compute capability as `major * 10 + minor`; 0 on the CPU device.
    pub capability: u32,
}

impl CaseDevice {
    /// That of a device's facts.
    pub fn of(facts: &Facts) -> CaseDevice {
        CaseDevice {
            kind: facts.device.kind,
            capability: facts.device.capability,
        }
    }
}

/// What the command line chooses.
#[derive(Clone, Debug, Default)]
pub struct CaseSelection {
    /// By name.
    pub names: NameFilter,
    /// By the mark `ignore`.
    pub ignored: IgnoredSelection,
    /// Other values for axes.
    pub axes: Vec<AxisOverride>,
    /// Only a part of what the others choose.
    pub partition: Option<Partition>,
    /// What the only filter was probably meant as, where it is no name: "the subcommand `compare`".
    pub meant: Option<String>,
}

/// How much of what there is is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectedPart {
    /// Every case that is not ignored, with the values that its axes have by themselves.
    Everything,
    /// Some of them, or other values.
    Part,
}

impl CaseSelection {
    /// How much of what there is is chosen.
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

/// The cases to run or to name as skipped, in the order of `catalogs`, of their benchmarks and of
/// their axes. A part of them that is chosen may be empty.
///
/// # Errors
///
/// An axis that no selected benchmark has, a value not of its axis's kind, cases that cannot be
/// told apart, too many, or none.
pub fn select_cases(
    catalogs: &[PackageCatalog<'_>],
    device: CaseDevice,
    selection: &CaseSelection,
) -> Result<Vec<Case>, CaseError> {
    let naming = Naming::for_packages(catalogs.len());
    let candidates = candidates(catalogs, device, &selection.axes)?;
    refuse_same_names(&candidates)?;

    let fitting = fitting_by_name(&candidates, &selection.names, naming);
    let (selected, left_out): (Vec<_>, Vec<_>) = fitting
        .into_iter()
        .partition(|candidate| selection.ignored.admits(candidate.benchmark.selection));
    let reached = if selected.is_empty() { &candidates } else { &selected };
    refuse_unknown_axes(reached, &selection.axes)?;
    if selected.is_empty() {
        let because = why_nothing(catalogs, &candidates, left_out.len(), selection, naming);
        return Err(CaseError::NothingSelected(because));
    }
    let all: Vec<_> = selected
        .into_iter()
        .map(|candidate| candidate.misfit.map_or(Ok(candidate.case), Err))
        .collect::<Result<_, _>>()?;
    Ok(match selection.partition {
        Some(partition) => partition.of(all),
        None => all,
    })
}

/// A case that names may choose.
#[derive(Clone, Debug)]
struct Candidate<'a> {
    case: Case,
    benchmark: &'a Benchmark,
    /// A value of the command line that does not fit the benchmark; the case then has the declared
    /// values. It is an error only where the benchmark is chosen.
    misfit: Option<CaseError>,
}

fn candidates<'a>(
    catalogs: &[PackageCatalog<'a>],
    device: CaseDevice,
    overrides: &[AxisOverride],
) -> Result<Vec<Candidate<'a>>, CaseError> {
    let mut candidates = Vec::new();
    for PackageCatalog {
        package,
        library,
        catalog,
    } in catalogs
    {
        let own = catalog
            .benchmarks
            .iter()
            .enumerate()
            .filter(|(_, benchmark)| benchmark.library == *library);
        for (position, benchmark) in own {
            let declared = axes_on(benchmark, device.kind);
            let (axes, misfit) = match override_axes(benchmark, &declared, overrides) {
                Ok(axes) => (axes, None),
                Err(misfit) => (declared, Some(misfit)),
            };
            let room = MOST_CASES - candidates.len();
            let points = combinations(&axes, room).ok_or(CaseError::TooMany { most: MOST_CASES })?;
            candidates.extend(points.into_iter().map(|params| Candidate {
                case: Case {
                    package: package.to_string(),
                    benchmark: position,
                    path: benchmark.path.clone(),
                    params,
                    disposition: disposition(benchmark, device),
                },
                benchmark,
                misfit: misfit.clone(),
            }));
        }
    }
    Ok(candidates)
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

fn fitting_by_name<'a>(candidates: &[Candidate<'a>], names: &NameFilter, naming: Naming) -> Vec<Candidate<'a>> {
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
    catalogs: &[PackageCatalog<'_>],
    candidates: &[Candidate<'_>],
    left_out: usize,
    selection: &CaseSelection,
    naming: Naming,
) -> EmptyReason {
    if candidates.is_empty() {
        return EmptyReason::NoBenchmarks {
            packages: catalogs.iter().map(|catalog| catalog.package.to_owned()).collect(),
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
    let fitting = fitting_by_name(candidates, &without_skip, naming).len();
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
    }
}

/// The name that a filter was probably meant to be: for a whole name one that has it in it, or a
/// similar one, for an expression a similar part of one.
fn probable_name(selection: &CaseSelection, names: &[String]) -> Option<String> {
    let similar = selection.names.filters.iter().find_map(|filter| match filter {
        NamePattern::Exact(wanted) => {
            let whole = names.iter().find(|name| name.contains(wanted));
            whole
                .map(String::as_str)
                .or_else(|| closest(wanted, names.iter().map(String::as_str)))
        }
        NamePattern::Search(_) if selection.meant.is_some() => None,
        NamePattern::Search(wanted) => {
            let parts = names.iter().flat_map(|name| name.split("::"));
            closest(wanted.as_str(), parts)
        }
    });
    similar.map(str::to_owned)
}

/// Whether the device has what a benchmark needs.
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

/// What the device lacks to meet a requirement.
fn lack(requirement: &Requirement, device: CaseDevice) -> Option<String> {
    match *requirement {
        Requirement::Device(kind) if kind == device.kind => None,
        Requirement::Device(kind) => {
            let DeviceWords { article, title, .. } = Backend::of(kind).words();
            Some(format!("needs {article} {title}"))
        }
        Requirement::Capability(least) => match device.capability {
            // A device without compute capabilities.
            0 => Some(format!(
                "needs a CUDA device of compute capability {}",
                capability_text(least)
            )),
            has if has >= least => None,
            has => Some(format!(
                "needs compute capability {}, the device has {}",
                capability_text(least),
                capability_text(has)
            )),
        },
    }
}

fn capability_text(capability: u32) -> String {
    format!("{}.{}", capability / 10, capability % 10)
}

#[cfg(test)]
mod tests;
