//! Kinds of devices, and how each is spoken of.

use serde::{Deserialize, Serialize};

/// Kinds of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DeviceKind {
    /// The built-in CPU device: its times say nothing about a GPU.
    Cpu,
    /// An NVIDIA GPU.
    Cuda,
}

impl From<gpubench::catalog::DeviceKind> for DeviceKind {
    fn from(kind: gpubench::catalog::DeviceKind) -> DeviceKind {
        match kind {
            gpubench::catalog::DeviceKind::Cpu => DeviceKind::Cpu,
            gpubench::catalog::DeviceKind::Cuda => DeviceKind::Cuda,
        }
    }
}

/// What records and reports say of a kind of device. Whoever shows a device takes its words from
/// here and never asks for the kind.
#[derive(Debug, PartialEq, Eq)]
pub struct DeviceWords {
    /// Its word in records and on the command line.
    pub word: &'static str,
    /// What describes it beside a name: `CUDA device: NVIDIA H200`.
    pub title: &'static str,
    /// What it is called in a sentence: `no GPU is used`.
    pub noun: &'static str,
    /// The article of its title and its noun: there is one CPU device, and there are many GPUs.
    pub article: &'static str,
    /// One of its multiprocessors, beside other figures.
    pub unit: &'static str,
    /// Its multiprocessors, in full.
    pub units: &'static str,
    /// Why each of its times is advisory, which every report says once; nothing where cases have
    /// grades of their own.
    pub advisory: Option<&'static str>,
    /// Whether the host's processor is the device.
    pub is_the_host: bool,
}

impl DeviceKind {
    /// Its words.
    pub const fn words(self) -> &'static DeviceWords {
        match self {
            DeviceKind::Cpu => &DeviceWords {
                word: "cpu",
                title: "CPU device",
                noun: "CPU device",
                article: "the",
                unit: "thread",
                units: "threads",
                advisory: Some("Times of the CPU device say nothing about a GPU."),
                is_the_host: true,
            },
            DeviceKind::Cuda => &DeviceWords {
                word: "cuda",
                title: "CUDA device",
                noun: "GPU",
                article: "a",
                unit: "SM",
                units: "multiprocessors",
                advisory: None,
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
