//! What the broker asks of the guardian, and what the guardian answers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use gpubench_device::clocks::ClockSetting;

/// A clock to lock on a device. Its fields are the arguments of the hidden verb.
#[derive(Clone, Debug)]
pub struct ClockOrder {
    /// The word of the device's kind, as in `--device`.
    pub device: String,
    /// The identity of the device, as in [`Facts::identity`](gpubench_device::Facts::identity).
    pub identity: String,
    /// The clock.
    pub setting: ClockSetting,
    /// The file that the guardian of a device locks while it lives. Two guardians would undo each
    /// other's work.
    pub lock_file: PathBuf,
}

/// An answer of the guardian, one JSON value a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Answer {
    /// The clock is locked.
    Locked {
        /// In MHz.
        megahertz: u32,
    },
    /// The clock is not locked, and the guardian ends.
    Refused {
        /// What prevents it.
        what: String,
        /// What the user can do.
        hint: String,
    },
    /// The lock is removed, and the guardian ends.
    Unlocked,
    /// The lock is still there, and the guardian ends.
    StillLocked {
        /// Why it could not be removed.
        why: String,
    },
}
