//! The names that benchmarks use: `use gpubench::prelude::*;`.

pub use crate::element::{BF16, Complex32, F8E4M3, F8E5M2, F16, Number, Shape};
pub use crate::error::{Error, Result};
pub use crate::host::Host;
pub use crate::library::Library;
pub use crate::plan::launcher::{Constant, Grid, In, InOut, Launcher, Null, Out, Scratch, TensorMap};
pub use crate::source::{CudaSource, Kernel};
pub use crate::tensors::{Answer, Bits, ByCpu, ByKernel, CpuData, Integers, Normal, Rng, TensorFile, Tensors, Uniform};
pub use crate::{Element, KernelArg, cuda_image, cuda_source, gpubench, problem, tensor_file};
