//! One finding.

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
    /// All, in the order in which they are shown.
    pub const ALL: [Area; 5] = [
        Area::CpuDevice,
        Area::Gpu,
        Area::Compilers,
        Area::Telemetry,
        Area::Sandbox,
    ];

    /// The heading.
    pub fn title(self) -> &'static str {
        match self {
            Area::CpuDevice => "CPU device",
            Area::Gpu => "GPU",
            Area::Compilers => "Compilers of GPU kernels",
            Area::Telemetry => "Clocks and neighbours",
            Area::Sandbox => "Sandbox",
        }
    }
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
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
    pub standing: Standing,
    /// What was found.
    pub value: String,
    /// What the gap costs, and what can be done; null where there is none.
    pub cost: Option<String>,
}

impl Check {
    pub(super) fn good(area: Area, check: impl Into<String>, value: impl Into<String>) -> Check {
        Check {
            area,
            check: check.into(),
            standing: Standing::Good,
            value: value.into(),
            cost: None,
        }
    }

    pub(super) fn gap(
        area: Area,
        check: impl Into<String>,
        value: impl Into<String>,
        cost: impl Into<String>,
    ) -> Check {
        Check {
            standing: Standing::Gap,
            cost: Some(cost.into()),
            ..Check::good(area, check, value)
        }
    }

    pub(super) fn missing(
        area: Area,
        check: impl Into<String>,
        value: impl Into<String>,
        cost: impl Into<String>,
    ) -> Check {
        Check {
            standing: Standing::Missing,
            ..Check::gap(area, check, value, cost)
        }
    }
}
