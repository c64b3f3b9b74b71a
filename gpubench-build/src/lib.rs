#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub use cc;

mod libraries;
mod variable;

pub use libraries::libraries;
