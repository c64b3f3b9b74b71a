//! The cases of a run, with what they come from and what they are measured on.

use std::rc::Rc;

use camino::Utf8Path;
use gpubench::catalog::{Benchmark, Catalog};

use super::cases::Case;
use super::recording::authors::Authors;
use crate::build::BuiltLibrary;
use gpubench_device::compilers::Compiler;
use gpubench_device::{DeviceOrder, Facts};

/// What is to be measured, and on what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selected<'a> {
    /// The built libraries.
    pub(super) libraries: &'a [BuiltLibrary],
    /// Where compiled kernels are kept.
    pub(super) target_directory: &'a Utf8Path,
    /// What each library says of its benchmarks.
    pub(super) catalogs: &'a [Catalog],
    /// The selected cases.
    pub(super) cases: &'a [Case],
    /// The device.
    pub(super) device: DeviceOrder,
    /// What it is.
    pub(super) facts: &'a Facts,
}

/// The candidate of a run, or the revision that it is measured in turns with.
pub(super) struct Side<'a> {
    /// Its libraries and cases.
    pub(super) selected: Selected<'a>,
    /// Their authors.
    pub(super) authors: Authors<'a>,
    /// The compiler of their kernels.
    pub(super) compiler: Rc<dyn Compiler>,
}

impl<'a> Selected<'a> {
    /// The library a case comes from.
    pub(super) fn library(&self, case: &Case) -> &'a BuiltLibrary {
        &self.libraries[self.library_of(case)]
    }

    /// The benchmark that a case is of.
    pub(super) fn benchmark(&self, case: &Case) -> Option<&'a Benchmark> {
        self.catalogs[self.library_of(case)].benchmarks.get(case.benchmark)
    }

    /// Position of the library a case comes from.
    ///
    /// # Panics
    /// Never: cases are selected from these libraries' catalogs.
    pub(super) fn library_of(&self, case: &Case) -> usize {
        let named = |library: &BuiltLibrary| library.package == case.package;
        self.libraries
            .iter()
            .position(named)
            .expect("a case comes from one of the libraries")
    }
}
