//! Launching a plan of the suite from host code.

use std::collections::HashMap;
use std::ffi::c_void;

use gpubench::abi::{Bytes, Sink, Status, gpubench_abi_v1};
use gpubench::catalog::{AxisValue, Catalog, Occupancy, OccupancyQuery, RecordRequest, Recording};
use gpubench::codec::{Decode, decode, encode};
use gpubench::plan::{Argument, BufferId, KernelRef, Launch, Plan, Span, Step};
use gpubench::prelude::*;

use crate::driver::{self, Handle};
use crate::images::Image;

/// The library with the sealed benchmarks.
const SUITE: &str = "gpubench_problems";

/// Declares the launches of a sealed benchmark's plan as the call of a hosted one. `axes` are the
/// axis values of the case, and `tensors` the addresses of its tensors.
pub(crate) fn twin(host: &mut Host, sealed: &str, axes: &[(&str, usize)], tensors: &[(&str, u64)]) -> Result<()> {
    let (_, catalog) = asked(|sink| {
        // SAFETY: the sink takes bytes for the duration of the call.
        unsafe { ((*gpubench_abi_v1()).catalog)(sink) }
    })?;
    let mut kernels = Kernels {
        catalog: decoded(&catalog)?,
        loaded: HashMap::new(),
    };
    let recording = kernels.record(sealed, axes, host)?;
    let address = |name: &String| {
        tensors
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, address)| *address)
    };
    let missing = || Error::new(format!("the twin of `{sealed}` lacks a tensor"));
    let named: Option<Vec<u64>> = recording.tensors.iter().map(|tensor| address(&tensor.name)).collect();
    let buffers = Buffers {
        tensors: named.ok_or_else(missing)?,
        scratch: recording
            .plan
            .scratch
            .iter()
            .map(|bytes| driver::allocate(*bytes))
            .collect::<Result<_>>()?,
    };
    let work = kernels.prepare(recording.plan, &buffers)?;
    let stream = Handle(host.stream());
    host.call(move || work.iter().try_for_each(|work| work.queue(stream)))
}

/// A step, ready to be queued.
enum Work {
    Launch(Handle, Launch, Vec<Vec<u8>>),
    Set(u64, u8, u64),
    Copy(u64, u64, u64),
}

impl Work {
    fn queue(&self, stream: Handle) -> Result<()> {
        match self {
            Work::Launch(function, launch, arguments) => driver::launch(*function, launch, arguments, stream),
            Work::Set(address, value, bytes) => driver::set(*address, *value, *bytes, stream),
            Work::Copy(target, source, bytes) => driver::copy(*target, *source, *bytes, stream),
        }
    }
}

/// The addresses of a plan's buffers.
struct Buffers {
    tensors: Vec<u64>,
    scratch: Vec<u64>,
}

impl Buffers {
    fn address(&self, buffer: BufferId, offset: u64) -> u64 {
        offset
            + match buffer {
                BufferId::Tensor(position) => self.tensors[position as usize],
                BufferId::Scratch(position) => self.scratch[position as usize],
            }
    }

    fn start(&self, span: &Span) -> u64 {
        self.address(span.buffer, span.offset)
    }

    fn argument(&self, argument: &Argument) -> Result<Vec<u8>> {
        match argument {
            Argument::Pointer { buffer, offset } => Ok(self.address(*buffer, *offset).to_le_bytes().to_vec()),
            Argument::Value(bytes) => Ok(bytes.clone()),
            Argument::TensorMap { buffer, offset, map } => driver::tensor_map(self.address(*buffer, *offset), map),
        }
    }
}

/// The kernels of the suite.
struct Kernels {
    catalog: Catalog,
    /// Images and modules, indexed by source.
    loaded: HashMap<u32, (Image, Handle)>,
}

impl Kernels {
    fn function(&mut self, kernel: &KernelRef) -> Result<Handle> {
        if !self.loaded.contains_key(&kernel.source) {
            let image = Image::from_source(&self.catalog.sources[kernel.source as usize].name)?;
            let module = driver::load(image.code)?;
            self.loaded.insert(kernel.source, (image, module));
        }
        let (image, module) = &self.loaded[&kernel.source];
        driver::function(*module, image.symbol(&kernel.name))
    }

    /// Records a benchmark of the suite.
    fn record(&mut self, sealed: &str, axes: &[(&str, usize)], host: &Host) -> Result<Recording> {
        let benchmarks = &self.catalog.benchmarks;
        let position = benchmarks
            .iter()
            .position(|known| known.library == SUITE && known.path == sealed);
        let position = position.ok_or_else(|| Error::new(format!("the suite has no `{sealed}`")))?;
        let mut request = RecordRequest {
            params: axes
                .iter()
                .map(|(name, value)| (name.to_string(), AxisValue::Int(*value as i64)))
                .collect(),
            facts: host.device().clone(),
            occupancies: Vec::new(),
        };
        loop {
            let encoded = encode(&request);
            let bytes = Bytes {
                data: encoded.as_ptr(),
                len: encoded.len(),
            };
            let record = |sink| {
                // SAFETY: the request and the sink outlive the call.
                unsafe { ((*gpubench_abi_v1()).record)(position as u32, bytes, sink) }
            };
            match asked(record)? {
                (Status::NeedsOccupancy, answer) => {
                    let query: OccupancyQuery = decoded(&answer)?;
                    let function = self.function(&query.kernel)?;
                    let blocks = driver::occupancy(function, query.threads, query.dynamic_shared)?;
                    request.occupancies.push(Occupancy { query, blocks });
                }
                (_, answer) => return decoded(&answer),
            }
        }
    }

    fn prepare(&mut self, plan: Plan, buffers: &Buffers) -> Result<Vec<Work>> {
        if !plan.constants.is_empty() {
            return Err(Error::new("it has constants, which twins do not write"));
        }
        let prepare = |step| match step {
            Step::Launch(launch) => {
                let function = self.function(&launch.kernel)?;
                driver::permit_shared(function, launch.dynamic_shared)?;
                let arguments = launch.arguments.iter().map(|argument| buffers.argument(argument));
                let arguments = arguments.collect::<Result<_>>()?;
                Ok(Work::Launch(function, launch, arguments))
            }
            Step::Memset { target, value } => Ok(Work::Set(buffers.start(&target), value, target.len)),
            Step::Copy { source, target } => Ok(Work::Copy(buffers.start(&target), buffers.start(&source), target.len)),
        };
        plan.steps.into_iter().map(prepare).collect()
    }
}

/// Calls a function of the library's table and returns its answer, if any.
fn asked(call: impl FnOnce(Sink) -> i32) -> Result<(Status, Vec<u8>)> {
    unsafe extern "C" fn write(context: *mut c_void, data: *const u8, len: usize) {
        // SAFETY: the context is the vector below, and the bytes are readable.
        unsafe { (*context.cast::<Vec<u8>>()).extend_from_slice(std::slice::from_raw_parts(data, len)) }
    }
    let mut answer = Vec::<u8>::new();
    let sink = Sink {
        context: (&raw mut answer).cast(),
        write,
    };
    match call(sink) {
        status if status == Status::Done as i32 => Ok((Status::Done, answer)),
        status if status == Status::NeedsOccupancy as i32 => Ok((Status::NeedsOccupancy, answer)),
        _ => Err(Error::new(String::from_utf8_lossy(&answer).into_owned())),
    }
}

fn decoded<T: Decode>(answer: &[u8]) -> Result<T> {
    decode(answer).map_err(|error| Error::new(error.to_string()))
}
