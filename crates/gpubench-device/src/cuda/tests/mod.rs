//! The driver on a real GPU; `states` has unusable drivers. Each test opens the GPU anew; whatever
//! damages the context runs in a separate process.

mod faults;
mod launches;
mod memory;
mod states;

use std::sync::atomic::AtomicU32;
use std::time::Duration;

use super::CudaDriver;
use crate::{DeviceError, DeviceOrder, DevicePtr, Driver, FrozenFile, Function, LaunchConfig, Module, ModuleImage};
use gpubench_diagnostic::chain;

const KERNELS: &str = include_str!("kernels.ptx");
const HOPPER: &str = include_str!("hopper.ptx");

/// Long enough for any working GPU.
const PATIENCE: Duration = Duration::from_secs(20);

fn open() -> CudaDriver {
    CudaDriver::open(&DeviceOrder::cuda(0)).unwrap_or_else(|error| panic!("{}", chain(&error)))
}

trait OrChain<T> {
    /// Returns the value, or panics with the whole chain of causes.
    fn or_chain(self) -> T;
}

impl<T> OrChain<T> for Result<T, DeviceError> {
    #[track_caller]
    fn or_chain(self) -> T {
        self.unwrap_or_else(|error| panic!("{}", chain(&error)))
    }
}

fn load(driver: &mut CudaDriver, ptx: &str) -> Module {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs_err::write(file.path(), ptx).unwrap();
    driver
        .load(ModuleImage::File(&FrozenFile::copy_of(file.path()).unwrap()))
        .or_chain()
}

fn kernel(driver: &mut CudaDriver, ptx: &str, name: &str) -> Function {
    let module = load(driver, ptx);
    driver.function(module, name).or_chain()
}

fn word_at(driver: &mut CudaDriver, address: DevicePtr) -> u32 {
    let mut bytes = [0; 4];
    driver.read(address, &mut bytes).or_chain();
    u32::from_le_bytes(bytes)
}

fn one_thread() -> LaunchConfig {
    LaunchConfig::linear(1, 1)
}

/// A host page with the shared words of two processes.
#[repr(C, align(4096))]
struct Page {
    go: AtomicU32,
    done: AtomicU32,
    rest: [u8; 4088],
}

impl Page {
    fn new() -> Box<Page> {
        Box::new(Page {
            go: AtomicU32::new(0),
            done: AtomicU32::new(0),
            rest: [0; 4088],
        })
    }

    fn address(&self) -> u64 {
        std::ptr::from_ref(self) as u64
    }
}
