//! Tensors in the memory of the CPU, for generators and references.

use crate::catalog::Role;
use crate::element::{Element, Elements};
use crate::error::{Error, Result};
use crate::plan::launcher::no_tensor;

/// The memory of tensors, borrowed by name and type.
pub struct CpuData<'a> {
    tensors: Vec<CpuTensor<'a>>,
}

/// One tensor's memory.
pub(crate) struct CpuTensor<'a> {
    pub(crate) name: &'a str,
    pub(crate) role: Role,
    /// What is left to hand out; nothing once it has been.
    pub(crate) elements: Option<Elements<'a>>,
}

impl<'a> CpuData<'a> {
    pub(crate) fn new(tensors: Vec<CpuTensor<'a>>) -> CpuData<'a> {
        CpuData { tensors }
    }

    /// The elements of the tensor `name`, row by row. Slices of several tensors may be held at
    /// once, each taken once.
    ///
    /// # Panics
    /// When there is no such tensor here, when it does not hold `T`, and when it has been taken
    /// before.
    #[track_caller]
    pub fn slice<T: Element>(&mut self, name: &str) -> &'a mut [T] {
        match self.take(name) {
            Ok(elements) => elements,
            Err(error) => panic!("{error}"),
        }
    }

    /// What [`slice`](CpuData::slice) hands out, and the tensor's role.
    pub(crate) fn take<T: Element>(&mut self, name: &str) -> Result<&'a mut [T]> {
        let Some(tensor) = self.tensors.iter_mut().find(|tensor| tensor.name == name) else {
            let names: Vec<&str> = self.tensors.iter().map(|tensor| tensor.name).collect();
            return Err(no_tensor(name, &names));
        };
        let elements = tensor
            .elements
            .take()
            .ok_or_else(|| Error::new(format!("the tensor `{name}` has been taken already")))?;
        let dtype = elements.dtype();
        T::of(elements).ok_or_else(|| Error::new(format!("the tensor `{name}` holds {dtype}, not {}", T::DTYPE)))
    }

    /// The role of a tensor.
    pub(crate) fn role(&self, name: &str) -> Option<Role> {
        self.tensors
            .iter()
            .find(|tensor| tensor.name == name)
            .map(|tensor| tensor.role)
    }

    /// The same memory, to be handed out anew.
    pub(crate) fn reborrow(&mut self) -> CpuData<'_> {
        let tensors = self.tensors.iter_mut().map(|tensor| CpuTensor {
            name: tensor.name,
            role: tensor.role,
            elements: tensor.elements.as_mut().map(Elements::reborrow),
        });
        CpuData {
            tensors: tensors.collect(),
        }
    }

    /// Names of tensors that nobody has taken.
    pub(crate) fn untouched(&self) -> impl Iterator<Item = &'a str> {
        self.tensors
            .iter()
            .filter(|tensor| tensor.elements.is_some())
            .map(|tensor| tensor.name)
    }
}
