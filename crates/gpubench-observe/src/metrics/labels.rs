//! Values of labels: safe to print, of bounded length and number.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use gpubench_diagnostic::printable_line;

/// The value of a label for all that came after the limit.
pub(super) const OTHER: &str = "other";

/// The most characters of a value.
const LONGEST: usize = 120;

/// Returns a text as the value of a label. A longer one is cut.
pub(super) fn value(text: &str) -> String {
    let text = printable_line(text);
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some(_) => text.chars().take(LONGEST - 1).chain(['…']).collect(),
    }
}

/// The values of a label. Whatever has a value keeps it, so that counters never shrink.
#[derive(Clone, Debug)]
pub(super) struct Values<K> {
    values: HashMap<K, Arc<str>>,
    most: usize,
}

impl<K: Copy + Eq + Hash> Values<K> {
    /// Returns a label of at most `most` values and `other`.
    pub(super) fn at_most(most: usize) -> Self {
        Self {
            values: HashMap::new(),
            most,
        }
    }

    /// Returns the value for `key`, which is `text` if there is still room.
    pub(super) fn value(&mut self, key: K, text: impl FnOnce() -> String) -> Arc<str> {
        if let Some(known) = self.values.get(&key) {
            return known.clone();
        }
        if self.values.len() >= self.most {
            return OTHER.into();
        }
        let value: Arc<str> = value(&text()).into();
        self.values.insert(key, value.clone());
        value
    }
}
