//! Declares the functions of `src/add1.h` for Rust, and compiles them for every architecture from
//! 7.5 on. For architectures newer than those listed here, the driver compiles the embedded PTX.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=src/add1.h");
    println!("cargo::rerun-if-changed=src/add1.cu");
    let folder = std::env::var("OUT_DIR").expect("cargo sets it");
    bindgen::Builder::default()
        .header("src/add1.h")
        .allowlist_function(".*_add1")
        .generate()
        .expect("bindgen reads the header")
        .write_to_file(Path::new(&folder).join("add1.rs"))
        .expect("the declarations are written");
    cc::Build::new()
        .cuda(true)
        .cudart("static")
        .flag("-gencode")
        .flag("arch=compute_75,code=[compute_75,sm_75]")
        .flag("-gencode")
        .flag("arch=compute_90,code=[compute_90,sm_90]")
        .file("src/add1.cu")
        .compile("add1");
}
