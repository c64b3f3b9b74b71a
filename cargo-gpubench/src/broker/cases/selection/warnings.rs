//! Warnings about a selection of cases.

use super::super::filter::IdlePattern;
use super::{
    CaseDevice, CaseSelection, LibraryCatalog, NamePattern, ShownBy, axes_on, candidates, naming_of, own_benchmarks,
    similar_name,
};
use gpubench_diagnostic::suggestion;

/// Returns warnings about benchmarks without cases, and about filters and `--skip` that match
/// nothing.
pub(crate) fn selection_warnings(
    catalogs: &[LibraryCatalog<'_>],
    device: CaseDevice,
    selection: &CaseSelection,
) -> Vec<String> {
    let mut warnings = without_values(catalogs, device);
    let candidates = candidates(catalogs, device, &selection.axes);
    let cases: Vec<_> = candidates.iter().map(|candidate| &candidate.case).collect();
    let naming = naming_of(catalogs);
    let names: Vec<_> = cases.iter().map(|case| case.name_as(naming)).collect();
    let idle = selection.names.idle(&cases, naming);
    warnings.extend(
        idle.into_iter()
            .map(|idle| idle_text(idle, &names, &selection.shown_by)),
    );
    warnings
}

fn without_values(catalogs: &[LibraryCatalog<'_>], device: CaseDevice) -> Vec<String> {
    let mut warnings = Vec::new();
    for catalog in catalogs {
        for (_, benchmark) in own_benchmarks(catalog.catalog, catalog.library) {
            let axes = axes_on(benchmark, device.kind);
            if let Some(axis) = axes.iter().find(|axis| axis.values.is_empty()) {
                let (package, benchmark, title) = (catalog.package, &benchmark.path, axis.title());
                let what = match axis.names.len() {
                    1 => format!("axis `{title}` has"),
                    _ => format!("axes `{title}` have"),
                };
                warnings.push(format!(
                    "`{package}::{benchmark}` has no cases, because its {what} no values"
                ));
            }
        }
    }
    warnings
}

fn idle_text(idle: IdlePattern<'_>, names: &[String], shown_by: &ShownBy) -> String {
    let hint = |pattern: &NamePattern| match similar_name(pattern, names) {
        None => format!(" (hint: {shown_by})"),
        similar => suggestion(similar),
    };
    match idle {
        IdlePattern::Filter(pattern) => {
            let text = pattern.text();
            format!("the filter `{text}` matches no case{}", hint(pattern))
        }
        IdlePattern::Skip(pattern) => {
            let text = pattern.text();
            format!("no case matches `--skip {text}`, so it skips nothing{}", hint(pattern))
        }
    }
}
