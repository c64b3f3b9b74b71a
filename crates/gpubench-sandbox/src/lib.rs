//! What a process of the tool gives up before it runs code of others.
//!
//! [`ConfinedRole`] is the table: who may change which files, open which devices, make which system
//! calls and start processes. A process gives the general things up first ([`give_up`]: outliving
//! the broker, new privileges, its memory to others), then what its row says ([`Sandbox`]). Every
//! process leads a session of its own ([`in_own_session`]), so that it has no terminal, and nothing
//! that it starts can leave the group that it is killed with.

mod calls;
mod confinement;
mod descriptors;
mod files;
mod limits;
mod printing;
mod process;
mod program;
mod role;
mod sandbox;
mod session;

pub use confinement::Confinement;
pub use files::{FileClosing, landlock_abi};
pub use process::{RoleError, Runs, give_up, hide_from_others, take_standard_input, take_standard_output};
pub use program::this_program;
pub use role::ConfinedRole;
pub use sandbox::Sandbox;
pub use session::{confine_compiler, in_own_session};
