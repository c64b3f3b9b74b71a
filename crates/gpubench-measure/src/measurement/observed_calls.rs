//! Counts that an observer tells only after the end of a worker.

use gpubench::catalog::Recording;
use gpubench::plan::Step;

use super::samples::Samples;
use crate::clients::LaunchCount;
use gpubench_device::Count;

/// The calls of a worker that an observer counts, in order.
#[derive(Debug)]
pub(super) struct ObservedCalls {
    /// The kernels of the launches of a call. Empty if host code launches them.
    kernels: Vec<String>,
    /// The position of the sample that each call gives, if it gives one.
    samples: Vec<Option<usize>>,
}

impl ObservedCalls {
    /// Returns no calls of a case.
    pub(super) fn of(recording: &Recording) -> ObservedCalls {
        let kernel = |step: &Step| match step {
            Step::Launch(launch) => Some(launch.kernel.name.clone()),
            _ => None,
        };
        ObservedCalls {
            kernels: recording.plan.steps.iter().filter_map(kernel).collect(),
            samples: Vec::new(),
        }
    }

    /// Forgets the calls of an earlier worker.
    pub(super) fn clear(&mut self) {
        self.samples.clear();
    }

    /// Notes a call.
    pub(super) fn note(&mut self, sample: Option<usize>) {
        self.samples.push(sample);
    }

    /// Gives the samples the counts of their launches. Returns those of the last sampled call.
    ///
    /// # Errors
    /// If the launches are not those of the calls. The text says so.
    pub(super) fn count(&self, launches: &[LaunchCount], samples: &mut Samples) -> Result<Vec<Count>, String> {
        let (number, calls) = (launches.len(), self.samples.len());
        let of_plan = self.kernels.len() * calls;
        let fits = calls > 0 && number > 0 && number % calls == 0 && (of_plan == 0 || of_plan == number);
        if !fits {
            return Err(format!("it counted {number} launches in {calls} calls"));
        }
        let mut last = Vec::new();
        for (sample, launches) in self.samples.iter().zip(launches.chunks(number / calls)) {
            let Some(sample) = *sample else { continue };
            samples.set(sample, launches.iter().map(|launch| launch.count).sum());
            let count = |(position, launch): (usize, &LaunchCount)| Count {
                range: self.kernels.get(position).unwrap_or(&launch.kernel).clone(),
                of: String::new(),
                value: launch.count,
            };
            last = launches.iter().enumerate().map(count).collect();
        }
        Ok(last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_protocol::wire::Measurand;

    fn launches(counts: &[f64]) -> Vec<LaunchCount> {
        let launch = |count: &f64| LaunchCount {
            kernel: "sum".to_owned(),
            count: *count,
        };
        counts.iter().map(launch).collect()
    }

    #[test]
    fn each_sample_has_the_launches_of_its_call() {
        let mut samples = Samples::of_measurand(Measurand::Instructions);
        samples.begin_turn();
        let mut calls = ObservedCalls {
            kernels: vec!["first".to_owned(), "second<2>".to_owned()],
            samples: Vec::new(),
        };
        // A warm-up, a sample, an early check and another sample, of two launches each.
        for is_sample in [false, true, false, true] {
            calls.note(is_sample.then(|| samples.keep_for_later()));
        }
        let launches = launches(&[1.0, 2.0, 10.0, 20.0, 100.0, 200.0, 1_000.0, 2_000.0]);
        let last = calls.count(&launches, &mut samples).unwrap();
        assert_eq!(samples.values, [30.0, 3_000.0]);
        let named: Vec<(&str, f64)> = last.iter().map(|count| (&*count.range, count.value)).collect();
        assert_eq!(named, [("first", 1_000.0), ("second<2>", 2_000.0)]);
    }

    #[test]
    fn launches_that_do_not_fit_the_calls_count_for_none() {
        let mut samples = Samples::of_measurand(Measurand::Instructions);
        let mut calls = ObservedCalls {
            kernels: Vec::new(),
            samples: vec![None, None],
        };
        let why = calls.count(&launches(&[1.0; 3]), &mut samples).unwrap_err();
        assert_eq!(why, "it counted 3 launches in 2 calls");
        assert!(calls.count(&[], &mut samples).is_err());
        assert!(calls.count(&launches(&[1.0; 4]), &mut samples).is_ok());
        calls.kernels = vec!["only".to_owned()];
        assert!(
            calls.count(&launches(&[1.0; 4]), &mut samples).is_err(),
            "the plan has one launch"
        );
    }
}
