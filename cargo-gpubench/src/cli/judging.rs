//! Options that decide what counts as a change.

use super::settings::{ChangeArguments, JudgingArguments, PlaceArguments};
use crate::broker::PlaceOptions;
use crate::broker::options::JudgingOptions;
use crate::cdylibs::ManifestOptions;
use gpubench_report::{Gate, OnRegression};
use gpubench_stats::Confidence;
use gpubench_store::compare::Setups;

impl ChangeArguments {
    /// Returns the options. A regression fails the command.
    pub(super) fn into_options(self) -> JudgingOptions {
        JudgingOptions {
            noise_threshold: self.noise.noise_threshold.value(),
            count_threshold: self.noise.count_threshold.value(),
            confidence: Confidence::new(self.confidence_level.value()).unwrap_or_default(),
            setups: if self.allow_different_setups {
                Setups::MayDiffer
            } else {
                Setups::MustAgree
            },
            gate: Gate::default(),
        }
    }
}

impl JudgingArguments {
    pub(super) fn into_options(self) -> JudgingOptions {
        JudgingOptions {
            gate: Gate {
                on_regression: if self.no_fail_on_regression {
                    OnRegression::Show
                } else {
                    OnRegression::Fail
                },
                on_inconclusive: self.fail_on_inconclusive,
            },
            ..self.change.into_options()
        }
    }
}

impl PlaceArguments {
    /// Returns the places of stored runs and histories.
    pub(super) fn into_options(self) -> PlaceOptions {
        PlaceOptions {
            histories: self.history_dir,
            manifest: ManifestOptions {
                manifest_path: self.manifest_path,
                ..ManifestOptions::default()
            },
            target_dir: self.target_dir,
        }
    }
}
