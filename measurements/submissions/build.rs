//! Compiles each file of `solutions`, which run.sh fetches, as it is. All of them define
//! `solution`, so the compiler renames it: `solution_relu` in `relu.cu`.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=solutions");
    let mut build = cc::Build::new();
    build.cuda(true).cudart("static");
    for code in ["compute_75,code=[compute_75,sm_75]", "compute_90,code=[compute_90,sm_90]"] {
        build.flag("-gencode").flag(format!("arch={code}"));
    }
    let files = Path::new("solutions").read_dir().expect("a folder `solutions`, which run.sh makes");
    for file in files {
        let file = file.expect("a file").path();
        if file.extension().is_none_or(|extension| extension != "cu") {
            continue;
        }
        let name = file.file_stem().and_then(|name| name.to_str()).expect("a name");
        let function = format!("solution_{}", name.replace('-', "_"));
        build.clone().define("solution", &*function).file(&file).compile(&function);
    }
}
