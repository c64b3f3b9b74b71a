//! Noise around shared memory. A write to it is detected as an overrun; a read from it gives odd
//! values.

use std::ptr;

use super::launch::ScheduleSeed;

/// The largest size of one side, in bytes.
pub(crate) const MARGIN_BYTES: usize = 128;

/// Words of noise.
const WORDS: u64 = MARGIN_BYTES as u64 / 8;

const NOISE: [u8; MARGIN_BYTES] = noise(0);

/// Fills memory with noise: what a kernel has not written is not zero, as on a GPU. Each order has
/// other noise, so a kernel that reads it has other outputs in another order.
///
/// # Safety
/// The range is memory of this process that nothing uses now.
pub(super) unsafe fn fill_with_noise(start: *mut u8, bytes: usize, order: ScheduleSeed) {
    let noise = match order {
        ScheduleSeed::Natural => NOISE,
        ScheduleSeed::Permuted(seed) => noise(seed.wrapping_mul(WORDS)),
    };
    for offset in (0..bytes).step_by(MARGIN_BYTES) {
        let piece = start.wrapping_add(offset);
        // SAFETY: the piece lies in the range.
        unsafe { ptr::copy_nonoverlapping(noise.as_ptr(), piece, MARGIN_BYTES.min(bytes - offset)) };
    }
}

/// A range of up to [`MARGIN_BYTES`] bytes that belongs to no variable.
#[derive(Clone, Copy)]
pub(super) struct Margin {
    pub(super) start: *mut u8,
    pub(super) len: usize,
}

impl Margin {
    /// Fills the range with noise.
    ///
    /// # Safety
    /// The range is memory of this process that nothing uses now.
    pub(super) unsafe fn fill(self) {
        // SAFETY: the caller guarantees that the range is valid.
        unsafe { ptr::copy_nonoverlapping(NOISE.as_ptr(), self.start, self.len) };
    }

    /// Returns the position of the first byte that differs from the noise.
    ///
    /// # Safety
    /// As for [`fill`](Self::fill).
    #[inline(always)]
    pub(super) unsafe fn changed(self) -> Option<usize> {
        // Comparing zero bytes at an inaccessible page would take the processor as long as running
        // a small block.
        if self.len == 0 {
            return None;
        }
        // SAFETY: the caller guarantees that the range is valid.
        let found = unsafe { std::slice::from_raw_parts(self.start, self.len) };
        if *found == NOISE[..self.len] {
            return None;
        }
        found.iter().zip(&NOISE).position(|(found, noise)| found != noise)
    }
}

/// Returns bytes of the splitmix64 generator after its first `words`.
const fn noise(words: u64) -> [u8; MARGIN_BYTES] {
    let mut noise = [0; MARGIN_BYTES];
    let mut place = 0;
    while place < MARGIN_BYTES {
        let state = words
            .wrapping_add(place as u64 / 8 + 1)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        noise[place] = (mixed ^ (mixed >> 31)).to_le_bytes()[place % 8];
        place += 1;
    }
    noise
}
