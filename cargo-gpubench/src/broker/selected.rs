//! The selected cases of a run, with their libraries and device.

use std::rc::Rc;

use camino::Utf8Path;
use gpubench::catalog::{Benchmark, Catalog};

use super::case_readings::settings_of;
use super::cases::Case;
use super::options::Verbosity;
use super::recording::authors::Authors;
use crate::cdylibs::BuiltLibrary;
use crate::config::CaseSettings;
use gpubench_device::compilers::{Compiler, Disassembler, NoDisassembler};
use gpubench_device::{DeviceOrder, Facts};

/// The selected cases, with their libraries and device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selected<'a> {
    /// The built libraries.
    pub(super) libraries: &'a [BuiltLibrary],
    /// The cache of compiled kernels.
    pub(super) target_directory: &'a Utf8Path,
    /// The catalog of each library.
    pub(super) catalogs: &'a [Catalog],
    /// The selected cases.
    pub(super) cases: &'a [Case],
    /// The device.
    pub(super) device: DeviceOrder,
    /// Facts about the device.
    pub(super) facts: &'a Facts,
}

/// One side of a run: the candidate, or the baseline that alternates with it.
pub(super) struct Side<'a> {
    /// The libraries and cases.
    pub(super) selected: Selected<'a>,
    /// The authors.
    pub(super) authors: Authors<'a>,
    /// The compiler of the kernels.
    pub(super) compiler: Rc<dyn Compiler>,
    /// What reads the machine code of counted kernels. `None` if none is counted, or kernels of the
    /// device have no machine code.
    pub(super) disassembler: Option<Rc<Result<Disassembler, NoDisassembler>>>,
    /// How much is shown.
    pub(super) verbosity: Verbosity,
}

impl<'a> Selected<'a> {
    /// Returns the library of a case.
    pub(super) fn library(&self, case: &Case) -> &'a BuiltLibrary {
        &self.libraries[self.library_of(case)]
    }

    /// Returns the benchmark of a case.
    pub(super) fn benchmark(&self, case: &Case) -> Option<&'a Benchmark> {
        self.catalogs[self.library_of(case)].benchmarks.get(case.benchmark)
    }

    /// Returns the settings of a case's attribute and, below them, of its package.
    pub(super) fn own_settings(&self, case: &Case) -> CaseSettings {
        // An invalid attribute has ended the run when the modes were chosen.
        let attribute = self.benchmark(case).and_then(|benchmark| settings_of(benchmark).ok());
        attribute.unwrap_or_default().over(self.library(case).settings)
    }

    /// Returns the position of a case's library.
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
