//! The static `__shared__` variables of a kernel library.

use std::ffi::CStr;

use super::fault::FaultKind;
use super::margin::Margin;

/// Bytes that are looked at on either side of a variable: so few that every block can afford it,
/// without the call of a function.
const MARGIN_BYTES: usize = 64;

/// A library's function that says where its variables are counted from on the calling thread; there
/// is a word that begins as zero and is the executor's.
pub(super) type Origin = unsafe extern "C" fn() -> *mut u64;

/// The variables of a library, which its compiler has set apart.
#[derive(Clone, Copy)]
pub(super) struct StaticShared {
    origin: Origin,
    variables: &'static [Variable],
}

struct Variable {
    name: &'static str,
    /// In bytes from the origin.
    distance: isize,
    bytes: usize,
}

/// The variables on one thread, with noise on both sides of each.
#[derive(Clone, Copy)]
pub(super) struct Guarded {
    variables: &'static [Variable],
    origin: *mut u64,
}

impl StaticShared {
    /// From a library's list of them.
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
            // Once for each library, which is never unloaded.
            variables: lines.filter_map(variable).collect::<Vec<_>>().leak(),
        }
    }

    /// Those of the calling thread.
    pub(super) fn of_this_thread(self) -> Guarded {
        // SAFETY: the function has no conditions.
        let origin = unsafe { (self.origin)() };
        let guarded = Guarded {
            variables: self.variables,
            origin,
        };
        // SAFETY: the word is this thread's, and the gaps between the variables are nobody's.
        unsafe {
            if *origin == 0 {
                for variable in self.variables {
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
    /// Where a block that has ended wrote beside a variable. The next launch fills the noise in
    /// again.
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

    /// Those on either side of a variable, with where they begin, from its start.
    #[inline(always)]
    fn margins(self, variable: &Variable) -> [(i64, Margin); 2] {
        [-(MARGIN_BYTES as i64), variable.bytes as i64].map(|first| {
            let start = self
                .origin
                .wrapping_byte_offset(variable.distance + first as isize)
                .cast();
            (
                first,
                Margin {
                    start,
                    len: MARGIN_BYTES,
                },
            )
        })
    }
}
