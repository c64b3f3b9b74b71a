//! Validation of a recording before anything is built from it.

use std::collections::HashSet;

use gpubench::catalog::{Catalog, DeviceFacts, Execution, Fill, Recording, Role, SourceFile, Tensor, Tolerance};
use gpubench::plan::{Argument, BufferId, ConstantValue, Cooperation, KernelRef, Launch, Plan, Span, Step};

use gpubench_device::CodeHome;
use gpubench_device::compilers::{declared_kernels, makes_kernels_by_macros};
use gpubench_protocol::window::Duties;
use gpubench_protocol::wire::{MAX_BUFFERS, MAX_OUTPUTS};

/// Largest total of a case's tensors and scratch in bytes: what a 64-bit address space can certainly map several times over.
const MAX_CASE_BYTES: u64 = 1 << 42;

/// Bytes of constant memory.
const CONSTANT_MEMORY: usize = 64 << 10;

/// What is wrong with a recording, in words that name the tensor, kernel or step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(String);

type Checked = Result<(), Invalid>;

fn invalid(message: impl Into<String>) -> Invalid {
    Invalid(message.into())
}

/// Validates the recording of a case made for a device, with who has what duty there.
///
/// # Errors
/// The first thing found wrong.
pub fn validate(duties: &Duties<'_>, catalog: &Catalog, facts: &DeviceFacts) -> Checked {
    let recording = duties.recording();
    let validator = Validator {
        recording,
        plan: &recording.plan,
        catalog,
        facts,
    };
    validator.tensors()?;
    match recording.execution {
        Execution::Sealed => validator.plan()?,
        Execution::Hosted => validator.no_plan()?,
    }
    if let Some(plan) = recording.reference.plan() {
        Validator { plan, ..validator }.reference()?;
    }
    match duties.kernels_run_in() {
        CodeHome::Referee => validator.kernels_of_the_referee(),
        CodeHome::Author => Ok(()),
    }
}

/// Bytes that a case takes on the device and beside it: every tensor as often as the roles hold it, and scratch.
pub fn memory_needed(duties: &Duties<'_>) -> u64 {
    let recording = duties.recording();
    let of = |tensor: &Tensor| {
        tensor_bytes(tensor)
            .unwrap_or(u64::MAX)
            .saturating_mul(duties.copies(tensor))
    };
    let plans = std::iter::once(&recording.plan).chain(recording.reference.plan());
    let scratch = plans.flat_map(|plan| plan.scratch.iter().copied());
    recording
        .tensors
        .iter()
        .map(of)
        .chain(scratch)
        .fold(0, u64::saturating_add)
}

#[derive(Clone, Copy)]
struct Validator<'a> {
    recording: &'a Recording,
    plan: &'a Plan,
    catalog: &'a Catalog,
    facts: &'a DeviceFacts,
}

impl Validator<'_> {
    fn tensors(&self) -> Checked {
        let tensors = &self.recording.tensors;
        let mut names = HashSet::new();
        let mut total = 0_u64;
        for tensor in tensors {
            if !names.insert(&tensor.name) {
                return Err(invalid(format!("two tensors are named `{}`", tensor.name)));
            }
            self.tensor(tensor)?;
            total = total.saturating_add(tensor_bytes(tensor).unwrap_or(u64::MAX));
        }
        total = self
            .recording
            .plan
            .scratch
            .iter()
            .fold(total, |total, bytes| total.saturating_add(*bytes));
        if total > MAX_CASE_BYTES {
            return Err(invalid(format!("its tensors and scratch have {total} bytes together")));
        }
        let outputs = tensors.iter().filter(|tensor| tensor.role.is_output()).count();
        let buffers = tensors.len() + self.recording.plan.scratch.len();
        match outputs {
            0 => Err(invalid("it has no output tensor, so nothing it does could be checked")),
            _ if outputs > MAX_OUTPUTS => Err(invalid(format!(
                "it has {outputs} outputs; at most {MAX_OUTPUTS} are possible"
            ))),
            _ if buffers > MAX_BUFFERS => Err(invalid(format!(
                "it has {buffers} tensors and scratch allocations; at most {MAX_BUFFERS} are possible"
            ))),
            _ => Ok(()),
        }
    }

    fn tensor(&self, tensor: &Tensor) -> Checked {
        let name = &tensor.name;
        match tensor_bytes(tensor) {
            None => {
                return Err(invalid(format!(
                    "tensor `{name}` has more bytes than there are addresses"
                )));
            }
            Some(0) if tensor.role.is_output() => return Err(invalid(format!("output `{name}` has no elements"))),
            Some(_) => {}
        }
        let filled = !matches!(tensor.fill, Fill::Poison);
        let should_be_filled = !matches!(tensor.role, Role::Output | Role::Scratch);
        if filled != should_be_filled {
            return Err(invalid(format!(
                "tensor `{name}` has a fill that does not go with its role"
            )));
        }
        self.fill(tensor)?;
        match tensor.tolerance {
            Tolerance::Close { rtol, atol }
                if !(rtol >= 0.0 && atol >= 0.0 && rtol.is_finite() && atol.is_finite()) =>
            {
                Err(invalid(format!(
                    "tensor `{name}` has a tolerance of rtol `{rtol}` and atol `{atol}`"
                )))
            }
            _ => Ok(()),
        }
    }

    fn fill(&self, tensor: &Tensor) -> Checked {
        let name = &tensor.name;
        match &tensor.fill {
            Fill::Uniform { low, high } if !(low < high && low.is_finite() && high.is_finite()) => Err(invalid(
                format!("input `{name}` is uniform over an empty range, `{low}..{high}`"),
            )),
            Fill::Normal { mean, stddev } if !(mean.is_finite() && stddev.is_finite() && *stddev >= 0.0) => {
                Err(invalid(format!(
                    "input `{name}` is normal with mean `{mean}` and standard deviation `{stddev}`"
                )))
            }
            Fill::Integers { low, high } if low >= high || high.checked_sub(*low).is_none_or(|span| span > 1 << 64) => {
                Err(invalid(format!(
                    "input `{name}` has integers from an empty or too large range, `{low}..{high}`"
                )))
            }
            Fill::Kernel(kernel) => self.kernel(kernel),
            _ => Ok(()),
        }
    }

    fn no_plan(&self) -> Checked {
        match *self.plan == Plan::default() {
            true => Ok(()),
            false => Err(invalid("it is hosted and has a plan")),
        }
    }

    fn plan(&self) -> Checked {
        let plan = self.plan;
        if plan.scratch.contains(&0) {
            return Err(invalid("it allocates scratch of no bytes"));
        }
        if plan.steps.is_empty() {
            return Err(invalid("it launches nothing"));
        }
        plan.constants.iter().try_for_each(|constant| self.constant(constant))?;
        for (position, step) in plan.steps.iter().enumerate() {
            self.step(step)
                .map_err(|Invalid(message)| invalid(format!("step {}: {message}", position + 1)))?;
        }
        Ok(())
    }

    /// A constant is a variable of a source that the plan launches a kernel of: it lives in the source's module.
    fn constant(&self, constant: &ConstantValue) -> Checked {
        let ConstantValue { source, symbol, bytes } = constant;
        let named = |what: String| invalid(format!("constant `{symbol}` {what}"));
        let is_name = |part: &str| {
            let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
            part.chars().all(letter) && part.starts_with(|c: char| letter(c) && !c.is_ascii_digit())
        };
        if !symbol.trim_start_matches("::").split("::").all(is_name) {
            return Err(named("does not have the name of a variable".to_owned()));
        }
        if bytes.is_empty() || bytes.len() > CONSTANT_MEMORY {
            let given = bytes.len();
            return Err(named(format!("has {given} bytes; 1 to {CONSTANT_MEMORY} are possible")));
        }
        let Some(known) = self.catalog.sources.get(*source as usize) else {
            return Err(named("is of a source that there is not".to_owned()));
        };
        let launches_of = |step: &Step| matches!(step, Step::Launch(launch) if launch.kernel.source == *source);
        match self.plan.steps.iter().any(launches_of) {
            true => Ok(()),
            false => Err(named(format!(
                "is of `{}`, and no kernel of that is launched",
                known.name
            ))),
        }
    }

    /// A reference writes every output, and has scratch of its own alone.
    fn reference(&self) -> Checked {
        let of_reference = |Invalid(message)| invalid(format!("its reference: {message}"));
        self.plan().map_err(of_reference)?;
        let used: HashSet<BufferId> = self.plan.steps.iter().flat_map(buffers_of).collect();
        let written: HashSet<BufferId> = self.plan.steps.iter().flat_map(writable_buffers_of).collect();
        for (position, tensor) in (0..).zip(&self.recording.tensors) {
            let (name, buffer) = (&tensor.name, BufferId::Tensor(position));
            if tensor.role == Role::Scratch && used.contains(&buffer) {
                return Err(of_reference(invalid(format!(
                    "it uses `{name}`, the benchmark's scratch (hint: a reference has `cx.scratch(..)`)"
                ))));
            }
            if tensor.role.is_output() && !written.contains(&buffer) {
                return Err(of_reference(invalid(format!("it does not write the output `{name}`"))));
            }
        }
        Ok(())
    }

    /// The referee runs generators and references where masters and expected outputs lie, so no file that it runs a kernel of may be one that a
    /// kernel under test stands in: whoever writes the one would write into the other.
    fn kernels_of_the_referee(&self) -> Checked {
        let under_test: Vec<&SourceFile> = kernels_launched(self.plan)
            .filter_map(|kernel| self.catalog.sources.get(kernel.source as usize)?.files.first())
            .collect();
        let generators = self.recording.tensors.iter().filter_map(|tensor| match &tensor.fill {
            Fill::Kernel(kernel) => Some((kernel, "generator")),
            _ => None,
        });
        let reference = self.recording.reference.plan().into_iter().flat_map(kernels_launched);
        let mut of_referee = generators.chain(reference.map(|kernel| (kernel, "reference")));
        let shared = of_referee.find_map(|(kernel, what)| {
            let files = &self.catalog.sources.get(kernel.source as usize)?.files;
            let file = files.iter().find(|file| under_test.contains(file))?;
            Some((kernel, what, file))
        });
        let Some((kernel, what, file)) = shared else {
            return Ok(());
        };
        Err(invalid(format!(
            "its {what} kernel `{kernel}` is compiled from `{}`, where a kernel under test stands; on this device the referee runs it beside the \
             expected outputs (hint: put reference and generator kernels in a file of their own, which whoever is graded does not write)",
            file.path
        )))
    }

    fn step(&self, step: &Step) -> Checked {
        match step {
            Step::Launch(launch) => self.launch(launch),
            Step::Memset { target, .. } => self.written(target),
            Step::Copy { source, target } => {
                self.span(source)?;
                self.written(target)?;
                if source.len != target.len {
                    return Err(invalid(format!("it copies {} bytes onto {}", source.len, target.len)));
                }
                let apart = source.offset + source.len <= target.offset || target.offset + target.len <= source.offset;
                if source.buffer == target.buffer && !apart {
                    return Err(invalid("it copies a range onto an overlapping one"));
                }
                Ok(())
            }
        }
    }

    fn launch(&self, launch: &Launch) -> Checked {
        self.kernel(&launch.kernel)?;
        let named = |what: String| invalid(format!("kernel `{}` {what}", launch.kernel));
        let axes = ["x", "y", "z"];
        for (axis, name) in axes.iter().enumerate() {
            let (grid, most_grid) = (launch.grid[axis], self.facts.max_grid[axis]);
            if grid == 0 || grid > most_grid {
                return Err(named(format!(
                    "has a grid of {grid} blocks along {name}; 1 to {most_grid} are possible"
                )));
            }
            let (block, most_block) = (launch.block[axis], self.facts.max_block[axis]);
            if block == 0 || block > most_block {
                return Err(named(format!(
                    "has blocks of {block} threads along {name}; 1 to {most_block} are possible"
                )));
            }
        }
        let threads: u64 = launch.block.iter().map(|extent| u64::from(*extent)).product();
        if threads > u64::from(self.facts.max_threads_per_block) {
            let most = self.facts.max_threads_per_block;
            return Err(named(format!(
                "has blocks of {threads} threads; at most {most} are possible"
            )));
        }
        let most_shared = self.facts.shared_per_block_optin.max(self.facts.shared_per_block);
        if u64::from(launch.dynamic_shared) > most_shared {
            let shared = launch.dynamic_shared;
            return Err(named(format!(
                "asks for {shared} bytes of dynamic shared memory; {most_shared} are possible"
            )));
        }
        self.cluster(launch).map_err(|Invalid(what)| named(what))?;
        launch
            .arguments
            .iter()
            .enumerate()
            .try_for_each(|(position, argument)| {
                self.argument(argument)
                    .map_err(|Invalid(what)| named(format!("argument {}: {what}", position + 1)))
            })
    }

    fn cluster(&self, launch: &Launch) -> Checked {
        if launch.cooperation == Cooperation::Grid && self.facts.capability == 0 {
            return Err(invalid(
                "is cooperative, which this device cannot launch (hint: add `requires(cuda)`)",
            ));
        }
        if launch.cluster == [1; 3] {
            return Ok(());
        }
        if self.facts.capability < 90 {
            return Err(invalid(
                "needs clusters, which this device does not have (hint: add `requires(capability = 9.0)`)",
            ));
        }
        let divides = launch
            .grid
            .iter()
            .zip(&launch.cluster)
            .all(|(grid, cluster)| *cluster > 0 && grid % cluster == 0);
        if divides {
            Ok(())
        } else {
            Err(invalid("has a grid that its clusters do not divide"))
        }
    }

    fn argument(&self, argument: &Argument) -> Checked {
        match argument {
            Argument::Value(_) => Ok(()),
            Argument::Pointer { buffer, offset } => {
                let (name, bytes) = self.buffer(*buffer)?;
                match *offset <= bytes {
                    true => Ok(()),
                    false => Err(invalid(format!(
                        "it points {offset} bytes into `{name}`, which has {bytes}"
                    ))),
                }
            }
            Argument::TensorMap { buffer, offset, map } => {
                if self.facts.capability < 90 {
                    return Err(invalid(
                        "it is a tensor map, which this device does not have (hint: add `requires(capability = 9.0)`)",
                    ));
                }
                let (name, bytes) = self.buffer(*buffer)?;
                map.check(*offset, bytes)
                    .map_err(|error| invalid(format!("the tensor map of `{name}`: {error}")))
            }
        }
    }

    fn written(&self, span: &Span) -> Checked {
        if let BufferId::Tensor(position) = span.buffer
            && let Some(tensor) = self.recording.tensors.get(position as usize)
            && matches!(tensor.role, Role::Input | Role::Constant)
        {
            return Err(invalid(format!("it writes to the input `{}`", tensor.name)));
        }
        self.span(span)
    }

    fn span(&self, span: &Span) -> Checked {
        let (name, bytes) = self.buffer(span.buffer)?;
        match span.offset.checked_add(span.len) {
            Some(end) if end <= bytes => Ok(()),
            _ => Err(invalid(format!(
                "bytes {}..+{} are out of the bounds of `{name}` ({bytes} bytes)",
                span.offset, span.len
            ))),
        }
    }

    fn buffer(&self, buffer: BufferId) -> Result<(String, u64), Invalid> {
        match buffer {
            BufferId::Tensor(position) => {
                let tensor = self.recording.tensors.get(position as usize);
                let tensor =
                    tensor.ok_or_else(|| invalid(format!("it names tensor number {position}, which there is not")))?;
                Ok((tensor.name.clone(), tensor_bytes(tensor).unwrap_or(0)))
            }
            BufferId::Scratch(position) => {
                let bytes = self.plan.scratch.get(position as usize);
                let bytes =
                    bytes.ok_or_else(|| invalid(format!("it names scratch number {position}, which there is not")))?;
                Ok((format!("scratch {position}"), *bytes))
            }
        }
    }

    /// The source must be one of the crate's, and have a kernel of the name before any template arguments. What is compiled already is looked into
    /// when it is made ready for the device.
    fn kernel(&self, kernel: &KernelRef) -> Checked {
        let source = self.catalog.sources.get(kernel.source as usize);
        let source = source.ok_or_else(|| invalid(format!("kernel `{kernel}` is of a source that there is not")))?;
        // What the text does not show, the compiler finds.
        if !source.form.is_compiled() || makes_kernels_by_macros(source) {
            return Ok(());
        }
        let declared = declared_kernels(source);
        let template = kernel.name.split('<').next().unwrap_or_default().trim();
        let unqualified = template.rsplit("::").next().unwrap_or_default();
        if declared.iter().any(|name| name == template || name == unqualified) {
            return Ok(());
        }
        let known: Vec<String> = declared.iter().map(|name| format!("`{name}`")).collect();
        let known = if known.is_empty() {
            "no kernels".to_owned()
        } else {
            known.join(", ")
        };
        Err(invalid(format!(
            "`{}` has no kernel `{kernel}`; it declares {known}",
            source.name
        )))
    }
}

/// The kernels of a plan, in order.
fn kernels_launched(plan: &Plan) -> impl Iterator<Item = &KernelRef> {
    plan.steps.iter().filter_map(|step| match step {
        Step::Launch(launch) => Some(&launch.kernel),
        Step::Memset { .. } | Step::Copy { .. } => None,
    })
}

/// The buffers that a step names.
fn buffers_of(step: &Step) -> Vec<BufferId> {
    let mut buffers = writable_buffers_of(step);
    if let Step::Copy { source, .. } = step {
        buffers.push(source.buffer);
    }
    buffers
}

/// The buffers that a step may write, as far as a plan can tell: a kernel, those that it is given.
fn writable_buffers_of(step: &Step) -> Vec<BufferId> {
    match step {
        Step::Launch(launch) => {
            let buffers = launch.arguments.iter().filter_map(|argument| match argument {
                Argument::Pointer { buffer, .. } | Argument::TensorMap { buffer, .. } => Some(*buffer),
                Argument::Value(_) => None,
            });
            buffers.collect()
        }
        Step::Memset { target, .. } | Step::Copy { target, .. } => vec![target.buffer],
    }
}

fn tensor_bytes(tensor: &Tensor) -> Option<u64> {
    let elements = tensor
        .shape
        .iter()
        .try_fold(1_u64, |product, extent| product.checked_mul(*extent))?;
    elements.checked_mul(tensor.dtype.size() as u64)
}

#[cfg(test)]
mod tests;
