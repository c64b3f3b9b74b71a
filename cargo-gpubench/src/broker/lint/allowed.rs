//! The findings that an author accepts.

use std::collections::BTreeSet;

use gpubench::catalog::{ALLOWED, Benchmark};

use gpubench_diagnostic::{closest, print_warning, suggestion};
use gpubench_measure::lint::Rule;

/// Returns the rules of `allow(..)`. Warns of names that are no rules.
pub(super) fn allowed(benchmark: &Benchmark) -> BTreeSet<Rule> {
    let names = benchmark.settings.iter().filter(|(key, _)| key == ALLOWED);
    let names = names.flat_map(|(_, names)| names.split(','));
    let rule = |name: &str| {
        let rule = Rule::ALL.iter().copied().find(|rule| rule.name() == name);
        if rule.is_none() {
            let known = Rule::ALL.iter().map(|rule| rule.name());
            print_warning(&format_args!(
                "{}:{}: `allow({name})` names no finding{}",
                benchmark.file,
                benchmark.line,
                suggestion(closest(name, known))
            ));
        }
        rule
    };
    names.filter_map(rule).collect()
}
