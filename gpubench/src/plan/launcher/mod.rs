//! The launcher, which records one call of a benchmark.

mod argument;
mod buffer;
mod grid;
mod parameter;
mod tensor_map;

pub use argument::{Arguments, KernelArg, KernelValue, Null, RecordedArgument, Unwrapped, field_name, value};
pub use buffer::{Buffer, BufferParam, Constant, In, InOut, Out, Scratch, View, WritableBuffer};
pub use grid::{Count, Dimensions, Grid};
pub use parameter::{AnyElement, Byte, ConstPointer, IntegerArg, IntegerParameter, MutPointer, integer};
pub use tensor_map::TensorMap;

use std::ops::Range;

use crate::catalog::{DeviceFacts, DeviceKind, Occupancy, OccupancyQuery, Role, Tensor};
use crate::element::{Element, type_name};
use crate::error::{Error, Result};
use crate::plan::rules::{self, StepRules};
use crate::plan::{Argument, BufferId, ConstantValue, KernelRef, Launch, Plan, Span, Step, TensorMapDescription};
use crate::source::{CudaSource, Kernel, LaunchedKernel};

/// Records one call of a benchmark: launches, memsets and copies, in order.
///
/// The tool calls the benchmark function of each case in a process without a device. The launcher
/// records each launch, memset and copy as a step of a [plan](crate::plan). Every measured call
/// replays the plan. The function must therefore record the same steps whenever the axes and the
/// [device](Launcher::device) are the same: it must not use the time, the environment or random
/// numbers.
///
/// A method fails if the device could not execute the step. The message names the problem and the
/// line; pass the error on with `?`. If the function ignores the error, the case fails anyway,
/// because a step would be missing from the plan.
#[derive(Debug)]
pub struct Launcher {
    benchmark: String,
    tensors: Vec<Tensor>,
    facts: DeviceFacts,
    occupancies: Vec<Occupancy>,
    missing_occupancy: Option<OccupancyQuery>,
    /// The first error returned to the function, even if the function ignored it.
    failed: Option<Error>,
    kernel: fn(&Kernel) -> Result<KernelRef>,
    plan: Plan,
}

impl Launcher {
    pub(crate) fn new(
        benchmark: String,
        tensors: Vec<Tensor>,
        facts: DeviceFacts,
        occupancies: Vec<Occupancy>,
        kernel: fn(&Kernel) -> Result<KernelRef>,
    ) -> Launcher {
        Launcher {
            benchmark,
            tensors,
            facts,
            occupancies,
            missing_occupancy: None,
            failed: None,
            kernel,
            plan: Plan::default(),
        }
    }

    /// Returns the plan, if no step failed.
    pub(crate) fn finish(self) -> Result<Plan> {
        self.failed.map_or(Ok(self.plan), Err)
    }

    /// Launches a kernel over a grid, with a tuple of [arguments](KernelArg).
    ///
    /// Most kernels have a function that also checks the arguments' types, as
    /// [`cuda_source!`](crate::cuda_source) describes. This method launches kernels by their names:
    /// templates, kernels of images, and those whose parameters only a compiler can read.
    ///
    /// # Errors
    /// Returns an error if the device does not support the grid, block, cluster or shared memory,
    /// or if a buffer's offset is beyond its end.
    ///
    /// ```
    /// use gpubench::prelude::*;
    /// # cuda_source!(IMAGE = "../../../doc/image.cu");
    ///
    /// fn brighten(launcher: &mut Launcher, pixels: usize, image: In<f32>, bright: Out<f32>) -> Result<()> {
    ///     launcher.launch(IMAGE.kernel("brighten"), Grid::covering(pixels, 256), (image, bright, 1.5f32, pixels))
    /// }
    /// ```
    #[track_caller]
    pub fn launch(&mut self, kernel: impl LaunchedKernel, grid: Grid, arguments: impl Arguments) -> Result<()> {
        self.launch_recorded(&kernel.kernel(), grid, Ok(arguments.arguments()))
    }

    /// Launches a kernel with arguments that may be wrong.
    #[track_caller]
    pub(crate) fn launch_recorded(
        &mut self,
        kernel: &Kernel,
        grid: Grid,
        arguments: Result<Vec<RecordedArgument>>,
    ) -> Result<()> {
        let launch = arguments.and_then(|arguments| self.described_launch(kernel, grid, arguments));
        let place = caller();
        let recorded = launch.and_then(|launch| self.record(Step::Launch(Launch { place, ..launch })));
        self.kept(recorded, format_args!("launch of `{}`", kernel.name))
    }

    /// Sets every byte of a buffer, or of a [range](Out::range) of it.
    ///
    /// # Errors
    /// Returns an error if the range is empty or out of bounds.
    #[track_caller]
    pub fn memset(&mut self, target: impl WritableBuffer, byte: u8) -> Result<()> {
        let target = span(target.view());
        let recorded = target.and_then(|target| self.record(Step::Memset { target, value: byte }));
        self.kept(recorded, "memset")
    }

    /// Copies a buffer, or a [range](In::range) of it, to another of the same size.
    ///
    /// # Errors
    /// Returns an error if a range is empty or out of bounds, or if the two overlap or differ in
    /// length.
    #[track_caller]
    pub fn copy(&mut self, from: impl Buffer, to: impl WritableBuffer) -> Result<()> {
        let step = described_copy(from.view(), to.view());
        let recorded = step.and_then(|step| self.record(step));
        self.kept(recorded, "copy")
    }

    /// Allocates temporary memory of `len` elements. It holds noise before every call.
    ///
    /// The allocation is not timed. If the call needs zeros, it must set them itself.
    ///
    /// # Errors
    /// Returns an error if `len` is zero or too large for the address space.
    #[track_caller]
    pub fn scratch<T: Element>(&mut self, len: usize) -> Result<Scratch<T>> {
        let elements = T::shape(len).elements().and_then(|elements| match elements {
            0 => Err(Error::new("0 elements are no memory to allocate")),
            elements => Ok(elements),
        });
        let elements = self.kept(elements, "scratch")?;
        let buffer = BufferId::Scratch(self.plan.scratch.len() as u32);
        self.plan.scratch.push(elements * size_of::<T>() as u64);
        Ok(Scratch::from_view(View::whole(buffer, elements, size_of::<T>())))
    }

    /// Sets a `__constant__` variable of a source. `values` has one value for each element of the
    /// variable, or one value for a scalar.
    ///
    /// The variable is written once, before the first call, and this is not timed. It must be at
    /// file scope or in a named namespace (`"filter::coefficients"`), and not `static`.
    ///
    /// # Errors
    /// Returns an error if `values` is empty or larger than the 64 KiB of constant memory, or if
    /// the variable is already set. If the source has no such variable, or one of another size, the
    /// error follows when the kernels are compiled.
    ///
    /// ```
    /// use gpubench::prelude::*;
    /// # cuda_source!(IMAGE = "../../../doc/image.cu");
    ///
    /// fn blur(launcher: &mut Launcher, pixels: usize, image: In<f32>, blurred: Out<f32>) -> Result<()> {
    ///     launcher.set_constant(&IMAGE, "weights", &[0.25f32, 0.5, 0.25])?;
    ///     launcher.launch(IMAGE.kernel("blur"), Grid::covering(pixels, 256), (image, blurred, pixels))
    /// }
    /// ```
    #[track_caller]
    pub fn set_constant<T: KernelValue>(
        &mut self,
        source: &'static CudaSource,
        symbol: &str,
        values: &[T],
    ) -> Result<()> {
        let mut bytes = vec![0; size_of_val(values)];
        for (value, bytes) in values.iter().zip(bytes.chunks_exact_mut(size_of::<T>().max(1))) {
            value.write(bytes);
        }
        let recorded = self.record_constant(source, symbol, bytes);
        self.kept(recorded, format_args!("constant `{symbol}`"))
    }

    fn record_constant(&mut self, source: &'static CudaSource, symbol: &str, bytes: Vec<u8>) -> Result<()> {
        let constant = ConstantValue {
            source: (self.kernel)(&source.kernel(symbol))?.source,
            symbol: symbol.to_owned(),
            bytes,
        };
        let known = self.plan.constants.iter();
        let mut known = known.map(|known| (known.source, &*known.symbol)).collect();
        rules::check_constant(&constant, &mut known)?;
        self.plan.constants.push(constant);
        Ok(())
    }

    /// Returns how many blocks of a kernel are resident on a multiprocessor at once. Each block has
    /// `threads` threads and `dynamic_shared` bytes of dynamic shared memory. Use the number as the
    /// grid size of a persistent kernel. On the CPU device it is 1.
    ///
    /// The kernel must be compiled first. If the number is not known yet, this method returns an
    /// error; pass the error on with `?`. The tool then compiles the kernel, discards the recording
    /// and calls the function again.
    ///
    /// # Errors
    /// Returns an error if the number is not known yet, or if the device does not support the
    /// block.
    ///
    /// ```
    /// use gpubench::prelude::*;
    /// # cuda_source!(IMAGE = "../../../doc/image.cu");
    ///
    /// fn persistent(launcher: &mut Launcher, pixels: usize, image: In<f32>, bright: Out<f32>) -> Result<()> {
    ///     let kernel = IMAGE.kernel("brighten_all");
    ///     let resident = launcher.device().multiprocessors * launcher.occupancy(&kernel, 256, 0)?;
    ///     launcher.launch(kernel, Grid::new(resident, 256), (image, bright, pixels))
    /// }
    /// ```
    #[track_caller]
    pub fn occupancy(&mut self, kernel: &Kernel, threads: u32, dynamic_shared: usize) -> Result<u32> {
        let query = self.check_occupancy(kernel, threads, dynamic_shared);
        let what = format!("occupancy of `{}`", kernel.name);
        let query = self.kept(query, &what)?;
        if self.facts.kind == DeviceKind::Cpu {
            return Ok(1);
        }
        let known = self.occupancies.iter().find(|known| known.query == query);
        if let Some(known) = known {
            return Ok(known.blocks);
        }
        self.missing_occupancy.get_or_insert(query);
        self.kept(Err(Error::new("it is not known yet")), what)
    }

    fn check_occupancy(&self, kernel: &Kernel, threads: u32, dynamic_shared: usize) -> Result<OccupancyQuery> {
        rules::check_block([threads.into(), 1, 1], &self.facts)?;
        Ok(OccupancyQuery {
            kernel: (self.kernel)(kernel)?,
            threads,
            dynamic_shared: rules::check_shared(dynamic_shared as u64, &self.facts)?,
        })
    }

    /// Returns the first occupancy that the function queried and that is not known.
    pub(crate) fn missing_occupancy(&self) -> Option<OccupancyQuery> {
        self.missing_occupancy.clone()
    }

    /// Returns an error that skips the case, with the reason:
    /// `return Err(launcher.skip("the tile does not fit"))`. See [`Error::skip`].
    pub fn skip(&self, reason: impl std::fmt::Display) -> Error {
        Error::skip(reason)
    }

    /// Returns the properties of the device that the plan is for, such as its number of
    /// multiprocessors.
    pub fn device(&self) -> &DeviceFacts {
        &self.facts
    }

    /// Returns the buffer for the parameter `name` of a benchmark function.
    pub(crate) fn buffer<B: BufferParam>(&self, name: &str, place: &str) -> Result<B> {
        declared(&self.tensors, name).map_err(|error| error.context(format!("{place}: `{}`", self.benchmark)))
    }

    /// Returns the result of a method. Adds the caller's location to an error, and keeps the first
    /// one.
    #[track_caller]
    fn kept<T>(&mut self, returned: Result<T>, what: impl std::fmt::Display) -> Result<T> {
        let error = match returned {
            Ok(value) => return Ok(value),
            Err(error) => error.context(format!("{}: `{}`: {what}", caller(), self.benchmark)),
        };
        self.failed.get_or_insert_with(|| error.clone());
        Err(error)
    }

    /// Checks a step and adds it to the plan.
    fn record(&mut self, step: Step) -> Result<()> {
        let rules = StepRules {
            tensors: &self.tensors,
            scratch: &self.plan.scratch,
            facts: &self.facts,
        };
        rules::check_length(self.plan.steps.len() + 1)?;
        rules.check(&step)?;
        self.plan.steps.push(step);
        Ok(())
    }

    fn described_launch(&self, kernel: &Kernel, grid: Grid, arguments: Vec<RecordedArgument>) -> Result<Launch> {
        let types = arguments.iter().map(RecordedArgument::type_in_rust).collect();
        let arguments = arguments.into_iter().enumerate();
        let arguments = arguments.map(|(position, argument)| {
            described_argument(argument).map_err(|error| error.context(format!("argument {}", position + 1)))
        });
        // Before the grid: no grid covers anything with blocks that have no threads.
        let block = rules::check_block(grid.threads, &self.facts)?;
        Ok(Launch {
            kernel: (self.kernel)(kernel)?,
            grid: rules::check_grid(grid.blocks, &self.facts)?,
            block,
            cluster: rules::check_cluster(grid.cluster, grid.blocks, &self.facts)?,
            dynamic_shared: rules::check_shared(grid.shared, &self.facts)?,
            cooperation: grid.cooperation,
            dependence: grid.dependence,
            arguments: arguments.collect::<Result<_>>()?,
            types,
            place: String::new(),
        })
    }
}

/// Returns the location of the user's call, as `file:line`.
#[track_caller]
pub(crate) fn caller() -> String {
    let caller = std::panic::Location::caller();
    format!("{}:{}", caller.file(), caller.line())
}

fn described_argument(argument: RecordedArgument) -> Result<Argument> {
    match argument {
        RecordedArgument::Value(bytes, _) => Ok(Argument::Value(bytes)),
        RecordedArgument::Pointer(view, _) => Ok(Argument::Pointer {
            buffer: view.buffer,
            offset: start_of(view)?,
        }),
        RecordedArgument::TensorMap(view, map) => {
            check_mapped(view, &map).map_err(|error| error.context("tensor map"))?;
            Ok(Argument::TensorMap {
                buffer: view.buffer,
                offset: start_of(view)?,
                map,
            })
        }
    }
}

/// A plan does not know the element type of a tensor map's buffer, so compare it here.
fn check_mapped(view: View, map: &TensorMapDescription) -> Result<()> {
    if map.element.size() != view.element_size {
        let (of_map, of_buffer) = (map.element.size(), view.element_size);
        return Err(Error::new(format!(
            "its elements have {of_map} bytes, the buffer's have {of_buffer}"
        )));
    }
    map.check(start_of(view)?, view.end * view.element_size)
}

/// Returns the error for an unknown tensor name.
pub(crate) fn no_tensor(name: &str, names: &[&str]) -> Error {
    let hint = match nearest(name, names) {
        Some(near) => format!(" (hint: did you mean `{near}`?)"),
        None => String::new(),
    };
    let known = match names {
        [] => "there are no tensors".to_owned(),
        names => format!("the tensors are `{}`", names.join("`, `")),
    };
    Error::new(format!("no tensor is called `{name}`: {known}{hint}"))
}

/// Returns the most similar name, if it is similar enough.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let distances = known.iter().map(|known| (distance(name, known), *known));
    let (distance, near) = distances.min_by_key(|(distance, _)| *distance)?;
    let length = name.chars().count();
    let is_part = near.contains(name) || name.contains(near);
    (is_part || distance < length && distance <= length.div_ceil(2)).then_some(near)
}

/// Returns the edit distance of two names, in characters.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (position, character) in one.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = position + 1;
        for at in 0..other.len() {
            let changed = diagonal + usize::from(character != other[at]);
            diagonal = row[at + 1];
            row[at + 1] = changed.min(row[at] + 1).min(row[at + 1] + 1);
        }
    }
    row[other.len()]
}

/// Returns the tensor `name` as a parameter of type `B`.
pub(crate) fn declared<B: BufferParam>(tensors: &[Tensor], name: &str) -> Result<B> {
    let position = tensors.iter().position(|tensor| tensor.name == name).ok_or_else(|| {
        let names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
        no_tensor(name, &names)
    })?;
    let tensor = &tensors[position];
    let is_of_type = match (&tensor.record, B::Element::RECORD) {
        (None, None) => tensor.dtype == B::Element::DTYPE,
        (Some(record), Some(own)) => own.is(record),
        _ => false,
    };
    if tensor.role != B::ROLE || !is_of_type {
        let wanted = format!("`{}<{}>`", B::TYPE, type_name::<B::Element>());
        let declared = format!("`{}<{}>`", type_of(tensor.role), tensor.item_type());
        return Err(Error::new(format!(
            "the parameter `{name}` is {wanted}, but the tensor is declared as {declared}"
        )));
    }
    Ok(B::from_view(View::whole(
        BufferId::Tensor(position as u32),
        tensor.items(),
        size_of::<B::Element>(),
    )))
}

/// Returns a view's tensor and the offset of its first byte.
pub(crate) fn place(view: View) -> Result<(usize, u64)> {
    if !view.inside {
        return Err(outside(view));
    }
    match view.buffer {
        BufferId::Tensor(position) => Ok((position as usize, view.start * view.element_size)),
        BufferId::Scratch(_) => Err(Error::new("scratch of a launcher has no address here")),
    }
}

/// Returns a view's tensor and its range of elements, if it is in bounds.
pub(crate) fn part_of_tensor(view: View) -> Result<(u32, Range<u64>)> {
    start_of(view)?;
    match view.buffer {
        BufferId::Tensor(position) => Ok((position, view.start..view.end)),
        BufferId::Scratch(_) => Err(Error::new("scratch of a launcher is no tensor")),
    }
}

/// Returns the byte range of a view, if it is in bounds.
fn span(view: View) -> Result<Span> {
    Ok(Span {
        buffer: view.buffer,
        offset: start_of(view)?,
        len: (view.end - view.start) * view.element_size,
    })
}

fn described_copy(from: View, to: View) -> Result<Step> {
    Ok(Step::Copy {
        source: span(from).map_err(|error| error.context("source"))?,
        target: span(to).map_err(|error| error.context("target"))?,
    })
}

/// Returns the offset of a view's first byte, if the view is in bounds.
fn start_of(view: View) -> Result<u64> {
    if view.inside {
        Ok(view.start * view.element_size)
    } else {
        Err(outside(view))
    }
}

fn outside(view: View) -> Error {
    let (start, end) = (view.start, view.end);
    Error::new(format!(
        "elements {start}..{end} are outside of the buffer or range; the buffer has {} elements",
        view.elements
    ))
}

/// Returns the buffer type for a role.
pub(crate) fn type_of(role: Role) -> &'static str {
    match role {
        Role::Input => "In",
        Role::Constant => "Constant",
        Role::Output => "Out",
        Role::InOut => "InOut",
        Role::Scratch => "Scratch",
    }
}

#[cfg(test)]
mod tests;
