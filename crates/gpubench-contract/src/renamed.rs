//! Words that had another name before the first release.

/// Old words of settings, grades and stored runs, each with the word of today. What reads one of
/// them refuses it and names the new one. CONTRIBUTING says why each was renamed.
pub const RENAMED: &[(&str, &str)] = &[
    ("sleep-after-run", "cooldown"),
    ("advisory", "unverified"),
    ("bracketed", "sandboxed"),
    ("old_answers_pass", "stale_output_passes"),
    ("fills", "memsets"),
    ("bytes_left", "unfreed_bytes"),
];

/// Old settings that are a value of another one now: `setting=value`. In records these words mean
/// something else.
const VALUES: &[(&str, &str)] = &[("energy", "metric=energy")];

/// Returns the word of today for an old one, or the setting and its value: `metric=energy`.
pub fn renamed(old: &str) -> Option<&'static str> {
    let mut words = RENAMED.iter().chain(VALUES);
    words.find(|(word, _)| *word == old).map(|(_, new)| *new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_new_word_is_an_old_one() {
        for (old, new) in RENAMED.iter().chain(VALUES) {
            assert_eq!(renamed(old), Some(*new));
            assert_eq!(renamed(new), None, "`{new}`");
        }
    }
}
