use super::*;

/// The tool's own part of a window on an H100.
const OWN_NS: f64 = 311_000.0;

/// Simulates honest and adversarial cases on a GPU. The windows of a worker spread by 2 µs between
/// the 5th and the 95th percentile, a few are longer, and each process has an offset.
struct Machine {
    random: fastrand::Rng,
    /// Spread of the windows, in nanoseconds.
    spread_ns: f64,
    /// Fraction of windows that are disturbed.
    disturbed: f64,
}

impl Machine {
    fn usual(seed: u64) -> Machine {
        Machine {
            random: fastrand::Rng::with_seed(seed),
            spread_ns: 2_000.0,
            disturbed: 0.02,
        }
    }

    fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.random.f64(), self.random.f64());
        (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
    }

    fn residual(&mut self, offset: f64) -> f64 {
        let body = self.normal() * self.spread_ns / 3.29;
        let tail = match self.random.f64() {
            chance if chance < 0.002 => 2e6 * self.random.f64(),
            chance if chance < self.disturbed => 50_000.0 * self.random.f64(),
            _ => 0.0,
        };
        // Both timestamps and both events have steps of 32 ns.
        ((OWN_NS + offset + body + tail) / 32.0).round() * 32.0
    }

    /// Returns a case of this shape. `hidden_ns` is the time that a window hides, by worker and
    /// window number.
    fn case(&mut self, shape: Shape, claim_ns: f64, hidden_ns: impl Fn(usize, usize) -> f64) -> Vec<ClockedTurn> {
        let worker = |worker: usize| {
            // One process in fifty has a bad placement.
            let placed = if self.random.f64() < 0.02 { 12_000.0 } else { 0.0 };
            let offset = placed + 500.0 * self.normal();
            let windows = (0..shape.windows).map(|window| Clocked {
                claim_ns: claim_ns * (1.0 + 0.01 * self.normal()),
                residual_ns: self.residual(offset) + hidden_ns(worker, window),
            });
            ClockedTurn {
                windows: windows.collect(),
                control_ns: (0..shape.controls).map(|_| self.residual(offset)).collect(),
            }
        };
        (0..shape.workers).map(worker).collect()
    }

    fn balance(&mut self, shape: Shape, claim_ns: f64, hidden_ns: impl Fn(usize, usize) -> f64) -> TimingAudit {
        TimingAudit::new(&self.case(shape, claim_ns, hidden_ns), &[]).unwrap()
    }
}

/// The number of workers, and the windows and control windows of each.
#[derive(Clone, Copy, Debug)]
struct Shape {
    workers: usize,
    windows: usize,
    controls: usize,
}

/// From the shortest cases to long ones.
const SHAPES: [Shape; 4] = [shape(5, 6, 7), shape(10, 6, 4), shape(10, 16, 6), shape(5, 100, 25)];

const fn shape(workers: usize, windows: usize, controls: usize) -> Shape {
    Shape {
        workers,
        windows,
        controls,
    }
}

#[test]
fn fewer_than_one_honest_case_in_five_hundred_is_accused_even_on_a_disturbed_machine() {
    for (spread_ns, disturbed) in [(2_000.0, 0.02), (8_000.0, 0.02), (4_000.0, 0.15)] {
        for shape in SHAPES {
            let mut machine = Machine {
                spread_ns,
                disturbed,
                ..Machine::usual(3)
            };
            let cases = 200_000 / (shape.workers * shape.windows);
            let accused = (0..cases).filter(|_| machine.balance(shape, 30_000.0, |_, _| 0.0).is_too_short());
            let accused = accused.count();
            assert!(
                accused * 500 <= cases.max(500),
                "{accused} of {cases}: {shape:?}, {spread_ns} ns"
            );
        }
    }
}

#[test]
fn five_microseconds_hidden_in_every_window_are_found_in_every_case() {
    for shape in SHAPES {
        let mut machine = Machine::usual(5);
        let found = (0..200).filter(|_| machine.balance(shape, 30_000.0, |_, _| 5_000.0).is_too_short());
        assert_eq!(found.count(), 200, "{shape:?}");
    }
}

#[test]
fn the_bound_is_below_four_microseconds_and_one_and_a_half_percent_of_long_claims() {
    for shape in SHAPES {
        let mut machine = Machine::usual(7);
        for claim_ns in [3_000.0, 100_000.0, 300_000.0, 3_000_000.0] {
            for _ in 0..100 {
                let balance = machine.balance(shape, claim_ns, |_, _| 0.0);
                assert!(
                    balance.bound_ns <= 4_000.0_f64.max(0.015 * claim_ns),
                    "{shape:?}: {balance:?}"
                );
                assert!(!balance.is_vague());
            }
        }
    }
}

/// If a case is not accused, its reported value is right to within the bound, however time is
/// hidden.
#[test]
fn a_case_that_passes_is_right_to_within_the_bound() {
    let patterns: [fn(usize, usize) -> f64; 6] = [
        // Every window; a quarter of them; half of them; whole workers; a little more in each
        // worker; long times in a few windows.
        |_, _| 3_000.0,
        |_, window| if window % 4 == 0 { 3_000.0 } else { 0.0 },
        |_, window| if window % 2 == 0 { 8_000.0 } else { 0.0 },
        |worker, _| if worker < 3 { 20_000.0 } else { 0.0 },
        |worker, _| 1_000.0 * worker as f64,
        |_, window| if window % 5 == 0 { 40_000.0 } else { 0.0 },
    ];
    for (number, pattern) in patterns.into_iter().enumerate() {
        for shape in SHAPES {
            let mut machine = Machine::usual(11);
            for _ in 0..100 {
                let seed = machine.random.u64(..);
                let honest = Machine::usual(seed).balance(shape, 30_000.0, |_, _| 0.0);
                let cheating = Machine::usual(seed).balance(shape, 30_000.0, pattern);
                // The honest value: the claims are the same, and the true time is longer by the
                // hidden time.
                let true_ns = cheating.verified_ns - honest.excess_ns;
                let wrong_by = true_ns - cheating.claimed_ns;
                // Each of the two bounds has an error.
                let accepted = cheating.bound_ns + honest.bound_ns;
                assert!(
                    cheating.is_too_short() || wrong_by <= accepted,
                    "{number}: {shape:?} {wrong_by} {cheating:?}"
                );
            }
        }
    }
}

/// Host code gains at most a microsecond by claiming too little. Honest host code is reported
/// correctly to within a microsecond.
#[test]
fn a_short_claim_of_host_code_gains_at_most_a_microsecond() {
    let reported = |seed, hidden_ns: f64| {
        let balance = Machine::usual(seed).balance(shape(10, 8, 4), 30_000.0, |_, _| hidden_ns);
        let reported = balance.claimed_ns + balance.unclaimed_ns();
        (reported, balance.verified_ns - hidden_ns)
    };
    for seed in 0..200 {
        for hidden_ns in [0.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 20_000.0] {
            let (reported, verified) = reported(seed, hidden_ns);
            let honest = verified + hidden_ns;
            assert!(
                reported >= honest - 1_000.0,
                "{hidden_ns} ns hidden: {reported} of {honest}"
            );
        }
        let (reported, verified) = reported(seed, 0.0);
        assert!((reported - verified).abs() <= 1_000.0);
    }
}

#[test]
fn an_offset_of_a_process_does_not_count_as_hidden_time() {
    let mut machine = Machine::usual(13);
    for _ in 0..200 {
        let mut workers = machine.case(shape(10, 8, 4), 30_000.0, |_, _| 0.0);
        for worker in workers.iter_mut().skip(3) {
            worker
                .windows
                .iter_mut()
                .for_each(|window| window.residual_ns += 9_000.0);
            worker
                .control_ns
                .iter_mut()
                .for_each(|control_ns| *control_ns += 9_000.0);
        }
        assert!(!TimingAudit::new(&workers, &[]).unwrap().is_too_short());
    }
}

#[test]
fn windows_that_vary_on_purpose_do_not_hide_time() {
    let varied = |_, window| if window % 2 == 0 { 66_000.0 } else { -54_000.0 };
    for seed in 0..20 {
        let balance = Machine::usual(seed).balance(shape(5, 10, 8), 30_000.0, varied);
        assert!(balance.is_too_short(), "{balance:?}");
    }
}

#[test]
fn a_worker_without_control_windows_is_compared_with_those_of_the_others() {
    let mut turns = Machine::usual(17).case(shape(5, 10, 8), 30_000.0, |_, _| 6_000.0);
    turns[2].control_ns.clear();
    assert!(TimingAudit::new(&turns, &[]).unwrap().is_too_short());
}

#[test]
fn control_windows_that_the_worker_disturbed_are_replaced() {
    let mut machine = Machine::usual(19);
    let mut turns = machine.case(shape(5, 10, 8), 30_000.0, |_, _| 50_000.0);
    for turn in &mut turns {
        turn.control_ns
            .iter_mut()
            .for_each(|control_ns| *control_ns += 50_000.0);
    }
    let disturbed = TimingAudit::new(&turns, &[]).unwrap();
    assert!(!disturbed.is_too_short(), "the same time is hidden in control windows");
    let alone: Vec<f64> = (0..8).map(|_| machine.residual(0.0)).collect();
    let balance = TimingAudit::new(&turns, &alone).unwrap();
    assert!(balance.is_too_short());
    assert!(
        balance
            .disturbance_ns
            .is_some_and(|ns| (45_000.0..55_000.0).contains(&ns))
    );
}

#[test]
fn too_few_windows_and_times_that_are_not_finite_have_no_audit() {
    let case = |shape| Machine::usual(23).case(shape, 30_000.0, |_, _| 0.0);
    assert_eq!(TimingAudit::new(&[], &[]), None);
    assert_eq!(TimingAudit::new(&case(shape(1, 5, 20)), &[]), None);
    assert_eq!(TimingAudit::new(&case(shape(1, 20, 5)), &[]), None);
    let mut turns = case(shape(2, 10, 10));
    turns[0].windows[3].claim_ns = f64::NAN;
    assert_eq!(TimingAudit::new(&turns, &[]), None);
    let mut turns = case(shape(2, 10, 10));
    turns[1].control_ns[0] = f64::INFINITY;
    assert_eq!(TimingAudit::new(&turns, &[]), None);
}

/// Turns of three workers whose windows all last equally long.
fn exact(windows: usize, claim_ns: f64, residual_ns: f64, control_ns: &[f64]) -> Vec<ClockedTurn> {
    let turn = ClockedTurn {
        windows: vec![Clocked { claim_ns, residual_ns }; windows],
        control_ns: control_ns.to_vec(),
    };
    vec![turn; 3]
}

#[test]
fn without_noise_the_bound_is_that_of_the_twin() {
    for (claim_ns, bound_ns) in [(1_000.0, 2_002.0), (1e6, 4_000.0), (-1e6, 2_000.0)] {
        let balance = TimingAudit::new(&exact(4, claim_ns, 5_000.0, &[4_000.0; 4]), &[]).unwrap();
        assert_eq!(
            balance,
            TimingAudit {
                verified_ns: claim_ns + 1_000.0,
                excess_ns: 1_000.0,
                bound_ns,
                claimed_ns: claim_ns,
                disturbance_ns: None,
            }
        );
    }
}

#[test]
fn a_turn_without_control_windows_has_the_tools_part_of_all_others() {
    let mut turns = exact(4, 1_000.0, 5_000.0, &[4_000.0; 4]);
    turns[1].control_ns.clear();
    let balance = TimingAudit::new(&turns, &[]).unwrap();
    assert_eq!((balance.verified_ns, balance.excess_ns), (2_000.0, 1_000.0));
}

#[test]
fn six_windows_on_each_side_are_enough() {
    for (windows, controls, afterwards, is_known, is_disturbed) in [
        (6, 6, 6, true, true),
        (6, 6, 5, true, false),
        (5, 6, 6, false, false),
        (6, 5, 6, false, false),
    ] {
        let turns = &exact(windows, 1_000.0, 25_000.0, &vec![20_000.0; controls])[..1];
        let balance = TimingAudit::new(turns, &vec![10_000.0; afterwards]);
        assert_eq!(balance.is_some(), is_known, "{windows} {controls} {afterwards}");
        let disturbance = balance.and_then(|balance| balance.disturbance_ns);
        assert_eq!(
            disturbance,
            is_disturbed.then_some(10_000.0),
            "{windows} {controls} {afterwards}"
        );
    }
}

#[test]
fn control_windows_are_disturbed_only_if_they_are_more_than_five_microseconds_longer() {
    let disturbance = |control_ns: f64| {
        let turns = exact(6, 1_000.0, 20_000.0, &[control_ns; 6]);
        TimingAudit::new(&turns, &[10_000.0; 6]).unwrap().disturbance_ns
    };
    assert_eq!([15_000.0, 5_000.0].map(disturbance), [None, None]);
    assert_eq!(disturbance(15_001.0), Some(5_001.0));
}

#[test]
fn the_spread_of_a_window_is_that_of_workers_with_at_least_three() {
    let three = vec![0.0, 1_000.0, 2_000.0];
    let two = vec![0.0, 1e6];
    let of_three = variance_of_window(std::slice::from_ref(&three));
    assert_eq!(
        variance_of_window(&[three, two.clone(), two.clone(), vec![5.0]]),
        of_three
    );
    assert_eq!(
        variance_of_window(&[two.clone(), two.clone()]),
        variance_of_window(&[[two.clone(), two].concat()])
    );
}

#[test]
fn a_bound_is_vague_if_it_exceeds_six_microseconds_and_two_per_cent_of_the_claim() {
    let audit = |bound_ns, claimed_ns| TimingAudit {
        verified_ns: 0.0,
        excess_ns: 0.0,
        bound_ns,
        claimed_ns,
        disturbance_ns: None,
    };
    for (bound_ns, claimed_ns, is_vague) in [
        (6_000.0, 0.0, false),
        (6_001.0, 0.0, true),
        (6_001.0, 1e6, false),
        (20_000.0, 1e6, false),
        (20_001.0, 1e6, true),
    ] {
        assert_eq!(
            audit(bound_ns, claimed_ns).is_vague(),
            is_vague,
            "{bound_ns} {claimed_ns}"
        );
    }
}

#[test]
fn time_beyond_a_microsecond_is_unclaimed_and_beyond_the_bound_too_short() {
    let audit = |excess_ns| TimingAudit {
        verified_ns: 0.0,
        excess_ns,
        bound_ns: 3_000.0,
        claimed_ns: 0.0,
        disturbance_ns: None,
    };
    for (excess_ns, unclaimed_ns, is_too_short) in [
        (-5_000.0, 0.0, false),
        (1_000.0, 0.0, false),
        (1_500.0, 500.0, false),
        (3_000.0, 2_000.0, false),
        (3_001.0, 2_001.0, true),
    ] {
        let audit = audit(excess_ns);
        assert_eq!(
            (audit.unclaimed_ns(), audit.is_too_short()),
            (unclaimed_ns, is_too_short)
        );
    }
}

#[test]
fn wall_times_may_differ_more_from_the_referees_clock() {
    let turns = exact(4, 1_000_000.0, 12_000.0, &[4_000.0; 4]);
    assert!(TimingAudit::new(&turns, &[]).unwrap().is_too_short());
    let audit = TimingAudit::from_wall_times(&turns, &[]).unwrap();
    assert!(!audit.is_too_short());
    // What a claim leaves out is added to it all the same.
    assert_eq!(audit.unclaimed_ns(), 7_000.0);
    let turns = exact(4, 1_000_000.0, 60_000.0, &[4_000.0; 4]);
    assert!(TimingAudit::from_wall_times(&turns, &[]).unwrap().is_too_short());
}
