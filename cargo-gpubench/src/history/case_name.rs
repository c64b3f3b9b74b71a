//! The names of cases in histories, which have their package in front, as people read and type
//! them.

use std::collections::BTreeSet;

use crate::broker::cases::Naming;
use gpubench_contract::BenchmarkHistory;

/// The form in which names are shown: as `--list` prints them, with the package in front where
/// there are several.
pub(super) fn naming<'a>(histories: impl IntoIterator<Item = &'a BenchmarkHistory>) -> Naming {
    let package = |history: &'a BenchmarkHistory| history.case.split_once("::").map(|(package, _)| package);
    let packages: BTreeSet<_> = histories.into_iter().filter_map(package).collect();
    Naming::for_packages(packages.len())
}

/// A full name in one of its forms.
pub(crate) fn in_form(full_name: &str, naming: Naming) -> &str {
    match (naming, full_name.split_once("::")) {
        (Naming::WithinPackage, Some((_, name))) => name,
        _ => full_name,
    }
}

/// A full name in both of its forms.
pub(super) fn both_forms(full_name: &str) -> [&str; 2] {
    [full_name, in_form(full_name, Naming::WithinPackage)]
}
