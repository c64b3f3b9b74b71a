//! A driver for tests that records calls and makes one of them fail.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::time::Duration;

use super::{
    Access, CountRequest, Counter, CounterHold, DeviceError, DevicePtr, Driver, Event, Facts, Freeze, Function, Graph,
    HostWork, LaunchConfig, Memory, Module, ModuleImage, Profiling, Resources, Stream, StridedRows, Tracer,
};

/// A driver call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The name of the method, or of the kernel for a launch.
    pub name: String,
    /// The stream of a copy, a launch or a stream memory operation.
    pub stream: Option<Stream>,
    /// The operands. For a copy: target, source and bytes. For a launch: the arguments as words.
    /// For a store, write or wait: address and value.
    pub words: Vec<u64>,
}

/// A callback that sees each call before the wrapped driver. It may use that driver.
type Watch<D> = Box<dyn FnMut(&mut D, &Call) + Send>;

/// A driver that shows calls to a callback and fails one of them.
pub struct FaultyDriver<D> {
    inner: D,
    /// How many more calls succeed; the next one fails.
    left: Option<usize>,
    /// How many more shareable allocations there is memory for, if it is limited.
    allocations: Option<usize>,
    watch: Option<Watch<D>>,
    kernels: HashMap<Function, String>,
    clock: DeviceClock,
}

/// Whether the host reads the device's clock.
#[derive(Clone, Copy)]
enum DeviceClock {
    /// As the wrapped driver does.
    AsWrapped,
    /// It cannot, as with a GPU.
    Unreadable,
}

impl<D: Driver> FaultyDriver<D> {
    /// Wraps a driver whose call after `successes` others fails.
    pub fn failing_after(inner: D, successes: usize) -> FaultyDriver<D> {
        FaultyDriver {
            inner,
            left: Some(successes),
            allocations: None,
            watch: None,
            kernels: HashMap::new(),
            clock: DeviceClock::AsWrapped,
        }
    }

    /// Wraps a driver of a device that has memory for this many shareable allocations.
    pub fn with_memory_for(inner: D, allocations: usize) -> FaultyDriver<D> {
        FaultyDriver {
            allocations: Some(allocations),
            ..FaultyDriver::watched(inner, |_, _| ())
        }
    }

    /// Wraps a driver that shows each call to `watch` before running it. No call is made to fail.
    pub fn watched(inner: D, watch: impl FnMut(&mut D, &Call) + Send + 'static) -> FaultyDriver<D> {
        FaultyDriver {
            inner,
            left: None,
            allocations: None,
            watch: Some(Box::new(watch)),
            kernels: HashMap::new(),
            clock: DeviceClock::AsWrapped,
        }
    }

    /// Returns the driver of a device whose clock the host cannot read.
    #[must_use]
    pub fn without_host_clock(self) -> FaultyDriver<D> {
        FaultyDriver {
            clock: DeviceClock::Unreadable,
            ..self
        }
    }

    fn show(&mut self, name: &str, stream: Option<Stream>, words: &[u64]) {
        if let Some(watch) = &mut self.watch {
            let call = Call {
                name: name.to_owned(),
                stream,
                words: words.to_vec(),
            };
            watch(&mut self.inner, &call);
        }
    }

    fn count(&mut self, call: &'static str) -> Result<(), DeviceError> {
        self.show(call, None, &[]);
        self.count_unseen(call)
    }

    fn count_unseen(&mut self, call: &'static str) -> Result<(), DeviceError> {
        match self.left {
            Some(0) => {
                self.left = None;
                Err(DeviceError::Unsupported(format!("run `{call}`: a test made it fail")))
            }
            Some(left) => {
                self.left = Some(left - 1);
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl<D: Driver> Driver for FaultyDriver<D> {
    fn facts(&self) -> &Facts {
        self.inner.facts()
    }

    fn create(&mut self, bytes: u64) -> Result<Memory, DeviceError> {
        self.count("create")?;
        if let Some(left) = &mut self.allocations {
            let source = std::io::Error::other("a test made it fail");
            *left = left.checked_sub(1).ok_or(DeviceError::OutOfMemory { bytes, source })?;
        }
        self.inner.create(bytes)
    }

    fn create_host(&mut self, bytes: u64) -> Result<Memory, DeviceError> {
        self.count("create_host")?;
        self.inner.create_host(bytes)
    }

    fn export(&mut self, memory: Memory) -> Result<OwnedFd, DeviceError> {
        self.count("export")?;
        self.inner.export(memory)
    }

    fn import(&mut self, descriptor: OwnedFd, bytes: u64) -> Result<Memory, DeviceError> {
        self.count("import")?;
        self.inner.import(descriptor, bytes)
    }

    fn register(&mut self, address: u64, bytes: u64) -> Result<DevicePtr, DeviceError> {
        self.count("register")?;
        self.inner.register(address, bytes)
    }

    fn unregister(&mut self, address: u64) {
        self.inner.unregister(address);
    }

    fn map(&mut self, memory: Memory, access: Access) -> Result<DevicePtr, DeviceError> {
        self.count("map")?;
        self.inner.map(memory, access)
    }

    fn remap(&mut self, old: Memory, new: Memory) -> Result<(), DeviceError> {
        self.count("remap")?;
        self.inner.remap(old, new)
    }

    fn freeze(&mut self, memory: Memory, freeze: Freeze) -> Result<(), DeviceError> {
        self.count("freeze")?;
        self.inner.freeze(memory, freeze)
    }

    fn release(&mut self, memory: Memory) {
        self.inner.release(memory);
    }

    fn alloc(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError> {
        self.count("alloc")?;
        self.inner.alloc(bytes)
    }

    fn free(&mut self, address: DevicePtr) {
        self.inner.free(address);
    }

    fn load(&mut self, image: ModuleImage<'_>) -> Result<Module, DeviceError> {
        self.count("load")?;
        self.inner.load(image)
    }

    fn function(&mut self, module: Module, name: &str) -> Result<Function, DeviceError> {
        self.count("function")?;
        let function = self.inner.function(module, name)?;
        self.kernels.insert(function, name.to_owned());
        Ok(function)
    }

    fn symbol(&mut self, module: Module, name: &str) -> Result<(DevicePtr, u64), DeviceError> {
        self.count("symbol")?;
        self.inner.symbol(module, name)
    }

    fn encode_tensor_map(
        &self,
        base: DevicePtr,
        map: &gpubench::plan::TensorMapDescription,
    ) -> Result<[u8; 128], DeviceError> {
        self.inner.encode_tensor_map(base, map)
    }

    fn resources(&mut self, function: Function, config: &LaunchConfig) -> Result<Option<Resources>, DeviceError> {
        self.count("resources")?;
        self.inner.resources(function, config)
    }

    fn reset_persisting_lines(&mut self) -> Result<(), DeviceError> {
        self.count("reset_persisting_lines")?;
        self.inner.reset_persisting_lines()
    }

    fn parameter_sizes(&self, function: Function) -> Option<Vec<u32>> {
        self.inner.parameter_sizes(function)
    }

    fn prepare(&mut self, function: Function, config: &LaunchConfig) -> Result<(), DeviceError> {
        self.count("prepare")?;
        self.inner.prepare(function, config)
    }

    fn stream(&mut self) -> Result<Stream, DeviceError> {
        self.count("stream")?;
        self.inner.stream()
    }

    fn event(&mut self) -> Result<Event, DeviceError> {
        self.count("event")?;
        self.inner.event()
    }

    fn record(&mut self, event: Event, stream: Stream) -> Result<(), DeviceError> {
        self.count("record")?;
        self.inner.record(event, stream)
    }

    fn elapsed_ns(&mut self, start: Event, end: Event) -> Result<f64, DeviceError> {
        self.count("elapsed_ns")?;
        self.inner.elapsed_ns(start, end)
    }

    fn wait_value(&mut self, stream: Stream, address: DevicePtr, value: u32) -> Result<(), DeviceError> {
        self.show("wait_value", Some(stream), &[address.0, u64::from(value)]);
        self.count_unseen("wait_value")?;
        self.inner.wait_value(stream, address, value)
    }

    fn write_value(&mut self, stream: Stream, address: DevicePtr, value: u32) -> Result<(), DeviceError> {
        self.show("write_value", Some(stream), &[address.0, u64::from(value)]);
        self.count_unseen("write_value")?;
        self.inner.write_value(stream, address, value)
    }

    fn store_value(&mut self, address: u64, value: u32) {
        self.show("store_value", None, &[address, u64::from(value)]);
        self.inner.store_value(address, value);
    }

    fn see_value(&mut self, address: u64, value: u32, patience: Duration, missed_ns: &mut u64) -> bool {
        self.show("see_value", None, &[address, u64::from(value)]);
        self.inner.see_value(address, value, patience, missed_ns)
    }

    fn host_reads_clock_ns(&self) -> Option<u64> {
        match self.clock {
            DeviceClock::AsWrapped => self.inner.host_reads_clock_ns(),
            DeviceClock::Unreadable => None,
        }
    }

    fn launch(
        &mut self,
        stream: Stream,
        function: Function,
        config: &LaunchConfig,
        arguments: &[&[u8]],
    ) -> Result<(), DeviceError> {
        let words: Vec<u64> = arguments
            .iter()
            .flat_map(|argument| argument.chunks_exact(8))
            .filter_map(|word| Some(u64::from_le_bytes(word.try_into().ok()?)))
            .collect();
        let name = self.kernels.get(&function).cloned().unwrap_or_default();
        self.show(&name, Some(stream), &words);
        self.count_unseen("launch")?;
        self.inner.launch(stream, function, config, arguments)
    }

    fn copy(&mut self, stream: Stream, target: DevicePtr, source: DevicePtr, bytes: u64) -> Result<(), DeviceError> {
        self.show("copy", Some(stream), &[target.0, source.0, bytes]);
        self.count_unseen("copy")?;
        self.inner.copy(stream, target, source, bytes)
    }

    fn gather(&mut self, stream: Stream, target: DevicePtr, rows: &StridedRows) -> Result<(), DeviceError> {
        self.count_unseen("gather")?;
        self.inner.gather(stream, target, rows)
    }

    fn set(&mut self, stream: Stream, target: DevicePtr, value: u8, bytes: u64) -> Result<(), DeviceError> {
        self.count("set")?;
        self.inner.set(stream, target, value, bytes)
    }

    fn begin_capture(&mut self, stream: Stream) -> Result<(), DeviceError> {
        self.count("begin_capture")?;
        self.inner.begin_capture(stream)
    }

    fn end_capture(&mut self, stream: Stream) -> Result<Graph, DeviceError> {
        self.count("end_capture")?;
        self.inner.end_capture(stream)
    }

    fn launch_graph(&mut self, stream: Stream, graph: Graph) -> Result<(), DeviceError> {
        self.show("launch_graph", Some(stream), &[]);
        self.count_unseen("launch_graph")?;
        self.inner.launch_graph(stream, graph)
    }

    fn release_graph(&mut self, graph: Graph) {
        self.inner.release_graph(graph);
    }

    fn host_call(&mut self, stream: Stream, work: HostWork) -> Result<(), DeviceError> {
        self.count("host_call")?;
        self.inner.host_call(stream, work)
    }

    fn begin_host_call(&mut self, work: HostWork) -> Result<(), DeviceError> {
        self.count("begin_host_call")?;
        self.inner.begin_host_call(work)
    }

    fn end_host_call(&mut self, work: Duration, patience: Duration) -> Result<bool, DeviceError> {
        self.count("end_host_call")?;
        self.inner.end_host_call(work, patience)
    }

    fn default_stream(&mut self) -> Result<Stream, DeviceError> {
        self.count("default_stream")?;
        self.inner.default_stream()
    }

    fn raw_stream(&self, stream: Stream) -> u64 {
        self.inner.raw_stream(stream)
    }

    fn ordinal(&self) -> u32 {
        self.inner.ordinal()
    }

    fn counter(&mut self, request: CountRequest<'_>, hold: CounterHold) -> Result<Box<dyn Counter>, DeviceError> {
        self.count("counter")?;
        self.inner.counter(request, hold)
    }

    fn tracer(&mut self) -> Result<Box<dyn Tracer>, DeviceError> {
        self.count("tracer")?;
        self.inner.tracer()
    }

    fn profile(&mut self, profiling: Profiling) -> Result<(), DeviceError> {
        self.count(match profiling {
            Profiling::Begin => "begin_profile",
            Profiling::End => "end_profile",
        })?;
        self.inner.profile(profiling)
    }

    fn synchronize(&mut self, stream: Stream) -> Result<(), DeviceError> {
        self.count("synchronize")?;
        self.inner.synchronize(stream)
    }

    fn synchronize_all(&mut self) -> Result<(), DeviceError> {
        self.count("synchronize_all")?;
        self.inner.synchronize_all()
    }

    fn synchronize_within(&mut self, stream: Stream, patience: Duration) -> Result<bool, DeviceError> {
        self.count("synchronize_within")?;
        self.inner.synchronize_within(stream, patience)
    }

    fn read(&mut self, source: DevicePtr, target: &mut [u8]) -> Result<(), DeviceError> {
        self.count("read")?;
        self.inner.read(source, target)
    }

    fn write(&mut self, target: DevicePtr, source: &[u8]) -> Result<(), DeviceError> {
        self.count("write")?;
        self.inner.write(target, source)
    }
}
