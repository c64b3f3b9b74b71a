//! What every process but the broker gives up when it starts: outliving the broker, gaining privileges, showing its memory to others.

mod role;

pub use role::{RoleError, enter_role, give_up, hide_from_others, take_standard_output};
