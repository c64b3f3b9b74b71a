//! The broker: the command itself. It spawns the other roles, leads every case through its windows and asks for a verdict.

pub mod cases;
pub mod options;
mod run;

pub use run::run;
