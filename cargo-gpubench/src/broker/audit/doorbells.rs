//! The submissions of a call, counted on the GPU's doorbell.

use std::sync::{Mutex, PoisonError};

use gpubench_measure::measurement::{SubmissionCount, SubmissionCounter};
use gpubench_measure::verdict::WindowSpan;
use gpubench_observe::{Doorbell, DoorbellError};
use gpubench_stats::{Moments, median};

/// The doorbells of the workers of one audit.
#[derive(Debug, Default)]
pub(in crate::broker) struct Doorbells {
    /// Why a window was not counted, the first of the reasons.
    failure: Mutex<Option<DoorbellError>>,
}

impl Doorbells {
    /// Returns how often a call submits work to the GPU: the mean of the windows `with` a call,
    /// minus the median of the windows `without` one. The first call, which may set things up, is
    /// left out unless it is the only one. `launches` is the least number of launches of the calls
    /// that remain. `None` if there are no windows.
    ///
    /// # Errors
    /// A window was not counted, or the doorbell counts less than is known to be submitted.
    pub(super) fn submissions_of_call(
        self,
        with: &[WindowSpan],
        without: &[WindowSpan],
        launches: u64,
    ) -> Result<Option<f64>, DoorbellError> {
        let left_out = usize::from(with.len() > 1);
        let (Some(calls), Some(windows)) = (submissions(&with[left_out..]), submissions(without)) else {
            let failure = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
            return failure.map_or(Ok(None), Err);
        };
        let counted = calls.iter().sum::<f64>() as u64;
        // The tool itself submits something in each window.
        let submitted = launches + calls.len() as u64;
        if counted < submitted {
            return Err(DoorbellError::Inexact { counted, submitted });
        }
        let of_call = Moments::of(&calls).mean();
        let of_tool = median(&windows);
        Ok(of_call
            .zip(of_tool)
            .map(|(of_call, of_tool)| (of_call - of_tool).max(0.0)))
    }

    fn note<T>(&self, counted: Result<T, DoorbellError>) -> Option<T> {
        let note = |failure| {
            let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(failure);
        };
        counted.map_err(note).ok()
    }
}

impl SubmissionCounter for Doorbells {
    fn begin<'c>(&'c self, process: u32) -> Option<Box<dyn SubmissionCount + 'c>> {
        let doorbell = self.note(Doorbell::of_process(process))?;
        Some(Box::new(Watched { doorbell, of: self }))
    }
}

/// A doorbell that is watched.
struct Watched<'c> {
    doorbell: Doorbell,
    of: &'c Doorbells,
}

impl SubmissionCount for Watched<'_> {
    fn end(self: Box<Self>) -> Option<u64> {
        self.of.note(self.doorbell.submissions())
    }
}

fn submissions(spans: &[WindowSpan]) -> Option<Vec<f64>> {
    spans.iter().map(|span| Some(span.submissions? as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let submissions = Doorbells::default().submissions_of_call(&counted(with), &counted(without), 0);
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
            Doorbells::default().submissions_of_call(&with, &counted(&[4]), launches)
        };
        // Two windows, and one launch in each.
        assert_eq!(of(2, 2).expect("it is enough"), Some(0.0));
        let error = of(1, 2).expect_err("it is too little").to_string();
        assert_eq!(error, "the doorbell counted 2 of at least 4 submissions");
        assert!(of(0, 0).is_err(), "the tool submits something itself");
    }

    #[test]
    fn the_first_reason_why_a_window_was_not_counted_is_told() {
        let doorbells = Doorbells::default();
        let own = std::process::id();
        assert!(doorbells.begin(own).is_none(), "this process has no GPU");
        doorbells.note::<()>(Err(DoorbellError::NoDoorbell(0)));
        let error = doorbells.submissions_of_call(&spans(&[Some(7), None]), &counted(&[4]), 0);
        assert_eq!(
            error.expect_err("a reason").to_string(),
            format!("process `{own}` has not mapped the doorbell of a GPU")
        );
    }

    #[test]
    fn the_first_call_need_not_be_counted() {
        let doorbells = Doorbells::default();
        doorbells.note::<()>(Err(DoorbellError::NoDoorbell(7)));
        let submissions = doorbells.submissions_of_call(&spans(&[None, Some(7)]), &counted(&[4]), 0);
        assert_eq!(submissions.expect("the others were"), Some(3.0));
    }
}
