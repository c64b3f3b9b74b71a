//! NVIDIA GPUs: what is compiled for them and how it is named.

mod architecture;

pub use architecture::{Architecture, Features, InvalidArchitecture};
