//! Hosted counterparts of the suite's benchmarks that take less than 50 µs on a GPU. Host code
//! makes the same launches as each plan, with the same compiled kernels. `../twins.py` compares the
//! times of hosted and sealed benchmarks of the same name.
//!
//! `run.sh` builds this crate. It takes the kernels from an archive of the suite.

mod driver;
mod images;
mod replay;

/// Declares hosted benchmarks of a problem of the suite, each with the parameters of the sealed
/// benchmark of the same name.
macro_rules! twins {
    ($($module:ident of $problem:ident {
        $($name:ident($($axis:ident),*; $($tensor:ident: $role:ident<$element:ty>),*);)+
    })+) => {$(
        mod $module {
            use gpubench::prelude::*;

            $(
                #[gpubench(hosted, problem = gpubench_problems::$module::$problem, requires(cuda))]
                fn $name(host: &mut Host, $($axis: usize,)* $($tensor: $role<$element>),*) -> Result<()> {
                    let tensors = [$((stringify!($tensor), host.pointer($tensor) as u64)),*];
                    let axes = [$((stringify!($axis), $axis)),*];
                    crate::replay::twin(host, concat!(stringify!($module), "::", stringify!($name)), &axes, &tensors)
                }
            )+
        }
    )+};
}

twins! {
    add1 of add_one {
        add1(n; x: In<f32>, y: Out<f32>);
    }
    argmax of row_argmax {
        argmax(rows, columns; x: In<f32>, index: Out<i32>);
    }
    histogram of histogram {
        privatised(n; pixels: In<u8>, bins: Out<u32>);
    }
    image of luma {
        grayscale(width, height; rgb: In<f32>, gray: Out<f32>);
    }
    layer_norm of layernorm {
        layer_norm(rows, columns; x: In<f32>, gain: In<f32>, bias: In<f32>, y: Out<f32>);
    }
    modular of product {
        long_remainder(n; a: In<u32>, b: In<u32>, c: Out<u32>);
        montgomery(n; a: In<u32>, b: In<u32>, c: Out<u32>);
    }
    reduction of reduction {
        shared_memory(n; x: In<f32>, sum: Out<f32>);
        warp_shuffle(n; x: In<f32>, sum: Out<f32>);
        persistent(n; x: In<f32>, sum: Out<f32>);
        programmatic(n; x: In<f32>, sum: Out<f32>);
        cluster(n; x: In<f32>, sum: Out<f32>);
    }
    transpose of transpose {
        tiled(rows, columns; x: In<f32>, y: Out<f32>);
        tensor_map(rows, columns; x: In<f32>, y: Out<f32>);
    }
}
