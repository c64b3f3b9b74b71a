//! The version of Landlock's interface.

use std::ptr;

/// `LANDLOCK_CREATE_RULESET_VERSION`.
const VERSION: u32 = 1;

/// The version that the kernel offers; `None` where it offers none.
pub(super) fn version() -> Option<u32> {
    // SAFETY: with this flag the call takes no attributes, makes nothing, and returns a number.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<u8>(), 0usize, VERSION) };
    u32::try_from(version).ok().filter(|version| *version > 0)
}
