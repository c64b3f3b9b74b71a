//! The submissions of a call, counted on the GPU's doorbell.

use gpubench_measure::measurement::{SubmissionCount, SubmissionCounter};
use gpubench_measure::verdict::WindowSpan;
use gpubench_observe::Doorbell;
use gpubench_stats::{Moments, median};

/// The doorbells of workers.
#[derive(Clone, Copy, Debug)]
pub(in crate::broker) struct Doorbells;

impl SubmissionCounter for Doorbells {
    fn begin(&self, process: u32) -> Option<Box<dyn SubmissionCount>> {
        Some(Box::new(Watched(Doorbell::of_process(process).ok()?)))
    }
}

struct Watched(Doorbell);

impl SubmissionCount for Watched {
    fn end(self: Box<Self>) -> Option<u64> {
        self.0.submissions().ok()
    }
}

/// Returns how often a call submits work to the GPU: the mean of the windows with a call, without
/// the median of those without one. The first call, which may set things up, is left out if there
/// are more. `None` if there are no windows, or one was not counted.
pub(super) fn submissions_of_call(with: &[WindowSpan], without: &[WindowSpan]) -> Option<f64> {
    let left_out = usize::from(with.len() > 1);
    let of_call = Moments::of(&submissions(&with[left_out..])?).mean()?;
    let of_tool = median(&submissions(without)?)?;
    Some((of_call - of_tool).max(0.0))
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

    #[test]
    fn a_call_submits_what_a_window_has_more_than_one_without_a_call() {
        let of = |with: &[u64], without: &[u64]| {
            let counted = |numbers: &[u64]| spans(&numbers.iter().copied().map(Some).collect::<Vec<_>>());
            submissions_of_call(&counted(with), &counted(without))
        };
        assert_eq!(of(&[90, 7, 8], &[5, 5, 6]), Some(2.5), "the first call is left out");
        assert_eq!(of(&[90, 5], &[6, 6, 6]), Some(0.0));
        assert_eq!(of(&[7], &[5]), Some(2.0), "the only call is not");
        assert_eq!([of(&[], &[5]), of(&[7, 7], &[])], [None; 2]);
    }

    #[test]
    fn submissions_that_were_not_counted_are_unknown() {
        let (counted, unknown) = (spans(&[Some(7), Some(7)]), spans(&[Some(7), None]));
        assert_eq!(submissions_of_call(&counted, &counted), Some(0.0));
        assert_eq!(submissions_of_call(&unknown, &counted), None);
        assert_eq!(submissions_of_call(&counted, &unknown), None);
    }
}
