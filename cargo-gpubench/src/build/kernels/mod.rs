//! Compiling kernel sources for a device.
