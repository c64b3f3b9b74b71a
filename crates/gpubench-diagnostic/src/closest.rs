//! Suggestions for unknown names.

/// The minimum similarity of a suggestion. A less similar one is confusing. clap uses the same
/// value.
const LEAST_SIMILARITY: f64 = 0.7;

/// Returns the most similar of `known`, if one is similar enough.
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro(name, candidate), candidate))
        .filter(|(similarity, candidate)| *similarity > LEAST_SIMILARITY || is_one_letter_off(name, candidate))
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

/// Short names never reach the minimum: `cj` and `ci` share one letter of two.
fn is_one_letter_off(name: &str, candidate: &str) -> bool {
    name.chars().count() >= 2 && candidate.chars().count() >= 2 && strsim::osa_distance(name, candidate) == 1
}

/// Returns the hint to append to a message about an unknown name. Empty without a suggestion.
pub fn suggestion(closest: Option<impl std::fmt::Display>) -> String {
    closest.map_or_else(String::new, |closest| format!(" (hint: did you mean `{closest}`?)"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_name() {
        assert_eq!(closest("grayscal", ["transpose", "grayscale"]), Some("grayscale"));
    }

    #[test]
    fn a_typo_in_a_short_name_finds_it_too() {
        assert_eq!(closest("cj", ["default", "ci"]), Some("ci"));
        assert_eq!(closest("x", ["y"]), None);
    }

    #[test]
    fn there_is_no_suggestion_without_a_similar_name() {
        assert_eq!(closest("softmax", ["transpose", "argmin"]), None);
    }
}
