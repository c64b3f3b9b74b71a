//! The broker's side of a measurement: it starts the other roles, leads a case through its windows,
//! and judges what came of them.
//!
//! [`measurement`] measures one case. [`clients`] are the other roles as the broker sees them,
//! [`verdict`] is one pure function from evidence to verdict, and [`probe`] asks drivers in a
//! process of its own.
#![forbid(unsafe_code)]

pub mod clients;
pub mod measurement;
pub mod probe;
pub mod verdict;
