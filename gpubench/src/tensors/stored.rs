//! Contents from files: `tensor_file!(MODEL = "model.safetensors")`.

use super::Rng;
use super::fill::{DeclaredFill, IntoFill};
use crate::catalog::{DType, Fill, Role};
use crate::element::{BF16, Complex32, Elements, F8E4M3, F8E5M2, F16, Number, Shape};
use crate::error::{Error, Result};
use crate::tensor_file::{StoredTensor, WrongFile, check, named, npy, safetensors};
use std::fmt;
use std::ops::Range;

/// A file with tensors, embedded with [`tensor_file!`](crate::tensor_file!).
pub struct TensorFile {
    path: &'static str,
    contents: &'static [u8],
}

/// A tensor of a file. It fills a tensor of a benchmark once you say how its contents change from
/// call to call: no call may see inputs that an earlier one has seen.
#[derive(Clone, Debug)]
#[must_use]
pub struct FileTensor {
    file: &'static TensorFile,
    /// `None` for the only array of a `.npy` file.
    name: Option<String>,
}

/// A tensor of a file and how it changes from call to call.
#[derive(Clone, Debug)]
#[must_use]
pub struct FileFill {
    tensor: FileTensor,
    change: Change,
}

#[derive(Clone, Debug)]
enum Change {
    Scale(Range<f64>),
    Noise(f64),
    PermuteRows,
    None,
}

impl TensorFile {
    #[doc(hidden)]
    pub const fn embedded(path: &'static str, contents: &'static [u8]) -> TensorFile {
        TensorFile { path, contents }
    }

    /// Returns a tensor of a safetensors file by its name.
    pub fn tensor(&'static self, name: impl Into<String>) -> FileTensor {
        FileTensor {
            file: self,
            name: Some(name.into()),
        }
    }

    /// Returns the array of a `.npy` file.
    pub fn array(&'static self) -> FileTensor {
        FileTensor { file: self, name: None }
    }
}

impl FileTensor {
    /// Multiplies each element with a random factor, uniformly distributed over `factors`. For
    /// floating-point tensors.
    pub fn scaled(self, factors: Range<f64>) -> FileFill {
        self.changed_by(Change::Scale(factors))
    }

    /// Adds a normally distributed random number of mean 0 to each element. For floating-point
    /// tensors.
    pub fn with_noise(self, stddev: f64) -> FileFill {
        self.changed_by(Change::Noise(stddev))
    }

    /// Puts the rows, the parts of the outermost dimension, in a random order.
    pub fn with_permuted_rows(self) -> FileFill {
        self.changed_by(Change::PermuteRows)
    }

    /// Leaves the contents as they are, which only a constant may have. The tool tells of it: such
    /// contents are known before the run.
    pub fn unchanged(self) -> FileFill {
        self.changed_by(Change::None)
    }

    fn changed_by(self, change: Change) -> FileFill {
        FileFill { tensor: self, change }
    }

    /// Returns the bytes of the tensor, if the file has it with this shape and type.
    fn bytes(&self, dtype: DType, shape: &[u64]) -> Result<&'static [u8], WrongFile> {
        let contents = self.file.contents;
        let found: StoredTensor = match &self.name {
            Some(name) => named(&safetensors::tensors_of(contents)?, name)?.clone(),
            None => npy::tensor_of(contents)?,
        };
        check(&found, dtype, shape)?;
        let (start, bytes) = (found.start as usize, found.bytes as usize);
        Ok(&contents[start..start + bytes])
    }
}

impl FileFill {
    /// Returns the fill for the catalog, if the file has such a tensor.
    pub(super) fn check(&self, role: Role, shape: &Shape) -> Result<Fill> {
        if shape.record().is_some() {
            return Err(no_structs());
        }
        self.bytes(shape)?;
        let dtype = shape.dtype();
        match &self.change {
            Change::Scale(_) | Change::Noise(_) if !dtype.is_float() || dtype == DType::Complex32 => {
                Err(Error::new(format!(
                    "`.scaled(..)` and `.with_noise(..)` are for real floating-point elements, not for {dtype}: use `.with_permuted_rows()`"
                )))
            }
            Change::Scale(Range { start, end }) if !(start < end && start.is_finite() && end.is_finite()) => Err(
                Error::new(format!("`.scaled({start}..{end})` has no factors to choose from")),
            ),
            Change::Noise(stddev) if !(stddev.is_finite() && *stddev > 0.0) => Err(Error::new(format!(
                "`.with_noise({stddev})` changes nothing: it is the standard deviation, above zero"
            ))),
            Change::PermuteRows if shape.extents().first().is_none_or(|rows| *rows < 2) => Err(Error::new(
                "`.with_permuted_rows()` needs several rows: the outermost extent is below 2",
            )),
            Change::None if role != Role::Constant => Err(Error::new(
                "with `.unchanged()`, every call would have the same inputs: say how they change, as `.scaled(0.9..1.1)` does, or declare a constant",
            )),
            Change::None => Ok(Fill::Stored),
            Change::Scale(_) | Change::Noise(_) | Change::PermuteRows => Ok(Fill::Cpu),
        }
    }

    fn bytes(&self, shape: &Shape) -> Result<&'static [u8]> {
        let bytes = self.tensor.bytes(shape.dtype(), shape.extents());
        bytes.map_err(|wrong| {
            let name = self.tensor.name.as_ref().map(|name| format!(", `{name}`"));
            Error::new(format!(
                "`{}`{}: {wrong}",
                self.tensor.file.path,
                name.unwrap_or_default()
            ))
        })
    }

    /// Fills a tensor for a call.
    pub(super) fn fill(&self, shape: &Shape, rng: &mut Rng, elements: Elements<'_>) -> Result<()> {
        let bytes = self.bytes(shape)?;
        let rows = shape.extents().first().copied().unwrap_or(1) as usize;
        match elements {
            Elements::U8(to) => self.write(bytes, to, u8::from_le_bytes, rows, rng),
            Elements::I8(to) => self.write(bytes, to, i8::from_le_bytes, rows, rng),
            Elements::U16(to) => self.write(bytes, to, u16::from_le_bytes, rows, rng),
            Elements::I16(to) => self.write(bytes, to, i16::from_le_bytes, rows, rng),
            Elements::U32(to) => self.write(bytes, to, u32::from_le_bytes, rows, rng),
            Elements::I32(to) => self.write(bytes, to, i32::from_le_bytes, rows, rng),
            Elements::U64(to) => self.write(bytes, to, u64::from_le_bytes, rows, rng),
            Elements::I64(to) => self.write(bytes, to, i64::from_le_bytes, rows, rng),
            Elements::F16(to) => self.write(bytes, to, |half| F16::from_bits(u16::from_le_bytes(half)), rows, rng),
            Elements::BF16(to) => self.write(bytes, to, |half| BF16::from_bits(u16::from_le_bytes(half)), rows, rng),
            Elements::F8E4M3(to) => self.write(bytes, to, |[bits]| F8E4M3::from_bits(bits), rows, rng),
            Elements::F8E5M2(to) => self.write(bytes, to, |[bits]| F8E5M2::from_bits(bits), rows, rng),
            Elements::F32(to) => self.write(bytes, to, f32::from_le_bytes, rows, rng),
            Elements::Complex32(to) => self.write(bytes, to, complex_from_le_bytes, rows, rng),
            Elements::F64(to) => self.write(bytes, to, f64::from_le_bytes, rows, rng),
            Elements::Structs(..) => return Err(no_structs()),
        }
        Ok(())
    }

    /// Writes elements that `read` makes of their bytes, changed.
    fn write<T: Number, const N: usize>(
        &self,
        bytes: &[u8],
        to: &mut [T],
        read: impl Fn([u8; N]) -> T,
        rows: usize,
        rng: &mut Rng,
    ) {
        let (stored, _) = bytes.as_chunks::<N>();
        let copy = |to: &mut [T], stored: &[[u8; N]], change: &mut dyn FnMut(T) -> T| {
            for (to, stored) in to.iter_mut().zip(stored) {
                *to = change(read(*stored));
            }
        };
        match &self.change {
            Change::None => copy(to, stored, &mut |value| value),
            Change::Scale(factors) => copy(to, stored, &mut |value| {
                T::from_f64(value.to_f64() * rng.uniform(factors.start, factors.end))
            }),
            Change::Noise(stddev) => copy(to, stored, &mut |value| {
                T::from_f64(value.to_f64() + stddev * rng.normal())
            }),
            Change::PermuteRows => {
                let of_row = (to.len() / rows.max(1)).max(1);
                let mut order: Vec<usize> = (0..rows).collect();
                rng.shuffle(&mut order);
                for (to, row) in to.chunks_mut(of_row).zip(order) {
                    copy(to, &stored[row * of_row..], &mut |value| value);
                }
            }
        }
    }
}

fn no_structs() -> Error {
    Error::new("a file cannot fill a tensor of structs (hint: fill it with `ByCpu` or `ByKernel`)")
}

/// Reads the real and the imaginary part.
fn complex_from_le_bytes(bytes: [u8; 8]) -> Complex32 {
    let [re, im] = [0, 4].map(|at| f32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]));
    Complex32::new(re, im)
}

impl IntoFill for FileFill {
    fn into_fill(self) -> DeclaredFill {
        DeclaredFill::File(self)
    }
}

impl fmt::Debug for TensorFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TensorFile").field(&self.path).finish()
    }
}

#[cfg(test)]
mod tests;
