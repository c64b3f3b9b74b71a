//! A launch plan on a device.

use gpubench::catalog::{Recording, Role};
use gpubench::plan::{Argument, BufferId, Dependence, Launch, Plan, Span, Step};

use super::WorkerError;
use crate::device::memfd::GUARD;
use crate::device::{DeviceError, DevicePtr, Driver, Fault, Function, LaunchConfig, Module, Stream};
use crate::wire::{BufferLayout, FaultCode};

/// A plan whose buffers are addresses and whose kernels are loaded.
pub(super) struct Replay {
    steps: Vec<ReadyStep>,
    buffers: Vec<NamedBuffer>,
}

/// A buffer of the plan as this process has mapped it.
#[derive(Clone, Debug)]
pub(super) struct NamedBuffer {
    pub(super) name: String,
    pub(super) role: Role,
    /// Start of the allocation.
    pub(super) mapping: DevicePtr,
    pub(super) layout: BufferLayout,
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
        buffers: Vec<NamedBuffer>,
        modules: &[(u32, Module)],
    ) -> Result<Replay, WorkerError> {
        let binder = Binder {
            buffers: &buffers,
            tensors: recording.tensors.len(),
            modules,
        };
        let mut steps = binder.steps(driver, &recording.plan)?;
        keep_behind_go(&mut steps);
        Ok(Replay { steps, buffers })
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

    /// Outputs in tensor order: address and bytes.
    pub(super) fn outputs(&self) -> Vec<(DevicePtr, u64)> {
        let outputs = self.buffers.iter().filter(|buffer| buffer.role.is_output());
        outputs.map(|buffer| (buffer.address(), buffer.layout.len)).collect()
    }

    /// Position among the plan's steps of the launch that faulted: the only one, where the device does not say which.
    pub(super) fn step_of(&self, fault: &Fault) -> Option<u32> {
        let launches: Vec<u32> = self
            .steps
            .iter()
            .enumerate()
            .filter(|(_, step)| matches!(step, ReadyStep::Launch { .. }))
            .map(|(position, _)| position as u32)
            .collect();
        match (fault.launch, launches.as_slice()) {
            (Some(launch), launches) => launches.get(launch as usize).copied(),
            (None, [only]) => Some(*only),
            (None, _) => None,
        }
    }

    /// A fault in words, with the kernel and with the buffer that a stray access missed or was not allowed to write.
    pub(super) fn describe(&self, fault: &Fault) -> String {
        let step = self
            .step_of(fault)
            .and_then(|position| self.steps.get(position as usize));
        let text = match step {
            Some(ReadyStep::Launch { kernel, .. }) => format!("kernel `{kernel}`: {}", fault.text),
            _ => format!("one of the kernels: {}", fault.text),
        };
        match fault
            .address
            .and_then(|address| self.buffers.iter().find_map(|buffer| buffer.locate(address)))
        {
            Some(place) => format!("{text}, {place}"),
            None => text,
        }
    }

    /// What a fault was: a store to a buffer that is mapped for loads alone is more than a stray access.
    pub(super) fn code_of(&self, fault: &Fault) -> FaultCode {
        let inside = |address: u64| {
            let holds = |buffer: &NamedBuffer| {
                let start = buffer.address().0;
                (start..start + buffer.layout.len).contains(&address)
            };
            self.buffers.iter().any(holds)
        };
        match fault.code {
            FaultCode::OutOfBounds if fault.address.is_some_and(inside) => FaultCode::InputWritten,
            code => code,
        }
    }
}

impl NamedBuffer {
    fn address(&self) -> DevicePtr {
        self.mapping.offset(self.layout.offset)
    }

    /// Where an address lies relative to the buffer, when it is in it or on a guard page beside it.
    fn locate(&self, address: u64) -> Option<String> {
        let (start, len) = (self.address().0, self.layout.len);
        let end = self.mapping.0 + self.layout.allocation;
        if !(self.mapping.0.saturating_sub(GUARD)..end + GUARD).contains(&address) {
            return None;
        }
        let name = &self.name;
        Some(match address {
            _ if address >= start + len => format!(
                "{} bytes behind the end of `{name}` ({len} bytes)",
                address - start - len
            ),
            _ if address < start => format!("{} bytes before the start of `{name}`", start - address),
            _ => format!("byte {} of the read-only `{name}`", address - start),
        })
    }
}

struct Binder<'a> {
    buffers: &'a [NamedBuffer],
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
        if let Some(parameters) = driver.parameter_sizes(function) {
            compare_with_parameters(launch, &arguments, &parameters)?;
        }
        let config = LaunchConfig {
            grid: launch.grid,
            block: launch.block,
            cluster: launch.cluster,
            dynamic_shared: launch.dynamic_shared,
            cooperation: launch.cooperation,
            dependence: launch.dependence,
        };
        driver.prepare(function, &config)?;
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
        let buffer = self
            .buffers
            .get(position)
            .ok_or(WorkerError::Order("a buffer is missing"))?;
        Ok(buffer.address().offset(offset))
    }
}

/// Before a call's first launch there is nothing of the call's that it could overlap with: it must not start before *go*.
fn keep_behind_go(steps: &mut [ReadyStep]) {
    let first = steps.iter_mut().find_map(|step| match step {
        ReadyStep::Launch { config, .. } => Some(config),
        ReadyStep::Set { .. } | ReadyStep::Copy { .. } => None,
    });
    if let Some(config) = first {
        config.dependence = Dependence::Complete;
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
