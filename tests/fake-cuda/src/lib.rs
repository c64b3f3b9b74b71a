//! A test double of the CUDA driver library, of NVML, of CUPTI and of NVRTC, for tests that run
//! real processes without a GPU.
//!
//! The driver's functions are implemented on the tool's CPU device. `gpu` has the state of a
//! process and `call` the wrapper around every call; the other modules group the functions by
//! subject. `README.md` lists the environment variables that control the double.
#![allow(unsafe_code)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the functions have the contracts of `cuda.h`, `nvml.h` and `nvrtc.h`"
)]
#![allow(non_snake_case)]

mod activity;
mod behaviour;
mod call;
mod cheat;
mod clock;
mod context;
mod cupti;
mod device;
mod doorbell;
mod error;
mod gpu;
mod graph;
mod image;
mod ledger;
mod lost;
mod memory;
mod module;
mod nvml;
mod nvrtc;
mod profiler;
mod shared_page;
mod stream;
