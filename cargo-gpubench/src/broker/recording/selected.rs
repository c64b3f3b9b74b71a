//! The selected cases of a run, with their libraries and device.

use std::rc::Rc;

use camino::Utf8Path;
use gpubench::catalog::{Benchmark, Catalog};

use crate::broker::cases::Case;
use crate::broker::grading::Entrants;
use crate::broker::libraries::authors::Authors;
use crate::broker::options::Verbosity;
use crate::broker::options::case_readings::settings_of;
use crate::cdylibs::BuiltLibrary;
use crate::config::CaseSettings;
use gpubench_device::compilers::{Compiler, Disassembler, GpuCheck, NoDisassembler};
use gpubench_device::{DeviceOrder, Facts};

/// The selected cases, with their libraries and device.
#[derive(Clone, Copy, Debug)]
pub(in crate::broker) struct Selected<'a> {
    /// The built libraries.
    pub(in crate::broker) libraries: &'a [BuiltLibrary],
    /// The cache of compiled kernels.
    pub(in crate::broker) target_directory: &'a Utf8Path,
    /// The catalog of each library.
    pub(in crate::broker) catalogs: &'a [Catalog],
    /// The selected cases.
    pub(in crate::broker) cases: &'a [Case],
    /// The device.
    pub(in crate::broker) device: DeviceOrder,
    /// Facts about the device.
    pub(in crate::broker) facts: &'a Facts,
    /// The submissions that the cases are of, if it is not the libraries' benchmarks.
    pub(in crate::broker) entrants: Option<&'a Entrants>,
}

/// One side of a run: the candidate, or the baseline that alternates with it.
pub(in crate::broker) struct Side<'a> {
    /// The libraries and cases.
    pub(in crate::broker) selected: Selected<'a>,
    /// The authors.
    pub(in crate::broker) authors: Authors<'a>,
    /// The compiler of the kernels.
    pub(in crate::broker) compiler: Rc<dyn Compiler>,
    /// What judges the kernels for a GPU, if that is wanted.
    pub(in crate::broker) gpu_check: Option<GpuCheck>,
    /// What reads the machine code of counted kernels. `None` if none is counted, or kernels of the
    /// device have no machine code.
    pub(in crate::broker) disassembler: Option<Rc<Result<Disassembler, NoDisassembler>>>,
    /// How much is shown.
    pub(in crate::broker) verbosity: Verbosity,
}

impl<'a> Selected<'a> {
    /// Returns the library of a case.
    pub(in crate::broker) fn library(&self, case: &Case) -> &'a BuiltLibrary {
        &self.libraries[case.library]
    }

    /// Returns the benchmark of a case.
    pub(in crate::broker) fn benchmark(&self, case: &Case) -> Option<&'a Benchmark> {
        self.catalogs[case.library].benchmarks.get(case.benchmark)
    }

    /// Returns the position by which the author of a case's library knows it.
    pub(in crate::broker) fn position_for_author(&self, case: &Case) -> u32 {
        position_for_author(self.entrants, case)
    }

    /// Returns the settings of a case's attribute and, below them, of its package.
    pub(in crate::broker) fn own_settings(&self, case: &Case) -> CaseSettings {
        // An invalid attribute has ended the run when the modes were chosen.
        let attribute = self.benchmark(case).and_then(|benchmark| settings_of(benchmark).ok());
        attribute.unwrap_or_default().over(self.library(case).settings)
    }
}

/// Returns the position by which the author of a case's library knows it.
pub(in crate::broker) fn position_for_author(entrants: Option<&Entrants>, case: &Case) -> u32 {
    entrants.map_or(case.benchmark as u32, Entrants::problem)
}
