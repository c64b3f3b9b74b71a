//! A launch plan on a device.

use gpubench::catalog::Recording;
use gpubench::plan::{Argument, BufferId, Launch, Plan, Span, Step};

use super::WorkerError;
use super::buffers::Buffers;
use crate::device::{DeviceError, DevicePtr, Driver, Function, LaunchConfig, Module, Stream};

/// A plan whose buffers are addresses and whose kernels are loaded.
pub(super) struct Replay {
    steps: Vec<ReadyStep>,
}

enum ReadyStep {
    Launch {
        kernel: String,
        function: Function,
        config: LaunchConfig,
        arguments: Vec<Vec<u8>>,
    },
    Set {
        target: DevicePtr,
        value: u8,
        bytes: u64,
    },
    Copy {
        target: DevicePtr,
        source: DevicePtr,
        bytes: u64,
    },
}

impl Replay {
    /// Binds a recording's plan to buffers (its tensors, then its scratch) and modules (by position of their source).
    pub(super) fn bind(
        driver: &mut dyn Driver,
        recording: &Recording,
        buffers: &Buffers,
        modules: &[(u32, Module)],
    ) -> Result<Replay, WorkerError> {
        let binder = Binder {
            buffers,
            tensors: recording.tensors.len(),
            modules,
        };
        let steps = binder.steps(driver, &recording.plan)?;
        Ok(Replay { steps })
    }

    /// Queues one call.
    pub(super) fn queue(&self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        for step in &self.steps {
            match step {
                ReadyStep::Launch {
                    kernel: _,
                    function,
                    config,
                    arguments,
                } => {
                    let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
                    driver.launch(stream, *function, config, &arguments)?;
                }
                ReadyStep::Set { target, value, bytes } => driver.set(stream, *target, *value, *bytes)?,
                ReadyStep::Copy { target, source, bytes } => driver.copy(stream, *target, *source, *bytes)?,
            }
        }
        Ok(())
    }

    /// Position among the plan's steps of its launch number `launch`.
    pub(super) fn step_of_launch(&self, launch: u32) -> u32 {
        let launches = self
            .steps
            .iter()
            .enumerate()
            .filter(|(_, step)| matches!(step, ReadyStep::Launch { .. }));
        launches
            .map(|(position, _)| position as u32)
            .nth(launch as usize)
            .unwrap_or(0)
    }

    /// The kernel of launch number `launch`.
    pub(super) fn kernel_of_launch(&self, launch: u32) -> &str {
        match self.steps.get(self.step_of_launch(launch) as usize) {
            Some(ReadyStep::Launch { kernel, .. }) => kernel,
            _ => "?",
        }
    }
}

struct Binder<'a> {
    buffers: &'a Buffers,
    tensors: usize,
    modules: &'a [(u32, Module)],
}

impl Binder<'_> {
    fn steps(&self, driver: &mut dyn Driver, plan: &Plan) -> Result<Vec<ReadyStep>, WorkerError> {
        let mut steps = Vec::with_capacity(plan.steps.len());
        for step in &plan.steps {
            steps.push(match step {
                Step::Launch(launch) => self.launch(driver, launch)?,
                Step::Memset { target, value } => ReadyStep::Set {
                    target: self.span(target)?,
                    value: *value,
                    bytes: target.len,
                },
                Step::Copy { source, target } => ReadyStep::Copy {
                    target: self.span(target)?,
                    source: self.span(source)?,
                    bytes: target.len,
                },
            });
        }
        Ok(steps)
    }

    fn launch(&self, driver: &mut dyn Driver, launch: &Launch) -> Result<ReadyStep, WorkerError> {
        let module = self
            .modules
            .iter()
            .find(|(source, _)| *source == launch.kernel.source)
            .map(|(_, module)| *module);
        let module = module.ok_or(WorkerError::Order("a module is missing"))?;
        let function = driver.function(module, &launch.kernel.name)?;
        let mut arguments = Vec::with_capacity(launch.arguments.len());
        for argument in &launch.arguments {
            arguments.push(match argument {
                Argument::Pointer { buffer, offset } => self.address(*buffer, *offset)?.0.to_le_bytes().to_vec(),
                Argument::Value(bytes) => bytes.clone(),
            });
        }
        compare_with_parameters(launch, &arguments, &driver.parameter_sizes(function))?;
        let config = LaunchConfig {
            grid: launch.grid,
            block: launch.block,
            cluster: launch.cluster,
            dynamic_shared: launch.dynamic_shared,
            cooperation: launch.cooperation,
            dependence: launch.dependence,
        };
        Ok(ReadyStep::Launch {
            kernel: launch.kernel.name.clone(),
            function,
            config,
            arguments,
        })
    }

    fn span(&self, span: &Span) -> Result<DevicePtr, WorkerError> {
        self.address(span.buffer, span.offset)
    }

    fn address(&self, buffer: BufferId, offset: u64) -> Result<DevicePtr, WorkerError> {
        let position = match buffer {
            BufferId::Tensor(tensor) => tensor as usize,
            BufferId::Scratch(scratch) => self.tensors + scratch as usize,
        };
        let buffer = self.buffers.get(position)?;
        Ok(buffer.address().offset(offset))
    }
}

/// A launch must bring exactly the kernel's parameters: one too few would make the kernel read garbage.
fn compare_with_parameters(launch: &Launch, arguments: &[Vec<u8>], parameters: &[u32]) -> Result<(), WorkerError> {
    let kernel = &launch.kernel;
    if arguments.len() != parameters.len() {
        let (given, taken) = (arguments.len(), parameters.len());
        return Err(WorkerError::Plan(format!(
            "kernel `{kernel}` takes {taken} parameters, and the launch has {given} arguments"
        )));
    }
    for (position, (argument, parameter)) in arguments.iter().zip(parameters).enumerate() {
        if argument.len() != *parameter as usize {
            let (number, given) = (position + 1, argument.len());
            return Err(WorkerError::Plan(format!(
                "parameter {number} of kernel `{kernel}` has {parameter} bytes, and the launch's argument has {given}"
            )));
        }
    }
    Ok(())
}
