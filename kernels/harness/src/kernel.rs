//! Names of the kernels.

/// A harness kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Fills a tensor with random elements. Element `i` depends only on the key, the tensor's
    /// number and `i`.
    Fill,
    /// Writes noise bytes. Byte `i` depends only on the key and its position in the stream.
    Noise,
    /// Counts bytes that differ from the noise written earlier.
    NoiseCheck,
    /// Copies 128-byte lines chosen by a keyed permutation.
    Lines,
    /// Reads or writes a whole flush buffer.
    Flush,
    /// Adds a keyed digest of chosen tiles to a number.
    Digest,
    /// Compares every element with the expected one.
    Check,
    /// Writes the device's clock.
    Stamp,
    /// Writes the device's clock, then restores the true lines of several buffers.
    Reveal,
    /// Loads the data that a case reads and stores to the data that it writes.
    Twin,
}

impl Kernel {
    /// All kernels, in the order of the host build's table.
    pub const ALL: [Kernel; 10] = [
        Kernel::Fill,
        Kernel::Noise,
        Kernel::NoiseCheck,
        Kernel::Lines,
        Kernel::Flush,
        Kernel::Digest,
        Kernel::Check,
        Kernel::Stamp,
        Kernel::Reveal,
        Kernel::Twin,
    ];

    /// Returns the kernel's name in GPU code and in the host build.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Fill => "gb_fill",
            Kernel::Noise => "gb_noise",
            Kernel::NoiseCheck => "gb_noise_check",
            Kernel::Lines => "gb_lines",
            Kernel::Flush => "gb_flush",
            Kernel::Digest => "gb_digest",
            Kernel::Check => "gb_check",
            Kernel::Stamp => "gb_stamp",
            Kernel::Reveal => "gb_reveal",
            Kernel::Twin => "gb_twin",
        }
    }
}
