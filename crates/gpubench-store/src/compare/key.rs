//! Keys that match the results of one benchmark.

use regex::Regex;

use gpubench_contract::BenchmarkComplete;

/// Package, benchmark and axis values. The order of the axes and the form of the case name do not
/// matter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CaseKey(String);

impl CaseKey {
    /// Returns the key of a result.
    pub fn of(result: &BenchmarkComplete) -> CaseKey {
        let mut params: Vec<String> = result
            .params
            .0
            .iter()
            .map(|(name, value)| format!("{name}={value:?}"))
            .collect();
        params.sort();
        CaseKey(format!("{} {} {}", result.package, result.benchmark, params.join(" ")))
    }

    /// Returns the key made of the expression's captures in a result's full name,
    /// `package::path::axis=value`. `None` if the expression does not match.
    pub(super) fn by_groups(expression: &Regex, result: &BenchmarkComplete) -> Option<CaseKey> {
        let name = result.full_name();
        let captures = expression.captures(&name)?;
        let texts = captures
            .iter()
            .skip(1)
            .map(|group| group.map_or("", |group| group.as_str()));
        Some(CaseKey(texts.collect::<Vec<_>>().join("\u{0}")))
    }
}
