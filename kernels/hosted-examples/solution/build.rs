//! Compiles each file of `solutions`, as it is, into a library of its own.

fn main() {
    let mut nvcc = gpubench_build::cc::Build::new();
    for code in [
        "compute_75,code=[compute_75,sm_75]",
        "compute_90,code=[compute_90,sm_90]",
    ] {
        nvcc.flag("-gencode").flag(format!("arch={code}"));
    }
    gpubench_build::libraries(&nvcc, "solutions");
}
