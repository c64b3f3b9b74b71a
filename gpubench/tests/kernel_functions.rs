//! The functions that `cuda_source!` makes of kernels.
#![warn(missing_docs, unreachable_pub)]
#![deny(warnings)]

use gpubench::prelude::*;

cuda_source!(KERNELS = "abi/kernels/named.cu");

/// Constants with the names of parameters.
const N: usize = 4;
static NAMED: bool = true;

/// A source of another module.
pub mod published {
    gpubench::cuda_source!(
        /// Documented.
        pub NAMED = "abi/kernels/named.cu",
        options = ["-D", "real=double"]
    );
}

/// A static of a constant address, as before there were functions.
static SOURCES: [&CudaSource; 2] = [&KERNELS, &published::NAMED];

fn every_form(launcher: &mut Launcher, x: In<f32>, y: Out<f32>, z: InOut<f64>) -> Result<()> {
    let grid = Grid::covering(N, 64).shared(1024).cluster(1);
    KERNELS::r#match(launcher, grid, x, y, -1, 2u64, 3, N)?;
    KERNELS::kernel(launcher, grid, y, N, b'c', NAMED)?;
    KERNELS::scale(launcher, Grid::new(launcher.device().multiprocessors, 64), x, z, 0.5)?;
    KERNELS::from_header(launcher, grid, y, y, Null)?;
    // The option gives `real` another meaning, so its parameters take anything.
    published::NAMED::from_header(launcher, grid, z, z, x)?;
    launcher.launch(SOURCES[0].kernel("either"), grid, (x,))
}

mod inner {
    use super::KERNELS;
    use gpubench::prelude::*;

    pub(super) fn imported(launcher: &mut Launcher, y: Out<f32>) -> Result<()> {
        KERNELS::from_header(launcher, Grid::new(1, 1), Null, y, Null)
    }
}

#[test]
fn kernels_with_names_of_rust_and_of_namespaces_have_functions() {
    let _ = (every_form, inner::imported);
}

#[test]
fn the_static_is_a_source_as_without_functions() {
    let source = SOURCES[1];
    assert_eq!(format!("{:?}", source.kernel("either")), "abi/kernels/named.cu: either");
}
