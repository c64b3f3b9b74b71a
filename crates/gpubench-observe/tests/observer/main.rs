//! Processes that use a test double of the driver, observed by real probes.
//!
//! Each test needs root and eBPF. Where the kernel refuses, it says so on standard error, by name.

mod alone;
mod counted;
mod doorbell;
mod double;
mod errors;
mod impostors;
mod leftovers;
mod loss;
mod memory;
mod names;
mod processes;
mod system_calls;
mod work;
