//! A case of a problem, as descriptions see it.

use gpubench::catalog::{AxisValue, DeviceFacts, Params, Tensor};

use crate::expression::{Names, Value};

/// A case of a problem that a submission is launched for.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The tensors, in order.
    pub tensors: &'a [Tensor],
    /// The axes and their values.
    pub params: &'a Params,
    /// The device.
    pub facts: &'a DeviceFacts,
}

impl Case<'_> {
    /// Returns the value of an axis.
    pub(crate) fn axis(&self, name: &str) -> Option<Value> {
        let (_, value) = self.params.iter().find(|(axis, _)| axis == name)?;
        Some(match value {
            AxisValue::Int(integer) => Value::Integer(i128::from(*integer)),
            AxisValue::Float(float) => Value::Float(*float),
            AxisValue::Text(text) => Value::Text(text.clone()),
            AxisValue::Bool(truth) => Value::Bool(*truth),
        })
    }

    fn of_tensor(&self, name: &str) -> Option<Value> {
        let (tensor, part) = name.rsplit_once('.')?;
        let tensor = self.tensors.iter().find(|known| known.name == tensor)?;
        let elements = elements(tensor)?;
        match part {
            "len" => Some(Value::Integer(i128::from(elements))),
            "bytes" => bytes(tensor).map(|bytes| Value::Integer(i128::from(bytes))),
            _ => None,
        }
    }

    fn of_device(&self, name: &str) -> Option<Value> {
        let number = match name {
            "multiprocessors" => self.facts.multiprocessors,
            "warp_size" => self.facts.warp_size,
            _ => return None,
        };
        Some(Value::Integer(i128::from(number)))
    }
}

impl Names for Case<'_> {
    fn value(&self, name: &str) -> Option<Value> {
        let of_case = self.axis(name).or_else(|| self.of_tensor(name));
        of_case.or_else(|| self.of_device(name))
    }

    fn known(&self) -> Vec<String> {
        let axes = self.params.iter().map(|(name, _)| name.clone());
        let tensors = self.tensors.iter();
        let tensors = tensors.flat_map(|tensor| ["len", "bytes"].map(|part| format!("{}.{part}", tensor.name)));
        let of_device = ["multiprocessors", "warp_size"].map(str::to_owned);
        axes.chain(tensors).chain(of_device).collect()
    }
}

/// Returns the elements of a tensor, if they fit into 64 bits.
fn elements(tensor: &Tensor) -> Option<u64> {
    tensor
        .shape
        .iter()
        .try_fold(1_u64, |product, extent| product.checked_mul(*extent))
}

/// Returns the bytes of a tensor, if they fit into 64 bits.
pub(crate) fn bytes(tensor: &Tensor) -> Option<u64> {
    elements(tensor)?.checked_mul(tensor.dtype.size() as u64)
}

/// The names of a case, of scratch buffers, and of dimensions: `block`, `block.x`, `grid`.
#[derive(Clone, Copy)]
pub(crate) struct StepNames<'a> {
    pub(crate) case: &'a Case<'a>,
    /// Scratch buffers and their bytes.
    pub(crate) scratch: &'a [(&'a str, u64)],
    /// Dimensions along x, y and z, as far as they are known.
    pub(crate) dimensions: &'a [(&'static str, [u32; 3])],
}

impl StepNames<'_> {
    fn of_scratch(&self, name: &str) -> Option<Value> {
        let buffer = name.strip_suffix(".bytes")?;
        let (_, bytes) = self.scratch.iter().find(|(known, _)| *known == buffer)?;
        Some(Value::Integer(i128::from(*bytes)))
    }
}

impl Names for StepNames<'_> {
    fn value(&self, name: &str) -> Option<Value> {
        let of_case = self.case.value(name).or_else(|| self.of_scratch(name));
        of_case.or_else(|| {
            let (dimension, along) = name.split_once('.').unwrap_or((name, ""));
            let (_, sizes) = self.dimensions.iter().find(|(known, _)| *known == dimension)?;
            let [x, y, z] = sizes.map(i128::from);
            Some(Value::Integer(match along {
                "" => x * y * z,
                "x" => x,
                "y" => y,
                "z" => z,
                _ => return None,
            }))
        })
    }

    fn known(&self) -> Vec<String> {
        let mut known = self.case.known();
        known.extend(self.scratch.iter().map(|(name, _)| format!("{name}.bytes")));
        known.extend(self.dimensions.iter().map(|(name, _)| (*name).to_owned()));
        known
    }
}
