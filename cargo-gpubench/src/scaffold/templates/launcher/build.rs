//! Compiles the launcher for every architecture from 7.5 on. For architectures newer than those
//! listed here, the driver compiles the embedded PTX.

fn main() {
    println!("cargo::rerun-if-changed=src/add1.cu");
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
