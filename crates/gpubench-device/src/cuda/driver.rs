//! A CUDA GPU as a [`Driver`].

use std::collections::HashSet;
use std::ffi::c_uint;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use cudarc::driver::sys::{
    CUDA_MEMCPY2D, CUevent, CUevent_flags, CUevent_record_flags, CUmemorytype, CUstream, CUstreamWaitValue_flags,
    CUstreamWriteValue_flags,
};

use gpubench::plan::TensorMapDescription;

use super::call::call;
use super::choice::Gpu;
use super::context::Context;
use super::cupti::{CuptiAllocations, CuptiCounter, CuptiTracer};
use super::facts::facts;
use super::fault::{of_call, of_stream};
use super::graph::CapturedGraph;
use super::host_thread::HostThread;
use super::library::Library;
use super::memory::{SharedMemory, register, unregister};
use super::module::{Kernel, LoadedModule};
use super::occupancy::MultiprocessorLimits;
use super::tensor_map;
use crate::driver::check_arguments;
use crate::word::SharedWord;
use crate::{
    Access, CountRequest, Counter, CounterHold, DeviceError, DeviceOrder, DevicePtr, Driver, Event, Facts, Freeze,
    Function, Graph, HostWork, LaunchConfig, Memory, Module, ModuleImage, Profiling, Resources, Stream, StridedRows,
    Tracer, monotonic_ns,
};

/// How long a wait spins before it yields the core.
const EAGER: Duration = Duration::from_millis(1);

/// A GPU in this process: its primary context and all objects in it. All calls are made on the
/// thread that opened it.
pub struct CudaDriver {
    facts: Facts,
    context: Context,
    shared: SharedMemory,
    private: Vec<u64>,
    /// The streams that it created, and the default stream, whose handle is null.
    streams: Vec<CUstream>,
    /// The streams that capture.
    capturing: HashSet<Stream>,
    /// The graphs made so far; `None` once released.
    graphs: Vec<Option<CapturedGraph>>,
    events: Vec<CUevent>,
    modules: Vec<LoadedModule>,
    kernels: Vec<Kernel>,
    host_thread: Option<HostThread>,
}

// SAFETY: contexts, streams, events and modules are driver handles, usable on any thread where
// their context is current.
unsafe impl Send for CudaDriver {}

impl CudaDriver {
    /// Opens a GPU by its UUID if that is known, else by its index in the driver's order.
    ///
    /// # Errors
    /// [`DeviceError::Absent`] when there is no driver or no such GPU, or when the GPU does not
    /// support the window protocol.
    pub fn open(order: &DeviceOrder) -> Result<CudaDriver, DeviceError> {
        let library = Library::open().map_err(DeviceError::Absent)?;
        let gpu = Gpu::choose(library.api, order).map_err(DeviceError::Absent)?;
        let context = Context::open(gpu)?;
        Ok(CudaDriver {
            facts: facts(&context, library.version)?,
            context,
            shared: SharedMemory::default(),
            private: Vec::new(),
            streams: Vec::new(),
            capturing: HashSet::new(),
            graphs: Vec::new(),
            events: Vec::new(),
            modules: Vec::new(),
            kernels: Vec::new(),
            host_thread: None,
        })
    }

    fn stream_handle(&self, stream: Stream) -> Result<CUstream, DeviceError> {
        numbered(&self.streams, "stream", stream.0).copied()
    }

    fn event_handle(&self, event: Event) -> Result<CUevent, DeviceError> {
        numbered(&self.events, "event", event.0).copied()
    }

    fn kernel(&self, function: Function) -> Result<&Kernel, DeviceError> {
        let kernel = self.kernels.get(function.0 as usize);
        kernel.ok_or_else(|| DeviceError::NoFunction(format!("number {}", function.0)))
    }

    fn module(&self, module: Module) -> Result<&LoadedModule, DeviceError> {
        numbered(&self.modules, "module", module.0)
    }

    fn word(address: u64) -> SharedWord {
        // SAFETY: the trait's callers pass words of a mapped page that outlives the driver's
        // streams.
        unsafe { SharedWord::at(address) }
    }
}

/// Returns the object with an index.
fn numbered<'a, T>(made: &'a [T], what: &str, number: u32) -> Result<&'a T, DeviceError> {
    let found = made.get(number as usize);
    found.ok_or_else(|| DeviceError::Unsupported(format!("find its {what} number {number}")))
}

fn no_function(function: Function) -> DeviceError {
    DeviceError::NoFunction(format!("number {}", function.0))
}

impl Drop for CudaDriver {
    fn drop(&mut self) {
        // After a panic, a stream may still wait for a word that nobody will write.
        if std::thread::panicking() {
            return;
        }
        // After a fault every call fails; the end of the process frees the rest.
        let api = self.context.api;
        for stream in &self.streams {
            // SAFETY: this driver created the stream, or it is the default stream.
            let _ = unsafe { (api.cuStreamSynchronize)(*stream) };
            if stream.is_null() {
                continue;
            }
            // SAFETY: as above; nothing uses it any more.
            let _ = unsafe { (api.cuStreamDestroy_v2)(*stream) };
        }
        for graph in self.graphs.drain(..).flatten() {
            graph.release(&self.context);
        }
        for event in &self.events {
            // SAFETY: this driver created the event, and nothing uses it any more.
            let _ = unsafe { (api.cuEventDestroy_v2)(*event) };
        }
        self.modules.iter().for_each(|module| module.unload(&self.context));
        self.shared.release_all(&self.context);
        for address in &self.private {
            // SAFETY: this driver allocated the memory, and nothing uses it any more.
            let _ = unsafe { (api.cuMemFree_v2)(*address) };
        }
    }
}

impl Driver for CudaDriver {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn create(&mut self, bytes: u64) -> Result<Memory, DeviceError> {
        self.shared.create(&self.context, bytes)
    }

    fn create_host(&mut self, bytes: u64) -> Result<Memory, DeviceError> {
        self.shared.create_host(bytes)
    }

    fn export(&mut self, memory: Memory) -> Result<OwnedFd, DeviceError> {
        self.shared.export(&self.context, memory)
    }

    fn import(&mut self, descriptor: OwnedFd, bytes: u64) -> Result<Memory, DeviceError> {
        self.shared.import(&self.context, &descriptor, bytes)
    }

    fn register(&mut self, address: u64, bytes: u64) -> Result<DevicePtr, DeviceError> {
        register(&self.context, address, bytes)
    }

    fn unregister(&mut self, address: u64) {
        unregister(&self.context, address);
    }

    fn map(&mut self, memory: Memory, access: Access) -> Result<DevicePtr, DeviceError> {
        self.shared.map(&self.context, memory, access)
    }

    fn remap(&mut self, old: Memory, new: Memory) -> Result<(), DeviceError> {
        self.shared.remap(&self.context, old, new)
    }

    fn freeze(&mut self, memory: Memory, freeze: Freeze) -> Result<(), DeviceError> {
        self.shared.freeze(memory, freeze)
    }

    fn release(&mut self, memory: Memory) {
        self.shared.release(&self.context, memory);
    }

    fn alloc(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError> {
        let mut address = 0;
        // The CUDA driver refuses an allocation of 0 bytes.
        let size = bytes.max(1) as usize;
        // SAFETY: it writes one address.
        unsafe { call!(self.context.api, cuMemAlloc_v2(&mut address, size)) }
            .map_err(|error| error.for_bytes(bytes))?;
        self.private.push(address);
        Ok(DevicePtr(address))
    }

    fn free(&mut self, address: DevicePtr) {
        let Some(position) = self.private.iter().position(|known| *known == address.0) else {
            return;
        };
        self.private.swap_remove(position);
        // SAFETY: `alloc` allocated the memory, and it is still allocated. After a fault the call
        // fails.
        let _ = unsafe { (self.context.api.cuMemFree_v2)(address.0) };
    }

    fn load(&mut self, image: ModuleImage<'_>) -> Result<Module, DeviceError> {
        let module = LoadedModule::load(&self.context, image, self.facts.device.capability)?;
        self.modules.push(module);
        Ok(Module(self.modules.len() as u32 - 1))
    }

    fn function(&mut self, module: Module, name: &str) -> Result<Function, DeviceError> {
        let kernel = self.module(module)?.kernel(&self.context, name)?;
        self.kernels.push(kernel);
        Ok(Function(self.kernels.len() as u32 - 1))
    }

    fn symbol(&mut self, module: Module, name: &str) -> Result<(DevicePtr, u64), DeviceError> {
        self.module(module)?.symbol(&self.context, name)
    }

    fn encode_tensor_map(&self, base: DevicePtr, map: &TensorMapDescription) -> Result<[u8; 128], DeviceError> {
        tensor_map::encode(&self.context, base, map)
    }

    fn resources(&mut self, function: Function, config: &LaunchConfig) -> Result<Option<Resources>, DeviceError> {
        let limits = MultiprocessorLimits::from_gpu(&self.context.gpu)?;
        let capability = self.facts.device.capability;
        let kernel = self
            .kernels
            .get_mut(function.0 as usize)
            .ok_or_else(|| no_function(function))?;
        Ok(Some(kernel.resources(&self.context, config, &limits, capability)?))
    }

    fn reset_persisting_lines(&mut self) -> Result<(), DeviceError> {
        Ok(self.context.reset_persisting_lines()?)
    }

    fn parameter_sizes(&self, function: Function) -> Option<Vec<u32>> {
        self.kernels.get(function.0 as usize)?.parameter_sizes.clone()
    }

    fn prepare(&mut self, function: Function, config: &LaunchConfig) -> Result<(), DeviceError> {
        let kernel = self
            .kernels
            .get_mut(function.0 as usize)
            .ok_or_else(|| no_function(function))?;
        Ok(kernel.prepare(&mut self.context, config)?)
    }

    fn stream(&mut self) -> Result<Stream, DeviceError> {
        self.streams.push(self.context.create_stream()?);
        Ok(Stream(self.streams.len() as u32 - 1))
    }

    fn event(&mut self) -> Result<Event, DeviceError> {
        let mut event = std::ptr::null_mut();
        let flags = CUevent_flags::CU_EVENT_DEFAULT as c_uint;
        // SAFETY: it writes one pointer.
        unsafe { call!(self.context.api, cuEventCreate(&mut event, flags)) }?;
        self.events.push(event);
        Ok(Event(self.events.len() as u32 - 1))
    }

    fn record(&mut self, event: Event, stream: Stream) -> Result<(), DeviceError> {
        let (api, captures) = (self.context.api, self.capturing.contains(&stream));
        let (event, stream) = (self.event_handle(event)?, self.stream_handle(stream)?);
        // Adds a node that records the event each time the graph runs.
        let external = CUevent_record_flags::CU_EVENT_RECORD_EXTERNAL as c_uint;
        let recorded = if captures {
            // SAFETY: this driver created event and stream.
            unsafe { call!(api, cuEventRecordWithFlags(event, stream, external)) }
        } else {
            // SAFETY: as above.
            unsafe { call!(api, cuEventRecord(event, stream)) }
        };
        recorded.map_err(of_call)
    }

    fn elapsed_ns(&mut self, start: Event, end: Event) -> Result<f64, DeviceError> {
        let (start, end) = (self.event_handle(start)?, self.event_handle(end)?);
        let mut milliseconds = 0.0;
        // SAFETY: it writes one number; this driver created the events.
        unsafe { call!(self.context.api, cuEventElapsedTime(&mut milliseconds, start, end)) }.map_err(of_call)?;
        Ok(f64::from(milliseconds) * 1e6)
    }

    fn wait_value(&mut self, stream: Stream, address: DevicePtr, value: u32) -> Result<(), DeviceError> {
        let stream = self.stream_handle(stream)?;
        let flags = CUstreamWaitValue_flags::CU_STREAM_WAIT_VALUE_EQ as c_uint;
        // SAFETY: the trait's callers pass a word of registered memory that outlives the stream.
        unsafe {
            call!(
                self.context.api,
                cuStreamWaitValue32_v2(stream, address.0, value, flags)
            )
        }
        .map_err(of_call)
    }

    fn write_value(&mut self, stream: Stream, address: DevicePtr, value: u32) -> Result<(), DeviceError> {
        let stream = self.stream_handle(stream)?;
        let flags = CUstreamWriteValue_flags::CU_STREAM_WRITE_VALUE_DEFAULT as c_uint;
        // SAFETY: as in `wait_value`.
        unsafe {
            call!(
                self.context.api,
                cuStreamWriteValue32_v2(stream, address.0, value, flags)
            )
        }
        .map_err(of_call)
    }

    fn store_value(&mut self, address: u64, value: u32) {
        CudaDriver::word(address).store(value);
    }

    fn see_value(&mut self, address: u64, value: u32, patience: Duration, missed_ns: &mut u64) -> bool {
        let (word, began_ns) = (CudaDriver::word(address), monotonic_ns());
        loop {
            let look_ns = monotonic_ns();
            if word.is(value) {
                return true;
            }
            *missed_ns = look_ns;
            match Duration::from_nanos(look_ns - began_ns) {
                waited if waited >= patience => return false,
                waited if waited >= EAGER => std::thread::yield_now(),
                _ => std::hint::spin_loop(),
            }
        }
    }

    fn host_reads_clock_ns(&self) -> Option<u64> {
        None
    }

    fn launch(
        &mut self,
        stream: Stream,
        function: Function,
        config: &LaunchConfig,
        arguments: &[&[u8]],
    ) -> Result<(), DeviceError> {
        let stream = self.stream_handle(stream)?;
        let kernel = self.kernel(function)?;
        if let Some(parameters) = &kernel.parameter_sizes {
            check_arguments(&kernel.name, arguments, parameters)?;
        }
        let capability = self.facts.device.capability;
        kernel
            .launch(&self.context, stream, config, arguments, capability)
            .map_err(of_call)
    }

    fn copy(&mut self, stream: Stream, target: DevicePtr, source: DevicePtr, bytes: u64) -> Result<(), DeviceError> {
        let stream = self.stream_handle(stream)?;
        // The address of an empty buffer may be in no allocation.
        if bytes == 0 {
            return Ok(());
        }
        let (target, source, bytes) = (target.0, source.0, bytes as usize);
        // SAFETY: the trait's callers pass mapped ranges that do not overlap.
        unsafe { call!(self.context.api, cuMemcpyAsync(target, source, bytes, stream)) }.map_err(of_call)
    }

    fn gather(&mut self, stream: Stream, target: DevicePtr, rows: &StridedRows) -> Result<(), DeviceError> {
        let stream = self.stream_handle(stream)?;
        if rows.bytes == 0 || rows.count == 0 {
            return Ok(());
        }
        let copy = CUDA_MEMCPY2D {
            srcXInBytes: 0,
            srcY: 0,
            srcMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            srcHost: std::ptr::null(),
            srcDevice: rows.first.0,
            srcArray: std::ptr::null_mut(),
            srcPitch: rows.pitch as usize,
            dstXInBytes: 0,
            dstY: 0,
            dstMemoryType: CUmemorytype::CU_MEMORYTYPE_DEVICE,
            dstHost: std::ptr::null_mut(),
            dstDevice: target.0,
            dstArray: std::ptr::null_mut(),
            dstPitch: rows.bytes as usize,
            WidthInBytes: rows.bytes as usize,
            Height: rows.count as usize,
        };
        // SAFETY: the trait's callers pass mapped ranges that do not overlap.
        unsafe { call!(self.context.api, cuMemcpy2DAsync_v2(&raw const copy, stream)) }.map_err(of_call)
    }

    fn set(&mut self, stream: Stream, target: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError> {
        let stream = self.stream_handle(stream)?;
        if bytes == 0 {
            return Ok(());
        }
        let (target, bytes) = (target.0, bytes as usize);
        // SAFETY: the trait's callers pass a range that is mapped for stores.
        unsafe { call!(self.context.api, cuMemsetD8Async(target, value, bytes, stream)) }.map_err(of_call)
    }

    fn begin_capture(&mut self, stream: Stream) -> Result<(), DeviceError> {
        CapturedGraph::begin(&self.context, self.stream_handle(stream)?)?;
        self.capturing.insert(stream);
        Ok(())
    }

    fn end_capture(&mut self, stream: Stream) -> Result<Graph, DeviceError> {
        self.capturing.remove(&stream);
        let graph = CapturedGraph::end(&self.context, self.stream_handle(stream)?)?;
        self.graphs.push(Some(graph));
        Ok(Graph(self.graphs.len() as u32 - 1))
    }

    fn launch_graph(&mut self, stream: Stream, graph: Graph) -> Result<(), DeviceError> {
        let stream = self.stream_handle(stream)?;
        let graph = numbered(&self.graphs, "graph", graph.0)?.as_ref();
        let graph = graph.ok_or_else(|| DeviceError::Unsupported("launch a released graph".to_owned()))?;
        graph.launch(&self.context, stream).map_err(of_call)
    }

    fn release_graph(&mut self, graph: Graph) {
        if let Some(graph) = self.graphs.get_mut(graph.0 as usize).and_then(Option::take) {
            graph.release(&self.context);
        }
    }

    fn host_call(&mut self, stream: Stream, work: HostWork) -> Result<(), DeviceError> {
        self.stream_handle(stream)?;
        self.context.entry().call(work)
    }

    fn begin_host_call(&mut self, work: HostWork) -> Result<(), DeviceError> {
        let thread = match self.host_thread.take() {
            Some(thread) => thread,
            None => HostThread::start(self.context.entry())?,
        };
        self.host_thread.insert(thread).begin(work)
    }

    fn end_host_call(&mut self, work: Duration, patience: Duration) -> Result<bool, DeviceError> {
        let thread = self.host_thread.as_mut();
        thread.map_or(Ok(true), |thread| thread.end(work, patience))
    }

    fn default_stream(&mut self) -> Result<Stream, DeviceError> {
        let known = self.streams.iter().position(|stream| stream.is_null());
        let position = known.unwrap_or_else(|| {
            self.streams.push(std::ptr::null_mut());
            self.streams.len() - 1
        });
        Ok(Stream(position as u32))
    }

    fn raw_stream(&self, stream: Stream) -> u64 {
        self.stream_handle(stream).map_or(0, |handle| handle.addr() as u64)
    }

    fn ordinal(&self) -> u32 {
        self.context.gpu.ordinal
    }

    fn counter(&mut self, request: CountRequest<'_>, hold: CounterHold) -> Result<Box<dyn Counter>, DeviceError> {
        let (context, ordinal) = (self.context.handle(), self.ordinal());
        Ok(match request {
            CountRequest::Instructions => Box::new(CuptiCounter::of_instructions(context, ordinal, hold)?),
            CountRequest::Hardware(names) => Box::new(CuptiCounter::of_metrics(context, ordinal, names, hold)?),
            CountRequest::Memory => Box::new(CuptiAllocations::open()?),
        })
    }

    fn tracer(&mut self) -> Result<Box<dyn Tracer>, DeviceError> {
        Ok(Box::new(CuptiTracer::open()?))
    }

    fn profile(&mut self, profiling: Profiling) -> Result<(), DeviceError> {
        let api = self.context.api;
        // SAFETY: the functions have no arguments, and the context is current.
        let result = unsafe {
            match profiling {
                Profiling::Begin => call!(api, cuProfilerStart()),
                Profiling::End => call!(api, cuProfilerStop()),
            }
        };
        result.map_err(of_call)
    }

    fn synchronize(&mut self, stream: Stream) -> Result<(), DeviceError> {
        let stream = self.stream_handle(stream)?;
        self.context.wait_for(stream).map_err(of_stream)
    }

    fn synchronize_all(&mut self) -> Result<(), DeviceError> {
        self.context.wait_for_all().map_err(of_stream)
    }

    fn synchronize_within(&mut self, stream: Stream, patience: Duration) -> Result<bool, DeviceError> {
        let stream = self.stream_handle(stream)?;
        let began = Instant::now();
        loop {
            if self.context.is_idle(stream).map_err(of_stream)? {
                return Ok(true);
            }
            match began.elapsed() {
                waited if waited >= patience => return Ok(false),
                waited if waited >= EAGER => std::thread::yield_now(),
                _ => std::hint::spin_loop(),
            }
        }
    }

    fn read(&mut self, source: DevicePtr, target: &mut [u8]) -> Result<(), DeviceError> {
        self.context.read(source.0, target).map_err(of_call)
    }

    fn write(&mut self, target: DevicePtr, source: &[u8]) -> Result<(), DeviceError> {
        self.context.write(target.0, source).map_err(of_call)
    }
}
