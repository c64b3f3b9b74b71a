//! Compiles the launcher, with code for every architecture from 7.5 on: the driver finishes it for
//! those that are newer than what is named here.

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
