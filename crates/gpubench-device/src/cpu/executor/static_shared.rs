//! The static `__shared__` variables of a kernel library.

use std::ffi::CStr;

use super::fault::FaultKind;
use super::launch::ScheduleSeed;
use super::margin::{Margin, fill_with_noise};

/// Bytes that are checked on each side of a variable: few enough to check after every block,
/// without a function call.
const MARGIN_BYTES: usize = 64;

/// A library's function that returns the origin of its variables on the calling thread. The origin
/// has a word for the executor, initially zero.
pub(super) type Origin = unsafe extern "C" fn() -> *mut u64;

/// The variables of a library, with gaps between them.
#[derive(Clone, Copy)]
pub(super) struct StaticShared {
    origin: Origin,
    variables: &'static [Variable],
}

struct Variable {
    name: &'static str,
    /// Offset from the origin, in bytes.
    distance: isize,
    bytes: usize,
}

/// The variables on one thread, with noise on both sides of each, and at first inside.
#[derive(Clone, Copy)]
pub(super) struct Guarded {
    variables: &'static [Variable],
    origin: *mut u64,
}

impl StaticShared {
    /// Parses a library's list of variables.
    pub(super) fn new(origin: Origin, list: &'static CStr) -> StaticShared {
        let variable = |line: &'static str| {
            let mut words = line.splitn(3, ' ');
            Some(Variable {
                distance: words.next()?.parse().ok()?,
                bytes: words.next()?.parse().ok()?,
                name: words.next()?,
            })
        };
        let lines = list.to_str().unwrap_or_default().lines();
        StaticShared {
            origin,
            // This happens once per library, and libraries are never unloaded.
            variables: lines.filter_map(variable).collect::<Vec<_>>().leak(),
        }
    }

    /// Returns the variables of the calling thread, which runs blocks in this order.
    pub(super) fn of_this_thread(self, order: ScheduleSeed) -> Guarded {
        // SAFETY: the function has no requirements.
        let origin = unsafe { (self.origin)() };
        let guarded = Guarded {
            variables: self.variables,
            origin,
        };
        // SAFETY: the word and the variables belong to this thread, no kernel of which runs now.
        unsafe {
            if *origin == 0 {
                for variable in self.variables {
                    fill_with_noise(guarded.start(variable), variable.bytes, order);
                    for (_, margin) in guarded.margins(variable) {
                        margin.fill();
                    }
                }
                *origin = 1;
            }
        }
        guarded
    }
}

impl Guarded {
    /// Returns an overrun by a block that has ended. The next launch restores the noise.
    #[inline]
    pub(super) fn overrun(self) -> Option<FaultKind> {
        for variable in self.variables {
            for (first, margin) in self.margins(variable) {
                // SAFETY: as in `of_this_thread`.
                if let Some(changed) = unsafe { margin.changed() } {
                    // SAFETY: as above.
                    unsafe { *self.origin = 0 };
                    return Some(FaultKind::StaticShared {
                        name: variable.name,
                        offset: first + changed as i64,
                        bytes: variable.bytes,
                    });
                }
            }
        }
        None
    }

    /// Returns the margins before and after a variable, each with its offset from the variable's
    /// start.
    #[inline(always)]
    fn margins(self, variable: &Variable) -> [(i64, Margin); 2] {
        [-(MARGIN_BYTES as i64), variable.bytes as i64].map(|first| {
            let start = self.start(variable).wrapping_offset(first as isize);
            (
                first,
                Margin {
                    start,
                    len: MARGIN_BYTES,
                },
            )
        })
    }

    #[inline(always)]
    fn start(self, variable: &Variable) -> *mut u8 {
        self.origin.wrapping_byte_offset(variable.distance).cast()
    }
}
