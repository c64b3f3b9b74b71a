//! The kernels by name.

/// A harness kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// Fills a tensor with random elements; element `i` depends on the key, the tensor's number and
    /// `i` alone.
    Fill,
    /// Writes noise bytes; byte `i` depends on the key and its place in the stream alone.
    Noise,
    /// Counts bytes that differ from the noise written there.
    NoiseCheck,
    /// Copies 128-byte lines chosen by a keyed permutation.
    Lines,
    /// Goes through a flush buffer.
    Flush,
    /// Adds a keyed digest of chosen tiles to a number.
    Digest,
    /// Compares every element with the expected one.
    Check,
    /// Writes the device's clock.
    Stamp,
    /// Writes the device's clock, then puts the true lines back in several buffers.
    Reveal,
    /// Loads what a case reads and stores to what it writes.
    Twin,
}

impl Kernel {
    /// All of them, in the order of the host build's table.
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

    /// Its name in the code for a GPU and in the host build.
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
