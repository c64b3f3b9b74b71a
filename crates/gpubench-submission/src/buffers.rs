//! The buffers of a case and a description.

use gpubench::catalog::{DType, Role, Tensor};
use gpubench::plan::{ArgumentType, BufferId, Span};

use crate::case::{Case, StepNames, bytes};
use crate::description::{Placed, Steps};
use crate::mistake::{Mistake, What};
use crate::number_type::field;

/// A buffer with its size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer<'a> {
    pub(crate) id: BufferId,
    pub(crate) bytes: u64,
    tensor: Option<&'a Tensor>,
}

impl Buffer<'_> {
    /// Returns the type of an argument that points to it, for messages and for later checks.
    pub(crate) fn argument_type(&self) -> ArgumentType {
        let (name, dtype) = match self.tensor {
            None => ("scratch buffer".to_owned(), None),
            Some(tensor) => (format!("tensor of {}", tensor.dtype), dtype(tensor)),
        };
        ArgumentType {
            name,
            fields: dtype.map(field).into_iter().collect(),
        }
    }

    /// Returns its first `len` bytes.
    pub(crate) fn span(&self, len: u64) -> Span {
        let (buffer, offset) = (self.id, 0);
        Span { buffer, offset, len }
    }
}

/// Scratch memory has no fixed type.
fn dtype(tensor: &Tensor) -> Option<DType> {
    (tensor.role != Role::Scratch).then_some(tensor.dtype)
}

/// The buffers of a case: its tensors, and the scratch buffers of a description.
pub(crate) struct Buffers<'a> {
    case: &'a Case<'a>,
    /// The names of the scratch buffers, and their bytes.
    scratch: Vec<(&'a str, u64)>,
}

impl<'a> Buffers<'a> {
    /// Returns the buffers of a case.
    ///
    /// # Errors
    /// A scratch buffer has the name of a tensor.
    pub(crate) fn new(case: &'a Case<'a>, steps: &'a Steps, sizes: &[u64]) -> Result<Buffers<'a>, Mistake> {
        let names = steps.scratch.iter().map(|buffer| &buffer.name);
        for Placed { inner: name, at } in names.clone() {
            if case.tensors.iter().any(|tensor| tensor.name == *name) {
                return Err(Mistake::new(at.clone(), What::ScratchIsTensor(name.clone())));
            }
        }
        let names = names.map(|name| name.inner.as_str());
        Ok(Buffers {
            case,
            scratch: names.zip(sizes.iter().copied()).collect(),
        })
    }

    /// Returns the names for expressions of a step whose launch has these dimensions.
    pub(crate) fn names<'n>(&'n self, dimensions: &'n [(&'static str, [u32; 3])]) -> StepNames<'n> {
        StepNames {
            case: self.case,
            scratch: &self.scratch,
            dimensions,
        }
    }

    /// Returns the buffer of a name.
    pub(crate) fn named(&self, name: &str) -> Option<Buffer<'a>> {
        let mut tensors = (0..).zip(self.case.tensors);
        if let Some((position, tensor)) = tensors.find(|(_, tensor)| tensor.name == name) {
            return Some(Buffer {
                id: BufferId::Tensor(position),
                bytes: bytes(tensor)?,
                tensor: Some(tensor),
            });
        }
        let mut scratch = (0..).zip(&self.scratch);
        let (position, (_, bytes)) = scratch.find(|(_, (known, _))| *known == name)?;
        Some(Buffer {
            id: BufferId::Scratch(position),
            bytes: *bytes,
            tensor: None,
        })
    }

    /// Returns the buffer of a name.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn needed(&self, name: &Placed<String>) -> Result<Buffer<'a>, Mistake> {
        self.named(&name.inner).ok_or_else(|| {
            let (name, at) = (name.inner.clone(), name.at.clone());
            let known = self.listed();
            Mistake::new(at, What::NoBuffer { name, known })
        })
    }

    /// Returns the names of all buffers, for messages.
    pub(crate) fn listed(&self) -> String {
        let tensors = self.case.tensors.iter().map(|tensor| tensor.name.as_str());
        let names = tensors.chain(self.scratch.iter().map(|(name, _)| *name));
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        names.join(", ")
    }
}
