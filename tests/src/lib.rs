//! Support for the end-to-end tests: the built tool, crates to run it on, runs that a test can
//! watch and interrupt, and a check for leftovers.
#![forbid(unsafe_code)]

mod bare_machine;
mod baselines;
mod browser;
mod compilers;
mod fake_gpu;
mod fixture;
mod git_repository;
mod leftovers;
mod npy;
mod program;
mod records;
mod run;
mod slurm;
mod terminal;
mod tool;

pub use bare_machine::BareMachine;
pub use baselines::{RunFolder, slowed, steadied};
pub use browser::{Browser, Scheme, Screen};
pub use compilers::nvrtc;
pub use fake_gpu::{FakeGpu, Ledger};
pub use fixture::{Fixture, repository};
pub use git_repository::GitRepository;
pub use leftovers::{Process, Role, processes_of};
pub use npy::Npy;
pub use program::{copy_program, write_script};
pub use records::Records;
pub use run::{Ending, Finished, Run, Running, wait_until};
pub use slurm::Slurm;
pub use terminal::Terminal;
pub use tool::{probe_program, serve_program, tool};
