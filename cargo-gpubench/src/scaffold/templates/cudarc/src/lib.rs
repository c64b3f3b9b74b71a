//! `y = x + 1` with cudarc.

use cudarc::driver::sys::{CUdeviceptr, CUstream};
use cudarc::driver::{CudaContext, LaunchConfig, PushKernelArg};
use cudarc::nvrtc::compile_ptx;
use gpubench::prelude::*;

const SOURCE: &str = r#"
extern "C" __global__ void add1(const float *x, float *y, unsigned long long n) {
    unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + 1.0f;
}
"#;

fn add_on_cpu(_n: usize, x: &[f32], y: &mut [f32]) {
    for (x, y) in x.iter().zip(y) {
        *y = x + 1.0;
    }
}

#[gpubench(
    hosted,
    axes(n = [1 << 10, 1 << 21, 1 << 26]),
    reference = add_on_cpu,
    exact,
    requires(cuda),
)]
fn add1(
    host: &mut Host,
    n: usize,
    #[fill(Uniform(-100.0..100.0), n)] x: In<f32>,
    #[shape(n)] y: Out<f32>,
) -> Result<()> {
    // The primary context, which the tool also retains.
    let context = CudaContext::new(host.ordinal() as usize)?;
    let add1 = context.load_module(compile_ptx(SOURCE)?)?.load_function("add1")?;
    // SAFETY: the stream belongs to this context and lives until the process ends; dropping the
    // wrapper does not destroy it.
    let stream = unsafe { context.wrap_borrowed_stream(host.stream() as CUstream) };
    let (x, y) = (host.pointer(x) as CUdeviceptr, host.pointer_mut(y) as CUdeviceptr);
    let (n, blocks) = (n as u64, n.div_ceil(256) as u32);
    let config = LaunchConfig {
        grid_dim: (blocks, 1, 1),
        block_dim: (256, 1, 1),
        shared_mem_bytes: 0,
    };
    host.call(move || {
        let mut launch = stream.launch_builder(&add1);
        launch.arg(&x).arg(&y).arg(&n);
        // SAFETY: the arguments match the kernel, and both buffers have `n` elements.
        unsafe { launch.launch(config) }?;
        Ok(())
    })
}
