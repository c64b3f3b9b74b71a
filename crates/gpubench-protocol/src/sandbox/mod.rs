//! What every process but the broker gives up when it starts: outliving the broker, gaining privileges, showing its memory to others. And what a worker that runs the user's
//! native code gives up besides: changing files. And what a worker that runs the user's host code gives up on top of that: inherited descriptors, capabilities, and the system calls that reach into other processes.

mod calls;
mod confinement;
mod descriptors;
mod files;
mod hosted;
mod printing;
mod program;
mod role;

pub use confinement::Confinement;
pub use files::{FileClosing, keep_files_as_they_are};
pub use hosted::HostedSandbox;
pub use program::this_program;
pub use role::{RoleError, enter_role, give_up, hide_from_others, take_standard_output};
