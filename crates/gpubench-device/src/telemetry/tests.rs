//! Telemetry of a run with a fake gauge.

use std::time::Duration;

use super::case::cadence_for;
use super::fake::{FakeGauge, Shown};
use super::*;
use gpubench_contract::{GpuEnvironment, GpuState};

fn reasons(reasons: &[ThrottleReason]) -> Option<ThrottleReasons> {
    Some(reasons.iter().copied().collect())
}

fn telemetry(gauge: &FakeGauge) -> Telemetry {
    let mut telemetry = Telemetry::through(Some(Box::new(gauge.clone())));
    telemetry.begin_case();
    telemetry
}

#[test]
fn throttled_samples_are_listed_with_the_reason() {
    let gauge = FakeGauge::default();
    gauge.0.borrow_mut().reading.throttle_reasons = reasons(&[]);
    let mut telemetry = telemetry(&gauge);
    for sample in 1..=10 {
        gauge.0.borrow_mut().reading.throttle_reasons = match sample {
            4 | 5 => reasons(&[ThrottleReason::Idle, ThrottleReason::PowerCap]),
            _ => reasons(&[ThrottleReason::Idle]),
        };
        telemetry.after_sample(sample);
    }
    let observation = telemetry.end_case(10).unwrap();
    let power_cap = |samples| ThrottledSamples {
        samples,
        reasons: ThrottleReasons::from([ThrottleReason::PowerCap]),
    };
    assert_eq!(observation.throttled, [power_cap(3..4), power_cap(4..5)]);
    assert_eq!(
        observation.throttle_reasons,
        reasons(&[ThrottleReason::Idle, ThrottleReason::PowerCap])
    );
}

#[test]
fn idleness_and_chosen_clocks_do_not_count_as_throttling() {
    let gauge = FakeGauge::default();
    gauge.0.borrow_mut().reading.throttle_reasons = reasons(&[
        ThrottleReason::Idle,
        ThrottleReason::ApplicationsClocks,
        ThrottleReason::DisplayClocks,
    ]);
    let mut telemetry = telemetry(&gauge);
    telemetry.after_sample(1);
    assert_eq!(telemetry.end_case(1).unwrap().throttled, []);
}

#[test]
fn the_clock_after_the_samples_is_their_median() {
    let gauge = FakeGauge::default();
    let mut telemetry = telemetry(&gauge);
    for (sample, megahertz) in [1980.0, 345.0, 1965.0, 1980.0, 1995.0].into_iter().enumerate() {
        gauge.0.borrow_mut().reading.clock_hz = Some(megahertz * 1e6);
        telemetry.after_sample(sample + 1);
    }
    gauge.0.borrow_mut().reading.clock_hz = Some(345e6);
    assert_eq!(telemetry.end_case(5).unwrap().gpu.sample_clock_hz, Some(1.98e9));
}

#[test]
fn samples_that_were_thrown_away_leave_only_their_reasons() {
    let gauge = FakeGauge::default();
    let show = |clock_hz, found: &[ThrottleReason]| {
        let mut shown = gauge.0.borrow_mut();
        shown.reading.clock_hz = Some(clock_hz);
        shown.reading.throttle_reasons = reasons(found);
    };
    show(1.98e9, &[]);
    let mut telemetry = telemetry(&gauge);
    assert_eq!(telemetry.throttling(), Throttling::Unknown);
    telemetry.after_sample(1);
    assert_eq!(telemetry.throttling(), Throttling::Absent);
    show(1.2e9, &[ThrottleReason::PowerCap]);
    for _ in 0..3 {
        telemetry.after_sample(2);
        assert_eq!(telemetry.throttling(), Throttling::Found(1));
        telemetry.throw_away(1);
    }
    show(1.98e9, &[]);
    telemetry.after_sample(2);
    assert_eq!(telemetry.throttling(), Throttling::Absent);
    let observation = telemetry.end_case(2).unwrap();
    assert_eq!(observation.throttled, []);
    assert_eq!(observation.throttle_reasons, reasons(&[ThrottleReason::PowerCap]));
    assert_eq!(observation.gpu.sample_clock_hz, Some(1.98e9));
}

#[test]
fn without_a_gauge_nothing_is_known_about_throttling() {
    let mut telemetry = Telemetry::through(None);
    telemetry.begin_case();
    telemetry.after_sample(1);
    assert_eq!(telemetry.throttling(), Throttling::Unknown);
}

#[test]
fn energy_is_read_when_the_counter_moves() {
    let gauge = FakeGauge::default();
    let mut telemetry = telemetry(&gauge);
    assert_eq!(telemetry.energy(), None, "there is no counter");
    gauge.0.borrow_mut().energy_readings = 0;
    gauge.0.borrow_mut().energy_step_j = Some(2.0);
    let [first, second] = [1, 2].map(|_| telemetry.energy().unwrap());
    assert_eq!([first.joules, second.joules], [2.0, 4.0]);
    assert!(first.at < second.at);
    gauge.0.borrow_mut().energy_step_j = Some(0.0);
    assert_eq!(telemetry.energy(), None, "it does not move");
}

#[test]
fn errors_and_xids_belong_to_the_case_in_which_they_occur() {
    let gauge = FakeGauge::default();
    *gauge.0.borrow_mut() = Shown {
        uncorrected_errors: Some(7),
        xids: Some(vec![79]),
        ..Shown::default()
    };
    let mut telemetry = telemetry(&gauge);
    let quiet = telemetry.end_case(0).unwrap();
    assert_eq!(
        (quiet.gpu.new_uncorrected_ecc_errors, quiet.gpu.xids),
        (Some(0), Some(vec![]))
    );

    telemetry.begin_case();
    {
        let mut shown = gauge.0.borrow_mut();
        shown.uncorrected_errors = Some(9);
        shown.xids = Some(vec![31, 48]);
    }
    let loud = telemetry.end_case(0).unwrap();
    assert_eq!(
        (loud.gpu.uncorrected_ecc_errors, loud.gpu.new_uncorrected_ecc_errors),
        (Some(9), Some(2))
    );
    assert_eq!(loud.gpu.xids, Some(vec![31, 48]));
}

#[test]
fn a_second_measurement_keeps_errors_and_drops_throttled_samples() {
    let gauge = FakeGauge::default();
    let (ours, stranger) = (std::process::id(), 1);
    *gauge.0.borrow_mut() = Shown {
        uncorrected_errors: Some(7),
        xids: Some(vec![]),
        compute_processes: Some(vec![ours, stranger]),
        ..Shown::default()
    };
    gauge.0.borrow_mut().reading.throttle_reasons = reasons(&[ThrottleReason::PowerCap]);
    let mut telemetry = telemetry(&gauge);
    (1..=10).for_each(|sample| telemetry.after_sample(sample));
    {
        let mut shown = gauge.0.borrow_mut();
        shown.uncorrected_errors = Some(8);
        shown.xids = Some(vec![48]);
        shown.compute_processes = Some(vec![ours]);
        shown.reading.clock_hz = Some(1.98e9);
        shown.reading.throttle_reasons = reasons(&[]);
    }
    telemetry.begin_again();
    assert_eq!(telemetry.other_clients(), Some(0));
    gauge.0.borrow_mut().reading.throttle_reasons = reasons(&[ThrottleReason::HardwareThermalSlowdown]);
    telemetry.after_sample(1);
    let observation = telemetry.end_case(1).unwrap();
    assert_eq!(observation.gpu.before.clock_hz, Some(1.98e9));
    let thermal = ThrottledSamples {
        samples: 0..1,
        reasons: ThrottleReasons::from([ThrottleReason::HardwareThermalSlowdown]),
    };
    assert_eq!(observation.throttled, [thermal]);
    assert_eq!(
        observation.throttle_reasons,
        reasons(&[ThrottleReason::HardwareThermalSlowdown])
    );
    assert_eq!(observation.gpu.new_uncorrected_ecc_errors, Some(1));
    assert_eq!(observation.gpu.xids, Some(vec![48]));
    assert_eq!(observation.gpu.other_clients, Some(0));
}

#[test]
fn without_a_second_measurement_the_first_observations_count() {
    let gauge = FakeGauge::default();
    gauge.0.borrow_mut().reading.throttle_reasons = reasons(&[ThrottleReason::PowerCap]);
    let mut telemetry = telemetry(&gauge);
    (1..=10).for_each(|sample| telemetry.after_sample(sample));
    telemetry.begin_again();
    gauge.0.borrow_mut().reading.throttle_reasons = reasons(&[ThrottleReason::HardwareThermalSlowdown]);
    (1..=3).for_each(|sample| telemetry.after_sample(sample));
    telemetry.go_back();
    let throttled = telemetry.end_case(10).unwrap().throttled;
    let of_samples: Vec<usize> = throttled.iter().flat_map(|seen| seen.samples.clone()).collect();
    assert_eq!(of_samples, (0..10).collect::<Vec<_>>());
    let power_cap = ThrottleReasons::from([ThrottleReason::PowerCap]);
    assert!(throttled.iter().all(|seen| seen.reasons == power_cap), "{throttled:?}");
}

#[test]
fn unreadable_values_are_unknown() {
    let mut telemetry = telemetry(&FakeGauge::default());
    telemetry.after_sample(1);
    let observation = telemetry.end_case(1).unwrap();
    assert_eq!(
        observation,
        Observation {
            gpu: GpuEnvironment {
                after: Some(GpuState::default()),
                ..GpuEnvironment::default()
            },
            throttle_reasons: None,
            throttled: vec![],
        }
    );
}

#[test]
fn without_a_gauge_there_is_no_observation() {
    let mut telemetry = Telemetry::through(None);
    telemetry.begin_case();
    telemetry.after_sample(1);
    assert_eq!(telemetry.end_case(1), None);
    assert_eq!(telemetry.now(), None);
}

#[test]
fn other_clients_before_and_during_a_case_are_counted() {
    let gauge = FakeGauge::default();
    let ours = std::process::id();
    let stranger = 1;
    gauge.0.borrow_mut().compute_processes = Some(vec![ours]);
    let mut telemetry = telemetry(&gauge);
    assert_eq!(telemetry.other_clients(), Some(0));
    gauge.0.borrow_mut().compute_processes = Some(vec![ours, stranger]);
    assert_eq!(telemetry.other_clients(), Some(1));
    gauge.0.borrow_mut().compute_processes = Some(vec![ours]);
    assert_eq!(telemetry.other_clients(), Some(1), "it was there");
    assert_eq!(telemetry.end_case(0).unwrap().gpu.other_clients, Some(1));
}

#[test]
fn a_slow_driver_is_read_less_often() {
    assert_eq!(cadence_for(Duration::from_micros(3)), 1);
    assert_eq!(cadence_for(Duration::from_micros(50)), 1);
    assert_eq!(cadence_for(Duration::from_micros(120)), 3);
    assert_eq!(cadence_for(Duration::from_secs(1)), 64);
}
