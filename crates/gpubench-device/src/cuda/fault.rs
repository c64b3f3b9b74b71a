//! Kernel faults, decoded from driver results.

use std::ffi::c_int;

use super::call::DriverError;
use crate::{DeviceError, Fault, FaultCode};

/// Returns the fault that a result of a synchronization or launch reports, with its description.
/// `None` for an error of the call itself.
fn meaning(code: c_int) -> Option<(FaultCode, &'static str)> {
    Some(match code {
        214 => (FaultCode::Ecc, "an uncorrectable memory error"),
        220 => (
            FaultCode::LaunchFailed,
            "an uncorrectable error on the link between GPUs",
        ),
        700 => (
            FaultCode::OutOfBounds,
            "an illegal address: the kernel accessed unmapped memory or wrote to a read-only input",
        ),
        702 => (
            FaultCode::LaunchFailed,
            "the GPU's display watchdog ended a kernel that ran too long",
        ),
        710 => (FaultCode::Trap, "a failed assertion"),
        714 => (FaultCode::StackOverflow, "a damaged stack, or one that is too small"),
        715 => (
            FaultCode::IllegalInstruction,
            "an illegal instruction, or a trap in the kernel's code",
        ),
        716 => (FaultCode::Misaligned, "a misaligned address"),
        717 => (FaultCode::OutOfBounds, "an instruction for the wrong address space"),
        718 => (
            FaultCode::IllegalInstruction,
            "a jump to an address without an instruction",
        ),
        719 => (FaultCode::LaunchFailed, "an unspecified launch failure"),
        721 => (FaultCode::LaunchFailed, "a GPU exception"),
        _ => return None,
    })
}

/// Converts the error of a synchronization.
pub(super) fn of_stream(error: DriverError) -> DeviceError {
    let (code, words) = meaning(error.code).unwrap_or((FaultCode::LaunchFailed, "the driver aborted the work"));
    DeviceError::Fault(fault(code, words, &error))
}

/// Converts the error of a queued operation: a fault of an earlier kernel, or an error of the call
/// itself.
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
        line: None,
        text: format!("{words} ({result})").into(),
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
    fn every_failed_synchronization_is_a_fault() {
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
    fn a_refused_launch_is_not_a_fault() {
        assert!(matches!(of_call(error(701)), DeviceError::Driver(_)));
        assert!(matches!(of_call(error(700)), DeviceError::Fault(_)));
    }
}
