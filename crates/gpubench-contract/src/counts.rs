//! What the kernels of a call did, besides taking time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::MachineCode;

/// The counts of a case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Counts {
    /// What counted, with its version: callgrind or CUPTI.
    pub counted_by: String,
    /// The instructions of the last sampled call by function, largest first. Empty if instructions
    /// were not counted.
    pub functions: Vec<FunctionCount>,
    /// The machine code of the kernels, in the order of their first launches. Missing where counts
    /// are not of kernels of a plan on a GPU, and if it is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machine_code: Vec<MachineCode>,
    /// Why the machine code is not known. Missing if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_machine_code: Option<String>,
    /// The values of the hardware metrics of one call, by name, as `ncu` has them.
    pub hardware: BTreeMap<String, f64>,
}

/// The instructions of a function in one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct FunctionCount {
    /// Name of the kernel that was launched.
    pub kernel: String,
    /// Name of the function. Null on a GPU, whose counts are of whole kernels.
    pub function: Option<String>,
    /// Number of instructions, over all launches of the kernel.
    pub instructions: f64,
}
