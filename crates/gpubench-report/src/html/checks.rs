//! The checks of a case's outputs.

use super::markup::scrolled;
use super::markup::{self, Element, element};
use crate::wording::{coordinates, three_digits};
use gpubench_contract::{AllowedError, AllowedMismatch, BenchmarkComplete, Check};

const COLUMNS: [&str; 7] = [
    "output",
    "shape",
    "tolerance",
    "elements correct",
    "largest error",
    "relative",
    "worst at",
];

/// Returns a row per output. `None` if no output was compared.
pub(super) fn table(result: &BenchmarkComplete) -> Option<Element> {
    let caption = "Outputs: every element of every call is compared with the reference";
    let table = markup::table(caption, COLUMNS.map(|title| (title, "")))
        .class("checks")
        .child(element("tbody").children(result.checks.iter().map(row)));
    (!result.checks.is_empty()).then(|| scrolled("Outputs", table))
}

fn row(check: &Check) -> Element {
    let shape: Vec<String> = check.shape.iter().map(u64::to_string).collect();
    let right = match (check.matched, check.mismatched) {
        (matched, _) if matched < check.elements => format!("{matched} of {}", check.elements),
        (_, 0) => format!("all {}", check.elements),
        (_, mismatched) => format!("all {}, {mismatched} by the cap", check.elements),
    };
    let worst = check
        .worst_index
        .map(|index| format!("{index}{}", coordinates(index, &check.shape)));
    let cells = [
        shape.join(" × "),
        known(check.tolerance.map(allowed)),
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

/// Returns a tolerance as the attribute writes it.
fn allowed(AllowedError { rtol, atol, mismatched }: AllowedError) -> String {
    let parts = [("rtol", rtol), ("atol", atol)]
        .into_iter()
        .filter(|(_, part)| *part > 0.0);
    let mismatched = mismatched.map(|AllowedMismatch { share, cap }| format!("mismatched {share}, cap {cap}"));
    let parts = parts.map(|(name, part)| format!("{name} {part:e}"));
    let parts: Vec<String> = parts.chain(mismatched).collect();
    if parts.is_empty() {
        "exact".to_owned()
    } else {
        parts.join(", ")
    }
}

fn known(value: Option<String>) -> String {
    value.unwrap_or_else(|| "–".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tolerance_is_shown_as_the_attribute_writes_it() {
        let bounds = |rtol, atol| AllowedError {
            rtol,
            atol,
            mismatched: None,
        };
        let shown = |rtol, atol| allowed(bounds(rtol, atol));
        assert_eq!(shown(1e-5, 1e-6), "rtol 1e-5, atol 1e-6");
        assert_eq!(shown(0.0, 0.25), "atol 2.5e-1");
        assert_eq!(shown(0.0, 0.0), "exact");
        let mostly = AllowedError {
            mismatched: Some(AllowedMismatch {
                share: 0.001,
                cap: 10.0,
            }),
            ..bounds(1e-2, 0.0)
        };
        assert_eq!(allowed(mostly), "rtol 1e-2, mismatched 0.001, cap 10");
    }
}
