//! Recording what one call of a benchmark does.

mod argument;
mod buffer;
mod grid;
mod tensor_map;

pub use argument::{Arguments, KernelArg, KernelValue, Null, RecordedArgument};
pub use buffer::{Buffer, BufferParam, Constant, In, InOut, Out, Scratch, View, WritableBuffer};
pub use grid::{Count, Dimensions, Grid};
pub use tensor_map::TensorMap;

use crate::catalog::{DeviceFacts, DeviceKind, Occupancy, OccupancyQuery, Role, Tensor};
use crate::element::Element;
use crate::error::{Error, Result};
use crate::plan::{
    Argument, BufferId, ConstantValue, Dependence, KernelRef, Launch, Plan, Span, Step, TensorMapDescription,
};
use crate::source::{CudaSource, Kernel};

/// Bytes of constant memory.
const CONSTANT_MEMORY: usize = 64 << 10;

/// What a benchmark function describes its call to: launches, memsets and copies, in order.
///
/// Nothing runs while the function does. It is called for each case in a process without a device, and what it tells the launcher is written
/// down as a plan, which is replayed for every measured call. So a benchmark function must say the same whenever it is called with the same
/// axes for the same [device](Launcher::device): it must not consult the clock, the environment or random numbers.
///
/// Every method fails on what the device could not do, with a message that says what and where; pass it on with `?`.
#[derive(Debug)]
pub struct Launcher {
    benchmark: String,
    tensors: Vec<Tensor>,
    facts: DeviceFacts,
    occupancies: Vec<Occupancy>,
    missing_occupancy: Option<OccupancyQuery>,
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
            kernel,
            plan: Plan::default(),
        }
    }

    pub(crate) fn finish(self) -> Plan {
        self.plan
    }

    /// Launches a kernel over a grid, with a tuple of [arguments](KernelArg).
    ///
    /// # Errors
    /// A grid, block, cluster or shared memory that the device does not have, and a buffer's offset beyond its end.
    ///
    /// ```
    /// use gpubench::prelude::*;
    /// # cuda_source!(IMAGE = "../../../doc/image.cu");
    ///
    /// fn brighten(cx: &mut Launcher, pixels: usize, image: In<f32>, bright: Out<f32>) -> Result<()> {
    ///     cx.launch(IMAGE.kernel("brighten"), Grid::covering(pixels, 256), (image, bright, 1.5f32, pixels))
    /// }
    /// ```
    pub fn launch(&mut self, kernel: Kernel, grid: Grid, arguments: impl Arguments) -> Result<()> {
        let launch = self.check_launch(&kernel, grid, arguments);
        let launch = launch.map_err(|error| self.locate(error, format!("launch of `{}`", kernel.name)))?;
        self.plan.steps.push(Step::Launch(launch));
        Ok(())
    }

    /// Sets every byte of a buffer, or of a [range](Out::range) of it.
    ///
    /// # Errors
    /// A range that leaves its buffer or is empty.
    pub fn memset(&mut self, target: impl WritableBuffer, byte: u8) -> Result<()> {
        let target = span(target.view()).map_err(|error| self.locate(error, "memset"))?;
        self.plan.steps.push(Step::Memset { target, value: byte });
        Ok(())
    }

    /// Copies a buffer, or a [range](In::range) of it, onto another with as many bytes.
    ///
    /// # Errors
    /// Ranges that leave their buffers, are empty, overlap or differ in length.
    pub fn copy(&mut self, from: impl Buffer, to: impl WritableBuffer) -> Result<()> {
        let step = check_copy(from.view(), to.view()).map_err(|error| self.locate(error, "copy"))?;
        self.plan.steps.push(step);
        Ok(())
    }

    /// Memory of `len` elements for the call's own use; it holds noise before every call.
    ///
    /// It exists before the call is timed. What the call needs to be zero, the call sets to zero.
    ///
    /// # Errors
    /// No elements, or more than memory can hold.
    pub fn scratch<T: Element>(&mut self, len: usize) -> Result<Scratch<T>> {
        let elements = T::shape(len)
            .elements()
            .map_err(|error| self.locate(error, "scratch"))?;
        let buffer = BufferId::Scratch(self.plan.scratch.len() as u32);
        self.plan.scratch.push(elements * size_of::<T>() as u64);
        Ok(Scratch::from_view(View::whole(buffer, elements, size_of::<T>())))
    }

    /// Gives a `__constant__` variable of a source its value: as many elements as the variable has, one for a scalar.
    ///
    /// It is written once, before the first call, and is no part of what is timed. The variable stands at file scope or in a named namespace
    /// (`"filter::coefficients"`) and is not `static`.
    ///
    /// # Errors
    /// No elements, more than the 64 KiB that constant memory has, and a variable that was given a value before. Whether the source has the
    /// variable, with as many bytes, shows when the plan meets the compiled kernels.
    ///
    /// ```
    /// use gpubench::prelude::*;
    /// # cuda_source!(IMAGE = "../../../doc/image.cu");
    ///
    /// fn blur(cx: &mut Launcher, pixels: usize, image: In<f32>, blurred: Out<f32>) -> Result<()> {
    ///     cx.set_constant(&IMAGE, "weights", &[0.25f32, 0.5, 0.25])?;
    ///     cx.launch(IMAGE.kernel("blur"), Grid::covering(pixels, 256), (image, blurred, pixels))
    /// }
    /// ```
    pub fn set_constant<T: KernelValue>(
        &mut self,
        source: &'static CudaSource,
        symbol: &str,
        values: &[T],
    ) -> Result<()> {
        let constant = self.check_constant(source, symbol, values);
        let constant = constant.map_err(|error| self.locate(error, format!("constant `{symbol}`")))?;
        self.plan.constants.push(constant);
        Ok(())
    }

    fn check_constant<T: KernelValue>(
        &self,
        source: &'static CudaSource,
        symbol: &str,
        values: &[T],
    ) -> Result<ConstantValue> {
        let mut bytes = vec![0; size_of_val(values)];
        for (value, bytes) in values.iter().zip(bytes.chunks_exact_mut(size_of::<T>().max(1))) {
            value.write(bytes);
        }
        if bytes.is_empty() || bytes.len() > CONSTANT_MEMORY {
            return Err(Error::new(format!(
                "the value has {} bytes; 1 to {CONSTANT_MEMORY} are possible",
                bytes.len()
            )));
        }
        let source = (self.kernel)(&source.kernel(symbol))?.source;
        let known = |constant: &ConstantValue| constant.source == source && constant.symbol == symbol;
        match self.plan.constants.iter().any(known) {
            true => Err(Error::new("it has a value already")),
            false => Ok(ConstantValue {
                source,
                symbol: symbol.to_owned(),
                bytes,
            }),
        }
    }

    /// How many blocks of a kernel are resident on a multiprocessor at once, with `threads` threads and `dynamic_shared` bytes of dynamic shared
    /// memory each: what a persistent kernel sizes its grid by. The CPU device says 1.
    ///
    /// The kernel must be compiled for that. Where the answer is not known yet this is an error, the function is called again once it is, and
    /// what it did before is forgotten; pass the error on with `?`.
    ///
    /// # Errors
    /// When the answer is not known yet, and on a block that the device does not have.
    ///
    /// ```
    /// use gpubench::prelude::*;
    /// # cuda_source!(IMAGE = "../../../doc/image.cu");
    ///
    /// fn persistent(cx: &mut Launcher, pixels: usize, image: In<f32>, bright: Out<f32>) -> Result<()> {
    ///     let kernel = IMAGE.kernel("brighten_all");
    ///     let resident = cx.device().multiprocessors * cx.occupancy(&kernel, 256, 0)?;
    ///     cx.launch(kernel, Grid::new(resident, 256), (image, bright, pixels))
    /// }
    /// ```
    pub fn occupancy(&mut self, kernel: &Kernel, threads: u32, dynamic_shared: usize) -> Result<u32> {
        let query = self.check_occupancy(kernel, threads, dynamic_shared);
        let what = format!("occupancy of `{}`", kernel.name);
        let query = query.map_err(|error| self.locate(error, &what))?;
        if self.facts.kind == DeviceKind::Cpu {
            return Ok(1);
        }
        let known = self.occupancies.iter().find(|known| known.query == query);
        if let Some(known) = known {
            return Ok(known.blocks);
        }
        self.missing_occupancy.get_or_insert(query);
        Err(self.locate(Error::new("it is not known yet"), what))
    }

    fn check_occupancy(&self, kernel: &Kernel, threads: u32, dynamic_shared: usize) -> Result<OccupancyQuery> {
        let grid = Grid::new(1, threads).shared(dynamic_shared);
        self.check_block(&grid)?;
        Ok(OccupancyQuery {
            kernel: (self.kernel)(kernel)?,
            threads,
            dynamic_shared: self.check_shared(&grid)?,
        })
    }

    /// The occupancy that the function asked for first and that is not known.
    pub(crate) fn missing_occupancy(&self) -> Option<OccupancyQuery> {
        self.missing_occupancy.clone()
    }

    /// The device that the plan is for: how many multiprocessors, how much shared memory.
    pub fn device(&self) -> &DeviceFacts {
        &self.facts
    }

    /// The buffer that stands in a benchmark function's parameters under `name`.
    pub(crate) fn buffer<B: BufferParam>(&self, name: &str) -> Result<B> {
        declared(&self.tensors, name).map_err(|error| self.locate(error, "parameters"))
    }

    fn locate(&self, error: Error, what: impl std::fmt::Display) -> Error {
        error.context(format!("`{}`: {what}", self.benchmark))
    }

    fn check_launch(&self, kernel: &Kernel, grid: Grid, arguments: impl Arguments) -> Result<Launch> {
        if kernel.name.trim().is_empty() {
            return Err(Error::new("the kernel has no name"));
        }
        let arguments = arguments.arguments().into_iter().enumerate();
        let arguments = arguments.map(|(position, argument)| {
            self.check_argument(argument)
                .map_err(|error| error.context(format!("argument {}", position + 1)))
        });
        Ok(Launch {
            kernel: (self.kernel)(kernel)?,
            grid: self.check_grid(&grid)?,
            block: self.check_block(&grid)?,
            cluster: self.check_cluster(&grid)?,
            dynamic_shared: self.check_shared(&grid)?,
            cooperation: grid.cooperation,
            dependence: self.check_dependence(&grid)?,
            arguments: arguments.collect::<Result<_>>()?,
        })
    }

    fn check_argument(&self, argument: RecordedArgument) -> Result<Argument> {
        match argument {
            RecordedArgument::Value(bytes) => Ok(Argument::Value(bytes)),
            RecordedArgument::Pointer(view) => Ok(Argument::Pointer {
                buffer: view.buffer,
                offset: start_of(view)?,
            }),
            RecordedArgument::TensorMap(view, map) => {
                self.check_tensor_map(view, &map)
                    .map_err(|error| error.context("tensor map"))?;
                Ok(Argument::TensorMap {
                    buffer: view.buffer,
                    offset: start_of(view)?,
                    map,
                })
            }
        }
    }

    fn check_tensor_map(&self, view: View, map: &TensorMapDescription) -> Result<()> {
        if self.facts.capability < 90 {
            let name = &self.facts.name;
            return Err(Error::new(format!(
                "`{name}` has no tensor maps: they need compute capability 9.0"
            )));
        }
        if map.element.size() != view.element_size {
            let (of_map, of_buffer) = (map.element.size(), view.element_size);
            return Err(Error::new(format!(
                "its elements have {of_map} bytes, and the buffer's have {of_buffer}"
            )));
        }
        map.check(start_of(view)?, view.end * view.element_size)
    }

    fn check_grid(&self, grid: &Grid) -> Result<[u32; 3]> {
        let shown = shape(grid.blocks);
        if grid.blocks.iter().any(|&blocks| blocks < 1) {
            return Err(Error::new(format!("a grid of {shown} has no blocks")));
        }
        narrow(grid.blocks, self.facts.max_grid).ok_or_else(|| {
            Error::new(format!(
                "a grid of {shown} blocks is larger than {}, the device's largest",
                sizes(self.facts.max_grid)
            ))
        })
    }

    fn check_block(&self, grid: &Grid) -> Result<[u32; 3]> {
        let shown = shape(grid.threads);
        if grid.threads.iter().any(|&threads| threads < 1) {
            return Err(Error::new(format!("a block of {shown} has no threads")));
        }
        let block = narrow(grid.threads, self.facts.max_block).ok_or_else(|| {
            Error::new(format!(
                "a block of {shown} threads is larger than {}, the device's largest",
                sizes(self.facts.max_block)
            ))
        })?;
        let threads: u64 = block.iter().map(|&threads| u64::from(threads)).product();
        if threads > self.facts.max_threads_per_block.into() {
            return Err(Error::new(format!(
                "a block of {shown} has {threads} threads, more than the device's {}",
                self.facts.max_threads_per_block
            )));
        }
        Ok(block)
    }

    fn check_cluster(&self, grid: &Grid) -> Result<[u32; 3]> {
        if grid.cluster == [1; 3] {
            return Ok([1; 3]);
        }
        if self.facts.capability < 90 {
            return Err(Error::new(format!(
                "`{}` has no clusters: they need compute capability 9.0",
                self.facts.name
            )));
        }
        let shown = shape(grid.cluster);
        let cluster = narrow(grid.cluster, [16; 3]).filter(|cluster| cluster.iter().product::<u32>() <= 16);
        let cluster =
            cluster.ok_or_else(|| Error::new(format!("a cluster of {shown} is not one of 1 to 16 blocks")))?;
        if (0..3).any(|axis| grid.blocks[axis] % grid.cluster[axis] != 0) {
            let blocks = shape(grid.blocks);
            return Err(Error::new(format!(
                "a grid of {blocks} blocks does not divide into clusters of {shown}"
            )));
        }
        Ok(cluster)
    }

    fn check_shared(&self, grid: &Grid) -> Result<u32> {
        let most = self.facts.shared_per_block_optin.max(self.facts.shared_per_block);
        u32::try_from(grid.shared)
            .ok()
            .filter(|&shared| u64::from(shared) <= most)
            .ok_or_else(|| {
                Error::new(format!(
                    "{} bytes of shared memory for a block are more than the device's {most}",
                    grid.shared
                ))
            })
    }

    fn check_dependence(&self, grid: &Grid) -> Result<Dependence> {
        let needs_capability = grid.dependence == Dependence::Programmatic && self.facts.kind == DeviceKind::Cuda;
        if needs_capability && self.facts.capability < 90 {
            let name = &self.facts.name;
            return Err(Error::new(format!(
                "`{name}` has no programmatic launches: they need compute capability 9.0"
            )));
        }
        Ok(grid.dependence)
    }
}

/// The tensor called `name` as a parameter of type `B`.
pub(crate) fn declared<B: BufferParam>(tensors: &[Tensor], name: &str) -> Result<B> {
    let position = tensors.iter().position(|tensor| tensor.name == name).ok_or_else(|| {
        let names: Vec<String> = tensors.iter().map(|tensor| format!("`{}`", tensor.name)).collect();
        Error::new(format!(
            "the parameter `{name}` is a buffer, but the tensors are {}",
            names.join(", ")
        ))
    })?;
    let tensor = &tensors[position];
    if tensor.role != B::ROLE || tensor.dtype != B::Element::DTYPE {
        let wanted = format!("`{}<{}>`", B::TYPE, B::Element::DTYPE);
        let declared = format!("`{}<{}>`", type_of(tensor.role), tensor.dtype);
        return Err(Error::new(format!(
            "the parameter `{name}` is {wanted}, but the tensor is declared as {declared}"
        )));
    }
    Ok(B::from_view(View::whole(
        BufferId::Tensor(position as u32),
        tensor.elements(),
        tensor.dtype.size(),
    )))
}

/// Where a view lies: the position of its tensor and its first byte there.
pub(crate) fn place(view: View) -> Result<(usize, u64)> {
    if !view.inside {
        return Err(outside(view));
    }
    match view.buffer {
        BufferId::Tensor(position) => Ok((position as usize, view.start * view.element_size)),
        BufferId::Scratch(_) => Err(Error::new("scratch of a launcher has no address here")),
    }
}

/// The range in bytes of a view that is inside its buffer and not empty.
fn span(view: View) -> Result<Span> {
    if !view.inside {
        return Err(outside(view));
    }
    let len = (view.end - view.start) * view.element_size;
    if len == 0 {
        return Err(Error::new("the range is empty"));
    }
    Ok(Span {
        buffer: view.buffer,
        offset: view.start * view.element_size,
        len,
    })
}

/// The first byte of a view that is inside its buffer.
fn start_of(view: View) -> Result<u64> {
    match view.inside {
        true => Ok(view.start * view.element_size),
        false => Err(outside(view)),
    }
}

fn check_copy(from: View, to: View) -> Result<Step> {
    let source = span(from).map_err(|error| error.context("source"))?;
    let target = span(to).map_err(|error| error.context("target"))?;
    if source.len != target.len {
        return Err(Error::new(format!(
            "the source has {} bytes and the target {}",
            source.len, target.len
        )));
    }
    let apart = source.offset + source.len <= target.offset || target.offset + target.len <= source.offset;
    if source.buffer == target.buffer && !apart {
        return Err(Error::new("the source and the target overlap"));
    }
    Ok(Step::Copy { source, target })
}

fn outside(view: View) -> Error {
    let (start, end) = (view.start, view.end);
    Error::new(format!(
        "elements {start}..{end} are not inside the buffer or range they are taken from; the buffer has {}",
        view.elements
    ))
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

fn sizes(sizes: [u32; 3]) -> String {
    shape(sizes.map(i128::from))
}

/// The buffer type of a role.
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
