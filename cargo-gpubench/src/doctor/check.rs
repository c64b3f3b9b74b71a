//! One finding.

use std::fmt::Display;

use serde::Serialize;

/// What a check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Area {
    /// The CPU device.
    CpuDevice,
    /// The GPU and its driver.
    Gpu,
    /// Compilers of GPU kernels.
    Compilers,
    /// Clocks, throttling, and who else is on the GPU.
    Telemetry,
    /// What the operating system offers to confine a worker with.
    Sandbox,
}

impl Area {
    /// All with their headings, in the order in which they are shown.
    pub(super) const ALL: [(Area, &str); 5] = [
        (Area::CpuDevice, "CPU device"),
        (Area::Gpu, "GPU"),
        (Area::Compilers, "Compilers of GPU kernels"),
        (Area::Telemetry, "Clocks and neighbours"),
        (Area::Sandbox, "Sandbox"),
    ];

    /// Something is as it should be.
    pub(super) fn good(self, check: impl Display, value: impl Display) -> Check {
        Check {
            area: self,
            check: check.to_string(),
            standing: CheckStatus::Good,
            value: value.to_string(),
            cost: None,
        }
    }

    /// Something is less than it could be.
    pub(super) fn gap(self, check: impl Display, value: impl Display, cost: impl Display) -> Check {
        Check {
            standing: CheckStatus::Gap,
            cost: Some(cost.to_string()),
            ..self.good(check, value)
        }
    }

    /// Something that the area cannot do without is not there.
    pub(super) fn missing(self, check: impl Display, value: impl Display, cost: impl Display) -> Check {
        Check {
            standing: CheckStatus::Missing,
            ..self.gap(check, value, cost)
        }
    }
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckStatus {
    /// As it should be.
    Good,
    /// Something is less than it could be; measuring goes on without it.
    Gap,
    /// Something that the area cannot do without is not there.
    Missing,
}

/// A finding, its value, and what it costs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What it is about.
    pub area: Area,
    /// What was looked at.
    pub check: String,
    /// How it stands.
    pub standing: CheckStatus,
    /// What was found.
    pub value: String,
    /// What the gap costs, and what can be done; null where there is none.
    pub cost: Option<String>,
}
