//! Writes the telemetry of a GPU into records.

use gpubench_contract::units::counted;
use gpubench_contract::{BenchmarkComplete, Environment, GpuEnvironment, SampleFlag, SampleFlagKind};
use gpubench_device::telemetry::{Observation, Reading, ThrottleReasons, ThrottledSamples, words};
use gpubench_diagnostic::in_backticks;

/// The relative difference between a locked clock and the readings that needs no notice: GPUs have
/// steps of 15 MHz.
const LOCK_TOLERANCE: f64 = 0.01;

/// Writes the state of a GPU before a run into the run's environment.
pub fn note_reading(reading: &Reading, environment: &mut Environment) {
    environment.clock_hz = reading.clock_hz;
    environment.throttle_reasons = reading.throttle_reasons.as_ref().map(words);
    environment.gpu = Some(GpuEnvironment {
        before: reading.state(),
        ..GpuEnvironment::default()
    });
}

/// Returns a case's record with the telemetry during the case.
#[must_use]
pub fn with_observation(record: BenchmarkComplete, observation: &Observation) -> BenchmarkComplete {
    let samples = record.samples.len() as u64;
    let flags = observation.throttled.iter().flat_map(flags);
    let flags: Vec<SampleFlag> = flags.filter(|flag| flag.sample < samples).collect();
    let notices = notes(observation)
        .into_iter()
        .chain(throttling(observation, &record, flags.len()))
        .chain(lost_lock(&record.environment, &observation.gpu));
    BenchmarkComplete {
        notices: [record.notices, notices.collect()].concat(),
        sample_flags: flags,
        environment: Environment {
            clock_hz: observation.gpu.after.as_ref().and_then(|after| after.clock_hz),
            throttle_reasons: observation.throttle_reasons.as_ref().map(words),
            gpu: Some(observation.gpu.clone()),
            ..record.environment
        },
        ..record
    }
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
    notes
}

/// Returns a notice about throttled samples: those that were taken again, and the `kept` ones.
fn throttling(observation: &Observation, record: &BenchmarkComplete, kept: usize) -> Option<String> {
    let (retaken, all) = (record.window_counts.retaken, record.samples.len());
    let reasons = observation.throttle_reasons.iter().flatten();
    let reasons: ThrottleReasons = reasons.filter(|reason| reason.disturbs()).copied().collect();
    let again = (retaken > 0).then(|| format!("{} taken again", counted(retaken, "throttled sample")));
    let kept = (kept > 0).then(|| {
        if kept == all {
            "all samples are throttled".to_owned()
        } else {
            format!("{kept} of {all} samples are throttled")
        }
    });
    let what: Vec<String> = again.into_iter().chain(kept).collect();
    (!what.is_empty()).then(|| {
        let (what, reasons) = (what.join("; "), words(&reasons).join(", "));
        format!("the GPU throttled while samples were taken ({reasons}): {what}")
    })
}

/// Returns a notice if the GPU ran at another clock than the locked one. Power and heat limit a
/// locked clock too.
fn lost_lock(environment: &Environment, gpu: &GpuEnvironment) -> Option<String> {
    let locked = environment.locked_sm_clock_mhz? as f64;
    let found = gpu.sample_clock_hz? / 1e6;
    let differs = (found / locked - 1.0).abs() > LOCK_TOLERANCE;
    differs.then(|| {
        format!("the multiprocessors ran at {found:.0} MHz although their clock was locked at {locked:.0} MHz")
    })
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
        with_observation(record, observation)
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
            throttle_reasons: Some(ThrottleReasons::from([ThrottleReason::PowerCap])),
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
            ["the GPU throttled while samples were taken (power-cap): 2 of 4 samples are throttled"]
        );
    }

    #[test]
    fn no_sample_that_the_record_lacks_has_a_flag() {
        let record = record_with(&Observation {
            throttle_reasons: Some(ThrottleReasons::from([ThrottleReason::PowerCap])),
            throttled: vec![ThrottledSamples {
                samples: 3..9,
                reasons: ThrottleReasons::from([ThrottleReason::PowerCap]),
            }],
            ..quiet()
        });
        let flagged: Vec<u64> = record.sample_flags.iter().map(|flag| flag.sample).collect();
        assert_eq!(flagged, [3]);
        assert_eq!(
            record.notices,
            ["the GPU throttled while samples were taken (power-cap): 1 of 4 samples are throttled"]
        );
    }

    #[test]
    fn samples_that_were_taken_again_are_a_notice_even_if_none_is_flagged() {
        let mut record = passed_case(DeviceKind::Cuda);
        record.samples = vec![1.0; 4];
        record.window_counts.retaken = 3;
        let seen = [ThrottleReason::Idle, ThrottleReason::ThermalSlowdown];
        let observation = Observation {
            throttle_reasons: Some(ThrottleReasons::from(seen)),
            ..quiet()
        };
        let record = with_observation(record, &observation);
        assert_eq!(
            record.notices,
            ["the GPU throttled while samples were taken (thermal-slowdown): 3 throttled samples taken again"]
        );
    }

    #[test]
    fn a_gpu_that_always_throttles_has_a_notice_about_all_samples() {
        let mut record = passed_case(DeviceKind::Cuda);
        record.samples = vec![1.0; 4];
        record.window_counts.retaken = 3;
        let power_cap = ThrottleReasons::from([ThrottleReason::PowerCap]);
        let observation = Observation {
            throttle_reasons: Some(power_cap.clone()),
            throttled: vec![ThrottledSamples {
                samples: 0..4,
                reasons: power_cap,
            }],
            ..quiet()
        };
        let record = with_observation(record, &observation);
        assert_eq!(
            record.notices,
            [
                "the GPU throttled while samples were taken (power-cap): 3 throttled samples taken again; all samples are throttled"
            ]
        );
    }

    #[test]
    fn a_clock_that_leaves_its_lock_is_a_notice() {
        for (megahertz, notices) in [(1410.0, 0), (1404.0, 0), (1365.0, 1)] {
            let mut observation = quiet();
            observation.gpu.sample_clock_hz = Some(megahertz * 1e6);
            let mut record = passed_case(DeviceKind::Cuda);
            record.environment.locked_sm_clock_mhz = Some(1410);
            let record = with_observation(record, &observation);
            assert_eq!(record.notices.len(), notices, "{:?}", record.notices);
        }
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

    #[test]
    fn notices_of_before_come_first_and_every_number_of_errors_has_its_words() {
        let notices = |errors| {
            let mut observation = quiet();
            observation.gpu.new_uncorrected_ecc_errors = errors;
            let mut record = passed_case(DeviceKind::Cuda);
            record.notices = vec!["of before".to_owned()];
            with_observation(record, &observation).notices
        };
        assert_eq!(notices(None), ["of before"]);
        assert_eq!(notices(Some(0)), ["of before"]);
        let of = |words: &str| format!("ecc: {words} in GPU memory during the case");
        assert_eq!(notices(Some(1)), ["of before".to_owned(), of("1 uncorrectable error")]);
        assert_eq!(notices(Some(2)), ["of before".to_owned(), of("2 uncorrectable errors")]);
    }

    #[test]
    fn a_locked_clock_that_is_off_by_more_than_one_percent_either_way_is_noticed() {
        for (found_mhz, is_noticed) in [(1_979.0, true), (1_981.0, false), (2_019.0, false), (2_021.0, true)] {
            let mut observation = quiet();
            observation.gpu.sample_clock_hz = Some(found_mhz * 1e6);
            let mut record = passed_case(DeviceKind::Cuda);
            record.environment.locked_sm_clock_mhz = Some(2_000);
            let noticed = !with_observation(record, &observation).notices.is_empty();
            assert_eq!(noticed, is_noticed, "{found_mhz}");
        }
    }
}
