#![doc = include_str!("../doc/crate.md")]
#![deny(unsafe_code)]

// The macros' output names this crate `::gpubench`, also in this crate's tests.
extern crate self as gpubench;

#[doc(hidden)]
pub mod __private;
#[allow(unsafe_code)]
pub mod abi;
mod axis;
mod case_file;
pub mod catalog;
pub mod codec;
mod element;
mod error;
mod host;
mod library;
#[doc(hidden)]
pub mod origin;

pub mod plan;
pub mod prelude;
mod registry;
mod source;
#[doc(hidden)]
pub mod tensor_file;
mod tensors;

pub use axis::AxisParam;
pub use catalog::{DeviceFacts, DeviceKind};
pub use element::{BF16, Complex32, Element, Elements, Extents, F8E4M3, F8E5M2, F16, Number, Shape, bits_of};
pub use error::{Error, Outcome, Result};
// Many users write `#[bench]` from habit. The macro's error names the right attribute.
#[doc = include_str!("../doc/element.md")]
pub use gpubench_macros::Element;
#[doc = include_str!("../doc/kernel_arg.md")]
pub use gpubench_macros::KernelArg;
#[doc(hidden)]
pub use gpubench_macros::bench;
#[doc = include_str!("../doc/cuda_image.md")]
pub use gpubench_macros::cuda_image;
#[doc = include_str!("../doc/cuda_source.md")]
pub use gpubench_macros::cuda_source;
#[doc = include_str!("../doc/gpubench.md")]
pub use gpubench_macros::gpubench;
#[doc = include_str!("../doc/problem.md")]
pub use gpubench_macros::problem;
#[doc = include_str!("../doc/tensor_file.md")]
pub use gpubench_macros::tensor_file;
pub use host::Host;
pub use library::Library;
pub use plan::launcher::{
    AnyElement, Arguments, Buffer, BufferParam, Byte, ConstPointer, Constant, Count, Dimensions, Grid, In, InOut,
    IntegerArg, IntegerParameter, KernelArg, KernelValue, Launcher, MutPointer, Null, Out, RecordedArgument, Scratch,
    TensorMap, Unwrapped, View, WritableBuffer,
};
pub use registry::{Amount, Problem};
pub use source::{CudaSource, ImageBytes, Kernel, LaunchedKernel};
pub use tensors::{
    Answer, Bits, Bound, ByCpu, ByKernel, CpuData, DeclaredFill, FileFill, FileTensor, Integers, IntoFill, Normal, Rng,
    TensorFile, Tensors, Uniform,
};

// Compiles the example in the package's readme.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
