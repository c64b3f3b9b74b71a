//! On windows without any spread each rule shows exactly where it begins.

use super::*;

const CLAIM_NS: f64 = 100_000.0;

/// Ten workers of four windows each, and null windows as the tool's own part alone.
fn even(longer_by: impl Fn(usize) -> f64, null_ns: f64, alone_ns: &[f64]) -> Balance {
    on_claims(CLAIM_NS, longer_by, null_ns, alone_ns)
}

fn on_claims(claim_ns: f64, longer_by: impl Fn(usize) -> f64, null_ns: f64, alone_ns: &[f64]) -> Balance {
    let residuals: Vec<f64> = (0..40).map(|window| OWN_NS + longer_by(window)).collect();
    Balance::of(Residuals {
        workers: &ten_workers(&residuals, claim_ns),
        null: &[null_ns; 20],
        alone: alone_ns,
        kernel_part_ns: KERNEL_PART_NS,
    })
    .unwrap()
}

#[test]
fn null_windows_are_disturbed_from_five_microseconds_on() {
    let disturbance = |longer_by: f64| even(|_| 0.0, OWN_NS + longer_by, &[OWN_NS; 8]).disturbance_ns;
    for (longer_by, expected) in [
        (-60_000.0, None),
        (0.0, None),
        (3_000.0, None),
        (5_000.0, None),
        (5_001.0, Some(5_001.0)),
        (10_000.0, Some(10_000.0)),
    ] {
        assert_eq!(disturbance(longer_by), expected, "{longer_by}");
    }
}

#[test]
fn fewer_than_six_null_windows_behind_the_end_tell_no_disturbance() {
    let told = |alone: usize| {
        even(|_| 0.0, OWN_NS + 60_000.0, &vec![OWN_NS; alone])
            .disturbance_ns
            .is_some()
    };
    assert_eq!([0, 1, 5, 6].map(told), [false, false, false, true]);
}

#[test]
fn where_null_windows_were_disturbed_those_behind_the_end_count() {
    // 30 µs are hidden from every claim, and every interleaved null window is as much longer.
    let balance = even(|_| 30_000.0, OWN_NS + 30_000.0, &[OWN_NS; 8]);
    assert_eq!(balance.excess_ns, 30_000.0);
    assert_eq!(balance.imbalance, Some(Imbalance::Hidden));
    let undisturbed = even(|_| 3_000.0, OWN_NS + 3_000.0, &[OWN_NS; 8]);
    assert_eq!(undisturbed.excess_ns, 0.0);
}

#[test]
fn an_excess_counts_beyond_the_kernels_part_and_what_clocks_and_long_calls_explain() {
    let bound = |claim_ns| on_claims(claim_ns, |_| 0.0, OWN_NS, &[]).bound_ns;
    for (claim_ns, expected) in [
        (0.0, 12_000.0),
        (100_000.0, 12_100.0),
        (300_000.0, 12_300.0),
        (1_300_000.0, 12_000.0 + 1_300.0 + 10_000.0),
        // No claim makes the bound smaller.
        (-1e9, 12_000.0),
    ] {
        assert!(
            (bound(claim_ns) - expected).abs() < 1e-6,
            "{} for {claim_ns}",
            bound(claim_ns)
        );
    }
    assert_eq!(even(|_| 12_099.0, OWN_NS, &[]).imbalance, None);
    assert_eq!(even(|_| 12_101.0, OWN_NS, &[]).imbalance, Some(Imbalance::Hidden));
    assert_eq!(
        even(|_| -60_000.0, OWN_NS, &[]).imbalance,
        None,
        "it claims more than passed"
    );
}

#[test]
fn so_many_windows_may_be_long_and_no_more() {
    let with = |long: usize, by: f64, nulls: usize| {
        let every = |window: usize| OWN_NS + if window < long { by } else { 0.0 };
        let residuals: Vec<f64> = (0..40).map(every).collect();
        Balance::of(Residuals {
            workers: &ten_workers(&residuals, CLAIM_NS),
            null: &vec![OWN_NS; nulls],
            alone: &[],
            kernel_part_ns: KERNEL_PART_NS,
        })
        .unwrap()
        .imbalance
    };
    // Of 40 windows of which 2 in 100 are long, more than six are in fewer than one case of 10 000. Twenty null windows
    // without a long one tell less of how often they come than a thousand.
    for (nulls, allowed) in [(20, 9), (1_000, 6)] {
        // 12.1 µs are explained, and 15 more are not seen in single windows.
        let beyond_ns = 27_100.0;
        assert_eq!(with(allowed, 40_000.0, nulls), None);
        let windows = allowed + 1;
        let expected = Imbalance::HiddenInSome {
            windows,
            allowed,
            beyond_ns,
        };
        assert_eq!(with(windows, 27_101.0, nulls), Some(expected));
        assert_eq!(with(windows, 27_100.0, nulls), None);
    }
}

#[test]
fn too_few_windows_of_either_worker_say_nothing() {
    let of = |windows: usize, nulls: usize| {
        let residuals = Residuals {
            workers: &[clocked(&vec![OWN_NS; windows], 1.0)],
            null: &vec![OWN_NS; nulls],
            alone: &[],
            kernel_part_ns: KERNEL_PART_NS,
        };
        (Balance::of(residuals).is_some(), will_be_precise(residuals, 1.0))
    };
    assert_eq!(of(6, 6), (true, true));
    assert_eq!(of(5, 6), (false, false));
    assert_eq!(of(6, 5), (false, false));
}

#[test]
fn a_bound_is_precise_and_vague_from_where_its_error_says_so() {
    let of = |error_ns: f64, claimed_ns: f64| {
        let balance = Balance {
            error_ns,
            claimed_ns,
            ..even(|_| 0.0, OWN_NS, &[])
        };
        (balance.is_precise(), balance.is_vague())
    };
    assert_eq!(of(1_500.0, 0.0), (true, false));
    assert_eq!(of(1_501.0, 0.0), (false, false));
    assert_eq!(of(3_800.0, 95_000.0), (false, false));
    assert_eq!(of(3_801.0, 95_000.0), (false, true));
    assert_eq!(of(4_000.0, 100_000.0), (false, false), "four hundredths of the claim");
    assert_eq!(of(4_001.0, 100_000.0), (false, true));
}
