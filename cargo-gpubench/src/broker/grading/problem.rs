//! The problem that a name means.

use gpubench::catalog::{Catalog, StatedProblem};

use super::error::GradingError;
use crate::cdylibs::Built;
use gpubench_diagnostic::closest;

/// A problem of a built library.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<'c> {
    /// Position of the library.
    pub(super) library: usize,
    /// Position of the problem for the library's author.
    pub(super) position: u32,
    pub(super) problem: &'c StatedProblem,
}

/// Finds the problem with this name: its path, with or without the package, or the end of its path.
///
/// # Errors
/// There is none, or several have that end.
pub(super) fn find<'c>(name: &str, built: &Built, catalogs: &'c [Catalog]) -> Result<Found<'c>, GradingError> {
    let libraries = built.libraries.iter().zip(catalogs).enumerate();
    let all: Vec<(String, Found<'c>)> = libraries
        .flat_map(|(library, (of, catalog))| {
            let problems = catalog.problems.iter().enumerate();
            let own = problems.filter(move |(_, problem)| problem.outline.library == of.crate_name);
            own.map(move |(position, problem)| {
                let found = Found {
                    library,
                    position: (catalog.benchmarks.len() + position) as u32,
                    problem,
                };
                (format!("{}::{}", of.package, problem.outline.path), found)
            })
        })
        .collect();
    let path = |found: &Found<'c>| found.problem.outline.path.as_str();
    if let Some((_, found)) = all.iter().find(|(full, found)| full == name || path(found) == name) {
        return Ok(*found);
    }
    let end = format!("::{name}");
    let ending: Vec<_> = all.iter().filter(|(full, _)| full.ends_with(&end)).collect();
    match ending[..] {
        [(_, found)] => Ok(*found),
        [] => Err(GradingError::UnknownProblem {
            name: name.to_owned(),
            closest: closest(name, all.iter().map(|(_, found)| path(found))).map(str::to_owned),
            known: all.iter().map(|(_, found)| path(found).to_owned()).collect(),
        }),
        _ => Err(GradingError::AmbiguousProblem {
            name: name.to_owned(),
            meant: ending.iter().map(|(full, _)| full.clone()).collect(),
        }),
    }
}
