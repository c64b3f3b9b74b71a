//! Builds the harness kernels for the CPU device with the C++ compiler of this machine. Without a
//! compiler the crate still builds, and `HOST_BUILD` has the reason.

use std::error::Error;
use std::path::PathBuf;

#[allow(dead_code, unreachable_pub)]
#[path = "src/shim.rs"]
mod shim;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(gpubench_host_kernels)");
    for path in ["build.rs", "cuda", "include", "shim", "src/shim.rs"] {
        println!("cargo::rerun-if-changed={path}");
    }
    let compiled = host_kernels().try_compile("gpubench_harness_kernels");
    match compiled.map_err(Into::into).and_then(|()| link_spin()) {
        Ok(()) => println!("cargo::rustc-cfg=gpubench_host_kernels"),
        Err(error) => {
            let reason = error.to_string().replace(['\n', '\r'], " ");
            println!("cargo::rustc-env=GPUBENCH_HOST_BUILD={reason}");
            println!("cargo::warning=the CPU device will not be available: {reason}");
        }
    }
}

fn host_kernels() -> cc::Build {
    let mut build = host_build();
    build.files(["cuda/host.cpp", "cuda/host_clock.cpp"]);
    build
}

/// Links the kernel of known length into a library of its own, as the CPU device loads the kernels
/// under test.
fn link_spin() -> Result<(), Box<dyn Error>> {
    let mut build = host_build();
    build.files(["cuda/spin_host.cpp", "cuda/host_clock.cpp"]);
    let objects = build.try_compile_intermediates()?;
    let library = PathBuf::from(std::env::var("OUT_DIR")?).join("spin.so");
    let mut link = build.try_get_compiler()?.to_command();
    link.args(["-shared", "-pthread", "-Wl,-z,defs", "-Wl,-Bsymbolic", "-o"])
        .arg(&library)
        .args(objects);
    match link.status()? {
        status if status.success() => Ok(()),
        status => Err(format!("linking `{}`: {status}", library.display()).into()),
    }
}

/// Optimised in every profile, because these kernels run in every window, also when the tool itself
/// is being debugged.
fn host_build() -> cc::Build {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .cpp_link_stdlib(None)
        .include("cuda")
        .include("include")
        .include("shim")
        .opt_level(3)
        .debug(false)
        .warnings(false);
    for option in shim::REQUIRED_OPTIONS {
        build.flag(option);
    }
    let optional = ["-fno-exceptions", "-fno-rtti", "-ffp-contract=off"];
    for option in optional
        .iter()
        .chain(shim::OPTIONAL_OPTIONS)
        .chain(shim::SILENCED_WARNINGS)
    {
        build.flag_if_supported(option);
    }
    build
}
