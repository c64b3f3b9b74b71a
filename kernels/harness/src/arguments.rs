//! The argument types of the kernels.

#![allow(unsafe_code)]

pub use crate::bindings::{
    gb_check_args as CheckArguments, gb_check_partial as CheckPartial, gb_digest_args as DigestArguments,
    gb_digest_keys as DigestKeys, gb_fill_args as FillArguments, gb_flush_args as FlushArguments,
    gb_lines_args as LinesArguments, gb_noise_args as NoiseArguments, gb_noise_check_args as NoiseCheckArguments,
    gb_noise_partial as NoisePartial, gb_reveal_args as RevealArguments, gb_stamp_args as StampArguments,
    gb_twin_args as TwinArguments, gb_twin_buffer as TwinBuffer,
};

use crate::Kernel;

/// The only parameter of a kernel, passed by value.
///
/// # Safety
///
/// The type must be the struct that `cuda/` declares for the kernel, and must have no padding.
pub unsafe trait Arguments: Copy {
    /// The kernel with this parameter.
    const KERNEL: Kernel;

    /// Returns the bytes to pass to the kernel.
    fn as_bytes(&self) -> &[u8] {
        let first = std::ptr::from_ref(self).cast::<u8>();
        // SAFETY: implementers have no padding, so all bytes of `self` are initialised, and they
        // live as long as `self`.
        unsafe { std::slice::from_raw_parts(first, size_of::<Self>()) }
    }
}

macro_rules! arguments {
    ($($type:ident: $kernel:ident, $words:literal words;)*) => {$(
        const _: () = assert!(size_of::<$type>() == 8 * $words, "a field was added: is there padding?");
        // SAFETY: bindgen made the type from the kernel's header. Its fields fill whole words, as
        // asserted above.
        unsafe impl Arguments for $type {
            const KERNEL: Kernel = Kernel::$kernel;
        }
    )*};
}

arguments! {
    FillArguments: Fill, 9 words;
    NoiseArguments: Noise, 4 words;
    NoiseCheckArguments: NoiseCheck, 6 words;
    LinesArguments: Lines, 5 words;
    FlushArguments: Flush, 4 words;
    DigestArguments: Digest, 6 words;
    CheckArguments: Check, 13 words;
    StampArguments: Stamp, 1 words;
    RevealArguments: Reveal, 42 words;
    TwinArguments: Twin, 28 words;
}
