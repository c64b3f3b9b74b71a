//! Kernels of the crate that the referee runs: generators, and a reference that is a plan. The
//! device isolates them from its process.

use gpubench::catalog::Recording;
use gpubench::plan::ConstantValue;

use super::RefereeError;
use super::buffers::Buffer;
use super::case::{OpenCase, Referee};
use crate::replay::{Generators, Operand, ReferencePlan};
use crate::window::{CodePlacement, KeyPurpose, Maker, WindowId};
use crate::wire::{Generate, SourceModule};
use gpubench_device::{Driver, FrozenFile, KernelHost, LaunchConfig, Module, ModuleImage, Resources};

/// The crate's kernels that the referee runs for a case. Empty if the author runs them, or if there
/// are none.
#[derive(Debug, Default)]
pub(super) struct OwnKernels {
    generators: Option<Generators>,
    reference: Option<ReferencePlan>,
}

impl OwnKernels {
    /// Loads and binds the kernels that the case's placement assigns to the referee.
    pub(super) fn load(
        referee: &mut Referee,
        recording: &Recording,
        buffers: &[Buffer],
        modules: &[SourceModule],
    ) -> Result<OwnKernels, RefereeError> {
        if referee.kernels_run_in == KernelHost::Author {
            return Ok(OwnKernels::default());
        }
        let constants = recording.reference.plan().map_or(&[][..], |plan| &plan.constants);
        let modules = referee.load_modules(modules, constants)?;
        let placement = CodePlacement::new(recording, referee.kernels_run_in);
        let tensors = &recording.tensors;
        let operands: Vec<Operand> = buffers[..tensors.len()].iter().map(operand).collect();
        let driver = &mut *referee.driver;
        let generators = if tensors
            .iter()
            .any(|tensor| placement.maker(tensor) == Maker::RefereeKernel)
        {
            Some(Generators::bind(driver, tensors, &operands, &modules).map_err(RefereeError::Generator)?)
        } else {
            None
        };
        let reference = match recording.reference.plan() {
            Some(plan) => {
                Some(ReferencePlan::bind(driver, plan, tensors, &operands, &modules).map_err(RefereeError::Reference)?)
            }
            None => None,
        };
        Ok(OwnKernels { generators, reference })
    }

    /// Frees the reference's scratch.
    pub(super) fn release(self, driver: &mut dyn Driver) {
        if let Some(reference) = self.reference {
            reference.release(driver);
        }
    }
}

/// Returns the referee's copies of a tensor for the crate's own kernels.
fn operand(buffer: &Buffer) -> Operand {
    Operand {
        contents: buffer.pristine.as_ref().map(|pristine| pristine.current),
        answer: buffer.answers.as_ref().map(|answers| answers.expected),
    }
}

impl Referee {
    /// Loads each file once per run. A module whose constants are set is loaded again for its case,
    /// so that no other case sees them.
    pub(super) fn load_modules(
        &mut self,
        files: &[SourceModule],
        constants: &[ConstantValue],
    ) -> Result<Vec<(u32, Module)>, RefereeError> {
        let mut loaded = Vec::with_capacity(files.len());
        for (source, file) in files {
            let written = constants.iter().any(|constant| constant.source == *source);
            let identity = file.identity().map_err(RefereeError::Code)?;
            let module = match self.modules.get(&identity) {
                _ if written => self.driver.load(ModuleImage::File(file))?,
                Some((module, _)) => *module,
                None => {
                    let module = self.driver.load(ModuleImage::File(file))?;
                    self.modules.insert(identity, (module, file.clone()));
                    module
                }
            };
            loaded.push((*source, module));
        }
        Ok(loaded)
    }

    /// Returns what a kernel needs of the device. `None` if the device has no such resources, and
    /// if this process may not load the user's kernels.
    pub(super) fn resources_of(
        &mut self,
        file: FrozenFile,
        name: &str,
        config: &LaunchConfig,
    ) -> Result<Option<Resources>, RefereeError> {
        if self.kernels_run_in == KernelHost::Author {
            return Ok(None);
        }
        let modules = self.load_modules(&[(0, file)], &[])?;
        let function = self.driver.function(modules[0].1, name)?;
        Ok(self.driver.resources(function, config)?)
    }

    /// Runs the generator kernels of the crate.
    pub(super) fn run_generators(&mut self, case: &OpenCase, window: u32) -> Result<(), RefereeError> {
        let Some(generators) = &case.own_kernels.generators else {
            return Ok(());
        };
        let order = self.generator_order(case, window);
        let ran = generators.run(&mut *self.driver, self.stream, &order);
        ran.map_err(RefereeError::Generator)
    }

    /// Copies the author's inputs, and computes the expected outputs from all inputs.
    pub(super) fn run_reference(&mut self, case: &OpenCase, window: u32) -> Result<(), RefereeError> {
        let Some(reference) = &case.own_kernels.reference else {
            return Err(RefereeError::Order("the case's reference is the author's"));
        };
        self.take_inputs(case)?;
        self.keep_previous_answers(case)?;
        reference
            .run(&mut *self.driver, self.stream)
            .map_err(RefereeError::Reference)?;
        self.keep_first_answers(case, window)
    }

    /// Returns the seeds of a window's generators in any process.
    pub(super) fn generator_order(&self, case: &OpenCase, window: u32) -> Generate {
        let place = case.place(window);
        Generate {
            seed: self.seeds.key(KeyPurpose::Generator, place),
            constant_seed: self
                .seeds
                .key(KeyPurpose::ConstantGenerator, WindowId { window: 0, ..place }),
            window,
            reserved: 0,
        }
    }
}
