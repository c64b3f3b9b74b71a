//! A test double of the CUDA driver's library and of NVRTC's, for tests that run real processes
//! without a GPU.
//!
//! The driver's functions stand on the CPU device of the tool: `gpu` is the state of a process,
//! `call` what every call goes through, and the other modules have the functions by what they are
//! about. `README.md` says what can be asked of it.
#![allow(unsafe_code)]
#![allow(
    clippy::missing_safety_doc,
    reason = "the functions have the contracts of `cuda.h` and `nvrtc.h`"
)]
#![allow(non_snake_case)]

mod behaviour;
mod call;
mod cheat;
mod context;
mod device;
mod error;
mod gpu;
mod image;
mod ledger;
mod memory;
mod module;
mod nvrtc;
mod stream;
