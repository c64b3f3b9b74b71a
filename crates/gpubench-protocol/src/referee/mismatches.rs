//! Judges an output whose tolerance lets a share of the elements differ by more.

use gpubench::catalog::Tolerance;
use gpubench_harness::CheckSummary;

use super::RefereeError;
use super::case::Referee;
use gpubench_device::harness::Comparison;

/// A comparison after the share of mismatched elements is taken into account.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged {
    /// The elements that are wrong, and the errors of all.
    pub(super) summary: CheckSummary,
    /// Elements that pass though they are outside the tolerance.
    pub(super) mismatched: u64,
    /// What the wrong elements are outside of: the tolerance, or that of mismatched elements.
    pub(super) tolerance: Tolerance,
}

impl Referee {
    /// Judges `found`, the result of a comparison. If few enough elements are outside the
    /// tolerance, it compares again by the tolerance that these must keep. There a NaN is as wrong
    /// as before.
    pub(super) fn judge(&mut self, comparison: &Comparison, found: CheckSummary) -> Result<Judged, RefereeError> {
        let tolerance = comparison.tolerance;
        let strictly = Judged {
            summary: found,
            mismatched: 0,
            tolerance,
        };
        let (Some(allowed), Some(of_mismatched)) = (tolerance.mismatched(), tolerance.of_mismatched()) else {
            return Ok(strictly);
        };
        // Noise can be within the cap by chance.
        if found.all_match() || found.unwritten > 0 || found.wrong() > allowed.most(found.elements) {
            return Ok(strictly);
        }
        let within_cap = self.compare(&Comparison {
            tolerance: of_mismatched,
            ..*comparison
        })?;
        if within_cap.all_match() {
            return Ok(Judged {
                summary: CheckSummary {
                    matched: found.elements,
                    non_finite: 0,
                    first_wrong: None,
                    ..found
                },
                mismatched: found.wrong(),
                tolerance,
            });
        }
        Ok(Judged {
            summary: within_cap,
            mismatched: 0,
            tolerance: of_mismatched,
        })
    }

    /// Runs a single comparison, waits for it and judges it.
    pub(super) fn compare_and_judge(&mut self, comparison: &Comparison) -> Result<Judged, RefereeError> {
        let found = self.compare(comparison)?;
        self.judge(comparison, found)
    }
}
