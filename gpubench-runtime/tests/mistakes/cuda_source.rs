//! Kernel sources that are not there or are named wrongly.
#![allow(unused)]
use gpubench::prelude::*;

cuda_source!(MISSING = "missing.cu");
cuda_source!(ABSOLUTE = "/kernels/image.cu");
cuda_source!("image.cu");
cuda_source!(NO_PATH);
cuda_source!(UNKNOWN_OPTION = "image.cu", flags = ["-O3"]);

fn main() {}
