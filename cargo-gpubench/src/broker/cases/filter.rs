//! Selection of cases by name.

use gpubench::catalog::Selection;
use regex::Regex;

use super::{Case, Naming};

/// A selection of names. Without filters, every name is selected. Names that match `skip` never
/// are.
#[derive(Clone, Debug, Default)]
pub struct NameFilter {
    /// At least one of these must match.
    pub filters: Vec<NamePattern>,
    /// None of these may match.
    pub skip: Vec<NamePattern>,
    /// Where `skip` is from.
    pub skip_origin: SkipOrigin,
}

/// Where the names to skip are from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SkipOrigin {
    /// The command line, so each of them is meant for this run.
    #[default]
    CommandLine,
    /// A profile or the environment. They may be meant for packages that are not part of this run.
    Lower,
}

/// A pattern that matches no case.
#[derive(Clone, Copy, Debug)]
pub(super) enum IdlePattern<'a> {
    /// One of the filters, while others match.
    Filter(&'a NamePattern),
    /// One of `--skip`.
    Skip(&'a NamePattern),
}

/// A filter of names.
#[derive(Clone, Debug)]
pub enum NamePattern {
    /// A regular expression, searched for in both forms of a name.
    Search(Regex),
    /// `--exact`: a whole name, in either form.
    Exact(String),
}

impl NameFilter {
    /// Returns for each case whether its name is selected.
    pub(crate) fn choose(&self, cases: &[&Case], naming: Naming) -> Vec<bool> {
        let mut chosen = vec![self.filters.is_empty(); cases.len()];
        for (patterns, choice) in [(&self.filters, true), (&self.skip, false)] {
            let fitting = patterns.iter().flat_map(|pattern| pattern.fitting(cases, naming));
            fitting.for_each(|position| chosen[position] = choice);
        }
        chosen
    }

    /// Returns the patterns that match no case. If no filter matches, that is an error of its own.
    pub(super) fn idle(&self, cases: &[&Case], naming: Naming) -> Vec<IdlePattern<'_>> {
        let is_idle = |pattern: &&NamePattern| pattern.fitting(cases, naming).is_empty();
        let mut idle: Vec<_> = self.filters.iter().filter(is_idle).map(IdlePattern::Filter).collect();
        if idle.len() == self.filters.len() {
            idle.clear();
        }
        let is_meant = |pattern: &&NamePattern| {
            self.skip_origin == SkipOrigin::CommandLine || matches!(pattern, NamePattern::Exact(_))
        };
        let skip = self.skip.iter().filter(is_meant).filter(is_idle);
        idle.extend(skip.map(IdlePattern::Skip));
        idle
    }

    /// Returns whether every name is selected.
    pub fn is_everything(&self) -> bool {
        self.filters.is_empty() && self.skip.is_empty()
    }
}

impl NamePattern {
    /// Returns the pattern as the user wrote it.
    pub(in crate::broker) fn text(&self) -> &str {
        match self {
            Self::Search(expression) => expression.as_str(),
            Self::Exact(name) => name,
        }
    }

    /// Returns the positions of the matching cases.
    ///
    /// A whole name selects the case that is listed under it. If there is none, it selects the case
    /// with that name in the other form.
    fn fitting(&self, cases: &[&Case], naming: Naming) -> Vec<usize> {
        match self {
            Self::Search(expression) => positions(cases, |case| {
                expression.is_match(&case.full_name()) || expression.is_match(&case.name())
            }),
            Self::Exact(name) => match positions(cases, |case| case.name_as(naming) == *name) {
                unlisted if unlisted.is_empty() => positions(cases, |case| case.name_as(naming.other()) == *name),
                listed => listed,
            },
        }
    }
}

fn positions(cases: &[&Case], fits: impl Fn(&Case) -> bool) -> Vec<usize> {
    let fitting = cases.iter().enumerate().filter(|(_, case)| fits(case));
    fitting.map(|(position, _)| position).collect()
}

/// Which benchmarks to select by their `ignore` mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IgnoredSelection {
    /// Only unmarked ones.
    #[default]
    Exclude,
    /// `--ignored`: only marked ones.
    Only,
    /// `--include-ignored`: both.
    Include,
}

impl IgnoredSelection {
    pub(super) fn admits(self, selection: Selection) -> bool {
        match self {
            Self::Exclude => selection == Selection::Default,
            Self::Only => selection == Selection::Ignored,
            Self::Include => true,
        }
    }
}
