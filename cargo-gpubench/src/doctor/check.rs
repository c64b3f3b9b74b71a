//! A finding.

use std::fmt::Display;

use serde::Serialize;

/// The area of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// The CPU device.
    CpuDevice,
    /// The GPU and its driver.
    Gpu,
    /// Compilers of GPU kernels.
    Compilers,
    /// Clocks, throttling, and other processes on the GPU.
    Telemetry,
    /// Sandboxing features of the operating system.
    Sandbox,
    /// What can be seen of other processes.
    Observation,
}

impl Area {
    /// All areas with their headings, in display order.
    pub(super) const ALL: [(Area, &str); 6] = [
        (Area::CpuDevice, "CPU device"),
        (Area::Gpu, "GPU"),
        (Area::Compilers, "Compilers of GPU kernels"),
        (Area::Telemetry, "Clocks and other processes"),
        (Area::Sandbox, "Sandbox"),
        (Area::Observation, "Observation of other processes"),
    ];

    /// Returns a finding without a problem.
    pub(super) fn good(self, check: impl Display, value: impl Display) -> Check {
        Check {
            area: self,
            check: check.to_string(),
            standing: CheckStatus::Good,
            value: value.to_string(),
            cost: None,
        }
    }

    /// Returns a finding with a gap that costs something.
    pub(super) fn gap(self, check: impl Display, value: impl Display, cost: impl Display) -> Check {
        Check {
            standing: CheckStatus::Gap,
            cost: Some(cost.to_string()),
            ..self.good(check, value)
        }
    }

    /// Returns a finding that makes its area unusable.
    pub(super) fn missing(self, check: impl Display, value: impl Display, cost: impl Display) -> Check {
        Check {
            standing: CheckStatus::Missing,
            ..self.gap(check, value, cost)
        }
    }
}

/// The outcome of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckStatus {
    /// No problem.
    Good,
    /// A gap: measuring works, with a cost.
    Gap,
    /// A missing feature that the area needs.
    Missing,
}

/// A finding: the value, and the cost of a gap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// The area.
    pub area: Area,
    /// The checked feature.
    pub check: String,
    /// The outcome.
    pub standing: CheckStatus,
    /// The value.
    pub value: String,
    /// The cost of a gap and what to do about it; null without a gap.
    pub cost: Option<String>,
}
