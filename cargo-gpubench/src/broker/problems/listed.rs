//! The problems of the built libraries, by name.

use gpubench::catalog::{Catalog, StatedProblem};

use super::error::ProblemError;
use crate::cdylibs::{Built, packages_of};
use gpubench_diagnostic::closest;

/// A problem of a library.
#[derive(Clone, Copy, Debug)]
pub(in crate::broker) struct Listed<'a> {
    /// The package.
    pub(in crate::broker) package: &'a str,
    /// Position of the library.
    pub(in crate::broker) library: usize,
    /// Position in the library's catalog, after the benchmarks.
    pub(in crate::broker) position: u32,
    pub(in crate::broker) problem: &'a StatedProblem,
    /// Whether names begin with the package.
    is_among_packages: bool,
}

/// The problems of all libraries, in the order of their paths.
#[derive(Debug)]
pub(in crate::broker) struct Problems<'a> {
    pub(in crate::broker) all: Vec<Listed<'a>>,
}

impl Listed<'_> {
    /// Returns the name that is shown: the path, after the package if there are several.
    pub(in crate::broker) fn name(&self) -> String {
        match self.is_among_packages {
            true => self.full_name(),
            false => self.path().to_owned(),
        }
    }

    pub(in crate::broker) fn path(&self) -> &str {
        &self.problem.outline.path
    }

    fn full_name(&self) -> String {
        format!("{}::{}", self.package, self.path())
    }

    /// Returns the last part of the path.
    pub(in crate::broker) fn last(&self) -> &str {
        self.path().rsplit("::").next().unwrap_or_default()
    }

    /// Returns the first paragraph of the statement, on one line.
    pub(in crate::broker) fn summary(&self) -> String {
        let lines = self.problem.statement.lines().map(str::trim);
        let first: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
        first.join(" ")
    }
}

#[cfg(test)]
impl<'a> Listed<'a> {
    /// The only problem of a package.
    pub(in crate::broker) fn alone(package: &'a str, problem: &'a StatedProblem) -> Listed<'a> {
        Listed {
            package,
            library: 0,
            position: 0,
            problem,
            is_among_packages: false,
        }
    }
}

/// Returns the libraries' own problems, without those of their dependencies.
///
/// # Errors
/// There are none.
pub(in crate::broker) fn own_problems<'a>(
    built: &'a Built,
    catalogs: &'a [Catalog],
) -> Result<Problems<'a>, ProblemError> {
    let packages = packages_of(&built.libraries);
    let mut all = Vec::new();
    for (library, (of, catalog)) in built.libraries.iter().zip(catalogs).enumerate() {
        for (position, problem) in catalog.problems.iter().enumerate() {
            if problem.outline.library == of.crate_name {
                all.push(Listed {
                    package: &of.package,
                    library,
                    position: (catalog.benchmarks.len() + position) as u32,
                    problem,
                    is_among_packages: packages.len() > 1,
                });
            }
        }
    }
    match all.is_empty() {
        true => Err(ProblemError::None { packages }),
        false => Ok(Problems { all }),
    }
}

impl<'a> Problems<'a> {
    /// Returns the problem of a name: its path, with or without the package, or the end of it.
    ///
    /// # Errors
    /// There is none, or several.
    pub(in crate::broker) fn named(&self, name: &str) -> Result<&Listed<'a>, ProblemError> {
        let whole = |listed: &&Listed<'_>| listed.path() == name || listed.full_name() == name;
        let end = format!("::{name}");
        let ending = |listed: &&Listed<'_>| listed.full_name().ends_with(&end);
        let wholes: Vec<_> = self.all.iter().filter(whole).collect();
        let found = match wholes.is_empty() {
            true => self.all.iter().filter(ending).collect(),
            false => wholes,
        };
        match &found[..] {
            [only] => Ok(only),
            [] => Err(self.unknown(name)),
            several => Err(ProblemError::Ambiguous {
                name: name.to_owned(),
                known: several.iter().map(|listed| listed.full_name()).collect(),
            }),
        }
    }

    fn unknown(&self, name: &str) -> ProblemError {
        let lasts = self.all.iter().map(Listed::last);
        let known = self.all.iter().map(Listed::path).chain(lasts);
        ProblemError::Unknown {
            name: name.to_owned(),
            closest: closest(name, known).map(str::to_owned),
            of: self.all.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::problems::example;

    fn found(names: &[(&str, &str)], name: &str) -> String {
        let problems: Vec<_> = names.iter().map(|(_, path)| example(path)).collect();
        let all = names.iter().zip(&problems).map(|((package, _), problem)| Listed {
            is_among_packages: true,
            ..Listed::alone(package, problem)
        });
        let problems = Problems { all: all.collect() };
        let found = problems.named(name).map(Listed::full_name);
        found.unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn a_name_is_a_path_with_or_without_the_package_or_its_end() {
        let names = [
            ("a", "rows::sum"),
            ("a", "cols::sum"),
            ("a", "scan"),
            ("b", "deep::scan"),
        ];
        assert_eq!(found(&names, "rows::sum"), "a::rows::sum");
        assert_eq!(found(&names, "b::deep::scan"), "b::deep::scan");
        assert_eq!(found(&names, "deep::scan"), "b::deep::scan");
        // The whole path of one comes before the end of others.
        assert_eq!(found(&names, "scan"), "a::scan");
        assert_eq!(found(&names, "sum"), "`sum` is the name of 2 problems");
        assert_eq!(found(&names, "um"), "there is no problem `um`");
        assert_eq!(found(&names, ""), "there is no problem ``");
        assert_eq!(
            found(&[("a", "scan"), ("b", "scan")], "scan"),
            "`scan` is the name of 2 problems"
        );
    }

    #[test]
    fn the_summary_is_the_first_paragraph_on_one_line() {
        let mut problem = example("scan");
        problem.statement = "Sums of\n  all before.\n\nMore.".to_owned();
        let listed = Listed::alone("a", &problem);
        assert_eq!(listed.summary(), "Sums of all before.");
        assert_eq!(listed.name(), "scan");
    }
}
