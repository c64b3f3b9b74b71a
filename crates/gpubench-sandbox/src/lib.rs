//! The rights that a process of the tool gives up before it runs user code.
//!
//! [`ConfinedRole`] is the table of roles: the files that a role can change, the devices that it
//! can open, the system calls that it can make, and whether it can start processes. A process first
//! gives up what no role needs ([`drop_privileges`]): outliving the broker, new privileges, and
//! memory that others can read. Then it applies its row of the table ([`Sandbox`]). Every process
//! but a worker that a person debugs leads a session ([`in_own_session`]). So it has no terminal,
//! and its children cannot leave the process group that is killed with it.

mod calls;
mod confinement;
mod descriptors;
mod files;
mod limits;
mod lineage;
mod printing;
mod process;
mod program;
mod rights;
mod role;
mod sandbox;
mod session;
mod tasks;

pub use confinement::Confinement;
pub use files::{FileClosing, landlock_abi};
pub use lineage::continue_without_foreign_children;
pub use process::{
    RoleError, Runs, drop_privileges, drop_privileges_to_clean_up, hide_from_others, is_traced, take_standard_input,
    take_standard_output,
};
pub use program::this_program;
pub use rights::{
    ForeignRights, Granted, Rights, TooManyRights, begin_to_observe, begin_with_rights_of_caller, drop_capabilities,
    execute_with_rights, keep_in_broker, spawn_with_rights,
};
pub use role::ConfinedRole;
pub use sandbox::Sandbox;
pub use session::{confine, confine_compiler, confine_on_terminal, in_own_session};
pub use tasks::deny_new_tasks;
