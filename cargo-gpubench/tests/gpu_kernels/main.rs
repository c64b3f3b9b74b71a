//! Kernels compiled for GPUs by real compilers; no GPU is needed. `.ci/cuda-tools` installs the
//! compilers from Python packages. Tests fail without them.

mod errors;
mod images;
mod nvcc;
mod nvrtc;
mod on_cpu;
mod suite;
mod tools;
