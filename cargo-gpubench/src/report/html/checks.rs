//! What was found in the outputs of a case.

use super::cases::scrolled;
use super::markup::{Element, element};
use crate::report::wording::{coordinates, three_digits};
use crate::report::{BenchmarkComplete, Check};

const COLUMNS: [&str; 6] = [
    "output",
    "shape",
    "elements right",
    "largest error",
    "relative",
    "worst at",
];

/// A row for every output; nothing where nothing was compared.
pub(super) fn table(result: &BenchmarkComplete) -> Option<Element> {
    let heads = COLUMNS.map(|title| element("th").with("scope", "col").text(title));
    let table = element("table")
        .class("checks")
        .child(element("caption").text("Outputs, every element of every call compared with the reference"))
        .child(element("thead").child(element("tr").children(heads)))
        .child(element("tbody").children(result.checks.iter().map(row)));
    (!result.checks.is_empty()).then(|| scrolled("Outputs", table))
}

fn row(check: &Check) -> Element {
    let shape: Vec<String> = check.shape.iter().map(u64::to_string).collect();
    let right = match check.matched == check.elements {
        true => format!("all {}", check.elements),
        false => format!("{} of {}", check.matched, check.elements),
    };
    let worst = check
        .worst_index
        .map(|index| format!("{index}{}", coordinates(index, &check.shape)));
    let cells = [
        shape.join(" × "),
        right,
        known(check.max_abs_error.map(three_digits)),
        known(check.max_rel_error.map(three_digits)),
        known(worst),
    ];
    element("tr")
        .child(
            element("th")
                .with("scope", "row")
                .child(super::names::name(&check.output)),
        )
        .children(cells.map(|cell| element("td").text(cell)))
}

fn known(value: Option<String>) -> String {
    value.unwrap_or_else(|| "–".to_owned())
}
