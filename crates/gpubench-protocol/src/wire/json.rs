//! Wire records as JSON, exactly: each value is read back as it was.

use bytemuck::Pod;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A float that may not be finite. JSON has no number for such a float, and a worker may claim any.
pub(super) mod float {
    use super::*;

    pub(in crate::wire) fn serialize<S: Serializer>(float: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if float.is_finite() {
            float.serialize(serializer)
        } else {
            serializer.collect_str(float)
        }
    }

    pub(in crate::wire) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Number(f64),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(number),
            Written::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}

/// Places of which the last ones may be empty. They are left out.
pub(super) mod places {
    use super::*;

    pub(in crate::wire) fn serialize<S, T, const N: usize>(places: &[T; N], serializer: S) -> Result<S::Ok, S::Error>
    where
        S: Serializer,
        T: Pod + Serialize,
    {
        let is_used = |place: &T| bytemuck::bytes_of(place).iter().any(|byte| *byte != 0);
        let used = places.iter().rposition(is_used).map_or(0, |last| last + 1);
        serializer.collect_seq(&places[..used])
    }

    pub(in crate::wire) fn deserialize<'de, D, T, const N: usize>(deserializer: D) -> Result<[T; N], D::Error>
    where
        D: Deserializer<'de>,
        T: Pod + Deserialize<'de>,
    {
        let used = Vec::<T>::deserialize(deserializer)?;
        let mut places = [T::zeroed(); N];
        match places.get_mut(..used.len()) {
            Some(first) => first.copy_from_slice(&used),
            None => return Err(D::Error::custom(format_args!("{} entries, more than {N}", used.len()))),
        }
        Ok(places)
    }
}

/// Places for floats, likewise.
pub(super) mod floats {
    use super::*;

    #[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable, Serialize, Deserialize)]
    #[repr(transparent)]
    struct Float(#[serde(with = "float")] f64);

    pub(in crate::wire) fn serialize<S: Serializer, const N: usize>(
        floats: &[f64; N],
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        places::serialize(&floats.map(Float), serializer)
    }

    pub(in crate::wire) fn deserialize<'de, D: Deserializer<'de>, const N: usize>(
        deserializer: D,
    ) -> Result<[f64; N], D::Error> {
        Ok(places::deserialize(deserializer)?.map(|Float(float)| float))
    }
}
