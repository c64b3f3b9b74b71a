//! What makes two results those of one benchmark.

use regex::Regex;

use gpubench_contract::BenchmarkComplete;

/// Package, benchmark and axis values, in whatever order the axes were declared and whichever form
/// names had in the run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CaseKey(String);

impl CaseKey {
    /// That of a result.
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

    /// What the groups of an expression capture in a result's full name,
    /// `package::path::axis=value`; `None` where it is not found there.
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
