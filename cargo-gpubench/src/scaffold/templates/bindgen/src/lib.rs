//! `y = x + 1` with a launch function that nvcc compiles. bindgen declares it from its C header.

use gpubench::prelude::*;

/// The functions of `add1.h`.
mod add1_h {
    include!(concat!(env!("OUT_DIR"), "/add1.rs"));
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
    succeeded("loading `add1`", unsafe { add1_h::prepare_add1() })?;
    let (stream, x, y) = (host.stream(), host.pointer(x), host.pointer_mut(y));
    host.call(move || {
        // SAFETY: both buffers have `n` elements, and the stream belongs to the tool.
        succeeded("launching `add1`", unsafe { add1_h::launch_add1(x, y, n, stream) })
    })
}
