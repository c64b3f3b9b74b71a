//! Kernels compiled for GPUs by real compilers, which need no GPU. `.ci/cuda-tools` installs them
//! from Python's packages; a test fails where they cannot be had.

mod errors;
mod images;
mod nvcc;
mod nvrtc;
mod suite;
mod tools;
