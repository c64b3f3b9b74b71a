//! Modules, kernels and launches.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::time::Duration;

use cudarc::driver::sys::{
    CUdeviceptr, CUfunction, CUfunction_attribute, CUjit_option, CUlaunchAttribute, CUlaunchAttributeID,
    CUlaunchConfig, CUmodule,
};
use gpubench_device::FrozenFile;
use gpubench_device::{DeviceError, Driver as _, Function, HostFailure, LaunchConfig, Module, ModuleImage, Stream};

use crate::activity::{self, Operation};
use crate::behaviour::{Moment, behaviour};
use crate::call::{in_context, with_gpu};
use crate::cheat::disturbance;
use crate::clock::work_for;
use crate::error::{INVALID_VALUE, NOT_FOUND, NOT_SUPPORTED, Refusal};
use crate::gpu::{Gpu, Handle as _, raise};
use crate::image::{Image, Loadable};
use crate::ledger::Kind;
use crate::nvrtc::name_of;

/// The dynamic shared memory limit of a block in bytes.
const MOST_SHARED: c_int = 227 << 10;

/// Registers per thread of every kernel.
const REGISTERS: c_int = 40;

/// Static shared memory of every kernel in bytes.
const STATIC_SHARED: c_int = 1024;

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuModuleLoadDataEx(
    module: *mut CUmodule,
    data: *const c_void,
    _count: c_uint,
    _options: *mut CUjit_option,
    _values: *mut *mut c_void,
) -> c_int {
    in_context("cuModuleLoadDataEx", |gpu| {
        // SAFETY: the caller's image is complete.
        let loaded = match unsafe { Image::at(data) }? {
            Image::Harness => gpu.cpu.load(ModuleImage::Harness)?,
            Image::Library(bytes) => {
                let library = Loadable::new(bytes)?;
                gpu.begin_cheating();
                let code = FrozenFile::copy_of(library.path()).map_err(|error| DeviceError::Load(Box::new(error)))?;
                gpu.cpu.load(ModuleImage::File(&code))?
            }
        };
        gpu.ledger.take(Kind::Module);
        // SAFETY: the caller passes a valid pointer to a handle.
        unsafe { *module = loaded.to_pointer() };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuModuleUnload(module: CUmodule) -> c_int {
    in_context("cuModuleUnload", |gpu| {
        Module::of_pointer(module)?;
        gpu.ledger.give_back(Kind::Module);
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuModuleGetFunction(
    function: *mut CUfunction,
    module: CUmodule,
    name: *const c_char,
) -> c_int {
    in_context("cuModuleGetFunction", |gpu| {
        // SAFETY: the caller's name ends with a zero.
        let name = name_of(unsafe { text(name) }?);
        let found = gpu.cpu.function(Module::of_pointer(module)?, name)?;
        gpu.kernels.resize(found.0 as usize, String::new());
        gpu.kernels.push(name.to_owned());
        // SAFETY: the caller passes a valid pointer to a handle.
        unsafe { *function = found.to_pointer() };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuModuleGetGlobal_v2(
    address: *mut CUdeviceptr,
    bytes: *mut usize,
    module: CUmodule,
    name: *const c_char,
) -> c_int {
    in_context("cuModuleGetGlobal_v2", |gpu| {
        // SAFETY: the caller's name ends with a zero.
        let (found, size) = gpu.cpu.symbol(Module::of_pointer(module)?, unsafe { text(name) }?)?;
        // SAFETY: the caller passes valid pointers to numbers.
        unsafe { (*address, *bytes) = (found.0, size as usize) };
        Ok(())
    })
}

unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, Refusal> {
    // SAFETY: the caller's text ends with a zero.
    unsafe { CStr::from_ptr(text) }.to_str().map_err(|_| Refusal(NOT_FOUND))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuFuncLoad(_function: CUfunction) -> c_int {
    in_context("cuFuncLoad", |_| Ok(()))
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuFuncGetParamInfo(
    function: CUfunction,
    index: usize,
    offset: *mut usize,
    size: *mut usize,
) -> c_int {
    with_gpu("cuFuncGetParamInfo", |gpu| {
        let sizes = gpu.cpu.parameter_sizes(Function::of_pointer(function)?);
        let sizes = sizes.ok_or(Refusal(INVALID_VALUE))?;
        let found = *sizes.get(index).ok_or(Refusal(INVALID_VALUE))?;
        let before: u32 = sizes[..index].iter().sum();
        // SAFETY: the caller passes valid pointers to numbers.
        unsafe { (*offset, *size) = (before as usize, found as usize) };
        Ok(())
    })
}

/// Every kernel has the registers and the shared memory of [`REGISTERS`] and [`STATIC_SHARED`].
/// None uses local memory, because threads of the CPU device have stacks.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuFuncGetAttribute(
    value: *mut c_int,
    attribute: c_uint,
    _function: CUfunction,
) -> c_int {
    let is = |known: CUfunction_attribute| attribute == known as c_uint;
    in_context("cuFuncGetAttribute", |_| {
        let found = match () {
            () if is(CUfunction_attribute::CU_FUNC_ATTRIBUTE_NUM_REGS) => REGISTERS,
            () if is(CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES) => STATIC_SHARED,
            () => 0,
        };
        // SAFETY: the caller passes a valid pointer to a number.
        unsafe { *value = found };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuFuncSetAttribute(_function: CUfunction, attribute: c_uint, value: c_int) -> c_int {
    in_context("cuFuncSetAttribute", |_| {
        let shared = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES as c_uint;
        if attribute == shared && value > MOST_SHARED {
            Err(Refusal(INVALID_VALUE))
        } else {
            Ok(())
        }
    })
}

/// A multiprocessor holds one block of every kernel.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut c_int,
    function: CUfunction,
    _threads: c_int,
    _shared: usize,
) -> c_int {
    in_context("cuOccupancyMaxActiveBlocksPerMultiprocessor", |_| {
        Function::of_pointer(function)?;
        // SAFETY: the caller passes a valid pointer to a number.
        unsafe { *blocks = 1 };
        Ok(())
    })
}

#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn cuLaunchKernelEx(
    config: *const CUlaunchConfig,
    function: CUfunction,
    values: *mut *mut c_void,
    _extra: *mut *mut c_void,
) -> c_int {
    in_context("cuLaunchKernelEx", |gpu| {
        // SAFETY: the caller's configuration has `numAttrs` attributes.
        let (stream, shape) = unsafe { shape_of(&*config) }?;
        let function = Function::of_pointer(function)?;
        if fault(gpu, function, stream)? {
            return Ok(());
        }
        crate::profiler::note(&gpu.kernels[function.0 as usize]);
        delay(gpu, function, stream)?;
        misbehave(gpu, function, stream)?;
        let sizes = gpu.cpu.parameter_sizes(function).ok_or(Refusal(INVALID_VALUE))?;
        let argument = |(position, size): (usize, &u32)| {
            // SAFETY: the caller passes a value of the right size for each parameter.
            unsafe { std::slice::from_raw_parts((*values.add(position)).cast::<u8>(), *size as usize) }
        };
        let arguments: Vec<&[u8]> = sizes.iter().enumerate().map(argument).collect();
        let product = |extents: [u32; 3]| extents.into_iter().map(u64::from).product();
        activity::queued(Operation::Kernel);
        crate::cupti::launched(product(shape.grid), product(shape.block));
        Ok(gpu.cpu.launch(stream, function, &shape, &arguments)?)
    })
}

/// Delays the stream before the kernel if a delay is planned or a lingering cheat occupies the GPU.
fn delay(gpu: &mut Gpu, function: Function, stream: Stream) -> Result<(), Refusal> {
    let name = &gpu.kernels[function.0 as usize];
    let planned = behaviour().delays.iter().find(|(kernel, _)| kernel == name);
    let planned = planned.map(|(_, milliseconds)| Duration::from_millis(u64::from(milliseconds.unsigned_abs())));
    let is_honest = gpu.cheat.is_none();
    if planned.is_none() && behaviour().lingers.is_none() {
        return Ok(());
    }
    let wait = move || {
        let disturbed = is_honest.then(disturbance).flatten();
        work_for(planned.unwrap_or_default() + disturbed.unwrap_or_default());
        Ok(())
    };
    Ok(gpu.cpu.host_call(stream, Box::new(wait))?)
}

/// Applies the planned signal and number offset of a kernel to this process.
fn misbehave(gpu: &mut Gpu, function: Function, stream: Stream) -> Result<(), Refusal> {
    let name = &gpu.kernels[function.0 as usize];
    if let Some((_, added)) = behaviour().numbers.iter().find(|(kernel, _)| kernel == name) {
        gpu.added = *added;
    }
    match behaviour().signals.iter().find(|(kernel, ..)| kernel == name) {
        None => Ok(()),
        Some((_, Moment::Queueing, signal)) => raise(*signal),
        Some((_, Moment::Waiting, signal)) => {
            gpu.signal_underway = Some(*signal);
            Ok(())
        }
        Some((_, Moment::Running, signal)) => {
            let refused = |Refusal(code)| HostFailure::Returned(format!("a signal was refused with {code}"));
            let send = move || raise(*signal).map_err(refused);
            Ok(gpu.cpu.host_call(stream, Box::new(send))?)
        }
    }
}

/// Ends the stream's work here if a fault of this kernel is planned.
fn fault(gpu: &mut Gpu, function: Function, stream: Stream) -> Result<bool, Refusal> {
    let name = &gpu.kernels[function.0 as usize];
    let Some((_, code)) = behaviour().faults.iter().find(|(kernel, _)| kernel == name) else {
        return Ok(false);
    };
    gpu.fault_underway = Some(*code);
    let end = || Err(HostFailure::Returned("a planned fault".to_owned()));
    gpu.cpu.host_call(stream, Box::new(end))?;
    Ok(true)
}

/// Returns the launch without its attributes. Programmatic early start is only a permission, so it
/// is ignored. Other attributes are not supported.
unsafe fn shape_of(config: &CUlaunchConfig) -> Result<(Stream, LaunchConfig), Refusal> {
    let attributes: &[CUlaunchAttribute] = match config.numAttrs {
        0 => &[],
        // SAFETY: the caller's configuration has `numAttrs` attributes.
        count => unsafe { std::slice::from_raw_parts(config.attrs, count as usize) },
    };
    let is_early =
        |it: &CUlaunchAttribute| it.id == CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    if !attributes.iter().all(is_early) {
        return Err(Refusal(NOT_SUPPORTED));
    }
    let shape = LaunchConfig {
        grid: [config.gridDimX, config.gridDimY, config.gridDimZ],
        block: [config.blockDimX, config.blockDimY, config.blockDimZ],
        dynamic_shared: config.sharedMemBytes,
        ..LaunchConfig::linear(1, 1)
    };
    Ok((Stream::of_pointer(config.hStream)?, shape))
}
