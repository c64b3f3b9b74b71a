//! `y = x + 1` with a launch function that nvcc compiles.

use std::ffi::c_void;

use gpubench::prelude::*;

unsafe extern "C" {
    fn prepare_add1() -> i32;
    fn launch_add1(x: *const f32, y: *mut f32, n: usize, stream: *mut c_void) -> i32;
}

fn add_on_cpu(_n: usize, x: &[f32], y: &mut [f32]) {
    for (x, y) in x.iter().zip(y) {
        *y = x + 1.0;
    }
}

fn succeeded(what: &str, code: i32) -> Result<()> {
    match code {
        0 => Ok(()),
        code => Err(Error::new(format!("{what} failed with CUDA error {code}"))),
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
    // SAFETY: the function has no parameters, and the tool has made the device's primary context
    // current.
    succeeded("loading `add1`", unsafe { prepare_add1() })?;
    let (stream, x, y) = (host.stream(), host.pointer(x), host.pointer_mut(y));
    host.call(move || {
        // SAFETY: both buffers have `n` elements, and the stream belongs to the tool.
        succeeded("launching `add1`", unsafe { launch_add1(x, y, n, stream) })
    })
}
