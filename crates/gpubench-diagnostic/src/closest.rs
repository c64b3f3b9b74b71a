//! The known name that an unknown one was probably meant to be.

/// Below this similarity a suggestion is more confusing than none; clap's own suggestions use the same bound.
const LEAST_SIMILARITY: f64 = 0.7;

/// The most similar of `known`, if one is similar enough.
pub fn closest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::jaro(name, candidate), candidate))
        .filter(|(similarity, _)| *similarity > LEAST_SIMILARITY)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, candidate)| candidate)
}

/// What is added to a message about a name that is not known.
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
    fn nothing_similar_is_no_suggestion() {
        assert_eq!(closest("softmax", ["transpose", "argmin"]), None);
    }
}
