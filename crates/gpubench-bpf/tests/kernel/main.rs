//! The kernel runs the programs, on processes and libraries that the tests make.
//!
//! Each test needs root and eBPF. Where the kernel refuses, it says so on standard error, by name.

mod elf;
mod leftovers;
mod perf;
mod probes;
mod signals;
mod target;
