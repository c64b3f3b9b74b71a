//! Validation of a recording before it is used.
//!
//! The runtime checks the rules of every plan. They are checked here again, because the recording
//! process runs user code. Only the broker can check the rest: which kernels exist, how much memory
//! a case needs, and which process may run what.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use super::arguments::Declaration;
use super::read_only::Uses;
use gpubench::catalog::{Catalog, DeviceFacts, Fill, Recording, SourceFile, Tensor};
use gpubench::plan::{KernelRef, Plan, Step};

use gpubench_device::KernelHost;
use gpubench_device::compilers::{declared_kernels, makes_kernels_by_macros};
use gpubench_diagnostic::in_backticks;
use gpubench_protocol::window::CodePlacement;
use gpubench_protocol::wire::{MAX_BUFFERS, MAX_OUTPUTS, MAX_SOURCES};

/// Most bytes of a case's tensors and scratch. A 64-bit address space can map several times as
/// many.
const MAX_CASE_BYTES: u64 = 1 << 42;

/// An invalid recording. The text names the tensor, kernel or step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(String);

type Checked = Result<(), Invalid>;

fn invalid(message: impl Into<String>) -> Invalid {
    Invalid(message.into())
}

/// Validates a case's recording for a device. `placement` says which process runs which code.
///
/// # Errors
/// The first problem.
pub fn validate(placement: &CodePlacement<'_>, catalog: &Catalog, facts: &DeviceFacts) -> Checked {
    let recording = placement.recording;
    gpubench::plan::check(recording, facts).map_err(|error| invalid(error.to_string()))?;
    declared_by_plan(catalog, &recording.plan, &recording.tensors)?;
    validate_problem(placement, catalog, facts)
}

/// Validates what does not depend on the kernels under test: tensors, their generators and the
/// reference.
///
/// # Errors
/// The first problem.
pub fn validate_problem(placement: &CodePlacement<'_>, catalog: &Catalog, facts: &DeviceFacts) -> Checked {
    let recording = placement.recording;
    gpubench::plan::check_problem(recording, facts).map_err(|error| invalid(error.to_string()))?;
    size(recording)?;
    for tensor in &recording.tensors {
        if let Fill::Kernel(kernel) = &tensor.fill {
            declared(catalog, kernel).map_err(|Invalid(what)| invalid(format!("tensor `{}`: {what}", tensor.name)))?;
        }
    }
    if let Some(plan) = recording.reference.plan() {
        declared_by_plan(catalog, plan, &recording.tensors)
            .map_err(|Invalid(what)| invalid(format!("its reference: {what}")))?;
    }
    match placement.home {
        KernelHost::Referee => kernels_of_the_referee(recording, catalog),
        KernelHost::Author => Ok(()),
    }
}

/// Returns the bytes that a case needs on the device and in memory: every copy of each tensor, and
/// scratch.
pub fn memory_needed(placement: &CodePlacement<'_>) -> u64 {
    let recording = placement.recording;
    let of = |tensor: &Tensor| tensor.bytes().saturating_mul(placement.copies(tensor));
    let tensors = recording.tensors.iter().map(of);
    tensors.chain(scratch(recording)).fold(0, u64::saturating_add)
}

/// Returns the bytes that alternating cases need: those of the first, and for each of the `others`
/// outputs and scratch of its own.
pub fn memory_needed_in_turns<'r>(first: &CodePlacement<'_>, others: impl IntoIterator<Item = &'r Recording>) -> u64 {
    let others = others.into_iter().flat_map(|other| {
        let outputs = other.tensors.iter().filter(|tensor| tensor.role.is_output());
        outputs.map(Tensor::bytes).chain(other.plan.scratch.iter().copied())
    });
    others.fold(memory_needed(first), u64::saturating_add)
}

/// Returns the bytes of every scratch allocation, including the reference's.
fn scratch(recording: &Recording) -> impl Iterator<Item = u64> {
    plans(recording).flat_map(|plan| plan.scratch.iter().copied())
}

fn plans(recording: &Recording) -> impl Iterator<Item = &Plan> {
    std::iter::once(&recording.plan).chain(recording.reference.plan())
}

/// Checks the limits: the broker holds descriptors of every buffer and module, and the shared page
/// has a fixed number of outputs.
fn size(recording: &Recording) -> Checked {
    let tensors = &recording.tensors;
    let bytes = tensors.iter().map(Tensor::bytes).chain(scratch(recording));
    let total = bytes.fold(0, u64::saturating_add);
    let outputs: usize = tensors
        .iter()
        .filter(|tensor| tensor.role.is_output())
        .map(Tensor::parts)
        .sum();
    let buffers = tensors.len() + scratch(recording).count();
    let launched = plans(recording).flat_map(kernels).chain(generators(recording));
    let sources = launched.map(|kernel| kernel.source).collect::<BTreeSet<_>>().len();
    match () {
        () if total > MAX_CASE_BYTES => Err(invalid(format!(
            "its tensors and scratch have {total} bytes in total; the limit is {MAX_CASE_BYTES}"
        ))),
        () if outputs > MAX_OUTPUTS => {
            let fields = match tensors.iter().any(|tensor| tensor.record.is_some()) {
                true => ", of which each field of structs is one",
                false => "",
            };
            Err(invalid(format!(
                "it has {outputs} outputs{fields}; the limit is {MAX_OUTPUTS}"
            )))
        }
        () if buffers > MAX_BUFFERS => Err(invalid(format!(
            "it has {buffers} tensors and scratch allocations; the limit is {MAX_BUFFERS}"
        ))),
        () if sources > MAX_SOURCES => Err(invalid(format!(
            "its kernels come from {sources} sources; the limit is {MAX_SOURCES}"
        ))),
        () => Ok(()),
    }
}

fn declared_by_plan(catalog: &Catalog, plan: &Plan, tensors: &[Tensor]) -> Checked {
    // Searches a source's text once per kernel, however often the kernel is launched.
    let (mut known, mut uses) = (HashMap::new(), Uses::default());
    for (position, step) in plan.steps.iter().enumerate() {
        let launch = match step {
            Step::Launch(launch) => launch,
            Step::Memset { target, .. } | Step::Copy { target, .. } => {
                uses.add_target(target);
                continue;
            }
        };
        let at_step = |Invalid(what)| match &launch.place {
            place if place.is_empty() => invalid(format!("step {}: {what}", position + 1)),
            place => invalid(format!("step {}: {place}: {what}", position + 1)),
        };
        let declaration = match known.entry(&launch.kernel) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                declared(catalog, &launch.kernel).map_err(at_step)?;
                unknown.insert(Declaration::of(catalog, &launch.kernel))
            }
        };
        declaration.check(launch).map_err(|what| at_step(Invalid(what)))?;
        uses.add_launch(launch, declaration);
    }
    uses.refuse_read_only_outputs(tensors).map_err(Invalid)
}

/// Checks that a kernel's source exists and has a kernel of its name, without template arguments.
/// Compiled sources are checked when they are prepared for the device.
fn declared(catalog: &Catalog, kernel: &KernelRef) -> Checked {
    let source = catalog.sources.get(kernel.source as usize);
    let source = source.ok_or_else(|| invalid(format!("kernel `{kernel}` refers to a source that does not exist")))?;
    // The compiler finds what the text does not show.
    if !source.form.is_compiled() || makes_kernels_by_macros(source) {
        return Ok(());
    }
    let declared = declared_kernels(source);
    let template = kernel.name.split('<').next().unwrap_or_default().trim();
    let unqualified = template.rsplit("::").next().unwrap_or_default();
    if declared.iter().any(|name| name == template || name == unqualified) {
        return Ok(());
    }
    let known = if declared.is_empty() {
        "no kernels".to_owned()
    } else {
        in_backticks(declared)
    };
    Err(invalid(format!(
        "`{}` has no kernel `{kernel}`; it declares {known}",
        source.name
    )))
}

/// Refuses referee kernels from a file that also has a kernel under test. The referee runs
/// generators and references in the process that holds pristine inputs and expected outputs, and
/// the file's author could write both.
fn kernels_of_the_referee(recording: &Recording, catalog: &Catalog) -> Checked {
    let under_test: Vec<&SourceFile> = kernels(&recording.plan)
        .filter_map(|kernel| catalog.sources.get(kernel.source as usize)?.files.first())
        .collect();
    let generators = generators(recording).map(|kernel| (kernel, "generator"));
    let reference = recording.reference.plan().into_iter().flat_map(kernels);
    let mut of_referee = generators.chain(reference.map(|kernel| (kernel, "reference")));
    let shared = of_referee.find_map(|(kernel, what)| {
        let files = &catalog.sources.get(kernel.source as usize)?.files;
        let file = files.iter().find(|file| under_test.contains(file))?;
        Some((kernel, what, file))
    });
    let Some((kernel, what, file)) = shared else {
        return Ok(());
    };
    Err(invalid(format!(
        "its {what} kernel `{kernel}` is in `{}`, which also has a kernel under test; on this device, reference and generator kernels run in \
         the process that holds the expected outputs, so code in that file could read them (hint: move reference and generator kernels to a \
         separate file, which the author of the kernel under test does not write)",
        file.path
    )))
}

fn generators(recording: &Recording) -> impl Iterator<Item = &KernelRef> {
    recording.tensors.iter().filter_map(|tensor| match &tensor.fill {
        Fill::Kernel(kernel) => Some(kernel),
        _ => None,
    })
}

fn kernels(plan: &Plan) -> impl Iterator<Item = &KernelRef> {
    plan.launches().map(|launch| &launch.kernel)
}

#[cfg(test)]
mod tests;
