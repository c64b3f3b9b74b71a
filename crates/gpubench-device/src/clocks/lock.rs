//! Locking the clock that a user asks for.

use std::num::NonZeroU32;
use std::time::Duration;

use super::{ClockControl, ClockError, ClockSetting};
use gpubench_diagnostic::{ExitCode, Expected, in_backticks};

/// The most readings until a new clock has settled, and the pause between them. A GPU changes its
/// clocks within some ten milliseconds.
const READINGS: usize = 20;
const PAUSE: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 25 });

/// Readings in a row that agree when the clock has settled.
const AGREEING: usize = 3;

/// Why no clock was locked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// The user has no permission.
    #[error("no permission to lock the clocks of this GPU")]
    NotPermitted,
    /// The device cannot lock clocks.
    #[error("this GPU cannot lock its clocks")]
    NotSupported,
    /// The device does not have this clock.
    #[error("the multiprocessors of this GPU cannot run at `{asked}` MHz")]
    UnknownClock {
        /// The clock, in MHz.
        asked: u32,
        /// The supported clocks next to it, in MHz. Empty if the driver lists none.
        nearest: Vec<u32>,
    },
    /// The driver names no base clock.
    #[error("the driver names no base clock of this GPU")]
    NoBase,
    /// The clock of a device with a locked base clock still varies, or cannot be read.
    #[error("the base clock of this GPU is unknown: its clock varies although it is locked")]
    Unsettled,
    /// The same, and the driver refuses to unlock.
    #[error("the base clock of this GPU is unknown, and the driver refused to unlock it: {0}")]
    StillLocked(String),
    /// The driver refused for another reason.
    #[error("the driver refused to lock the clocks: {0}")]
    Refused(String),
}

impl From<ClockError> for LockError {
    fn from(error: ClockError) -> LockError {
        match error {
            ClockError::NotPermitted => LockError::NotPermitted,
            ClockError::NotSupported => LockError::NotSupported,
            other => LockError::Refused(other.to_string()),
        }
    }
}

impl Expected for LockError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        const ALL: &str = "`nvidia-smi -q -d SUPPORTED_CLOCKS` lists all";
        Some(match self {
            LockError::NotPermitted => {
                "run as root, ask the machine's owner to lock them (`nvidia-smi -lgc`), or leave out `--lock-clocks`"
                    .to_owned()
            }
            LockError::NotSupported => {
                "leave out `--lock-clocks`; MIG instances, most virtual GPUs and GPUs before Volta cannot".to_owned()
            }
            LockError::UnknownClock { nearest, .. } if nearest.is_empty() => ALL.to_owned(),
            LockError::UnknownClock { nearest, .. } => {
                format!("the nearest that it supports: {} MHz; {ALL}", in_backticks(nearest))
            }
            LockError::NoBase | LockError::Unsettled => {
                format!("give the clock in MHz, as in `--lock-clocks 1410`; {ALL}")
            }
            LockError::StillLocked(_) => "unlock it with `nvidia-smi -rgc`".to_owned(),
            LockError::Refused(_) => {
                "run `cargo gpubench doctor` to see the state of the GPU, or leave out `--lock-clocks`".to_owned()
            }
        })
    }
}

/// Locks a clock and returns it in MHz.
///
/// `base` is the clock of the rated power, as for NVIDIA's own profilers. If the driver cannot lock
/// that, it is the clock that the driver chooses for computing when nobody sets one.
///
/// # Errors
/// If the device does not have the clock, or the driver refuses. Then nothing is locked, except
/// after [`LockError::StillLocked`].
pub fn lock(setting: ClockSetting, control: &mut dyn ClockControl) -> Result<u32, LockError> {
    match setting {
        ClockSetting::Base => lock_base(control),
        ClockSetting::Megahertz(megahertz) => lock_exactly(megahertz, control),
    }
}

fn lock_base(control: &mut dyn ClockControl) -> Result<u32, LockError> {
    match control.lock_rated() {
        Ok(()) => {
            return settled(control).ok_or_else(|| match control.unlock() {
                Ok(()) => LockError::Unsettled,
                Err(error) => LockError::StillLocked(error.to_string()),
            });
        }
        Err(ClockError::NotSupported | ClockError::InvalidValue) => {}
        Err(error) => return Err(error.into()),
    }
    let usual = control.usual().ok().and_then(NonZeroU32::new);
    lock_exactly(usual.ok_or(LockError::NoBase)?, control)
}

fn lock_exactly(megahertz: NonZeroU32, control: &mut dyn ClockControl) -> Result<u32, LockError> {
    let asked = megahertz.get();
    // Without a list the driver decides.
    let supported = control.supported().unwrap_or_default();
    if !supported.is_empty() && !supported.contains(&asked) {
        let nearest = nearest(asked, &supported);
        return Err(LockError::UnknownClock { asked, nearest });
    }
    match control.lock(asked) {
        Ok(()) => Ok(asked),
        Err(ClockError::InvalidValue) => Err(LockError::UnknownClock {
            asked,
            nearest: Vec::new(),
        }),
        Err(error) => Err(error.into()),
    }
}

/// Returns the next lower and the next higher clock, where there is one.
fn nearest(asked: u32, supported: &[u32]) -> Vec<u32> {
    let below = supported.iter().copied().filter(|clock| *clock < asked).max();
    let above = supported.iter().copied().filter(|clock| *clock > asked).min();
    below.into_iter().chain(above).collect()
}

/// Returns the clock once several readings in a row agree.
fn settled(control: &mut dyn ClockControl) -> Option<u32> {
    let (mut last, mut agreeing) = (None, 0);
    for _ in 0..READINGS {
        let now = control.now().ok()?;
        agreeing = if last == Some(now) { agreeing + 1 } else { 1 };
        last = Some(now);
        if agreeing == AGREEING {
            return last;
        }
        std::thread::sleep(PAUSE);
    }
    None
}
