//! What can go wrong in a kernel, as the roles say it to each other.

/// Kinds of kernel faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
#[allow(missing_docs)]
pub enum FaultCode {
    None = 0,
    OutOfBounds = 1,
    BarrierDivergence = 2,
    DivisionByZero = 3,
    StackOverflow = 4,
    IllegalInstruction = 5,
    Trap = 6,
    Other = 7,
    InputWritten = 8,
    Misaligned = 9,
    LaunchFailed = 10,
    Ecc = 11,
    HostCallFailed = 32,
    ForeignContext = 33,
}

impl FaultCode {
    /// The code of a number; a number that is none of ours is [`FaultCode::Other`].
    pub fn from_number(number: u32) -> FaultCode {
        use FaultCode::*;
        let known = [
            None,
            OutOfBounds,
            BarrierDivergence,
            DivisionByZero,
            StackOverflow,
            IllegalInstruction,
            Trap,
            InputWritten,
            Misaligned,
            LaunchFailed,
            Ecc,
            HostCallFailed,
            ForeignContext,
        ];
        known.into_iter().find(|code| *code as u32 == number).unwrap_or(Other)
    }
}
