//! A plan with the addresses and kernels of this process.

use gpubench::plan::{Argument, Dependence, Launch, Plan, Span, Step};

use super::{AddressSpace, ReplayError, constants};
use gpubench_device::{Count, Counter, DeviceError, DevicePtr, Driver, Fault, Function, LaunchConfig, Stream};

/// A plan that can be queued.
#[derive(Debug)]
pub struct ReadyPlan {
    steps: Vec<ReadyStep>,
}

#[derive(Debug)]
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

impl ReadyPlan {
    /// Binds a plan to the addresses and modules of this process, and sets its constants.
    ///
    /// # Errors
    /// If a buffer, a module or a kernel is missing, or a launch does not match its kernel.
    pub fn bind(driver: &mut dyn Driver, plan: &Plan, space: &AddressSpace<'_>) -> Result<ReadyPlan, ReplayError> {
        constants::write(driver, &plan.constants, space)?;
        let mut steps = Vec::with_capacity(plan.steps.len());
        for step in &plan.steps {
            steps.push(match step {
                Step::Launch(launch) => bind_launch(driver, launch, space)?,
                Step::Memset { target, value } => ReadyStep::Set {
                    target: start_of(target, space)?,
                    value: *value,
                    bytes: target.len,
                },
                Step::Copy { source, target } => ReadyStep::Copy {
                    target: start_of(target, space)?,
                    source: start_of(source, space)?,
                    bytes: target.len,
                },
            });
        }
        keep_after_go(&mut steps);
        Ok(ReadyPlan { steps })
    }

    /// Queues one call.
    ///
    /// # Errors
    /// If the stream rejects a step.
    pub fn queue(&self, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        (0..self.steps.len()).try_for_each(|position| self.queue_step(position, driver, stream))
    }

    /// Returns the number of steps.
    pub fn steps(&self) -> usize {
        self.steps.len()
    }

    /// Queues the step at a position.
    ///
    /// # Errors
    /// If the stream rejects it.
    ///
    /// # Panics
    /// If there is no such step.
    pub fn queue_step(&self, position: usize, driver: &mut dyn Driver, stream: Stream) -> Result<(), DeviceError> {
        match &self.steps[position] {
            ReadyStep::Launch {
                kernel: _,
                function,
                config,
                arguments,
            } => {
                let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).collect();
                driver.launch(stream, *function, config, &arguments)
            }
            ReadyStep::Set { target, value, bytes } => driver.set(stream, *target, *value, *bytes),
            ReadyStep::Copy { target, source, bytes } => driver.copy(stream, *target, *source, *bytes),
        }
    }

    /// Runs one call on an idle stream, launch by launch, and counts each launch as a range of its
    /// kernel's name. Returns `None` if further calls are needed for complete counts.
    ///
    /// # Errors
    /// If the stream rejects a step, a kernel faults or the counter fails.
    pub fn count(
        &self,
        driver: &mut dyn Driver,
        stream: Stream,
        counter: &mut dyn Counter,
    ) -> Result<Option<Vec<Count>>, DeviceError> {
        counter.start(self.number_of_launches())?;
        let mut launch = 0;
        for (position, step) in self.steps.iter().enumerate() {
            let ReadyStep::Launch { kernel, .. } = step else {
                self.queue_step(position, driver, stream)?;
                driver.synchronize(stream)?;
                continue;
            };
            counter.begin(kernel)?;
            self.queue_step(position, driver, stream)?;
            driver.synchronize(stream).map_err(|error| at_launch(error, launch))?;
            counter.end()?;
            launch += 1;
        }
        counter.stop()
    }

    /// Returns the position and the kernel of the launch that faulted, if known. If the device does
    /// not report the launch, it is known only for a plan with one.
    pub fn faulting_launch(&self, fault: &Fault) -> Option<(u32, &str)> {
        let mut launches = self.launches();
        match fault.launch {
            Some(launch) => launches.nth(launch as usize),
            None => launches.next().filter(|_| launches.next().is_none()),
        }
    }

    /// Returns the number of kernels that a call launches.
    pub fn number_of_launches(&self) -> usize {
        self.launches().count()
    }

    fn launches(&self) -> impl Iterator<Item = (u32, &str)> {
        let steps = (0..).zip(&self.steps);
        steps.filter_map(|(position, step)| match step {
            ReadyStep::Launch { kernel, .. } => Some((position, kernel.as_str())),
            ReadyStep::Set { .. } | ReadyStep::Copy { .. } => None,
        })
    }
}

fn bind_launch(driver: &mut dyn Driver, launch: &Launch, space: &AddressSpace<'_>) -> Result<ReadyStep, ReplayError> {
    let function = space.function(driver, &launch.kernel)?;
    let mut arguments = Vec::with_capacity(launch.arguments.len());
    for argument in &launch.arguments {
        arguments.push(match argument {
            Argument::Pointer { buffer, offset } => space.address(*buffer, *offset)?.0.to_le_bytes().to_vec(),
            Argument::Value(bytes) => bytes.clone(),
            Argument::TensorMap { buffer, offset, map } => {
                let base = space.address(*buffer, *offset)?;
                driver.encode_tensor_map(base, map)?.to_vec()
            }
        });
    }
    if let Some(parameters) = driver.parameter_sizes(function) {
        compare_with_parameters(launch, &arguments, &parameters)?;
    }
    let config = LaunchConfig::new(launch);
    driver.prepare(function, &config)?;
    Ok(ReadyStep::Launch {
        kernel: launch.kernel.name.clone(),
        function,
        config,
        arguments,
    })
}

/// Returns a fault with the number of its launch, for launches that are synchronized one by one.
fn at_launch(error: DeviceError, launch: u32) -> DeviceError {
    match error {
        DeviceError::Fault(fault) => DeviceError::Fault(Fault {
            launch: Some(launch),
            ..fault
        }),
        other => other,
    }
}

/// A call's first launch must not start before *go*, and has no earlier launch to overlap with.
fn keep_after_go(steps: &mut [ReadyStep]) {
    let first = steps.iter_mut().find_map(|step| match step {
        ReadyStep::Launch { config, .. } => Some(config),
        ReadyStep::Set { .. } | ReadyStep::Copy { .. } => None,
    });
    if let Some(config) = first {
        config.dependence = Dependence::Complete;
    }
}

fn start_of(span: &Span, space: &AddressSpace<'_>) -> Result<DevicePtr, ReplayError> {
    space.address(span.buffer, span.offset)
}

/// Names a type with the size of a parameter.
fn arguments_of(bytes: u32) -> &'static str {
    match bytes {
        1 => " (hint: `bool`, `u8`, `i8`, `F8E4M3` and `F8E5M2` have 1)",
        2 => " (hint: `u16`, `i16`, `F16` and `BF16` have 2)",
        4 => " (hint: `u32`, `i32` and `f32` have 4)",
        8 => " (hint: buffers, `usize`, `u64`, `i64`, `f64` and `Complex32` have 8)",
        _ => "",
    }
}

/// A launch must pass exactly the kernel's parameters. With one too few the kernel would read
/// garbage.
fn compare_with_parameters(launch: &Launch, arguments: &[Vec<u8>], parameters: &[u32]) -> Result<(), ReplayError> {
    let kernel = &launch.kernel;
    if arguments.len() != parameters.len() {
        let (given, taken) = (arguments.len(), parameters.len());
        return Err(ReplayError::Mismatch(format!(
            "kernel `{kernel}` takes {taken} parameters, and the launch has {given} arguments"
        )));
    }
    for (position, (argument, parameter)) in arguments.iter().zip(parameters).enumerate() {
        if argument.len() != *parameter as usize {
            let (number, given) = (position + 1, argument.len());
            return Err(ReplayError::Mismatch(format!(
                "parameter {number} of kernel `{kernel}` has {parameter} bytes, and the launch's argument has {given}{}",
                arguments_of(*parameter)
            )));
        }
    }
    Ok(())
}
