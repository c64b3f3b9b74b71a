//! Words about the results of several devices that all reports for people share.

use std::collections::BTreeSet;

use super::remarks::Remarks;
use super::wording::best;
use gpubench_contract::{DeviceCell, DeviceMatrix, Grade, Metric, Standing, Verdict};

/// What a cell says if the run has no such result.
pub(super) const MISSING: &str = "not in this run";

/// Returns what is shown next to a value: `fastest`, `1.25×`, `≈1.02×`. `None` if there is nothing
/// to compare it with.
pub(super) fn standing(cell: &DeviceCell, metric: &Metric) -> Option<String> {
    let ratio = cell.ratio.map(|ratio| match ratio {
        1e5.. => format!("{ratio:.1e}×"),
        100.0.. => format!("{ratio:.0}×"),
        _ => format!("{ratio:.2}×"),
    });
    match cell.standing? {
        Standing::Best => Some(best(metric).to_owned()),
        Standing::Tied => ratio.map(|ratio| format!("≈{ratio}")),
        Standing::Worse => ratio,
    }
}

/// Returns a verdict in place of a value: `wrong-output: stale`.
pub(super) fn outcome(cell: &DeviceCell) -> String {
    match cell.cause.filter(|_| cell.verdict != Verdict::Skipped) {
        Some(cause) => format!("{}: {cause}", cell.verdict),
        None => cell.verdict.to_string(),
    }
}

/// Returns the grade of a value that is below `sealed`.
pub(super) fn lower_grade(cell: &DeviceCell) -> Option<Grade> {
    cell.grade
        .filter(|grade| cell.value.is_some() && *grade != Grade::Sealed)
}

/// Returns what the cells mean.
pub(super) fn notes(matrix: &DeviceMatrix) -> Vec<&'static str> {
    let cells = matrix.rows.iter().flat_map(|row| row.cells.iter().flatten());
    let standings: BTreeSet<Standing> = cells.filter_map(|cell| cell.standing).collect();
    let devices = matrix.columns.iter().map(|column| column.run.device.kind.words());
    let unverified: BTreeSet<&str> = devices.filter_map(|words| words.unverified).collect();
    let ratios =
        (!standings.is_empty()).then_some("Ratios are to the best of the row. They compare devices, not code.");
    let ties = standings.contains(&Standing::Tied);
    let ties = ties.then_some("≈ not significant: the 95% intervals overlap.");
    ratios.into_iter().chain(ties).chain(unverified).collect()
}

/// Returns how the work differs between the devices, each with its cases.
pub(super) fn remarks(matrix: &DeviceMatrix) -> Remarks {
    let mut remarks = Remarks::default();
    for row in &matrix.rows {
        if let Some(remark) = &row.remark {
            remarks.add(format!("the work differs: {remark}"), row.label());
        }
    }
    remarks
}
