//! How far the times of a case can be trusted.

use super::{Evidence, Execution, Grade};
use crate::device::ClockBound;
use crate::sandbox::Confinement;

/// The grade of a case, and why it is not a better one.
pub(super) fn grade(evidence: &Evidence<'_>) -> (Grade, Option<String>) {
    match (evidence.clock_bound, evidence.execution) {
        (ClockBound::Absent(reason), _) => (Grade::Advisory, Some((*reason).to_owned())),
        (ClockBound::Exclusive, Execution::Hosted(Confinement::Open(reason))) => {
            let reason = format!("the sandbox round the hosted code is not closed: {reason}");
            (Grade::Advisory, Some(reason))
        }
        (ClockBound::Exclusive, Execution::Hosted(Confinement::Closed)) => {
            let reason = "the user's host code was in the worker while the clock ran";
            (Grade::Bracketed, Some(reason.to_owned()))
        }
        (ClockBound::Exclusive, Execution::Sealed) => (Grade::Sealed, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Ending;

    fn graded(clock_bound: &ClockBound, execution: &Execution) -> Grade {
        let evidence = Evidence {
            tensors: &[],
            scratch: &[],
            windows: &[],
            ending: Ending::Stopped,
            last_call: 0,
            execution,
            clock_bound,
            floor_ns: None,
        };
        grade(&evidence).0
    }

    #[test]
    fn hosted_code_is_bracketed_at_best_and_advisory_outside_of_a_sandbox() {
        let closed = Execution::Hosted(Confinement::Closed);
        let open = Execution::Hosted(Confinement::Open("no filter".to_owned()));
        let exclusive = [&Execution::Sealed, &closed, &open].map(|execution| graded(&ClockBound::Exclusive, execution));
        assert_eq!(exclusive, [Grade::Sealed, Grade::Bracketed, Grade::Advisory]);
        let absent = ClockBound::Absent("a test has none");
        let shared = [&Execution::Sealed, &closed, &open].map(|execution| graded(&absent, execution));
        assert_eq!(shared, [Grade::Advisory; 3]);
    }
}
