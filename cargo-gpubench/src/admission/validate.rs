//! Validation of a recording before anything is built from it.
//!
//! The rules of every plan are in the runtime, and checked here again: the process that recorded it
//! runs user code. What the broker alone knows is here: which kernels there are, how much it can
//! hold, and who may run what.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use super::arguments;
use gpubench::catalog::{Catalog, DeviceFacts, Fill, Recording, SourceFile, Tensor};
use gpubench::plan::{KernelRef, Plan, Step};

use gpubench_device::KernelHost;
use gpubench_device::compilers::{declared_kernels, makes_kernels_by_macros};
use gpubench_diagnostic::in_backticks;
use gpubench_protocol::window::CodePlacement;
use gpubench_protocol::wire::{MAX_BUFFERS, MAX_OUTPUTS, MAX_SOURCES};

/// Largest total of a case's tensors and scratch in bytes: what a 64-bit address space can
/// certainly map several times over.
const MAX_CASE_BYTES: u64 = 1 << 42;

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
pub fn validate(placement: &CodePlacement<'_>, catalog: &Catalog, facts: &DeviceFacts) -> Checked {
    let recording = placement.recording;
    gpubench::plan::check(recording, facts).map_err(|error| invalid(error.to_string()))?;
    size(recording)?;
    for tensor in &recording.tensors {
        if let Fill::Kernel(kernel) = &tensor.fill {
            declared(catalog, kernel).map_err(|Invalid(what)| invalid(format!("tensor `{}`: {what}", tensor.name)))?;
        }
    }
    declared_by_plan(catalog, &recording.plan)?;
    if let Some(plan) = recording.reference.plan() {
        declared_by_plan(catalog, plan).map_err(|Invalid(what)| invalid(format!("its reference: {what}")))?;
    }
    match placement.home {
        KernelHost::Referee => kernels_of_the_referee(recording, catalog),
        KernelHost::Author => Ok(()),
    }
}

/// Bytes that a case takes on the device and beside it: every tensor as often as the roles hold it,
/// and scratch.
pub fn memory_needed(placement: &CodePlacement<'_>) -> u64 {
    let recording = placement.recording;
    let of = |tensor: &Tensor| tensor.bytes().saturating_mul(placement.copies(tensor));
    let tensors = recording.tensors.iter().map(of);
    tensors.chain(scratch(recording)).fold(0, u64::saturating_add)
}

/// Bytes of every scratch allocation, those of the reference among them.
fn scratch(recording: &Recording) -> impl Iterator<Item = u64> {
    plans(recording).flat_map(|plan| plan.scratch.iter().copied())
}

fn plans(recording: &Recording) -> impl Iterator<Item = &Plan> {
    std::iter::once(&recording.plan).chain(recording.reference.plan())
}

/// The broker holds descriptors of every buffer and module, and the shared page has room for so
/// many outputs.
fn size(recording: &Recording) -> Checked {
    let tensors = &recording.tensors;
    let bytes = tensors.iter().map(Tensor::bytes).chain(scratch(recording));
    let total = bytes.fold(0, u64::saturating_add);
    let outputs = tensors.iter().filter(|tensor| tensor.role.is_output()).count();
    let buffers = tensors.len() + scratch(recording).count();
    let launched = plans(recording).flat_map(kernels).chain(generators(recording));
    let sources = launched.map(|kernel| kernel.source).collect::<BTreeSet<_>>().len();
    match () {
        () if total > MAX_CASE_BYTES => Err(invalid(format!("its tensors and scratch have {total} bytes together"))),
        () if outputs > MAX_OUTPUTS => Err(invalid(format!(
            "it has {outputs} outputs; at most {MAX_OUTPUTS} are possible"
        ))),
        () if buffers > MAX_BUFFERS => Err(invalid(format!(
            "it has {buffers} tensors and scratch allocations; at most {MAX_BUFFERS} are possible"
        ))),
        () if sources > MAX_SOURCES => Err(invalid(format!(
            "its kernels come from {sources} sources; at most {MAX_SOURCES} are possible"
        ))),
        () => Ok(()),
    }
}

fn declared_by_plan(catalog: &Catalog, plan: &Plan) -> Checked {
    // A source's text is looked through once for each of its kernels, however often that is
    // launched.
    let mut known = HashMap::new();
    for (position, step) in plan.steps.iter().enumerate() {
        let Step::Launch(launch) = step else { continue };
        let at_step = |Invalid(what)| match &launch.place {
            place if place.is_empty() => invalid(format!("step {}: {what}", position + 1)),
            place => invalid(format!("step {}: {place}: {what}", position + 1)),
        };
        let parameters = match known.entry(&launch.kernel) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                declared(catalog, &launch.kernel).map_err(at_step)?;
                unknown.insert(arguments::parameters_of(catalog, &launch.kernel))
            }
        };
        if let Some(parameters) = parameters {
            arguments::fit(launch, parameters).map_err(|what| at_step(Invalid(what)))?;
        }
    }
    Ok(())
}

/// The source must be one of the crate's, and have a kernel of the name before any template
/// arguments. What is compiled already is looked into when it is made ready for the device.
fn declared(catalog: &Catalog, kernel: &KernelRef) -> Checked {
    let source = catalog.sources.get(kernel.source as usize);
    let source = source.ok_or_else(|| invalid(format!("kernel `{kernel}` names a source that does not exist")))?;
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
    let known = match declared.is_empty() {
        true => "no kernels".to_owned(),
        false => in_backticks(declared),
    };
    Err(invalid(format!(
        "`{}` has no kernel `{kernel}`; it declares {known}",
        source.name
    )))
}

/// The referee runs generators and references in the process that holds pristine and expected
/// outputs. So it runs no kernel from a file that also has a kernel under test: its author could
/// write both.
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
        "its {what} kernel `{kernel}` is compiled from `{}`, where a kernel under test stands; on this device the referee runs it beside the \
         expected outputs (hint: put reference and generator kernels in a file of their own, which whoever is graded does not write)",
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
