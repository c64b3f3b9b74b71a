//! Records as the programs in the kernel write them, and as they are read.

/// What a record tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum Kind {
    /// A call began, and its return is not recorded.
    Entered = 0,
    /// A call returned.
    Returned = 1,
    /// A call whose return is not recorded failed.
    Failed = 2,
    /// A process was seen for the first time.
    Introduced = 3,
    Forked = 4,
    Exec = 5,
    Exited = 6,
}

impl Kind {
    const ALL: [Kind; 7] = [
        Kind::Entered,
        Kind::Returned,
        Kind::Failed,
        Kind::Introduced,
        Kind::Forked,
        Kind::Exec,
        Kind::Exited,
    ];
}

/// Offsets of fields in a record, in bytes.
pub(super) mod field {
    /// When the call began, or the process did this.
    pub(in crate::cuda) const AT: i16 = 0;
    /// Process in the upper half, thread in the lower.
    pub(in crate::cuda) const TASK: i16 = 8;
    /// When the process began.
    pub(in crate::cuda) const STARTED: i16 = 16;
    /// The number of the function.
    pub(in crate::cuda) const FUNCTION: i16 = 24;
    pub(in crate::cuda) const KIND: i16 = 28;
    /// What the call returned; the status of a process that ended; the user of a program.
    pub(in crate::cuda) const RESULT: i16 = 32;
    /// From the call to its return, in nanoseconds.
    pub(in crate::cuda) const DURATION: i16 = 40;
    /// Of a launch, the epoch of its process if later launches of the kernel are counted.
    pub(in crate::cuda) const EPOCH: i16 = DURATION;
    /// The 8 bytes at argument 0. Of a fork, the pid of the child; of an exec, when the program
    /// began.
    pub(in crate::cuda) const OUT: i16 = 48;
    /// Six arguments; of a fork, when the child began; of a launch that failed, the kernel.
    pub(in crate::cuda) const ARGUMENTS: i16 = 56;
    /// What some records have after that.
    pub(in crate::cuda) const REST: i16 = 104;
}

/// The bytes of a record without a rest.
pub(super) const HEAD: i32 = field::REST as i32;

/// The rest of a record about a program.
pub(super) mod program {
    /// The path that was executed, or the name of the file.
    pub(in crate::cuda) const PATH: i16 = super::field::REST;
    pub(in crate::cuda) const PATH_BYTES: i32 = 256;
    /// How long the arguments are.
    pub(in crate::cuda) const LENGTH: i16 = PATH + PATH_BYTES as i16;
    /// The arguments, each ended by a zero.
    pub(in crate::cuda) const ARGUMENTS: i16 = LENGTH + 8;
    pub(in crate::cuda) const ARGUMENT_BYTES: i32 = 256;
    pub(in crate::cuda) const SIZE: i32 = ARGUMENTS as i32 + ARGUMENT_BYTES;
}

/// A record, as bytes of the ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'ring>(pub(super) &'ring [u8]);

impl<'ring> Record<'ring> {
    pub(super) fn kind(self) -> Option<Kind> {
        let number = self.word(field::KIND);
        Kind::ALL.into_iter().find(|kind| *kind as i32 == number.cast_signed())
    }

    pub(super) fn process(self) -> u32 {
        (self.double(field::TASK) >> 32) as u32
    }

    pub(super) fn thread(self) -> u32 {
        self.double(field::TASK) as u32
    }

    /// Returns an argument of the call.
    pub(super) fn argument(self, number: usize) -> u64 {
        self.double(field::ARGUMENTS + 8 * number as i16)
    }

    /// Returns an argument that the caller passes in 32 bits: the upper half has no meaning.
    pub(super) fn small_argument(self, number: usize) -> u32 {
        self.argument(number) as u32
    }

    /// Returns the eight bytes at an offset into the rest.
    pub(super) fn rest(self, at: i16) -> u64 {
        self.double(field::REST + at)
    }

    /// Returns the four bytes at an offset into the rest.
    pub(super) fn rest_word(self, at: i16) -> u32 {
        self.word(field::REST + at)
    }

    pub(super) fn word(self, at: i16) -> u32 {
        let bytes = self.0.get(at as usize..at as usize + 4);
        bytes.map_or(0, |bytes| u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    pub(super) fn double(self, at: i16) -> u64 {
        u64::from(self.word(at + 4)) << 32 | u64::from(self.word(at))
    }

    /// Returns bytes up to a zero, or up to `most`.
    pub(super) fn text(self, at: i16, most: usize) -> &'ring [u8] {
        let bytes = self.0.get(at as usize..).unwrap_or_default();
        let bytes = &bytes[..bytes.len().min(most)];
        &bytes[..bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len())]
    }

    pub(super) fn bytes(self, at: i16, length: usize) -> &'ring [u8] {
        let bytes = self.0.get(at as usize..).unwrap_or_default();
        &bytes[..bytes.len().min(length)]
    }
}
