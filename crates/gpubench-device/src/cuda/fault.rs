//! What a kernel did wrong, by the result that the driver reports behind it.

use std::ffi::c_int;

use super::call::DriverError;
use crate::{DeviceError, Fault, FaultCode};

/// A result of a stream's end, or of the launch behind it: which fault it stands for, and in words.
/// `None` for a refusal that says nothing of a kernel.
fn meaning(code: c_int) -> Option<(FaultCode, &'static str)> {
    Some(match code {
        214 => (FaultCode::Ecc, "an uncorrectable memory error"),
        220 => (
            FaultCode::LaunchFailed,
            "an uncorrectable error on the link between GPUs",
        ),
        700 => (
            FaultCode::OutOfBounds,
            "an illegal address: memory that is nobody's was read or written, or a read-only input was written",
        ),
        702 => (
            FaultCode::LaunchFailed,
            "the GPU's display watchdog ended a kernel that ran too long",
        ),
        710 => (FaultCode::Trap, "a failed assertion"),
        714 => (FaultCode::StackOverflow, "a stack that is damaged or too small"),
        715 => (
            FaultCode::IllegalInstruction,
            "an illegal instruction, or a trap of the kernel's own",
        ),
        716 => (FaultCode::Misaligned, "a misaligned address"),
        717 => (
            FaultCode::OutOfBounds,
            "an instruction for another address space than its operand's",
        ),
        718 => (
            FaultCode::IllegalInstruction,
            "a jump to an address that holds no instruction",
        ),
        719 => (FaultCode::LaunchFailed, "an unspecified launch failure"),
        721 => (FaultCode::LaunchFailed, "an exception of the GPU"),
        _ => return None,
    })
}

/// What a stream's work came to, where waiting for it failed.
pub(super) fn of_stream(error: DriverError) -> DeviceError {
    let (code, words) = meaning(error.code).unwrap_or((FaultCode::LaunchFailed, "the driver gives the work up"));
    DeviceError::Fault(fault(code, words, &error))
}

/// What a refused operation says: of a kernel before it, or of itself.
pub(super) fn of_call(error: DriverError) -> DeviceError {
    match meaning(error.code) {
        Some((code, words)) => DeviceError::Fault(fault(code, words, &error)),
        None => DeviceError::Driver(error),
    }
}

fn fault(code: FaultCode, words: &str, error: &DriverError) -> Fault {
    let result = match error.name.as_str() {
        "" => format!("result `{}`", error.code),
        name => format!("`{name}`"),
    };
    Fault {
        code,
        launch: None,
        block: None,
        thread: None,
        address: None,
        text: format!("{words} ({result})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(code: c_int) -> DriverError {
        DriverError {
            call: "cuStreamSynchronize",
            arguments: String::new(),
            code,
            name: "CUDA_ERROR".into(),
            text: String::new(),
        }
    }

    #[test]
    fn a_stream_that_ends_badly_is_a_fault_whatever_the_result() {
        for (result, expected) in [
            (700, FaultCode::OutOfBounds),
            (716, FaultCode::Misaligned),
            (719, FaultCode::LaunchFailed),
            (214, FaultCode::Ecc),
            (4711, FaultCode::LaunchFailed),
        ] {
            match of_stream(error(result)) {
                DeviceError::Fault(fault) => assert_eq!(fault.code, expected, "{result}"),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn a_launch_that_is_refused_is_no_fault() {
        assert!(matches!(of_call(error(701)), DeviceError::Driver(_)));
        assert!(matches!(of_call(error(700)), DeviceError::Fault(_)));
    }
}
