//! What a run measures with: its settings for the device, and its decision rule.

mod decision;
mod run_settings;

pub use decision::DecisionRule;
pub(super) use run_settings::{Company, DeviceTools, RunSettings, seeds};
