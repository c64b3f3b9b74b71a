//! Generated files contain the checksum of their sources. These tests find a forgotten regeneration
//! without the tools that `regenerate.sh --check` installs to compare every byte.

#[path = "drift/checksum.rs"]
mod checksum;

use std::path::Path;

use gpubench_harness::{Capability, Kernel, ptx_for};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn assert_made_from(file: &str, prefix: &str, paths: &[&str]) {
    let text = std::fs::read_to_string(root().join(file)).expect("the generated file is in the package");
    let named = text
        .lines()
        .find_map(|line| line.strip_prefix(prefix))
        .expect("it names a checksum");
    assert_eq!(
        named,
        checksum::of_files(root(), paths),
        "`{file}` is stale: run `kernels/harness/regenerate.sh`"
    );
}

#[test]
fn the_bindings_match_the_header() {
    assert_made_from("src/bindings.rs", "// header: ", &["include/gb_harness.h"]);
}

#[test]
fn the_ptx_and_the_cubins_match_the_sources() {
    let sources = checksum::ptx_sources(root());
    let sources: Vec<&str> = sources.iter().map(String::as_str).collect();
    assert_made_from("ptx/sources.txt", "// sources: ", &sources);
}

#[test]
fn the_ptx_has_every_kernel_for_its_capability() {
    for (major, minor, target) in [(7, 5, "sm_75"), (8, 9, "sm_75"), (9, 0, "sm_90")] {
        let ptx = ptx_for(Capability { major, minor }).expect("the PTX is in the library");
        assert!(ptx.lines().any(|line| line == format!(".target {target}")), "{target}");
        for kernel in Kernel::ALL {
            assert!(
                ptx.contains(&format!(".visible .entry {}(", kernel.name())),
                "{} in {target}",
                kernel.name()
            );
        }
    }
}
