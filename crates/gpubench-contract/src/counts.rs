//! What the kernels of a call did, besides taking time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::MachineCode;
use super::units::{in_unit, listed};

/// The counts of a case.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct Counts {
    /// What counted, with its version: callgrind or CUPTI. `the plan of the call` for the memory of
    /// calls that run no host code.
    pub counted_by: String,
    /// The instructions of the last sampled call by function, largest first. Empty if instructions
    /// were not counted.
    pub functions: Vec<FunctionCount>,
    /// The bytes in use in the last sampled call when they were the most, by what has them:
    /// `tensors`, `scratch`, and `allocated` for what host code has allocated. Empty if memory was
    /// not counted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub memory: BTreeMap<String, f64>,
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

impl Counts {
    /// Returns what has the memory in use, the most first: `tensors 12.00 KiB, scratch 4.000 KiB`.
    /// `None` if memory was not counted.
    pub fn memory_in_use(&self) -> Option<String> {
        let mut parts: Vec<(&String, &f64)> = self.memory.iter().filter(|(_, bytes)| **bytes > 0.0).collect();
        parts.sort_by(|one, other| other.1.total_cmp(one.1));
        let shown = parts
            .iter()
            .map(|(what, bytes)| Some(format!("{what} {}", in_unit(**bytes, "B"))));
        (!self.memory.is_empty()).then(|| listed(shown))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_in_use_is_told_by_what_has_most_of_it() {
        let of = |parts: &[(&str, f64)]| Counts {
            memory: parts.iter().map(|(what, bytes)| ((*what).to_owned(), *bytes)).collect(),
            ..Counts::default()
        };
        let counts = of(&[("tensors", 4_096.0), ("scratch", 0.0), ("allocated", 12_288.0)]);
        assert_eq!(
            counts.memory_in_use().as_deref(),
            Some("allocated 12.00 KiB, tensors 4.000 KiB")
        );
        assert_eq!(of(&[]).memory_in_use(), None);
    }
}
