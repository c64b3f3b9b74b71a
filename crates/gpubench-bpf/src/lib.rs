//! eBPF programs, uprobes and perf events, through the kernel's own interface: no compiler, no
//! `libbpf`, no files of objects.
//!
//! An [`Assembler`] makes a program, [`Program::load`] has the kernel verify it, and a [`Link`]
//! attaches it to functions of a file or to a tracepoint. Programs count in a [`Map`] and write
//! records to a [`Ring`]. [`elf`] finds the functions, and where a probe on them is cheap. [`perf`]
//! has what works without eBPF. [`Abilities`] tells what this machine allows. All that is attached
//! hangs on file descriptors, so the kernel removes it when its owner ends, however it ends.

#![allow(unsafe_code)]

mod abilities;
mod account;
mod assembler;
mod btf;
mod capabilities;
pub mod elf;
mod error;
mod held;
mod helper;
mod inventory;
mod link;
mod map;
pub mod perf;
mod program;
mod registers;
mod ring;
mod signals;
mod syscall;

pub use abilities::{Abilities, Ability, Missing};
pub use account::Account;
pub use assembler::{Assembler, Condition, Label, Operand, Operation, Register, Width};
pub use btf::KernelTypes;
pub use error::BpfError;
pub use held::{HeldChild, HoldError};
pub use helper::Helper;
pub use inventory::{Inventory, owned_by};
pub use link::{Link, Moment, ProbePoint, Within};
pub use map::{Map, MapKind, Update};
pub use program::{AttachType, Program, ProgramKind};
pub use registers::Registers;
pub use ring::Ring;
