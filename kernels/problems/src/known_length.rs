//! A kernel that says how long it ran. Its time in each mode, minus its own length, is what the
//! mode adds to a kernel on this machine.

use gpubench::prelude::*;

cuda_source!(KNOWN_LENGTH = "known_length.cu");

/// Threads of the only block, and elements of the input.
const THREADS: usize = 32;

/// Wider than any length: a call that the system interrupts is measured too.
const ANY: f64 = 1e18;

fn tensors() -> Tensors {
    Tensors::new()
        .input("x", u32::shape(THREADS), Bits)
        .output("y", u32::shape(THREADS))
        .output("elapsed_ns", f64::shape(1))
        .tolerance(0.0, ANY)
        .output("cycles", f64::shape(1))
        .tolerance(0.0, ANY)
}

/// Complements each element. A length is expected to be 0, so its error in `checks` of the record
/// is the length.
fn complement(_ns: u64, x: &[u32], y: &mut [u32], elapsed_ns: &mut [f64], cycles: &mut [f64]) {
    for (x, y) in x.iter().zip(y) {
        *y = !x;
    }
    elapsed_ns.fill(0.0);
    cycles.fill(0.0);
}

/// Spins until the device's clock has advanced by `ns`.
#[gpubench(
    axes(ns = [0, 2_000, 10_000, 100_000, 1_000_000]),
    tensors = tensors(),
    reference = complement,
    allow(any_answer),
)]
fn spin(
    launcher: &mut Launcher,
    ns: u64,
    x: In<u32>,
    y: Out<u32>,
    elapsed_ns: Out<f64>,
    cycles: Out<f64>,
) -> Result<()> {
    let kernel = KNOWN_LENGTH.kernel("spin");
    launcher.launch(kernel, Grid::new(1, THREADS), (x, y, elapsed_ns, cycles, THREADS, ns))
}

#[cfg(test)]
mod tests {
    use super::complement;
    use crate::shortcuts::{Tolerance, no_constant_passes};
    use gpubench::Rng;

    #[test]
    fn the_reference_complements_and_expects_no_length() {
        let (mut y, mut elapsed_ns, mut cycles) = ([0; 2], [1.0], [1.0]);
        complement(2_000, &[0, u32::MAX], &mut y, &mut elapsed_ns, &mut cycles);
        assert_eq!((y, elapsed_ns, cycles), ([u32::MAX, 0], [0.0], [0.0]));
    }

    #[test]
    fn no_constant_answer_passes() {
        let mut rng = Rng::new(1);
        let x: Vec<u32> = (0..1000).map(|_| rng.next_u32()).collect();
        let mut y = vec![0; 1000];
        complement(0, &x, &mut y, &mut [0.0], &mut [0.0]);
        no_constant_passes(&y, Tolerance::EXACT);
    }
}
