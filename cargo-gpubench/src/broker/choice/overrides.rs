//! Warnings about overrides of the configuration that match no benchmark.

use gpubench::catalog::Catalog;

use super::chosen::{ChosenCases, every_case};
use crate::broker::cases::{Case, CaseDevice};
use crate::cdylibs::{Built, Coverage};
use crate::config::{CaseNames, CaseOverride};
use gpubench_device::Backend;
use gpubench_diagnostic::print_warning;

/// Warns of overrides whose filters match no case, selected or not, on any kind of device. Does
/// nothing if the workspace may have benchmarks that are not built.
pub(in crate::broker) fn warn_of_idle_overrides(
    overrides: &[CaseOverride],
    chosen: &ChosenCases,
    built: &Built,
    catalogs: &[Catalog],
) {
    if overrides.is_empty() || built.coverage == Coverage::Part {
        return;
    }
    let mut cases = chosen.cases.clone();
    for Backend { kind, .. } in Backend::ALL {
        // Two cases with the same name are an error only when this device is used.
        let Ok(others) = every_case(
            built,
            catalogs,
            CaseDevice {
                kind: *kind,
                capability: 0,
            },
        ) else {
            return;
        };
        cases.extend(others);
    }
    for idle in matching_none(overrides, &cases) {
        print_warning(&idle.no_effect_warning(cases.iter().map(|case| &*case.path)));
    }
}

fn matching_none<'a>(overrides: &'a [CaseOverride], cases: &[Case]) -> Vec<&'a CaseOverride> {
    let names: Vec<_> = cases.iter().map(|case| (case.name(), case.full_name())).collect();
    let fits = |other: &CaseOverride| {
        let mut names = names.iter().map(|(name, full_name)| CaseNames { name, full_name });
        names.any(|names| other.fits(names))
    };
    overrides.iter().filter(|other| !fits(other)).collect()
}
