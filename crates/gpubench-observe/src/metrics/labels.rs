//! Values of labels: safe to print and of bounded length.

use std::hash::{DefaultHasher, Hash, Hasher};

use gpubench_diagnostic::printable_line;

/// The value of a label for all that has no own one.
pub(super) const OTHER: &str = "other";
/// The value of a label for kernels whose names the driver did not tell.
pub(super) const UNNAMED: &str = "unnamed";

/// The most characters of a value.
const LONGEST: usize = 120;
/// Characters of a hash at the end of a value that is cut.
const HASH: usize = 8;

/// Returns a text as the value of a label. A longer one is cut, and told apart from others with the
/// same beginning by a hash.
pub(super) fn value(text: &str) -> String {
    let shown = printable_line(text);
    if shown.char_indices().nth(LONGEST).is_none() {
        return shown;
    }
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let beginning: String = shown.chars().take(LONGEST - HASH - 1).collect();
    format!("{beginning}…{:08x}", hasher.finish() >> 32)
}
