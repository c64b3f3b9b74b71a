//! Judges an output, also one whose tolerance lets a share of the elements differ by more.

use gpubench::catalog::Tolerance;
use gpubench_harness::CheckSummary;

use super::{Comparison, Harness};
use crate::{DeviceError, Driver, Stream};

/// A comparison after the share of mismatched elements is taken into account.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// The elements that are wrong, and the errors of all.
    pub summary: CheckSummary,
    /// Elements that pass though they are outside the tolerance.
    pub mismatched: u64,
    /// What the wrong elements are outside of: the tolerance, or that of mismatched elements.
    pub tolerance: Tolerance,
}

/// Number of elements that decide most comparisons.
const FIRST_ELEMENTS: u64 = 4096;

impl Harness {
    /// Runs a single comparison and waits for it.
    ///
    /// # Errors
    /// As [`Harness::check`] and [`Harness::collect`].
    pub fn compare(
        &mut self,
        driver: &mut dyn Driver,
        stream: Stream,
        comparison: &Comparison,
    ) -> Result<CheckSummary, DeviceError> {
        let mut batch = self.begin(driver, stream, 1)?;
        let ticket = self.check(driver, &mut batch, comparison)?;
        self.collect(driver, batch)?.get(ticket)
    }

    /// Judges `found`, the result of a comparison. If few enough elements are outside the
    /// tolerance, it compares again by the tolerance that these must keep. There a NaN is as wrong
    /// as before.
    ///
    /// # Errors
    /// As [`Harness::compare`].
    pub fn judge(
        &mut self,
        driver: &mut dyn Driver,
        stream: Stream,
        comparison: &Comparison,
        found: CheckSummary,
    ) -> Result<Judged, DeviceError> {
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
        let within_cap = self.compare(
            driver,
            stream,
            &Comparison {
                tolerance: of_mismatched,
                ..*comparison
            },
        )?;
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
    ///
    /// # Errors
    /// As [`Harness::compare`].
    pub fn compare_and_judge(
        &mut self,
        driver: &mut dyn Driver,
        stream: Stream,
        comparison: &Comparison,
    ) -> Result<Judged, DeviceError> {
        let found = self.compare(driver, stream, comparison)?;
        self.judge(driver, stream, comparison, found)
    }

    /// Returns the result of a comparison if the output passes, otherwise `None`. It is quick if
    /// one of the first elements is wrong.
    ///
    /// # Errors
    /// As [`Harness::compare`].
    pub fn passing(
        &mut self,
        driver: &mut dyn Driver,
        stream: Stream,
        comparison: &Comparison,
    ) -> Result<Option<CheckSummary>, DeviceError> {
        let mut matching = |part: &Comparison| {
            let judged = self.compare_and_judge(driver, stream, part)?;
            Ok(Some(judged.summary).filter(CheckSummary::all_match))
        };
        // The share of elements that may differ is of the whole output.
        if comparison.tolerance.mismatched().is_some() {
            return matching(comparison);
        }
        let first = Comparison {
            len: comparison.len.min(FIRST_ELEMENTS),
            ..*comparison
        };
        match matching(&first)? {
            Some(_) if first.len < comparison.len => matching(comparison),
            passing => Ok(passing),
        }
    }
}
