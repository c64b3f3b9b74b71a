//! The host of a hosted benchmark: raw device handles, and the declaration of the call.

use std::ffi::c_void;
use std::fmt;

use crate::abi::HostEnvironment;
use crate::catalog::{DeviceFacts, Tensor};
use crate::error::{Error, Result};
use crate::plan::launcher::{BufferParam, WritableBuffer, declared, place};

/// The measured call of a hosted benchmark.
pub(crate) type HostCall = Box<dyn FnMut() -> Result<()>>;

/// The first parameter of a `#[gpubench(hosted)]` function, instead of a
/// [`Launcher`](crate::Launcher): it has a stream, device pointers, and [`call`](Host::call).
///
/// The function runs once in each worker (a process that runs the kernels under test), and is not
/// timed: create handles, allocate workspaces and load modules here. The closure that it passes to
/// [`call`](Host::call) then runs for every measured call, on the same thread, with the device's
/// primary context current.
///
/// The rules of a call of `hosted` (those of `hosted(sync)` are
/// [below](#calls-that-synchronize)):
///
/// - It queues all of its work on [`stream`](Host::stream), and does not wait for that stream.
/// - If it also uses other streams, it joins them to this one with events. Work that is
///   unfinished when this stream is done counts as a late write.
#[doc = include_str!("../doc/host_routes.md")]
pub struct Host {
    benchmark: String,
    tensors: Vec<Tensor>,
    addresses: Vec<*mut u8>,
    facts: DeviceFacts,
    environment: HostEnvironment,
    declared: Declared,
}

/// The calls that the function declared.
enum Declared {
    Nothing,
    Call(HostCall),
    /// A second call. The benchmark fails even if the function ignores the error.
    Twice,
}

impl Host {
    pub(crate) fn new(
        benchmark: String,
        tensors: Vec<Tensor>,
        addresses: Vec<*mut u8>,
        facts: DeviceFacts,
        environment: HostEnvironment,
    ) -> Host {
        Host {
            benchmark,
            tensors,
            addresses,
            facts,
            environment,
            declared: Declared::Nothing,
        }
    }

    /// Returns the stream that calls are timed on: a `CUstream`, which is also a `cudaStream_t`.
    /// Null on the CPU device, where a call does its work synchronously. The default stream, which
    /// a timed `hosted(sync)` benchmark gets, is null, too.
    ///
    /// The tool owns it: do not destroy it, and do not wait for it in a call, unless the benchmark
    /// is `hosted(sync)`.
    pub fn stream(&self) -> *mut c_void {
        self.environment.stream
    }

    /// Returns the device ordinal in this process, for `cudaSetDevice` and similar. 0 on the CPU
    /// device.
    pub fn ordinal(&self) -> u32 {
        self.environment.ordinal
    }

    /// Returns the properties of the device.
    pub fn device(&self) -> &DeviceFacts {
        &self.facts
    }

    /// Returns the device address of the first element of a buffer or of a part of a buffer. The
    /// address is the same for every call. On the CPU device, it is an address in this process.
    ///
    /// The buffer contains the data of a call only while that call runs.
    ///
    /// # Panics
    /// Panics if a [part](crate::In::range) is out of bounds. The tool reports the panic as the
    /// benchmark's error.
    #[track_caller]
    pub fn pointer<B: BufferParam>(&self, buffer: B) -> *const B::Element {
        self.address(buffer).cast_const()
    }

    /// Returns the same address as [`pointer`](Host::pointer), for a buffer that the call may
    /// write.
    ///
    /// # Panics
    /// As [`pointer`](Host::pointer).
    #[track_caller]
    pub fn pointer_mut<B: BufferParam + WritableBuffer>(&self, buffer: B) -> *mut B::Element {
        self.address(buffer)
    }

    /// Declares the code to measure: `call` queues the work of one call on the
    /// [stream](Host::stream), or does it in any way if the benchmark is `hosted(sync)`. A
    /// benchmark declares exactly one.
    ///
    /// # Errors
    /// Returns an error if a call is already declared.
    pub fn call(&mut self, call: impl FnMut() -> Result<()> + 'static) -> Result<()> {
        match self.declared {
            Declared::Nothing => {
                self.declared = Declared::Call(Box::new(call));
                Ok(())
            }
            Declared::Call(_) | Declared::Twice => {
                self.declared = Declared::Twice;
                Err(self.declared_twice())
            }
        }
    }

    /// Returns the buffer for the parameter `name`.
    pub(crate) fn buffer<B: BufferParam>(&self, name: &str, place: &str) -> Result<B> {
        declared(&self.tensors, name).map_err(|error| error.context(format!("{place}: `{}`", self.benchmark)))
    }

    pub(crate) fn into_call(self) -> Result<HostCall> {
        match self.declared {
            Declared::Call(call) => Ok(call),
            Declared::Twice => Err(self.declared_twice()),
            Declared::Nothing => Err(Error::new(format!(
                "`{}` declares nothing to measure (hint: pass the call to `Host::call`)",
                self.benchmark
            ))),
        }
    }

    fn declared_twice(&self) -> Error {
        Error::new(format!(
            "`{}` declares two calls, but must declare exactly one",
            self.benchmark
        ))
    }

    #[track_caller]
    fn address<B: BufferParam>(&self, buffer: B) -> *mut B::Element {
        let place = place(buffer.view());
        match place {
            Ok((tensor, offset)) => self.addresses[tensor].wrapping_add(offset as usize).cast(),
            Err(error) => panic!("{error}"),
        }
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("benchmark", &self.benchmark)
            .field("device", &self.facts.name)
            .finish_non_exhaustive()
    }
}
