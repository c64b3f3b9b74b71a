//! Keys of results that two names share.

use regex::Regex;

use gpubench_contract::{BenchmarkComplete, CaseKey};

/// Returns the key made of the expression's captures in a result's full name,
/// `package::path::axis=value`. `None` if the expression does not match.
pub(super) fn by_groups(expression: &Regex, result: &BenchmarkComplete) -> Option<CaseKey> {
    let name = result.full_name();
    let captures = expression.captures(&name)?;
    let texts = captures.iter().skip(1);
    let texts: Vec<&str> = texts.map(|group| group.map_or("", |group| group.as_str())).collect();
    Some(CaseKey::of_group(&texts))
}
