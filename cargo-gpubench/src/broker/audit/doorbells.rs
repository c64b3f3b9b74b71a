//! The submissions of a call, counted on the GPU's doorbell.

use std::sync::{Mutex, PoisonError};

use super::{AuditError, Auditor};
use gpubench_measure::measurement::{SubmissionCount, SubmissionCounter};
use gpubench_measure::verdict::WindowSpan;
use gpubench_stats::{Moments, median};

/// The doorbells of the workers of one audit.
#[derive(Debug)]
pub(in crate::broker) struct Doorbells<'a> {
    auditor: &'a Auditor,
    failures: Failures,
}

/// Why windows were not counted. The first reason is kept.
#[derive(Debug, Default)]
struct Failures(Mutex<Option<AuditError>>);

impl<'a> Doorbells<'a> {
    /// Returns the doorbells that an auditor watches.
    pub(in crate::broker) fn watched_by(auditor: &'a Auditor) -> Doorbells<'a> {
        Doorbells {
            auditor,
            failures: Failures::default(),
        }
    }

    /// Returns why a window was not counted, if one was not.
    pub(in crate::broker) fn end(self) -> Option<AuditError> {
        self.failures.first()
    }
}

impl Failures {
    fn note<T>(&self, counted: Result<T, AuditError>) -> Option<T> {
        let note = |failure| {
            let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(failure);
        };
        counted.map_err(note).ok()
    }

    fn first(self) -> Option<AuditError> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SubmissionCounter for Doorbells<'_> {
    fn begin<'c>(&'c self, process: u32) -> Option<Box<dyn SubmissionCount + 'c>> {
        self.failures.note(self.auditor.watch(process))?;
        Some(Box::new(Watched { process, of: self }))
    }
}

/// A doorbell that is watched.
struct Watched<'c> {
    process: u32,
    of: &'c Doorbells<'c>,
}

impl SubmissionCount for Watched<'_> {
    fn end(self: Box<Self>) -> Option<u64> {
        self.of.failures.note(self.of.auditor.count(self.process))
    }
}

/// Returns how often a call submits work to the GPU: the mean of the windows `with` a call, minus
/// the median of the windows `without` one. The first call, which may set things up, is left out
/// unless it is the only one. `launches` is the least number of launches of the calls that remain.
/// `None` if there are no windows.
///
/// # Errors
/// A window was not counted, for the reason `uncounted`, or the doorbell counts less than is known
/// to be submitted.
pub(super) fn submissions_of_call(
    uncounted: Option<AuditError>,
    with: &[WindowSpan],
    without: &[WindowSpan],
    launches: u64,
) -> Result<Option<f64>, AuditError> {
    let left_out = usize::from(with.len() > 1);
    let (Some(calls), Some(windows)) = (submissions(&with[left_out..]), submissions(without)) else {
        return uncounted.map_or(Ok(None), Err);
    };
    let counted = calls.iter().sum::<f64>() as u64;
    // The tool itself submits something in each window.
    let submitted = launches + calls.len() as u64;
    if counted < submitted {
        return Err(AuditError::Inexact { counted, submitted });
    }
    let of_call = Moments::from_samples(&calls).mean();
    let of_tool = median(&windows);
    Ok(of_call
        .zip(of_tool)
        .map(|(of_call, of_tool)| (of_call - of_tool).max(0.0)))
}

fn submissions(spans: &[WindowSpan]) -> Option<Vec<f64>> {
    spans.iter().map(|span| Some(span.submissions? as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(reason: &str) -> Result<(), AuditError> {
        Err(AuditError::Refused(gpubench_contract::Refusal {
            reason: reason.to_owned(),
            hint: None,
        }))
    }

    fn spans(submissions: &[Option<u64>]) -> Vec<WindowSpan> {
        let span = |submissions: &Option<u64>| WindowSpan {
            process: 7,
            began_ns: 0,
            ended_ns: 1,
            timed_ns: None,
            submissions: *submissions,
        };
        submissions.iter().map(span).collect()
    }

    fn counted(submissions: &[u64]) -> Vec<WindowSpan> {
        spans(&submissions.iter().copied().map(Some).collect::<Vec<_>>())
    }

    #[test]
    fn a_call_submits_what_a_window_has_more_than_one_without_a_call() {
        let of = |with: &[u64], without: &[u64]| {
            let submissions = submissions_of_call(None, &counted(with), &counted(without), 0);
            submissions.expect("it was counted")
        };
        assert_eq!(of(&[90, 7, 8], &[5, 5, 6]), Some(2.5), "the first call is left out");
        assert_eq!(of(&[90, 5], &[6, 6, 6]), Some(0.0));
        assert_eq!(of(&[7], &[5]), Some(2.0), "the only call is not");
        assert_eq!(of(&[7, 7], &[]), None);
    }

    #[test]
    fn a_doorbell_that_counts_too_little_is_none() {
        let of = |submissions: u64, launches| {
            let with = counted(&[0, submissions, submissions]);
            submissions_of_call(None, &with, &counted(&[4]), launches)
        };
        // Two windows, and one launch in each.
        assert_eq!(of(2, 2).expect("it is enough"), Some(0.0));
        let error = of(1, 2).expect_err("it is too little").to_string();
        assert_eq!(error, "the doorbell counted 2 of at least 4 submissions");
        assert!(of(0, 0).is_err(), "the tool submits something itself");
    }

    #[test]
    fn the_first_reason_why_a_window_was_not_counted_is_told() {
        let failures = Failures::default();
        for reason in ["no doorbell", "another reason"] {
            failures.note(refused(reason));
        }
        let error = submissions_of_call(failures.first(), &spans(&[Some(7), None]), &counted(&[4]), 0);
        assert_eq!(error.expect_err("a reason").to_string(), "no doorbell");
    }

    #[test]
    fn the_first_call_need_not_be_counted() {
        let uncounted = refused("no doorbell").err();
        let submissions = submissions_of_call(uncounted, &spans(&[None, Some(7)]), &counted(&[4]), 0);
        assert_eq!(submissions.expect("the others were"), Some(3.0));
    }
}
