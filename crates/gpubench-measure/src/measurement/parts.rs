//! Times of the parts of a call, for the record of a case.

use gpubench::catalog::Recording;
use gpubench::plan::Step;

use gpubench_contract::{PartTimes, StepTimes};
use gpubench_protocol::wire::DeviceWork;
use gpubench_stats::{median, quantile};

/// Returns the times of each step of a plan, from windows that time them one by one.
pub(super) fn step_times(recording: &Recording, windows_ns: &[Vec<f64>]) -> Vec<StepTimes> {
    let steps = recording.plan.steps.iter().enumerate();
    let times = steps.filter_map(|(position, step)| {
        let of_step = windows_ns.iter().filter_map(|times_ns| times_ns.get(position).copied());
        Some(StepTimes {
            step: name(step),
            times: part_times(of_step.collect())?,
        })
    });
    times.collect()
}

fn name(step: &Step) -> String {
    match step {
        Step::Launch(launch) => launch.kernel.name.clone(),
        Step::Memset { .. } => "memset".to_owned(),
        Step::Copy { .. } => "copy".to_owned(),
    }
}

/// Sums up times in nanoseconds. Returns `None` if there are none, or one is not finite.
pub(super) fn part_times(mut times_ns: Vec<f64>) -> Option<PartTimes> {
    if times_ns.iter().any(|ns| !ns.is_finite()) {
        return None;
    }
    times_ns.sort_by(f64::total_cmp);
    let at = |share| quantile(&times_ns, share);
    Some(PartTimes {
        n: times_ns.len() as u64,
        median_ns: at(0.5)?,
        q1_ns: at(0.25)?,
        q3_ns: at(0.75)?,
        min_ns: at(0.0)?,
        max_ns: at(1.0)?,
    })
}

/// Returns what the device does in a call: the medians of traced calls. `None` if none was traced,
/// or a worker reports impossible times.
pub(super) fn device_work(calls: &[DeviceWork]) -> Option<gpubench_contract::DeviceWork> {
    let of = |number: fn(&DeviceWork) -> f64| median(&calls.iter().map(number).collect::<Vec<_>>());
    let (busy_ns, span_ns) = (of(|work| work.busy_ns)?, of(|work| work.span_ns)?);
    let possible = |ns: f64| ns.is_finite() && ns >= 0.0;
    (possible(busy_ns) && possible(span_ns)).then_some(gpubench_contract::DeviceWork {
        calls: calls.len() as u64,
        kernels: of(|work| work.kernels.into())?,
        copies: of(|work| work.copies.into())?,
        memsets: of(|work| work.memsets.into())?,
        busy_ns,
        span_ns,
    })
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::{Reference, Work};
    use gpubench::plan::{BufferId, Plan, Span};

    use super::*;

    #[test]
    fn a_step_has_the_times_at_its_position_in_every_window() {
        let span = Span {
            buffer: BufferId::Tensor(0),
            offset: 0,
            len: 4,
        };
        let steps = vec![
            Step::Memset { target: span, value: 0 },
            Step::Copy {
                source: span,
                target: span,
            },
        ];
        let recording = Recording {
            tensors: Vec::new(),
            work: Work::default(),
            plan: Plan {
                steps,
                ..Plan::default()
            },
            reference: Reference::Author,
            execution: Default::default(),
            call: None,
        };
        let times = step_times(&recording, &[vec![1.0, 10.0], vec![3.0, 30.0], vec![2.0, 20.0]]);
        let shown: Vec<_> = times
            .iter()
            .map(|part| (part.step.as_str(), part.times.median_ns))
            .collect();
        assert_eq!(shown, [("memset", 2.0), ("copy", 20.0)]);
        assert_eq!(step_times(&recording, &[]), []);
    }

    #[test]
    fn times_are_summed_up_unless_one_is_not_finite() {
        let times = part_times(vec![4.0, 1.0, 2.0, 5.0, 3.0]).unwrap();
        assert_eq!(
            (times.n, times.min_ns, times.median_ns, times.max_ns),
            (5, 1.0, 3.0, 5.0)
        );
        assert_eq!(part_times(vec![1.0, f64::NAN]), None);
        assert_eq!(part_times(Vec::new()), None);
    }

    fn work(change: impl FnOnce(&mut DeviceWork)) -> DeviceWork {
        let mut work = <DeviceWork as bytemuck::Zeroable>::zeroed();
        (work.kernels, work.copies, work.memsets) = (3, 2, 1);
        (work.busy_ns, work.span_ns) = (10.0, 20.0);
        change(&mut work);
        work
    }

    #[test]
    fn the_work_of_a_call_has_the_median_of_each_number() {
        let calls = [
            work(|_| ()),
            work(|_| ()),
            work(|work| (work.kernels, work.busy_ns) = (9, 99.0)),
        ];
        let expected = gpubench_contract::DeviceWork {
            calls: 3,
            kernels: 3.0,
            copies: 2.0,
            memsets: 1.0,
            busy_ns: 10.0,
            span_ns: 20.0,
        };
        assert_eq!(device_work(&calls), Some(expected));
        assert_eq!(device_work(&[]), None);
    }

    #[test]
    fn times_of_work_that_are_impossible_are_no_record() {
        for time in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(device_work(&[work(|work| work.busy_ns = time)]), None, "{time}");
            assert_eq!(device_work(&[work(|work| work.span_ns = time)]), None, "{time}");
        }
        assert!(device_work(&[work(|work| (work.busy_ns, work.span_ns) = (0.0, 0.0))]).is_some());
    }
}
