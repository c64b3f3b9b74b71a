//! The benchmark of known length. An author process of the tool has it instead of a user's library.

use gpubench::prelude::*;
use gpubench_contract::{ParamValue, Params};

cuda_image!(SPIN = gpubench_harness::SPIN_SOURCE);

/// The crate of the benchmark, as in `module_path!`.
pub(super) const CRATE: &str = "cargo_gpubench";

/// The axis with the length in nanoseconds.
const LENGTH: &str = "ns";

/// Returns the least length of a case, in nanoseconds.
pub(super) fn length_of(params: &Params) -> Option<f64> {
    let (_, length) = params.0.iter().find(|(name, _)| name == LENGTH)?;
    match length {
        ParamValue::Int(ns) => Some(*ns as f64),
        ParamValue::Float(_) | ParamValue::Text(_) => None,
    }
}

/// The output with the length by the device's clock, in nanoseconds. Its expected value is the
/// least length, so its error is the time that a call spun for too long.
pub(super) const ELAPSED: &str = "elapsed_ns";

/// The output with the length in cycles of the multiprocessor. Its expected value is 0, so its
/// error is the number of cycles.
pub(super) const CYCLES: &str = "cycles";

/// Threads of the only block, and elements of the input.
const THREADS: usize = 32;

/// Wider than any length: a call that the system interrupts is measured too.
const ANY: f64 = 1e18;

fn tensors() -> Tensors {
    Tensors::new()
        .input("x", u32::shape(THREADS), Bits)
        .output("y", u32::shape(THREADS))
        .output(ELAPSED, f64::shape(1))
        .tolerance(0.0, ANY)
        .output(CYCLES, f64::shape(1))
        .tolerance(0.0, ANY)
}

fn complement(ns: u64, x: &[u32], y: &mut [u32], elapsed_ns: &mut [f64], cycles: &mut [f64]) {
    for (x, y) in x.iter().zip(y) {
        *y = !x;
    }
    elapsed_ns.fill(ns as f64);
    cycles.fill(0.0);
}

/// Spins until the device's clock has advanced by `ns`.
#[gpubench(
    axes(ns = [0, 2_000, 10_000, 100_000, 1_000_000]),
    inputs = tensors(),
    reference = complement,
)]
fn spin(cx: &mut Launcher, ns: u64, x: In<u32>, y: Out<u32>, elapsed_ns: Out<f64>, cycles: Out<f64>) -> Result<()> {
    let kernel = SPIN.kernel(gpubench_harness::SPIN_KERNEL);
    cx.launch(kernel, Grid::new(1, THREADS), (x, y, elapsed_ns, cycles, THREADS, ns))
}
