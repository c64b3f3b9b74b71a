//! Calls that failed, by call and code.

use std::collections::BTreeMap;

use crate::DriverCall;

/// What failed, and how.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ErrorKey {
    /// The call.
    pub call: DriverCall,
    /// The `CUresult`.
    pub code: u32,
}

/// How often each call failed with each code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorTable {
    errors: BTreeMap<ErrorKey, u64>,
    other: u64,
}

impl ErrorTable {
    /// Returns each error with its number.
    pub fn iter(&self) -> impl Iterator<Item = (&ErrorKey, u64)> {
        self.errors.iter().map(|(key, count)| (key, *count))
    }

    /// Returns the number of errors without an own row.
    pub fn other(&self) -> u64 {
        self.other
    }

    /// Counts an error. Up to `limit` have their own row.
    pub(super) fn count(&mut self, key: &ErrorKey, limit: usize) {
        let has_room = self.errors.len() < limit;
        match self.errors.get_mut(key) {
            Some(count) => *count += 1,
            None if has_room => {
                self.errors.insert(key.clone(), 1);
            }
            None => self.other += 1,
        }
    }
}
