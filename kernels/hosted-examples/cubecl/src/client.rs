//! The kernel as a program uses it: CubeCL's client compiles, launches and waits.

use cubecl::cuda::{CudaDevice, CudaRuntime};
use cubecl::future::block_on;
use cubecl::prelude::*;
use cudarc::driver::result::{ctx, memcpy_dtod_sync};
use gpubench::prelude::*;

use crate::add_on_cpu;
use crate::kernel::{UNITS, add1};

/// CubeCL owns its memory and chooses its stream. So the call begins with a copy of the tool's
/// input, and ends with a copy to the tool's output.
#[gpubench(
    hosted(sync),
    axes(n = [1 << 10, 1 << 21, 1 << 26]),
    reference = add_on_cpu,
    exact,
    requires(cuda),
)]
fn add1_by_client(
    host: &mut Host,
    n: usize,
    #[fill(Uniform(-100.0..100.0), n)] x: In<f32>,
    #[shape(n)] y: Out<f32>,
) -> Result<()> {
    let client = CudaRuntime::client(&CudaDevice::new(host.ordinal() as usize));
    let bytes = n * size_of::<f32>();
    let (input, output) = (client.empty(bytes), client.empty(bytes));
    // They keep the memory where it is.
    let resources = (
        client.get_resource(input.clone())?,
        client.get_resource(output.clone())?,
    );
    let (x, y) = (host.pointer(x) as u64, host.pointer_mut(y) as u64);
    let cubes = CubeCount::Static(n.div_ceil(UNITS as usize) as u32, 1, 1);
    let call = move || {
        let (from, to) = (resources.0.resource().ptr, resources.1.resource().ptr);
        // SAFETY: all four have `n` elements, and nothing else uses them during the call.
        unsafe { memcpy_dtod_sync(from, x, bytes) }?;
        // A copy within the device may return before it is done.
        ctx::synchronize()?;
        // SAFETY: both arrays have `n` elements, and the kernel writes no others.
        unsafe {
            let arrays = [&input, &output].map(|handle| ArrayArg::from_raw_parts(handle.clone(), n));
            let [input, output] = arrays;
            add1::launch_unchecked::<CudaRuntime>(&client, cubes.clone(), CubeDim::new_1d(UNITS), input, output);
        }
        block_on(client.sync())?;
        // SAFETY: as above.
        unsafe { memcpy_dtod_sync(y, to, bytes) }?;
        Ok(ctx::synchronize()?)
    };
    // In the first call, NVRTC compiles the kernel.
    call()?;
    host.call(call)
}
