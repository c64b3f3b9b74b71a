//! `cargo gpubench probe` on programs that use the double of the driver from the tests of
//! `gpubench-observe`.
//!
//! Most tests need root and eBPF. Where the kernel refuses, they say so on standard error, by name.
#![forbid(unsafe_code)]

mod calls;
mod double;
mod faults;
mod filters;
mod mistakes;
mod unprivileged;
