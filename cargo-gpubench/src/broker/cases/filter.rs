//! Choosing cases by name.

use gpubench::catalog::Selection;
use regex::Regex;

use super::{Case, Naming};

/// Which names are chosen. Without a filter every name is; what `skip` fits never is.
#[derive(Clone, Debug)]
pub enum NameFilter {
    /// Regular expressions, searched for in both forms of a name.
    Search {
        /// At least one must be found.
        filters: Vec<Regex>,
        /// None may be found.
        skip: Vec<Regex>,
    },
    /// `--exact`: whole names, in either form.
    Exact {
        /// The names.
        filters: Vec<String>,
        /// The names that are left out all the same.
        skip: Vec<String>,
    },
}

impl Default for NameFilter {
    fn default() -> Self {
        Self::Search {
            filters: Vec::new(),
            skip: Vec::new(),
        }
    }
}

impl NameFilter {
    /// For each case whether its name is chosen.
    ///
    /// A whole name means the case that is listed under it, and only if there is none, one whose name in the other form it is.
    pub(crate) fn choose(&self, cases: &[&Case], naming: Naming) -> Vec<bool> {
        let (wanted, unwanted) = match self {
            Self::Search { filters, skip } => (found(cases, filters), found(cases, skip)),
            Self::Exact { filters, skip } => (named(cases, filters, naming), named(cases, skip, naming)),
        };
        let all_wanted = self.is_empty();
        wanted
            .iter()
            .zip(unwanted)
            .map(|(wanted, unwanted)| (all_wanted || *wanted) && !unwanted)
            .collect()
    }

    /// Whether no name is left out.
    pub fn is_everything(&self) -> bool {
        let skips_nothing = match self {
            Self::Search { skip, .. } => skip.is_empty(),
            Self::Exact { skip, .. } => skip.is_empty(),
        };
        self.is_empty() && skips_nothing
    }

    fn is_empty(&self) -> bool {
        match self {
            Self::Search { filters, .. } => filters.is_empty(),
            Self::Exact { filters, .. } => filters.is_empty(),
        }
    }
}

fn found(cases: &[&Case], expressions: &[Regex]) -> Vec<bool> {
    let is_found = |case: &&Case| {
        let names = [case.full_name(), case.name()];
        expressions
            .iter()
            .any(|expression| names.iter().any(|name| expression.is_match(name)))
    };
    cases.iter().map(is_found).collect()
}

fn named(cases: &[&Case], names: &[String], naming: Naming) -> Vec<bool> {
    let mut chosen = vec![false; cases.len()];
    for name in names {
        let listed = positions(cases, name, naming);
        let meant = if listed.is_empty() {
            positions(cases, name, naming.other())
        } else {
            listed
        };
        for position in meant {
            chosen[position] = true;
        }
    }
    chosen
}

fn positions(cases: &[&Case], name: &str, naming: Naming) -> Vec<usize> {
    let fitting = cases
        .iter()
        .enumerate()
        .filter(|(_, case)| case.name_as(naming) == name);
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
