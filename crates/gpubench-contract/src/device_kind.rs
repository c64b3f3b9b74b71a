//! Kinds of devices and the words for them.

use serde::{Deserialize, Serialize};

/// The kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// The built-in CPU device. Its times say nothing about a GPU.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
}

/// The words for a kind of device. Code that prints a device takes its words from here instead of
/// matching on the kind.
#[derive(Debug, PartialEq, Eq)]
pub struct DeviceWords {
    /// The word in records and on the command line.
    pub word: &'static str,
    /// The title before a name: `CUDA device: NVIDIA H200`.
    pub title: &'static str,
    /// The noun in a sentence: `no GPU is used`.
    pub noun: &'static str,
    /// The article before the title and the noun. There is one CPU device, but many GPUs.
    pub article: &'static str,
    /// The short word for one multiprocessor, next to other numbers.
    pub unit: &'static str,
    /// The full word for its multiprocessors.
    pub units: &'static str,
    /// Why all times of the kind are unverified; a report prints it once. `None` if cases have
    /// individual grades.
    pub unverified: Option<&'static str>,
    /// Whether the device is the host's processor.
    pub is_the_host: bool,
}

impl DeviceKind {
    /// Returns the words for the kind.
    pub const fn words(self) -> &'static DeviceWords {
        match self {
            DeviceKind::Cpu => &DeviceWords {
                word: "cpu",
                title: "CPU device",
                noun: "CPU device",
                article: "the",
                unit: "thread",
                units: "threads",
                unverified: Some("Times of the CPU device say nothing about a GPU."),
                is_the_host: true,
            },
            DeviceKind::Cuda => &DeviceWords {
                word: "cuda",
                title: "CUDA device",
                noun: "GPU",
                article: "a",
                unit: "SM",
                units: "multiprocessors",
                unverified: None,
                is_the_host: false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_the_same_word_everywhere() {
        for kind in [DeviceKind::Cpu, DeviceKind::Cuda] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.words().word);
        }
    }
}
