//! Missing or misnamed kernel sources.
#![allow(unused)]
use gpubench::prelude::*;

cuda_source!(MISSING = "missing.cu");
cuda_source!(ABSOLUTE = "/kernels/image.cu");
cuda_source!("image.cu");
cuda_source!(NO_PATH);
cuda_source!(UNKNOWN_OPTION = "image.cu", flags = ["-O3"]);
cuda_source!(UNKNOWN_COMPILER = "image.cu", compiler = clang);
cuda_source!(COMPILED = "image.ptx", options = ["-O3"]);
cuda_source!(NO_FOLDER = "cuda_source.rs", options = ["-DTILE=16", "-Iinclude"]);
cuda_image!(NO_IMAGE);
tensor_file!("model.npy");
tensor_file!(NO_FILE = "missing.npy");
tensor_file!(OF_ANOTHER_KIND = "cuda_source.rs");
tensor_file!(OTHER_OPTION = "missing.npy", format = npy);

fn main() {}
