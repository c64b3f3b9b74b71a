//! NVIDIA GPUs: what is compiled for them and how it is named.

mod architecture;
mod image;
pub mod nvrtc;

pub use architecture::{Architecture, Features, InvalidArchitecture};
pub use image::{DamagedImage, KernelImage};
