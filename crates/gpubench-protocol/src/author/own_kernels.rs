//! The CPU device in the author's process. It runs the crate's generator kernels and references
//! that are plans.

use gpubench::catalog::Tensor;
use gpubench::plan::Plan;

use crate::cdylib::AuthorError;
use crate::replay::{Generators, Operand, ReferencePlan, ReplayError};
use crate::wire::{AuthorFailure, Generate, SourceModule};
use gpubench_device::cpu::CpuDriver;
use gpubench_device::cpu::executor::ScheduleSeed;
use gpubench_device::{DeviceError, Driver, Module, ModuleImage, Stream};

/// A device with the modules of the case's own kernels. Kernels are bound on first use.
pub(super) struct OwnKernels {
    driver: CpuDriver,
    stream: Stream,
    modules: Vec<(u32, Module)>,
    operands: Vec<Operand>,
    generators: Option<Generators>,
    reference: Option<ReferencePlan>,
}

impl OwnKernels {
    pub(super) fn load(modules: &[SourceModule], operands: Vec<Operand>) -> Result<OwnKernels, AuthorError> {
        let failed = |error: DeviceError| AuthorError::internal(&error);
        let mut driver = CpuDriver::new(None, ScheduleSeed::default()).map_err(failed)?;
        let stream = driver.stream().map_err(failed)?;
        let mut loaded = Vec::with_capacity(modules.len());
        for (source, file) in modules {
            loaded.push((*source, driver.load(ModuleImage::File(file)).map_err(failed)?));
        }
        Ok(OwnKernels {
            driver,
            stream,
            modules: loaded,
            operands,
            generators: None,
            reference: None,
        })
    }

    /// Fills the tensors that have a generator kernel.
    pub(super) fn generate(&mut self, tensors: &[Tensor], order: &Generate) -> Result<(), AuthorError> {
        let generators = match &self.generators {
            Some(generators) => generators,
            None => {
                let bound = Generators::bind(&mut self.driver, tensors, &self.operands, &self.modules);
                self.generators.insert(bound.map_err(kernel_failure)?)
            }
        };
        let ran = generators.run(&mut self.driver, self.stream, order);
        ran.map_err(kernel_failure)
    }

    /// Runs the reference.
    pub(super) fn run_reference(&mut self, tensors: &[Tensor], plan: &Plan) -> Result<(), AuthorError> {
        let reference = match &self.reference {
            Some(reference) => reference,
            None => {
                let bound = ReferencePlan::bind(&mut self.driver, plan, tensors, &self.operands, &self.modules);
                self.reference.insert(bound.map_err(kernel_failure)?)
            }
        };
        let ran = reference.run(&mut self.driver, self.stream);
        ran.map_err(kernel_failure)
    }
}

fn kernel_failure(error: ReplayError) -> AuthorError {
    AuthorError::new(AuthorFailure::Kernel, gpubench_diagnostic::chain(&error))
}
