//! Devices behind one narrow waist: what the window protocol needs of a device, in the words of the CUDA driver API, and the devices that provide it.

pub mod cpu;
