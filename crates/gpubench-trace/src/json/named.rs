//! Values with names, in the order of the document.

use std::collections::HashSet;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde::{Serialize, Serializer};

use super::fault::shown;

/// Most names of one object.
const MOST_NAMES: usize = 1024;

/// An object of JSON whose order counts, as that of a kernel's inputs. No name occurs twice.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Named<T> {
        Named(Vec::new())
    }
}

impl<T> Named<T> {
    /// Returns the value of a name.
    pub fn get(&self, name: &str) -> Option<&T> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value)
    }

    /// Returns the names and values in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the names in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A later value replaces an earlier one of the same name, in its place.
impl<N: Into<String>, T> FromIterator<(N, T)> for Named<T> {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(values: I) -> Named<T> {
        let mut named: Vec<(String, T)> = Vec::new();
        for (name, value) in values {
            let name = name.into();
            match named.iter_mut().find(|(known, _)| *known == name) {
                Some(known) => known.1 = value,
                None => named.push((name, value)),
            }
        }
        Named(named)
    }
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Named<T>, D::Error> {
        deserializer.deserialize_map(InOrder(PhantomData))
    }
}

struct InOrder<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for InOrder<T> {
    type Value = Named<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<T>, A::Error> {
        let (mut values, mut names) = (Vec::new(), HashSet::new());
        while let Some(name) = map.next_key::<String>()? {
            // Of two values, one reader would take the first and another the last.
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format!("`{}` occurs twice", shown(&name))));
            }
            if names.len() > MOST_NAMES {
                return Err(A::Error::custom(format!("more than {MOST_NAMES} names")));
            }
            values.push((name, map.next_value()?));
        }
        Ok(Named(values))
    }
}
