//! The plan that computes the expected outputs.

use gpubench::catalog::Tensor;
use gpubench::plan::Plan;

use super::{AddressSpace, Operand, ReadyPlan, ReplayError};
use gpubench_device::{DeviceError, DevicePtr, Driver, Module, Stream};

/// A reference plan on a process's memory, with its own scratch.
#[derive(Debug)]
pub struct ReferencePlan {
    plan: ReadyPlan,
    scratch: Vec<DevicePtr>,
    starts: Vec<Start>,
}

/// The initial value of an answer.
#[derive(Debug)]
struct Start {
    answer: DevicePtr,
    /// The contents of an in-out tensor; `None` for zeros.
    contents: Option<DevicePtr>,
    bytes: u64,
}

impl ReferencePlan {
    /// Binds a plan to operands and loaded modules.
    ///
    /// # Errors
    /// If a kernel is missing, a launch does not match its kernel, or there is no memory for
    /// scratch.
    pub fn bind(
        driver: &mut dyn Driver,
        plan: &Plan,
        tensors: &[Tensor],
        operands: &[Operand],
        modules: &[(u32, Module)],
    ) -> Result<ReferencePlan, ReplayError> {
        let mut scratch = Vec::with_capacity(plan.scratch.len());
        for bytes in &plan.scratch {
            scratch.push(driver.alloc(*bytes)?);
        }
        let addresses: Vec<Option<DevicePtr>> = operands
            .iter()
            .map(|operand| operand.answer.or(operand.contents))
            .collect();
        let space = AddressSpace {
            tensors: &addresses,
            scratch: &scratch,
            modules,
        };
        let plan = ReadyPlan::bind(driver, plan, &space)?;
        let starts = tensors.iter().zip(operands).filter_map(|(tensor, operand)| {
            Some(Start {
                answer: operand.answer?,
                contents: operand.contents,
                bytes: tensor.bytes(),
            })
        });
        let starts = starts.collect();
        Ok(ReferencePlan { plan, scratch, starts })
    }

    /// Computes the answers from the contents, and waits for it. An answer starts as zeros, or as
    /// the contents of its in-out tensor.
    ///
    /// # Errors
    /// If a kernel fails.
    pub fn run(&self, driver: &mut dyn Driver, stream: Stream) -> Result<(), ReplayError> {
        self.begin(driver, stream)?;
        let ran = self
            .plan
            .queue(driver, stream)
            .and_then(|()| driver.synchronize(stream));
        ran.map_err(|source| {
            let launch = match &source {
                DeviceError::Fault(fault) => self.plan.faulting_launch(fault),
                _ => None,
            };
            let kernel = launch.map(|(_, kernel)| kernel.to_owned());
            match kernel {
                Some(kernel) => ReplayError::Kernel { kernel, source },
                None => ReplayError::Device(source),
            }
        })
    }

    /// Sets the answers to their initial values. Waits, so that a fault's launch is counted from
    /// the reference's first.
    fn begin(&self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        for start in &self.starts {
            match start.contents {
                Some(contents) => driver.copy(stream, start.answer, contents, start.bytes)?,
                None => driver.set(stream, start.answer, 0, start.bytes)?,
            }
        }
        driver.synchronize(stream)
    }

    /// Frees the scratch.
    pub fn release(self, driver: &mut dyn Driver) {
        self.scratch.into_iter().for_each(|address| driver.free(address));
    }
}
