//! The CPU device as a [`Driver`].

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use gpubench::catalog::{DeviceFacts, DeviceKind};
use gpubench_contract::ArithmeticPeaks;

use super::callgrind::{self, CallgrindCounter};
use super::executor::{self, Kernel, LaunchShape, MAX_DYNAMIC_SHARED, Pool, ScheduleSeed};
use super::stream::{EventTime, Operation, PackedArguments, Queued, StreamQueue};
use crate::cgroup::memory_room;
use crate::driver::check_arguments;
use crate::memfd::{MemfdTable, PAGE};
use crate::word::SharedWord;
use crate::{
    Absence, AbsenceKind, Access, ClockBound, CountRequest, Counter, CounterHold, DeviceError, DevicePtr, Driver,
    Event, Facts, Freeze, Function, Graph, HostWork, LaunchConfig, Memory, Module, ModuleImage, Profiling, Resources,
    Stream, StridedRows, Tracer, monotonic_ns,
};

/// Default size of a cache flush, in bytes. Shared cloud machines report last-level caches of
/// hundreds of MiB. Flushing them would take tens of milliseconds per window (58 ms for twice 260
/// MiB); 8 MiB takes 0.3 to 0.7 ms and covers the private caches.
const FLUSH_BYTES: u64 = 8 << 20;

/// Shared memory per block, in bytes: what every GPU has without opting in. A kernel may have as
/// much as on the GPUs with the most.
const SHARED_PER_BLOCK: u64 = 48 << 10;

/// Alignment of buffers in bytes: a cache line.
const ALIGNMENT: u64 = 64;

/// The CPU device of this process.
pub struct CpuDriver {
    facts: Facts,
    memory: MemfdTable,
    pool: Arc<Pool>,
    streams: Vec<StreamQueue>,
    /// The captured operations of streams that capture.
    captures: HashMap<Stream, Vec<Operation>>,
    graphs: HashMap<Graph, Arc<[Operation]>>,
    graphs_made: u32,
    events: Vec<EventTime>,
    modules: Vec<LoadedModule>,
    functions: Vec<Kernel>,
    /// Whether kernels are counted. Valgrind then needs their files, to name their functions.
    counts: bool,
}

enum LoadedModule {
    Harness,
    File(executor::Module),
}

impl CpuDriver {
    /// Creates the device with `threads` threads, or with as many as the process may use.
    ///
    /// # Errors
    /// When this build has no kernels for the CPU device.
    pub fn new(threads: Option<NonZeroUsize>, order: ScheduleSeed) -> Result<CpuDriver, DeviceError> {
        if let Err(reason) = gpubench_harness::HOST_BUILD {
            return Err(DeviceError::NoHarness(reason.to_owned()));
        }
        let threads = threads.unwrap_or_else(available_threads);
        Ok(CpuDriver {
            facts: facts(threads),
            memory: MemfdTable::default(),
            pool: Arc::new(Pool::new(threads, order)),
            streams: Vec::new(),
            captures: HashMap::new(),
            graphs: HashMap::new(),
            graphs_made: 0,
            events: Vec::new(),
            modules: Vec::new(),
            functions: Vec::new(),
            counts: false,
        })
    }

    /// Queues an operation, or adds it to the graph that the stream captures.
    fn push(&mut self, stream: Stream, operation: Operation) -> Result<(), DeviceError> {
        match self.captures.get_mut(&stream) {
            None => self.queue(stream, Queued::One(operation)),
            Some(captured) => {
                captured.push(operation);
                Ok(())
            }
        }
    }

    fn queue(&mut self, stream: Stream, queued: Queued) -> Result<(), DeviceError> {
        let stream = self.streams.get_mut(stream.0 as usize);
        if stream.is_some_and(|stream| stream.push(queued)) {
            Ok(())
        } else {
            Err(DeviceError::Unsupported(
                "queue work on a stream that has ended".to_owned(),
            ))
        }
    }

    fn event_time(&self, event: Event) -> Result<u64, DeviceError> {
        let time = self
            .events
            .get(event.0 as usize)
            .map_or(0, |time| time.load(Ordering::Acquire));
        if time == 0 {
            Err(DeviceError::Unsupported(
                "measure an event that was not recorded".to_owned(),
            ))
        } else {
            Ok(time)
        }
    }

    fn word(&self, address: u64) -> SharedWord {
        // SAFETY: the trait's callers pass words of a mapped page that outlives the driver's
        // streams.
        unsafe { SharedWord::at(address) }
    }
}

impl Drop for CpuDriver {
    fn drop(&mut self) {
        // The streams must end before their memory is unmapped.
        self.streams.clear();
    }
}

/// Returns the number of threads that the process may use.
pub fn available_threads() -> NonZeroUsize {
    std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

fn harness_kernel(name: &str) -> Option<Kernel> {
    let kernel = gpubench_harness::host_kernels()?
        .iter()
        .find(|kernel| kernel.name() == name)?;
    // SAFETY: the descriptor belongs to this executable and was made with the same shim.
    unsafe { Kernel::from_descriptor(kernel.descriptor()) }
}

/// Returns the properties of the device with `threads` threads.
pub fn facts(threads: NonZeroUsize) -> Facts {
    Facts {
        device: DeviceFacts {
            kind: DeviceKind::Cpu,
            name: processor_name(),
            multiprocessors: threads.get() as u32,
            capability: 0,
            warp_size: 32,
            max_threads_per_block: 1024,
            max_threads_per_multiprocessor: 1,
            max_block: [1024, 1024, 64],
            max_grid: [i32::MAX as u32, 65_535, 65_535],
            shared_per_block: SHARED_PER_BLOCK,
            shared_per_block_optin: MAX_DYNAMIC_SHARED.into(),
            l2_bytes: FLUSH_BYTES,
        },
        identity: None,
        pci_address: None,
        driver: None,
        clock_tick_ns: 1.0,
        granularity: PAGE,
        alignment: ALIGNMENT,
        free_memory: free_memory(),
        flush_bytes: FLUSH_BYTES,
        kernels_run_in: super::KERNELS_RUN_IN,
        clock_bound: ClockBound::Absent(
            "kernels of the CPU device run inside the worker and could change the times that it reports".into(),
        ),
        peak_bandwidth: None,
        peak_arithmetic: ArithmeticPeaks::default(),
    }
}

/// Returns what the machine and the control groups of this process leave to it.
fn free_memory() -> Option<u64> {
    [available_memory(), memory_room()].into_iter().flatten().min()
}

fn available_memory() -> Option<u64> {
    let memory = fs_err::read_to_string("/proc/meminfo").ok()?;
    let line = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

/// Returns the processor's name, for messages.
pub fn processor_name() -> String {
    let cpuinfo = fs_err::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':').map(|(_, name)| name));
    model.map_or_else(|| "CPU".to_owned(), |name| name.trim().to_owned())
}

impl Driver for CpuDriver {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn create(&mut self, bytes: u64) -> Result<Memory, DeviceError> {
        self.memory.create(bytes)
    }

    fn create_host(&mut self, bytes: u64) -> Result<Memory, DeviceError> {
        self.memory.create(bytes)
    }

    fn export(&mut self, memory: Memory) -> Result<OwnedFd, DeviceError> {
        self.memory.export(memory)
    }

    fn import(&mut self, descriptor: OwnedFd, bytes: u64) -> Result<Memory, DeviceError> {
        self.memory.import(descriptor, bytes)
    }

    fn register(&mut self, address: u64, _bytes: u64) -> Result<DevicePtr, DeviceError> {
        Ok(DevicePtr(address))
    }

    fn unregister(&mut self, _address: u64) {}

    fn map(&mut self, memory: Memory, access: Access) -> Result<DevicePtr, DeviceError> {
        self.memory.map(memory, access)
    }

    fn remap(&mut self, old: Memory, new: Memory) -> Result<(), DeviceError> {
        self.memory.remap(old, new)
    }

    fn freeze(&mut self, memory: Memory, freeze: Freeze) -> Result<(), DeviceError> {
        self.memory.freeze(memory, freeze)
    }

    fn release(&mut self, memory: Memory) {
        self.memory.release(memory);
    }

    fn alloc(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError> {
        self.memory.alloc(bytes)
    }

    fn free(&mut self, address: DevicePtr) {
        self.memory.free(address);
    }

    fn load(&mut self, image: ModuleImage<'_>) -> Result<Module, DeviceError> {
        let module = match image {
            ModuleImage::Harness => LoadedModule::Harness,
            ModuleImage::File(file) => {
                let path = if self.counts {
                    callgrind::countable_copy(file, self.modules.len())
                        .map_err(|error| DeviceError::Load(Box::new(error)))?
                } else {
                    file.path_for_linker()
                        .map_err(|error| DeviceError::Load(Box::new(error)))?
                };
                // SAFETY: our host compiler made the module. It can do anything that a kernel can,
                // which is why only workers and authors load modules.
                let module = unsafe { executor::Module::load(&path) };
                let module = module.map_err(|error| DeviceError::Load(Box::new(error)))?;
                LoadedModule::File(module)
            }
        };
        self.modules.push(module);
        Ok(Module(self.modules.len() as u32 - 1))
    }

    fn function(&mut self, module: Module, name: &str) -> Result<Function, DeviceError> {
        let kernel = match self.modules.get(module.0 as usize) {
            Some(LoadedModule::Harness) => harness_kernel(name),
            Some(LoadedModule::File(module)) => module.kernel(name),
            None => None,
        };
        self.functions
            .push(kernel.ok_or_else(|| DeviceError::NoFunction(name.to_owned()))?);
        Ok(Function(self.functions.len() as u32 - 1))
    }

    fn symbol(&mut self, module: Module, name: &str) -> Result<(DevicePtr, u64), DeviceError> {
        let variable = match self.modules.get(module.0 as usize) {
            Some(LoadedModule::File(module)) => module.variable(name),
            Some(LoadedModule::Harness) | None => None,
        };
        let (address, bytes) = variable.ok_or_else(|| DeviceError::NoSymbol(name.to_owned()))?;
        Ok((DevicePtr(address), bytes))
    }

    fn encode_tensor_map(
        &self,
        _base: DevicePtr,
        _map: &gpubench::plan::TensorMapDescription,
    ) -> Result<[u8; 128], DeviceError> {
        Err(DeviceError::Unsupported("use tensor maps".to_owned()))
    }

    fn resources(&mut self, _function: Function, _config: &LaunchConfig) -> Result<Option<Resources>, DeviceError> {
        Ok(None)
    }

    fn reset_persisting_lines(&mut self) -> Result<(), DeviceError> {
        Ok(())
    }

    fn parameter_sizes(&self, function: Function) -> Option<Vec<u32>> {
        let kernel = self.functions.get(function.0 as usize)?;
        Some(kernel.param_sizes().to_vec())
    }

    fn prepare(&mut self, _function: Function, _config: &LaunchConfig) -> Result<(), DeviceError> {
        Ok(())
    }

    fn stream(&mut self) -> Result<Stream, DeviceError> {
        let os = |source| DeviceError::Os {
            what: "starting a stream's thread",
            source,
        };
        self.streams
            .push(StreamQueue::start(Arc::clone(&self.pool)).map_err(os)?);
        Ok(Stream(self.streams.len() as u32 - 1))
    }

    fn event(&mut self) -> Result<Event, DeviceError> {
        self.events.push(Arc::new(AtomicU64::new(0)));
        Ok(Event(self.events.len() as u32 - 1))
    }

    fn record(&mut self, event: Event, stream: Stream) -> Result<(), DeviceError> {
        let time = self.events.get(event.0 as usize);
        let time = time.ok_or_else(|| DeviceError::Unsupported("record an unknown event".to_owned()))?;
        self.push(stream, Operation::Record(Arc::clone(time)))
    }

    fn elapsed_ns(&mut self, start: Event, end: Event) -> Result<f64, DeviceError> {
        Ok(self.event_time(end)? as f64 - self.event_time(start)? as f64)
    }

    fn wait_value(&mut self, stream: Stream, address: DevicePtr, value: u32) -> Result<(), DeviceError> {
        let word = self.word(address.0);
        self.push(stream, Operation::Wait { word, value })?;
        // Without events, nothing is timed. Then ready threads would only take processors from
        // other processes.
        if self.events.is_empty() {
            Ok(())
        } else {
            self.push(stream, Operation::Prepare)
        }
    }

    fn write_value(&mut self, stream: Stream, address: DevicePtr, value: u32) -> Result<(), DeviceError> {
        let word = self.word(address.0);
        self.push(stream, Operation::Write { word, value })
    }

    fn store_value(&mut self, address: u64, value: u32) {
        self.word(address).store(value);
    }

    fn see_value(&mut self, address: u64, value: u32, patience: Duration, missed_ns: &mut u64) -> bool {
        self.word(address).wait_within(value, patience, missed_ns)
    }

    fn host_reads_clock_ns(&self) -> Option<u64> {
        Some(monotonic_ns())
    }

    fn launch(
        &mut self,
        stream: Stream,
        function: Function,
        config: &LaunchConfig,
        arguments: &[&[u8]],
    ) -> Result<(), DeviceError> {
        let kernel = self.functions.get(function.0 as usize).copied();
        let kernel = kernel.ok_or_else(|| DeviceError::NoFunction(format!("number {}", function.0)))?;
        check_arguments(kernel.name(), arguments, kernel.param_sizes())?;
        if config.cluster != [1; 3] {
            return Err(DeviceError::Unsupported("launch clusters".to_owned()));
        }
        if config.cooperation == gpubench::plan::Cooperation::Grid {
            return Err(DeviceError::Unsupported("launch cooperative grids".to_owned()));
        }
        let shape = LaunchShape {
            grid: config.grid,
            block: config.block,
            dynamic_shared: config.dynamic_shared,
        };
        let arguments = PackedArguments::new(arguments);
        let launch = Operation::Launch {
            kernel,
            shape,
            arguments,
        };
        self.push(stream, launch)
    }

    fn copy(&mut self, stream: Stream, target: DevicePtr, source: DevicePtr, bytes: u64) -> Result<(), DeviceError> {
        let (target, source, bytes) = (target.0, source.0, bytes as usize);
        self.push(stream, Operation::Copy { target, source, bytes })
    }

    fn gather(&mut self, stream: Stream, target: DevicePtr, rows: &StridedRows) -> Result<(), DeviceError> {
        let (target, rows) = (target.0, *rows);
        self.push(stream, Operation::Gather { target, rows })
    }

    fn set(&mut self, stream: Stream, target: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError> {
        let (target, bytes) = (target.0, bytes as usize);
        self.push(stream, Operation::Set { target, value, bytes })
    }

    fn begin_capture(&mut self, stream: Stream) -> Result<(), DeviceError> {
        match self.captures.insert(stream, Vec::new()) {
            None => Ok(()),
            Some(_) => Err(DeviceError::Unsupported("capture a stream twice at once".to_owned())),
        }
    }

    fn end_capture(&mut self, stream: Stream) -> Result<Graph, DeviceError> {
        let captured = self.captures.remove(&stream);
        let captured =
            captured.ok_or_else(|| DeviceError::Unsupported("end a capture that did not begin".to_owned()))?;
        let graph = Graph(self.graphs_made);
        self.graphs_made += 1;
        self.graphs.insert(graph, captured.into());
        Ok(graph)
    }

    fn launch_graph(&mut self, stream: Stream, graph: Graph) -> Result<(), DeviceError> {
        let operations = self.graphs.get(&graph).map(Arc::clone);
        let operations = operations.ok_or_else(|| DeviceError::Unsupported("launch an unknown graph".to_owned()))?;
        self.queue(stream, Queued::Graph(operations))
    }

    fn release_graph(&mut self, graph: Graph) {
        self.graphs.remove(&graph);
    }

    fn host_call(&mut self, stream: Stream, work: HostWork) -> Result<(), DeviceError> {
        if self.captures.contains_key(&stream) {
            return Err(DeviceError::Unsupported("capture host code".to_owned()));
        }
        self.queue(stream, Queued::Host(work))
    }

    fn begin_host_call(&mut self, _: HostWork) -> Result<(), DeviceError> {
        Err(DeviceError::Unsupported("run host code without a stream".to_owned()))
    }

    fn end_host_call(&mut self, _: Duration, _: Duration) -> Result<bool, DeviceError> {
        Ok(true)
    }

    fn default_stream(&mut self) -> Result<Stream, DeviceError> {
        Err(DeviceError::Unsupported("find a default stream".to_owned()))
    }

    fn raw_stream(&self, _stream: Stream) -> u64 {
        0
    }

    fn ordinal(&self) -> u32 {
        0
    }

    fn counter(&mut self, request: CountRequest<'_>, _: CounterHold) -> Result<Box<dyn Counter>, DeviceError> {
        match request {
            CountRequest::Instructions => {
                let counter = CallgrindCounter::open(&self.pool)?;
                self.counts = true;
                Ok(Box::new(counter))
            }
            CountRequest::Hardware(_) => Err(DeviceError::Absent(Absence {
                kind: AbsenceKind::NotInstalled,
                reason: "the CPU device has no hardware metrics".to_owned(),
                hint: "leave out `ncu:…`, or measure on a GPU".to_owned(),
            })),
            CountRequest::Memory => Err(DeviceError::Absent(Absence {
                kind: AbsenceKind::NotInstalled,
                reason: "the CPU device does not know what memory host code allocates".to_owned(),
                hint: "leave out `memory`, or measure on a GPU".to_owned(),
            })),
        }
    }

    fn tracer(&mut self) -> Result<Box<dyn Tracer>, DeviceError> {
        Err(DeviceError::Unsupported("record its operations".to_owned()))
    }

    fn profile(&mut self, _profiling: Profiling) -> Result<(), DeviceError> {
        Ok(())
    }

    fn synchronize(&mut self, stream: Stream) -> Result<(), DeviceError> {
        while !self.synchronize_within(stream, Duration::MAX)? {}
        Ok(())
    }

    fn synchronize_all(&mut self) -> Result<(), DeviceError> {
        (0..self.streams.len() as u32).try_for_each(|number| self.synchronize(Stream(number)))
    }

    fn synchronize_within(&mut self, stream: Stream, patience: Duration) -> Result<bool, DeviceError> {
        let queue = self.streams.get_mut(stream.0 as usize);
        match queue.map(|queue| queue.idle_within(patience)) {
            Some(Some(ended)) => ended,
            _ => Err(DeviceError::Unsupported("wait for a stream that has ended".to_owned())),
        }
    }

    fn read(&mut self, source: DevicePtr, target: &mut [u8]) -> Result<(), DeviceError> {
        // SAFETY: the trait's callers pass mapped device memory of at least that length, which
        // nothing writes now.
        unsafe { std::ptr::copy_nonoverlapping(source.0 as *const u8, target.as_mut_ptr(), target.len()) };
        Ok(())
    }

    fn write(&mut self, target: DevicePtr, source: &[u8]) -> Result<(), DeviceError> {
        // SAFETY: the trait's callers pass device memory of at least that length, mapped for
        // stores, which nothing uses now.
        unsafe { std::ptr::copy_nonoverlapping(source.as_ptr(), target.0 as *mut u8, source.len()) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HostFailure;

    fn device() -> (CpuDriver, Stream, DevicePtr) {
        let mut driver = CpuDriver::new(NonZeroUsize::new(1), ScheduleSeed::default()).unwrap();
        let stream = driver.stream().unwrap();
        let memory = driver.alloc(PAGE).unwrap();
        (driver, stream, memory)
    }

    #[test]
    fn a_host_call_runs_in_stream_order() {
        let (mut driver, stream, memory) = device();
        let address = memory.0;
        driver.set(stream, memory, 1, 8).unwrap();
        let double = move || {
            // SAFETY: eight bytes of mapped memory that only the stream uses.
            let bytes = unsafe { std::slice::from_raw_parts_mut(address as *mut u8, 8) };
            bytes.iter_mut().for_each(|byte| *byte *= 2);
            Ok(())
        };
        driver.host_call(stream, Box::new(double)).unwrap();
        driver.copy(stream, memory.offset(8), memory, 8).unwrap();
        driver.synchronize(stream).unwrap();
        let mut copied = [0; 8];
        driver.read(memory.offset(8), &mut copied).unwrap();
        assert_eq!(copied, [2; 8]);
    }

    #[test]
    fn rows_are_gathered_without_what_is_between_them() {
        let (mut driver, stream, memory) = device();
        let bytes: Vec<u8> = (0..24).collect();
        driver.write(memory, &bytes).unwrap();
        let rows = StridedRows {
            first: memory.offset(3),
            bytes: 2,
            pitch: 7,
            count: 3,
        };
        driver.set(stream, memory.offset(100), 9, 8).unwrap();
        driver.gather(stream, memory.offset(100), &rows).unwrap();
        driver.synchronize(stream).unwrap();
        let mut gathered = [0; 8];
        driver.read(memory.offset(100), &mut gathered).unwrap();
        assert_eq!(gathered, [3, 4, 10, 11, 17, 18, 9, 9]);
    }

    #[test]
    fn a_graph_runs_its_captured_work_at_each_launch_and_not_before() {
        let (mut driver, stream, memory) = device();
        let (before, after) = (driver.event().unwrap(), driver.event().unwrap());
        driver.begin_capture(stream).unwrap();
        driver.record(before, stream).unwrap();
        driver.set(stream, memory, 5, 4).unwrap();
        driver.copy(stream, memory.offset(4), memory, 4).unwrap();
        driver.record(after, stream).unwrap();
        let graph = driver.end_capture(stream).unwrap();
        let contents = |driver: &mut CpuDriver| {
            driver.synchronize(stream).unwrap();
            let mut bytes = [9; 8];
            driver.read(memory, &mut bytes).unwrap();
            bytes
        };
        assert_eq!(contents(&mut driver), [0; 8]);
        assert!(driver.elapsed_ns(before, after).is_err(), "nothing has run");
        for _ in 0..2 {
            driver.set(stream, memory, 0, 8).unwrap();
            driver.launch_graph(stream, graph).unwrap();
            assert_eq!(contents(&mut driver), [5; 8]);
        }
        assert!(driver.elapsed_ns(before, after).unwrap() >= 0.0);
        driver.release_graph(graph);
        assert!(driver.launch_graph(stream, graph).is_err());
    }

    #[test]
    fn a_capture_begins_once_and_holds_no_host_code() {
        let (mut driver, stream, _) = device();
        assert!(driver.end_capture(stream).is_err());
        driver.begin_capture(stream).unwrap();
        assert!(driver.begin_capture(stream).is_err());
        assert!(driver.host_call(stream, Box::new(|| Ok(()))).is_err());
    }

    #[test]
    fn nothing_runs_after_a_failed_host_call() {
        let (mut driver, stream, memory) = device();
        let fail = || Err(HostFailure::Returned("no workspace".to_owned()));
        driver.host_call(stream, Box::new(fail)).unwrap();
        driver.set(stream, memory, 7, 1).unwrap();
        let failure = driver.synchronize(stream).unwrap_err();
        assert!(matches!(failure, DeviceError::Host(HostFailure::Returned(text)) if text == "no workspace"));
        let mut byte = [1];
        driver.read(memory, &mut byte).unwrap();
        assert_eq!(byte, [0]);
        driver.synchronize(stream).unwrap();
    }
}
