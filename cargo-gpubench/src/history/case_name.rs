//! Case names in histories. They start with the package; people may read and type them without it.

use std::collections::BTreeSet;

use crate::broker::cases::Naming;
use gpubench_contract::BenchmarkHistory;

/// Returns the form of names to show: the one that `--list` prints, with the package if there are
/// several.
pub(super) fn naming<'a>(histories: impl IntoIterator<Item = &'a BenchmarkHistory>) -> Naming {
    let package = |history: &'a BenchmarkHistory| history.case.split_once("::").map(|(package, _)| package);
    let packages: BTreeSet<_> = histories.into_iter().filter_map(package).collect();
    Naming::for_packages(packages.len())
}

/// Returns a full name in one of its forms.
pub(crate) fn in_form(full_name: &str, naming: Naming) -> &str {
    match (naming, full_name.split_once("::")) {
        (Naming::WithinPackage, Some((_, name))) => name,
        _ => full_name,
    }
}

/// Returns a full name in both of its forms.
pub(super) fn both_forms(full_name: &str) -> [&str; 2] {
    [full_name, in_form(full_name, Naming::WithinPackage)]
}
