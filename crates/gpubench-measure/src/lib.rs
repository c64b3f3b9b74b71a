//! The broker's part of a measurement: it starts the other roles, runs the windows of a case and
//! judges the results.
//!
//! [`measurement`] measures one case. [`clients`] are the broker's handles of the other roles.
//! [`verdict`] is one pure function from evidence to verdict. [`probe`] queries drivers in a
//! separate process. [`clock_lock`] locks the clocks of a device for a run. [`lint`] judges
//! problems without a kernel. [`timeline`] records what took time.
#![forbid(unsafe_code)]

pub mod clients;
pub mod clock_lock;
pub mod lint;
pub mod measurement;
pub mod probe;
pub mod provider;
mod sanitizer;
pub mod timeline;
pub mod verdict;
