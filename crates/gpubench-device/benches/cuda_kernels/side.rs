//! A device with the tool's kernels and memory for them.

use std::num::NonZeroU32;

use gpubench_device::{
    DeviceError, DeviceOrder, DevicePtr, Driver, Event, Function, LaunchConfig, ModuleImage, Stream, open,
};
use gpubench_harness::arguments::{Arguments, CheckPartial};
use gpubench_harness::{Geometry, Kernel, Processors, geometry};

/// Space before and after each buffer, so that kernels can also start at odd addresses.
const PADDING: u64 = 4096;
const MOST_PARTIALS: u64 = 1 << 12;
const ROUNDS: usize = 21;

pub(crate) struct Side {
    driver: Box<dyn Driver>,
    stream: Stream,
    events: (Event, Event),
    functions: Vec<(Kernel, Function)>,
    /// Two buffers of the same size.
    pub(crate) one: DevicePtr,
    pub(crate) other: DevicePtr,
    /// A few words: keys, sums, stamps.
    pub(crate) words: DevicePtr,
    partials: DevicePtr,
}

impl Side {
    pub(crate) fn open(order: &DeviceOrder, bytes: u64) -> Result<Side, DeviceError> {
        let mut driver = open(order)?;
        let module = driver.load(ModuleImage::Harness)?;
        let mut functions = Vec::new();
        for kernel in Kernel::ALL {
            functions.push((kernel, driver.function(module, kernel.name())?));
        }
        Ok(Side {
            stream: driver.stream()?,
            events: (driver.event()?, driver.event()?),
            functions,
            one: driver.alloc(bytes + 2 * PADDING)?.offset(PADDING),
            other: driver.alloc(bytes + 2 * PADDING)?.offset(PADDING),
            words: driver.alloc(4096)?,
            partials: driver.alloc(MOST_PARTIALS * size_of::<CheckPartial>() as u64)?,
            driver,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.driver.facts().device.name
    }

    pub(crate) fn partials(&self) -> u64 {
        self.partials.0
    }

    pub(crate) fn partial_count(&self, kernel: Kernel, bytes: u64) -> u64 {
        let geometry = self.geometry(kernel, bytes);
        geometry.reporters(self.processors()).clamp(1, MOST_PARTIALS)
    }

    /// Launches and waits.
    pub(crate) fn run<A: Arguments>(&mut self, arguments: &A, bytes: u64) -> Result<(), DeviceError> {
        self.launch(arguments, bytes)?;
        self.driver.synchronize(self.stream)
    }

    /// Returns the median time of a launch in nanoseconds.
    pub(crate) fn median_ns<A: Arguments>(&mut self, arguments: &A, bytes: u64) -> Result<f64, DeviceError> {
        self.median(|side| side.launch(arguments, bytes))
    }

    /// Returns the median time of a copy from one buffer to the other in nanoseconds.
    pub(crate) fn copy_ns(&mut self, bytes: u64) -> Result<f64, DeviceError> {
        self.median(|side| side.driver.copy(side.stream, side.other, side.one, bytes))
    }

    pub(crate) fn read(&mut self, from: DevicePtr, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        let mut memory = vec![0; bytes as usize];
        self.driver.read(from, &mut memory)?;
        Ok(memory)
    }

    pub(crate) fn write(&mut self, to: DevicePtr, bytes: &[u8]) -> Result<(), DeviceError> {
        self.driver.write(to, bytes)
    }

    pub(crate) fn read_partials(&mut self, bytes: u64) -> Result<Vec<u8>, DeviceError> {
        self.read(self.partials, bytes)
    }

    fn median(&mut self, mut queue: impl FnMut(&mut Side) -> Result<(), DeviceError>) -> Result<f64, DeviceError> {
        let (start, end) = self.events;
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            self.driver.record(start, self.stream)?;
            queue(self)?;
            self.driver.record(end, self.stream)?;
            self.driver.synchronize(self.stream)?;
            times.push(self.driver.elapsed_ns(start, end)?);
        }
        times.sort_by(f64::total_cmp);
        Ok(times[ROUNDS / 2])
    }

    fn launch<A: Arguments>(&mut self, arguments: &A, bytes: u64) -> Result<(), DeviceError> {
        let Geometry { grid, block } = self.geometry(A::KERNEL, bytes);
        let config = LaunchConfig {
            grid,
            block,
            ..LaunchConfig::linear(1, 1)
        };
        let known = self.functions.iter().find(|(kernel, _)| *kernel == A::KERNEL);
        let (_, function) = known.ok_or_else(|| DeviceError::NoFunction(A::KERNEL.name().to_owned()))?;
        self.driver
            .launch(self.stream, *function, &config, &[arguments.as_bytes()])
    }

    fn geometry(&self, kernel: Kernel, bytes: u64) -> Geometry {
        geometry(kernel, bytes, self.processors())
    }

    fn processors(&self) -> Processors {
        let device = &self.driver.facts().device;
        let count = NonZeroU32::new(device.multiprocessors).unwrap_or(NonZeroU32::MIN);
        match device.max_threads_per_multiprocessor {
            1 => Processors::Cores(count),
            _ => Processors::Multiprocessors(count),
        }
    }
}
