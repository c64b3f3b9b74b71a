//! Compiles each file of `solutions` as it is. All of them define `solution`, so the compiler
//! renames it: `solution_dot_product` in `dot_product.cu`.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=solutions");
    let mut build = cc::Build::new();
    build.cuda(true).cudart("static");
    for code in ["compute_75,code=[compute_75,sm_75]", "compute_90,code=[compute_90,sm_90]"] {
        build.flag("-gencode").flag(format!("arch={code}"));
    }
    let files = Path::new("solutions").read_dir().expect("a folder `solutions`");
    for file in files {
        let file = file.expect("a file").path();
        let name = file.file_stem().and_then(|name| name.to_str()).expect("a name");
        let function = format!("solution_{}", name.replace('-', "_"));
        build.clone().define("solution", &*function).file(&file).compile(&function);
    }
}
