//! Noise beside shared memory: a kernel that writes it has run over, and one that reads it computes
//! with something odd.

use std::ptr;

/// The most bytes on one side.
pub(crate) const MARGIN_BYTES: usize = 128;

const NOISE: [u8; MARGIN_BYTES] = noise();

/// So many bytes, at most [`MARGIN_BYTES`], that are nobody's.
#[derive(Clone, Copy)]
pub(super) struct Margin {
    pub(super) start: *mut u8,
    pub(super) len: usize,
}

impl Margin {
    /// Fills them with noise.
    ///
    /// # Safety
    /// They are memory of this process that nobody uses now.
    pub(super) unsafe fn fill(self) {
        // SAFETY: the caller vouches for the bytes.
        unsafe { ptr::copy_nonoverlapping(NOISE.as_ptr(), self.start, self.len) };
    }

    /// The first that is not noise any more.
    ///
    /// # Safety
    /// As for [`fill`](Self::fill).
    #[inline(always)]
    pub(super) unsafe fn changed(self) -> Option<usize> {
        // A comparison of no bytes at an inaccessible page would take the processor as long as a
        // small block.
        if self.len == 0 {
            return None;
        }
        // SAFETY: the caller vouches for the bytes.
        let found = unsafe { std::slice::from_raw_parts(self.start, self.len) };
        if *found == NOISE[..self.len] {
            return None;
        }
        found.iter().zip(&NOISE).position(|(found, noise)| found != noise)
    }
}

/// Bytes of the splitmix64 generator.
const fn noise() -> [u8; MARGIN_BYTES] {
    let mut noise = [0; MARGIN_BYTES];
    let mut place = 0;
    while place < MARGIN_BYTES {
        let state = (place as u64 / 8 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        noise[place] = (mixed ^ (mixed >> 31)).to_le_bytes()[place % 8];
        place += 1;
    }
    noise
}
