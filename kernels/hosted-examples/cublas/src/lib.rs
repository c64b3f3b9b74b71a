//! The product of two square matrices with cuBLAS.

use std::ffi::c_int;

use cudarc::cublas::{result, sys};
use gpubench::prelude::*;

cuda_source!(REFERENCE = "in_double.cu");

fn matrices(n: usize) -> Tensors {
    Tensors::new()
        .input("a", f32::shape([n, n]), Uniform(-1.0..1.0))
        .input("b", f32::shape([n, n]), Uniform(-1.0..1.0))
        .output("c", f32::shape([n, n]))
        // A sum of `n` rounded products of numbers from -1 to 1. The error grows with the square
        // root of `n`.
        .tolerance(0.0, 1e-6 * n as f64)
}

fn in_double(launcher: &mut Launcher, n: usize, a: In<f32>, b: In<f32>, c: Out<f32>) -> Result<()> {
    launcher.launch(
        REFERENCE.kernel("in_double"),
        Grid::covering((n, n), (32, 8)),
        (a, b, c, n),
    )
}

fn on_cpu(n: usize, a: &[f32], b: &[f32], c: &mut [f32]) {
    for row in 0..n {
        for column in 0..n {
            let products = (0..n).map(|i| f64::from(a[row * n + i]) * f64::from(b[i * n + column]));
            c[row * n + column] = products.sum::<f64>() as f32;
        }
    }
}

/// The workspace of cuBLAS. If cuBLAS chose the workspace, a call might allocate. It would then
/// wait for the stream, which waits for the call.
const WORKSPACE_BYTES: usize = 32 << 20;

#[gpubench(
    hosted,
    axes(n = [256, 1000, 2048]),
    cuda(reference = launch(in_double)),
    tensors = matrices,
    reference = on_cpu,
    bytes = 12 * n * n,
    flops = 2 * n * n * n,
    requires(cuda),
)]
fn sgemm(host: &mut Host, n: usize, a: In<f32>, b: In<f32>, c: Out<f32>) -> Result<()> {
    let handle = result::create_handle()?;
    // SAFETY: the handle is new, the stream and the memory live until the process ends, and the
    // device's primary context is current.
    unsafe {
        result::set_stream(handle, host.stream().cast())?;
        let workspace = cudarc::driver::result::malloc_sync(WORKSPACE_BYTES)?;
        sys::cublasSetWorkspace_v2(handle, workspace as *mut _, WORKSPACE_BYTES).result()?;
    }
    let (a, b, c) = (host.pointer(a), host.pointer(b), host.pointer_mut(c));
    let n = n as c_int;
    let none = sys::cublasOperation_t::CUBLAS_OP_N;
    let product = move || -> Result<()> {
        let (one, zero) = (1.0f32, 0.0f32);
        // cuBLAS is column-major, so it sees the transposes, and C^T = B^T A^T. SAFETY: all three
        // buffers have `n * n` elements, and the scalars are read before the call returns.
        unsafe { result::sgemm(handle, none, none, n, n, n, &one, b, n, a, n, &zero, c, n) }?;
        Ok(())
    };
    // The first product loads its kernel, which waits for the stream. In a measured call that would
    // never end.
    product()?;
    // SAFETY: the stream belongs to the tool and is alive.
    unsafe { cudarc::driver::result::stream::synchronize(host.stream().cast()) }?;
    host.call(product)
}
