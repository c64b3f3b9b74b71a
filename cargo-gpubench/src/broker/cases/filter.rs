//! Choosing cases by name.

use gpubench::catalog::Selection;
use regex::Regex;

use super::{Case, Naming};

/// Which names are chosen. Without a filter every name is; what `skip` fits never is.
#[derive(Clone, Debug, Default)]
pub struct NameFilter {
    /// At least one must fit.
    pub filters: Vec<NamePattern>,
    /// None may fit.
    pub skip: Vec<NamePattern>,
}

/// What a name is compared with.
#[derive(Clone, Debug)]
pub enum NamePattern {
    /// A regular expression, searched for in both forms of a name.
    Search(Regex),
    /// `--exact`: a whole name, in either form.
    Exact(String),
}

impl NameFilter {
    /// For each case whether its name is chosen.
    pub(crate) fn choose(&self, cases: &[&Case], naming: Naming) -> Vec<bool> {
        let mut chosen = vec![self.filters.is_empty(); cases.len()];
        for (patterns, choice) in [(&self.filters, true), (&self.skip, false)] {
            let fitting = patterns.iter().flat_map(|pattern| pattern.fitting(cases, naming));
            fitting.for_each(|position| chosen[position] = choice);
        }
        chosen
    }

    /// Whole names that `--skip` would leave out and that no case has.
    pub(crate) fn idle_skips<'a>(&'a self, cases: &[&Case], naming: Naming) -> Vec<&'a str> {
        let idle = self
            .skip
            .iter()
            .filter(|pattern| pattern.fitting(cases, naming).is_empty());
        // An expression may be meant for other packages than those of this run.
        let whole = idle.filter_map(|pattern| match pattern {
            NamePattern::Exact(name) => Some(name.as_str()),
            NamePattern::Search(_) => None,
        });
        whole.collect()
    }

    /// Whether no name is left out.
    pub fn is_everything(&self) -> bool {
        self.filters.is_empty() && self.skip.is_empty()
    }
}

impl NamePattern {
    /// Positions of the cases that it fits.
    ///
    /// A whole name means the case that is listed under it, and only if there is none, one whose
    /// name in the other form it is.
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

/// Whether benchmarks marked `ignore` are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IgnoredSelection {
    /// They are not.
    #[default]
    Exclude,
    /// `--ignored`: only they are.
    Only,
    /// `--include-ignored`: they are like the others.
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
