//! The validation rules of a recording: tensors, plan steps and device limits.
//!
//! The launcher checks each step as it is recorded, so that the benchmark function gets the error.
//! The tool then checks the whole recording again, because the process that sent it runs user code
//! and is not trusted. The checks therefore never overflow, and their time is linear in the size of
//! the recording.

use std::collections::HashSet;

use super::library_call::check_library_call;
use super::record::{check_record, check_reference_of_structs};
use super::{Argument, BufferId, ConstantValue, Cooperation, Dependence, Launch, Plan, Span, Step};
use crate::catalog::{
    DeviceFacts, Execution, Fill, Mismatched, Recording, Reference, Role, Tensor, Tolerance, write_nothing,
};
use crate::element::elements;
use crate::error::{Error, Result};
use crate::tensors::check_fill;

/// Size of constant memory in bytes.
const CONSTANT_MEMORY: usize = 64 << 10;

/// Maximum number of steps in a plan: several processes hold all steps, and they are queued while
/// the call's clock runs.
const MAX_STEPS: usize = 1 << 14;

/// Maximum number of blocks in a cluster.
const MAX_CLUSTER: u32 = 16;

/// The end of every message about a feature that came with clusters.
const SINCE_90: &str = "need compute capability 9.0 (hint: add `requires(capability = 9.0)`)";

pub(super) fn broken(message: impl std::fmt::Display) -> Result<()> {
    Err(Error::new(message))
}

/// Checks a recording for a device with these properties. It does not check that the kernels exist.
///
/// # Errors
/// Returns the first violation.
pub fn check(recording: &Recording, facts: &DeviceFacts) -> Result<()> {
    check_problem(recording, facts)?;
    let Recording {
        tensors,
        plan,
        execution,
        call,
        ..
    } = recording;
    match execution {
        Execution::Sealed => check_plan(plan, tensors, facts)?,
        Execution::Hosted | Execution::HostedSync if *plan == Plan::default() => {}
        Execution::Hosted | Execution::HostedSync => return broken("a hosted benchmark cannot have a plan"),
    }
    match call {
        None => Ok(()),
        Some(_) if *execution == Execution::Sealed => broken("only a hosted benchmark calls a library"),
        Some(call) => check_library_call(call, tensors).map_err(|error| error.context(&call.place)),
    }
}

/// Checks what does not depend on the kernels under test: tensors, counters and the reference.
///
/// # Errors
/// Returns the first violation.
pub fn check_problem(recording: &Recording, facts: &DeviceFacts) -> Result<()> {
    let Recording {
        tensors,
        work,
        reference,
        ..
    } = recording;
    check_tensors(tensors)?;
    check_counters(work.counters.iter().map(|counter| counter.name.as_str()))?;
    let by_check = tensors.iter().find(|tensor| tensor.tolerance == Tolerance::ByCheck);
    match by_check {
        Some(tensor) if *reference != Reference::Checked => {
            return broken(format!("tensor `{}`: it has no check", tensor.name));
        }
        _ => {}
    }
    check_reference_of_structs(reference, tensors)?;
    let Some(plan) = reference.plan() else { return Ok(()) };
    check_plan(plan, tensors, facts)
        .and_then(|()| check_reference(plan, tensors))
        .map_err(|error| error.context("its reference"))
}

/// Most counters of a benchmark.
const MAX_COUNTERS: usize = 16;

/// Most letters of a counter's name. The macros check it too.
const MAX_COUNTER_NAME: usize = 32;

/// Checks the names of the counters of a benchmark, which reports show as units.
///
/// # Errors
/// There are too many, or a name is not one, or given twice.
pub fn check_counters<'n>(counters: impl ExactSizeIterator<Item = &'n str>) -> Result<()> {
    if counters.len() > MAX_COUNTERS {
        return broken(format!(
            "it has {} counters; the limit is {MAX_COUNTERS}",
            counters.len()
        ));
    }
    let mut names = HashSet::from(["bytes", "flops"]);
    for name in counters {
        let is_named = name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
        if name.is_empty() || !is_named || name.chars().count() > MAX_COUNTER_NAME {
            let beginning: String = name.chars().take(MAX_COUNTER_NAME + 1).collect();
            return broken(format!(
                "the name of a counter, `{}`, is not 1 to {MAX_COUNTER_NAME} letters, digits and `_`",
                beginning.escape_debug()
            ));
        }
        if !names.insert(name) {
            return broken(format!("two amounts are named `{name}`"));
        }
    }
    Ok(())
}

fn check_tensors(tensors: &[Tensor]) -> Result<()> {
    let mut names = HashSet::new();
    for tensor in tensors {
        if !names.insert(&tensor.name) {
            return broken(format!("two tensors are named `{}`", tensor.name));
        }
        check_tensor(tensor).map_err(|error| error.context(format!("tensor `{}`", tensor.name)))?;
    }
    if tensors.iter().any(|tensor| tensor.role.is_output()) {
        Ok(())
    } else {
        broken("it has no output tensor, so nothing can be checked")
    }
}

/// Checks one tensor.
pub(crate) fn check_tensor(tensor: &Tensor) -> Result<()> {
    elements(&tensor.shape, tensor.dtype)?;
    if tensor.role.is_input() == (tensor.fill == Fill::Poison) {
        return broken("its fill does not match its role");
    }
    if tensor.fill == Fill::Stored && tensor.role != Role::Constant {
        return broken("every call would have the same contents");
    }
    if let Some(record) = &tensor.record {
        return check_record(record, tensor);
    }
    check_fill(&tensor.fill, tensor.dtype)?;
    check_tolerance(tensor.tolerance)
}

pub(super) fn check_tolerance(tolerance: Tolerance) -> Result<()> {
    match tolerance.bounds() {
        Some((rtol, atol)) if !(rtol.is_finite() && rtol >= 0.0 && atol.is_finite() && atol >= 0.0) => broken(format!(
            "a tolerance must be finite and not negative: rtol = {rtol}, atol = {atol}"
        )),
        _ => check_mismatched(tolerance),
    }
}

fn check_mismatched(tolerance: Tolerance) -> Result<()> {
    let (Some(Mismatched { share, cap }), Some((rtol, atol))) = (tolerance.mismatched(), tolerance.bounds()) else {
        return Ok(());
    };
    if !(share > 0.0 && share < 1.0) {
        return broken(format!(
            "`mismatched` is a share of the elements, above 0 and below 1, not {share}"
        ));
    }
    if !(cap > 1.0 && (cap * rtol).is_finite() && (cap * atol).is_finite()) {
        return broken(format!(
            "`cap` is how many times the tolerance a mismatched element may differ by, finite and above 1, not {cap}"
        ));
    }
    if rtol == 0.0 && atol == 0.0 {
        return broken("`cap` multiplies the tolerance, so `rtol` or `atol` must be above 0");
    }
    Ok(())
}

fn check_plan(plan: &Plan, tensors: &[Tensor], facts: &DeviceFacts) -> Result<()> {
    let scratch = &plan.scratch;
    if scratch.contains(&0) {
        return broken("it allocates zero bytes of scratch memory");
    }
    if plan.steps.is_empty() && !write_nothing(tensors) {
        return broken("it launches nothing");
    }
    check_length(plan.steps.len())?;
    let launched: HashSet<u32> = plan.launches().map(|launch| launch.kernel.source).collect();
    let mut known = HashSet::new();
    for constant in &plan.constants {
        let checked = check_constant(constant, &mut known).and_then(|()| {
            if launched.contains(&constant.source) {
                Ok(())
            } else {
                broken("no launch uses a kernel of its source")
            }
        });
        checked.map_err(|error| error.context(format!("constant `{}`", constant.symbol)))?;
    }
    let rules = StepRules {
        tensors,
        scratch,
        facts,
    };
    for (position, step) in plan.steps.iter().enumerate() {
        let what = match step {
            Step::Launch(launch) => format!("launch of `{}`", launch.kernel),
            Step::Memset { .. } => "memset".to_owned(),
            Step::Copy { .. } => "copy".to_owned(),
        };
        rules
            .check(step)
            .map_err(|error| error.context(format!("step {}: {what}", position + 1)))?;
    }
    Ok(())
}

/// Checks the number of steps in a plan.
pub(crate) fn check_length(steps: usize) -> Result<()> {
    if steps <= MAX_STEPS {
        Ok(())
    } else {
        broken(format!(
            "a plan can have at most {MAX_STEPS} launches, memsets and copies (hint: combine several into one kernel)"
        ))
    }
}

/// Checks that a reference writes every output that is not empty, and does not use the benchmark's
/// scratch tensors.
fn check_reference(plan: &Plan, tensors: &[Tensor]) -> Result<()> {
    let written: HashSet<BufferId> = plan.steps.iter().flat_map(writable_buffers).collect();
    let copied = plan.steps.iter().filter_map(|step| match step {
        Step::Copy { source, .. } => Some(source.buffer),
        Step::Launch(_) | Step::Memset { .. } => None,
    });
    let used: HashSet<BufferId> = copied.chain(written.iter().copied()).collect();
    for (position, tensor) in (0..).zip(tensors) {
        let (name, buffer) = (&tensor.name, BufferId::Tensor(position));
        if tensor.role == Role::Scratch && used.contains(&buffer) {
            return broken(format!(
                "it uses `{name}`, the benchmark's scratch memory (hint: allocate with `launcher.scratch(..)`)"
            ));
        }
        if tensor.is_compared() && !written.contains(&buffer) {
            return broken(format!("it does not write the output `{name}`"));
        }
    }
    Ok(())
}

/// Returns the buffers that a step may write. For a kernel, these are its arguments.
fn writable_buffers(step: &Step) -> Vec<BufferId> {
    match step {
        Step::Launch(launch) => launch.buffers(),
        Step::Memset { target, .. } | Step::Copy { target, .. } => vec![target.buffer],
    }
}

/// Checks a constant against the `known` ones before it.
pub(crate) fn check_constant<'a>(constant: &'a ConstantValue, known: &mut HashSet<(u32, &'a str)>) -> Result<()> {
    let ConstantValue { source, symbol, bytes } = constant;
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = |part: &str| part.chars().all(letter) && part.starts_with(|c: char| !c.is_ascii_digit());
    if !symbol.trim_start_matches("::").split("::").all(is_name) {
        return broken("not a valid variable name");
    }
    if !known.insert((*source, symbol)) {
        return broken("it is already set");
    }
    match bytes.len() {
        1..=CONSTANT_MEMORY => Ok(()),
        given => broken(format!(
            "the value has {given} bytes; 1 to {CONSTANT_MEMORY} are allowed"
        )),
    }
}

/// The most bytes of a kernel's arguments: the limit of CUDA 12.1 and later, from compute
/// capability 7.0 on.
const MOST_ARGUMENT_BYTES: usize = 32_764;

/// The context that the steps of a plan are checked in.
pub(crate) struct StepRules<'a> {
    /// The case's tensors.
    pub(crate) tensors: &'a [Tensor],
    /// The plan's scratch allocations in bytes.
    pub(crate) scratch: &'a [u64],
    /// Device properties.
    pub(crate) facts: &'a DeviceFacts,
}

impl StepRules<'_> {
    /// Checks one step.
    pub(crate) fn check(&self, step: &Step) -> Result<()> {
        match step {
            Step::Launch(launch) => self.launch(launch),
            Step::Memset { target, .. } => self.written(target),
            Step::Copy { source, target } => {
                self.span(source).map_err(|error| error.context("source"))?;
                self.written(target).map_err(|error| error.context("target"))?;
                if source.len != target.len {
                    let (from, to) = (source.len, target.len);
                    return broken(format!("the source has {from} bytes and the target {to}"));
                }
                let apart = source.offset + source.len <= target.offset || target.offset + target.len <= source.offset;
                if source.buffer != target.buffer || apart {
                    Ok(())
                } else {
                    broken("the source and the target overlap")
                }
            }
        }
    }

    fn launch(&self, launch: &Launch) -> Result<()> {
        let facts = self.facts;
        if launch.kernel.name.trim().is_empty() {
            return broken("the kernel has no name");
        }
        let grid = launch.grid.map(i128::from);
        check_grid(grid, facts)?;
        check_block(launch.block.map(i128::from), facts)?;
        check_cluster(launch.cluster.map(i128::from), grid, facts)?;
        check_shared(launch.dynamic_shared.into(), facts)?;
        let name = &facts.name;
        if launch.cooperation == Cooperation::Grid && facts.capability == 0 {
            return broken(format!(
                "`{name}` has no cooperative launches (hint: add `requires(cuda)`)"
            ));
        }
        // A device without this capability serializes launches anyway.
        if launch.dependence == Dependence::Programmatic && (1..90).contains(&facts.capability) {
            return broken(format!("`{name}` has no programmatic launches: they {SINCE_90}"));
        }
        check_arguments(&launch.arguments)?;
        let mut arguments = launch.arguments.iter().enumerate();
        arguments.try_for_each(|(position, argument)| {
            self.argument(argument)
                .map_err(|error| error.context(format!("argument {}", position + 1)))
        })
    }

    fn argument(&self, argument: &Argument) -> Result<()> {
        match argument {
            Argument::Value(_) => Ok(()),
            Argument::Pointer { buffer, offset } => {
                let (name, bytes) = self.buffer(*buffer)?;
                if *offset <= bytes {
                    Ok(())
                } else {
                    broken(format!(
                        "it points {offset} bytes into `{name}`, which has {bytes} bytes"
                    ))
                }
            }
            Argument::TensorMap { buffer, offset, map } => {
                if self.facts.capability < 90 {
                    let name = &self.facts.name;
                    return broken(format!("`{name}` has no tensor maps: they {SINCE_90}"));
                }
                let (_, bytes) = self.buffer(*buffer)?;
                map.check(*offset, bytes).map_err(|error| error.context("tensor map"))
            }
        }
    }

    fn written(&self, span: &Span) -> Result<()> {
        if let BufferId::Tensor(position) = span.buffer
            && let Some(tensor) = self.tensors.get(position as usize)
            && matches!(tensor.role, Role::Input | Role::Constant)
        {
            return broken(format!("it writes to the input `{}`", tensor.name));
        }
        self.span(span)
    }

    fn span(&self, span: &Span) -> Result<()> {
        let Span { buffer, offset, len } = *span;
        let (name, bytes) = self.buffer(buffer)?;
        if len == 0 {
            return broken("the range is empty");
        }
        match offset.checked_add(len) {
            Some(end) if end <= bytes => Ok(()),
            _ => broken(format!(
                "{len} bytes at offset {offset} are out of bounds of `{name}`, which has {bytes} bytes"
            )),
        }
    }

    /// Returns the name and size in bytes of a buffer.
    fn buffer(&self, buffer: BufferId) -> Result<(String, u64)> {
        match buffer {
            BufferId::Tensor(position) => {
                let tensor = self.tensors.get(position as usize);
                let tensor = tensor.ok_or_else(|| Error::new(format!("there is no tensor number {position}")))?;
                let bytes = elements(&tensor.shape, tensor.dtype)? * tensor.dtype.size() as u64;
                Ok((tensor.name.clone(), bytes))
            }
            BufferId::Scratch(position) => {
                let bytes = self.scratch.get(position as usize);
                let bytes = bytes.ok_or_else(|| Error::new(format!("there is no scratch number {position}")))?;
                Ok((format!("scratch {position}"), *bytes))
            }
        }
    }
}

/// Checks the blocks along x, y and z against the device's limits.
pub(crate) fn check_grid(blocks: [i128; 3], facts: &DeviceFacts) -> Result<[u32; 3]> {
    let (shown, largest) = (shape(blocks), facts.max_grid);
    if blocks.iter().any(|&blocks| blocks < 1) {
        return Err(Error::new(format!(
            "a grid of {shown} has no blocks, and a GPU refuses to launch it (hint: launch nothing if there is nothing to do: `if n == 0 {{ return Ok(()); }}`)"
        )));
    }
    narrow(blocks, largest).ok_or_else(|| {
        let largest = shape(largest.map(i128::from));
        Error::new(format!(
            "a grid of {shown} blocks is larger than the device's limit of {largest}"
        ))
    })
}

/// Checks the threads per block along x, y and z against the device's limits.
pub(crate) fn check_block(threads: [i128; 3], facts: &DeviceFacts) -> Result<[u32; 3]> {
    let (shown, largest) = (shape(threads), facts.max_block);
    if threads.iter().any(|&threads| threads < 1) {
        return Err(Error::new(format!("a block of {shown} has no threads")));
    }
    let block = narrow(threads, largest).ok_or_else(|| {
        let largest = shape(largest.map(i128::from));
        Error::new(format!(
            "a block of {shown} threads is larger than the device's limit of {largest}"
        ))
    })?;
    let threads: u128 = block.iter().map(|&threads| u128::from(threads)).product();
    let most = facts.max_threads_per_block;
    if threads <= most.into() {
        Ok(block)
    } else {
        Err(Error::new(format!(
            "a block of {shown} has {threads} threads, more than the device's limit of {most}"
        )))
    }
}

/// Checks that the device supports clusters and that they divide the grid along x, y and z.
pub(crate) fn check_cluster(cluster: [i128; 3], grid: [i128; 3], facts: &DeviceFacts) -> Result<[u32; 3]> {
    if cluster == [1; 3] {
        return Ok([1; 3]);
    }
    if facts.capability < 90 {
        return Err(Error::new(format!("`{}` has no clusters: they {SINCE_90}", facts.name)));
    }
    let shown = shape(cluster);
    let narrowed = narrow(cluster, [MAX_CLUSTER; 3]).filter(|blocks| blocks.iter().product::<u32>() <= MAX_CLUSTER);
    let narrowed =
        narrowed.ok_or_else(|| Error::new(format!("a cluster of {shown} must have 1 to {MAX_CLUSTER} blocks")))?;
    if (0..3).all(|axis| grid[axis] % cluster[axis] == 0) {
        Ok(narrowed)
    } else {
        Err(Error::new(format!(
            "a grid of {} blocks does not divide into clusters of {shown}",
            shape(grid)
        )))
    }
}

/// Checks the dynamic shared memory in bytes against the device's limit per block.
pub(crate) fn check_shared(bytes: u64, facts: &DeviceFacts) -> Result<u32> {
    let most = facts.shared_per_block_optin.max(facts.shared_per_block);
    let shared = u32::try_from(bytes).ok().filter(|_| bytes <= most);
    shared.ok_or_else(|| {
        Error::new(format!(
            "{bytes} bytes of shared memory for a block are more than the device's limit of {most}"
        ))
    })
}

/// Checks the bytes of a launch's arguments against what a kernel can take.
fn check_arguments(arguments: &[Argument]) -> Result<()> {
    let size = |argument: &Argument| match argument {
        Argument::Value(bytes) => bytes.len(),
        Argument::Pointer { .. } => 8,
        Argument::TensorMap { .. } => 128,
    };
    let bytes: usize = arguments.iter().map(size).sum();
    if bytes <= MOST_ARGUMENT_BYTES {
        Ok(())
    } else {
        broken(format!(
            "the arguments have {bytes} bytes, more than the {MOST_ARGUMENT_BYTES} that a kernel can take (hint: pass a \
             buffer)"
        ))
    }
}

fn narrow(sizes: [i128; 3], largest: [u32; 3]) -> Option<[u32; 3]> {
    let mut narrowed = [0; 3];
    for axis in 0..3 {
        narrowed[axis] = u32::try_from(sizes[axis])
            .ok()
            .filter(|&size| (1..=largest[axis]).contains(&size))?;
    }
    Some(narrowed)
}

fn shape(sizes: [i128; 3]) -> String {
    let [x, y, z] = sizes;
    format!("{x}x{y}x{z}")
}
