//! What a worker may touch, and what becomes of processes when their parent goes.

mod role;

pub use role::{RoleError, enter_role};
