//! What a hosted benchmark launches with: raw handles of the device, and the call that is measured.

use std::ffi::c_void;
use std::fmt;

use crate::abi::HostEnvironment;
use crate::catalog::{DeviceFacts, Tensor};
use crate::error::{Error, Result};
use crate::plan::launcher::{BufferParam, WritableBuffer, declared, place};

/// The measured call of a hosted benchmark.
pub(crate) type HostCall = Box<dyn FnMut() -> Result<()>>;

/// What a `#[gpubench(hosted)]` function is given instead of a [`Launcher`](crate::Launcher): a
/// stream, device pointers, and [`call`](Host::call).
///
/// The function runs once in the process that measures, and nothing of it is timed: this is where
/// handles are made, workspaces are allocated and modules are loaded. What it hands to
/// [`call`](Host::call) is run for every measured call, on the thread that ran the function, with
/// the device's primary context current.
///
/// The rules of a call: it queues all of its work on [`stream`](Host::stream) and does not wait for
/// it. Work on other streams must be joined to this one by events. Work that is not finished when
/// the stream has finished counts as written late.
#[doc = include_str!("../doc/host_routes.md")]
pub struct Host {
    benchmark: String,
    tensors: Vec<Tensor>,
    addresses: Vec<*mut u8>,
    facts: DeviceFacts,
    environment: HostEnvironment,
    declared: Declared,
}

/// What has been declared to be measured.
enum Declared {
    Nothing,
    Call(HostCall),
    /// A second call, which is refused also where its error is passed over.
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

    /// The stream that calls are timed on: a `CUstream`, which is also a `cudaStream_t`. Null on
    /// the CPU device, where a call does its work itself.
    ///
    /// It belongs to the tool: do not destroy it, and do not wait for it in a call.
    pub fn stream(&self) -> *mut c_void {
        self.environment.stream
    }

    /// Ordinal of the device among those the driver shows this process, for `cudaSetDevice` and the
    /// like. 0 on the CPU device.
    pub fn ordinal(&self) -> u32 {
        self.environment.ordinal
    }

    /// The device.
    pub fn device(&self) -> &DeviceFacts {
        &self.facts
    }

    /// Address of a buffer's first element on the device, the same for every call; on the CPU
    /// device an address of this process. A part of a buffer gives the address of its first
    /// element.
    ///
    /// Its contents are those of a measured call only while that call runs.
    ///
    /// # Panics
    /// When a [part](crate::In::range) leaves its buffer. The panic is reported as the benchmark's
    /// error.
    #[track_caller]
    pub fn pointer<B: BufferParam>(&self, buffer: B) -> *const B::Element {
        self.address(buffer).cast_const()
    }

    /// As [`pointer`](Host::pointer), for a buffer that the call may write.
    ///
    /// # Panics
    /// As [`pointer`](Host::pointer).
    #[track_caller]
    pub fn pointer_mut<B: BufferParam + WritableBuffer>(&self, buffer: B) -> *mut B::Element {
        self.address(buffer)
    }

    /// Declares what is measured: `call` queues the work of one call on the [stream](Host::stream).
    /// A benchmark declares exactly one.
    ///
    /// # Errors
    /// When a call has been declared already.
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

    /// The buffer that stands in the function's parameters under `name`.
    pub(crate) fn buffer<B: BufferParam>(&self, name: &str, place: &str) -> Result<B> {
        declared(&self.tensors, name).map_err(|error| error.context(format!("{place}: `{}`", self.benchmark)))
    }

    pub(crate) fn into_call(self) -> Result<HostCall> {
        match self.declared {
            Declared::Call(call) => Ok(call),
            Declared::Twice => Err(self.declared_twice()),
            Declared::Nothing => Err(Error::new(format!(
                "`{}` declares nothing to measure (hint: hand the call to `Host::call`)",
                self.benchmark
            ))),
        }
    }

    fn declared_twice(&self) -> Error {
        Error::new(format!(
            "`{}` declares two calls; exactly one is measured",
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
