//! Settings as a map from keys to texts, for archives.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{CaseSettings, InvalidSetting};

impl Serialize for CaseSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.entries())
    }
}

impl<'de> Deserialize<'de> for CaseSettings {
    /// Ignores unknown settings, because a newer tool may have written them.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut settings = Self::default();
        for (key, text) in BTreeMap::<String, String>::deserialize(deserializer)? {
            match settings.set(&key, &text) {
                Ok(()) | Err(InvalidSetting::Unknown { .. }) => {}
                Err(InvalidSetting::Value(error)) => return Err(D::Error::custom(error)),
            }
        }
        Ok(settings)
    }
}
