//! How far the times of a case can be trusted.

use super::{Evidence, Execution, Grade};
use crate::device::ClockBound;
use crate::sandbox::Confinement;

/// The grade of a case, and why it is not a better one.
pub(super) fn grade(evidence: &Evidence<'_>) -> (Grade, Option<String>) {
    let no_clock = match evidence.clock_bound {
        ClockBound::Exclusive => None,
        ClockBound::Absent(reason) => Some(reason.to_string()),
    };
    let no_sandbox = match evidence.execution {
        Execution::Sealed | Execution::Hosted(Confinement::Closed) => None,
        Execution::Hosted(Confinement::Open(reason)) => {
            Some(format!("the sandbox round the hosted code is not closed: {reason}"))
        }
    };
    let gaps: Vec<String> = no_clock.into_iter().chain(no_sandbox).collect();
    match evidence.execution {
        _ if !gaps.is_empty() => (Grade::Advisory, Some(gaps.join("; "))),
        Execution::Hosted(_) => {
            let reason = "the user's host code was in the worker while the clock ran";
            (Grade::Bracketed, Some(reason.to_owned()))
        }
        Execution::Sealed => (Grade::Sealed, None),
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
        let absent = ClockBound::Absent("a test has none".into());
        let shared = [&Execution::Sealed, &closed, &open].map(|execution| graded(&absent, execution));
        assert_eq!(shared, [Grade::Advisory; 3]);
    }

    #[test]
    fn every_reason_for_an_advisory_grade_is_told() {
        let absent = ClockBound::Absent("no clock".into());
        let open = Execution::Hosted(Confinement::Open("no filter".to_owned()));
        let evidence = Evidence {
            tensors: &[],
            scratch: &[],
            windows: &[],
            ending: Ending::Stopped,
            last_call: 0,
            execution: &open,
            clock_bound: &absent,
            floor_ns: None,
        };
        let told = "no clock; the sandbox round the hosted code is not closed: no filter";
        assert_eq!(grade(&evidence), (Grade::Advisory, Some(told.to_owned())));
    }
}
