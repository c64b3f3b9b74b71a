//! A kernel of CubeCL, measured in two ways.

mod client;
mod kernel;
#[cfg(test)]
mod source;

use gpubench::prelude::*;

// A test compares the file with what CubeCL generates.
cuda_source!(GENERATED = "add1.cu");

/// What CubeCL passes after the arrays: how many elements each has in memory, and in the array.
#[derive(KernelArg)]
#[repr(C)]
struct Info {
    in_memory: [u32; 2],
    in_array: [u32; 2],
}

fn add_on_cpu(_n: usize, x: &[f32], y: &mut [f32]) {
    for (x, y) in x.iter().zip(y) {
        *y = x + 1.0;
    }
}

/// The kernel alone: the tool launches the CUDA C++ that CubeCL generates.
#[gpubench(axes(n = [1 << 10, 1 << 21, 1 << 26]), cpu(axes(n = [1000])), reference = add_on_cpu, exact)]
fn add1(
    launcher: &mut Launcher,
    n: usize,
    #[fill(Uniform(-100.0..100.0), n)] x: In<f32>,
    #[shape(n)] y: Out<f32>,
) -> Result<()> {
    let lengths = [n as u32; 2];
    let info = Info {
        in_memory: lengths,
        in_array: lengths,
    };
    launcher.launch(
        GENERATED.kernel("add1"),
        Grid::covering(n, kernel::UNITS as usize),
        (x, y, info),
    )
}
