#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![allow(clippy::needless_doctest_main, reason = "the example is a whole build script")]

pub use cc;

mod libraries;
mod variable;

pub use libraries::libraries;
