//! Tensors in CPU memory, for generators and references.

use crate::catalog::Role;
use crate::element::{Element, Elements, type_name};
use crate::error::{Error, Result};
use crate::plan::launcher::no_tensor;

/// The memory of tensors, by name and type.
pub struct CpuData<'a> {
    tensors: Vec<CpuTensor<'a>>,
}

/// One tensor's memory.
pub(crate) struct CpuTensor<'a> {
    pub(crate) name: &'a str,
    pub(crate) role: Role,
    /// The memory, until it is taken.
    pub(crate) elements: Option<Elements<'a>>,
}

impl<'a> CpuData<'a> {
    pub(crate) fn new(tensors: Vec<CpuTensor<'a>>) -> CpuData<'a> {
        CpuData { tensors }
    }

    /// Takes the elements of the tensor `name`, in row-major order. Each tensor can be taken once.
    /// The slices of several tensors can be used together.
    ///
    /// # Panics
    /// Panics if there is no tensor of this name, if it does not hold `T`, or if it has already
    /// been taken.
    #[track_caller]
    pub fn slice<T: Element>(&mut self, name: &str) -> &'a mut [T] {
        match self.take(name) {
            Ok(elements) => elements,
            Err(error) => panic!("{error}"),
        }
    }

    /// Returns the elements and the tensor's role.
    pub(crate) fn take<T: Element>(&mut self, name: &str) -> Result<&'a mut [T]> {
        let Some(tensor) = self.tensors.iter_mut().find(|tensor| tensor.name == name) else {
            let names: Vec<&str> = self.tensors.iter().map(|tensor| tensor.name).collect();
            return Err(no_tensor(name, &names));
        };
        let elements = tensor
            .elements
            .take()
            .ok_or_else(|| Error::new(format!("the tensor `{name}` is already taken")))?;
        let held = elements.type_name().to_owned();
        T::of(elements).ok_or_else(|| Error::new(format!("the tensor `{name}` holds {held}, not {}", type_name::<T>())))
    }

    /// Returns the memory of a tensor that has some, which can still be taken.
    pub(super) fn elements(&mut self, name: &str) -> Option<Elements<'_>> {
        let tensor = self.tensors.iter_mut().find(|tensor| tensor.name == name)?;
        tensor.elements.as_mut().map(Elements::reborrow)
    }

    /// Returns the role of a tensor.
    pub(crate) fn role(&self, name: &str) -> Option<Role> {
        self.tensors
            .iter()
            .find(|tensor| tensor.name == name)
            .map(|tensor| tensor.role)
    }

    /// Returns the same memory with every tensor available again.
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

    /// Returns the names of the tensors that were not taken.
    pub(crate) fn untouched(&self) -> impl Iterator<Item = &'a str> {
        self.tensors
            .iter()
            .filter(|tensor| tensor.elements.is_some())
            .map(|tensor| tensor.name)
    }
}
