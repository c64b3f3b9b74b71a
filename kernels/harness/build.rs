//! Builds the harness kernels for the CPU device with the C++ compiler of this machine. Without a
//! compiler the crate still builds, and `HOST_BUILD` has the reason.

#[allow(dead_code, unreachable_pub)]
#[path = "src/shim.rs"]
mod shim;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(gpubench_host_kernels)");
    for path in ["build.rs", "cuda", "include", "shim", "src/shim.rs"] {
        println!("cargo::rerun-if-changed={path}");
    }
    match host_kernels().try_compile("gpubench_harness_kernels") {
        Ok(()) => println!("cargo::rustc-cfg=gpubench_host_kernels"),
        Err(error) => {
            let reason = error.to_string().replace(['\n', '\r'], " ");
            println!("cargo::rustc-env=GPUBENCH_HOST_BUILD={reason}");
            println!("cargo::warning=the CPU device will not be available: {reason}");
        }
    }
}

/// Optimised in every profile, because these kernels run in every window, also when the tool itself
/// is being debugged.
fn host_kernels() -> cc::Build {
    let mut build = cc::Build::new();
    build
        .cpp(true)
        .cpp_link_stdlib(None)
        .files(["cuda/host.cpp", "cuda/host_clock.cpp"])
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
