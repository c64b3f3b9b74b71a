//! What a kernel crate links to be benchmarked by `cargo gpubench`.
pub mod abi;
pub mod catalog;
pub mod plan;
