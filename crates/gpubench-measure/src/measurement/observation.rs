//! Writes the telemetry of a GPU into records.

use gpubench_contract::{BenchmarkComplete, Environment, GpuEnvironment, SampleFlag, SampleFlagKind};
use gpubench_device::telemetry::{Observation, Reading, ThrottleReasons, ThrottledSamples, words};
use gpubench_diagnostic::in_backticks;

/// Writes the state of a GPU before a run into the run's environment.
pub fn note_reading(reading: &Reading, environment: &mut Environment) {
    environment.clock_hz = reading.clock_hz;
    environment.throttle_reasons = reading.throttle_reasons.as_ref().map(words);
    environment.gpu = Some(GpuEnvironment {
        before: reading.state(),
        ..GpuEnvironment::default()
    });
}

/// Writes the telemetry during a case into its record.
pub fn note_observation(observation: &Observation, record: &mut BenchmarkComplete) {
    let after = observation.gpu.after.as_ref();
    record.environment.clock_hz = after.and_then(|after| after.clock_hz);
    record.environment.throttle_reasons = observation.throttle_reasons.as_ref().map(words);
    record.environment.gpu = Some(observation.gpu.clone());
    let samples = record.samples.len();
    record.sample_flags.extend(
        observation
            .throttled
            .iter()
            .flat_map(flags)
            .filter(|flag| flag.sample < samples as u64),
    );
    record.notices.extend(notes(observation));
}

fn flags(throttled: &ThrottledSamples) -> impl Iterator<Item = SampleFlag> {
    let reasons = words(&throttled.reasons);
    throttled.samples.clone().map(move |sample| SampleFlag {
        sample: sample as u64,
        flag: SampleFlagKind::Throttled,
        reasons: reasons.clone(),
    })
}

/// Returns the notices about the telemetry, even for a case that passed.
fn notes(observation: &Observation) -> Vec<String> {
    let mut notes = Vec::new();
    match observation.gpu.new_uncorrected_ecc_errors {
        None | Some(0) => {}
        Some(1) => notes.push("ecc: 1 uncorrectable error in GPU memory during the case".to_owned()),
        Some(errors) => notes.push(format!(
            "ecc: {errors} uncorrectable errors in GPU memory during the case"
        )),
    }
    if let Some(xids @ [_, ..]) = observation.gpu.xids.as_deref() {
        notes.push(format!(
            "the driver reported Xid {} during the case",
            in_backticks(xids)
        ));
    }
    let throttled: usize = observation
        .throttled
        .iter()
        .map(|throttled| throttled.samples.len())
        .sum();
    if throttled > 0 {
        let reasons: ThrottleReasons = observation
            .throttled
            .iter()
            .flat_map(|throttled| throttled.reasons.clone())
            .collect();
        notes.push(format!(
            "the GPU throttled while samples were taken: {}",
            words(&reasons).join(", ")
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measurement::passed_case::passed_case;
    use gpubench_contract::{DeviceKind, GpuState};
    use gpubench_device::telemetry::ThrottleReason;

    fn quiet() -> Observation {
        Observation {
            gpu: GpuEnvironment {
                after: Some(GpuState::default()),
                persistence_mode: Some(true),
                uncorrected_ecc_errors: Some(3),
                new_uncorrected_ecc_errors: Some(0),
                xids: Some(Vec::new()),
                other_clients: Some(0),
                ..GpuEnvironment::default()
            },
            throttle_reasons: Some(ThrottleReasons::new()),
            throttled: Vec::new(),
        }
    }

    fn record_with(observation: &Observation) -> BenchmarkComplete {
        let mut record = passed_case(DeviceKind::Cuda);
        record.samples = vec![1.0; 4];
        note_observation(observation, &mut record);
        record
    }

    #[test]
    fn an_undisturbed_gpu_is_recorded_without_notices() {
        let record = record_with(&quiet());
        assert!(record.notices.is_empty() && record.sample_flags.is_empty());
        let gpu = record.environment.gpu.unwrap();
        assert_eq!(
            (gpu.uncorrected_ecc_errors, gpu.persistence_mode),
            (Some(3), Some(true))
        );
    }

    #[test]
    fn throttled_samples_carry_a_flag_each_with_the_reason() {
        let record = record_with(&Observation {
            throttled: vec![ThrottledSamples {
                samples: 1..3,
                reasons: ThrottleReasons::from([ThrottleReason::PowerCap]),
            }],
            ..quiet()
        });
        let flagged: Vec<u64> = record.sample_flags.iter().map(|flag| flag.sample).collect();
        assert_eq!(flagged, [1, 2]);
        assert_eq!(record.sample_flags[0].reasons, ["power-cap"]);
        assert_eq!(
            record.notices,
            ["the GPU throttled while samples were taken: power-cap"]
        );
    }

    #[test]
    fn memory_errors_and_xids_are_notices_of_their_case() {
        let record = record_with(&Observation {
            gpu: GpuEnvironment {
                new_uncorrected_ecc_errors: Some(2),
                xids: Some(vec![31, 48]),
                ..GpuEnvironment::default()
            },
            ..quiet()
        });
        assert_eq!(
            record.notices,
            [
                "ecc: 2 uncorrectable errors in GPU memory during the case",
                "the driver reported Xid `31`, `48` during the case",
            ]
        );
    }
}
