//! A crate that uses the runtime and has no benchmarks.

#[path = "abi/client.rs"]
#[allow(dead_code)]
mod client;

#[test]
fn a_crate_without_benchmarks_has_an_empty_catalog() {
    assert_eq!(client::catalog(), gpubench::catalog::Catalog::default());
}
