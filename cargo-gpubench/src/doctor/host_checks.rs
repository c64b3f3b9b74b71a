//! Checks of the CPU device.

use super::check::{Area, Check};
use super::machine::Machine;

/// The hint if there is no C++ compiler.
pub(super) const COMPILER_HINT: &str = "install g++ or clang, or name a compiler in `CXX`";

pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    let area = Area::CpuDevice;
    let cost = "benchmarks run only on a GPU";
    let built = match &machine.cpu_device {
        Ok(()) => area.good("device", format!("{}, {} threads", machine.processor, machine.threads)),
        Err(reason) => area.missing(
            "device",
            format!("not in this build: {reason}"),
            format!("{cost}; build the tool again on a machine with a C++ compiler"),
        ),
    };
    let compiler = match &machine.compiler {
        Ok(identity) => area.good("C++ compiler", identity),
        Err(reason) => area.missing("C++ compiler", reason, format!("{cost}; {COMPILER_HINT}")),
    };
    vec![built, compiler]
}
