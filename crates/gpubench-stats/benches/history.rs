//! Measures how often changes of level are found in simulated histories, and how many are false.
//!
//! `cargo bench -p gpubench-stats --bench history` prints the tables of `docs/statistics.md`.

use std::time::Instant;

use fastrand::Rng;
use gpubench_contract::ChangeOrigin;
use gpubench_stats::{PastRuns, PastValue, level_changes};

/// Runs of a history.
const RUNS: usize = 500;
/// Runs between two steps.
const BETWEEN: usize = 50;
/// What `measurements/` says of the noise of a run: standard deviations of a value, as fractions.
/// Histories have them by turns.
const MEASURED: [f64; 15] = [
    // `2026-11-22-disturbed.md`: `add1` with 1 Ki, 2 Mi and 64 Mi elements in five fresh runs on an
    // H200, and on another H200.
    0.0124, 0.0030, 0.0005, 0.0046, 0.0042, 0.0002,
    // `2026-11-23-calibration.md`: five kernels of known length in two runs, on an H100 and on an
    // H200, in the modes `cold`, `warm`, `hot` and `graph`. The root mean square of the drifts,
    // divided by √2.
    0.0032, 0.0017, 0.0110, 0.0016, 0.0014, 0.0036, 0.0033, 0.0017,
    // `2026-11-30-places.md`: 60 cases in two runs on an H200 differ by 0.11 % in the median.
    0.0012,
];

/// Runs after a step in which it must be found, the first one with the step included.
const WITHIN: usize = 5;
/// How far from the step a change point may lie.
const NEAR: usize = 5;

/// How the values of runs of the same code vary. Fractions of the value.
#[derive(Clone, Copy)]
struct Noise {
    name: &'static str,
    /// Standard deviations of a run. Histories have them by turns.
    spreads: &'static [f64],
    /// Freedom of Student's distribution of that noise. `None` if it is normal.
    freedom: Option<u32>,
    /// Probability of a run in which everything takes longer, by 5 to 30 %.
    spikes: f64,
    /// Probability of a run in another mode, and how much slower it is.
    mode: (f64, f64),
    /// Standard deviation of a drift of the machine, 0.9 of which remains in the next run. The twin
    /// drifts as much and has noise of 0.2 % of its own.
    drift: f64,
}

const QUIET: Noise = Noise {
    name: "",
    spreads: &[0.002],
    freedom: None,
    spikes: 0.0,
    mode: (0.0, 0.0),
    drift: 0.0,
};

const NOISES: [Noise; 11] = [
    Noise {
        name: "as measured",
        spreads: &MEASURED,
        ..QUIET
    },
    Noise {
        name: "1 %",
        spreads: &[0.01],
        ..QUIET
    },
    Noise {
        name: "1.24 %",
        spreads: &[0.0124],
        ..QUIET
    },
    Noise { name: "0.2 %", ..QUIET },
    Noise {
        name: "0.5 %",
        spreads: &[0.005],
        ..QUIET
    },
    Noise {
        name: "0.2 %, heavy tails",
        freedom: Some(3),
        ..QUIET
    },
    Noise {
        name: "0.5 %, heavy tails",
        spreads: &[0.005],
        freedom: Some(3),
        ..QUIET
    },
    Noise {
        name: "0.2 %, 2 % spikes",
        spikes: 0.02,
        ..QUIET
    },
    Noise {
        name: "0.5 %, heavy tails, 2 % spikes",
        spreads: &[0.005],
        freedom: Some(3),
        spikes: 0.02,
        ..QUIET
    },
    Noise {
        name: "0.2 %, a mode 1 % slower in 30 %",
        mode: (0.3, 0.01),
        ..QUIET
    },
    Noise {
        name: "0.2 %, drift of 0.3 %",
        drift: 0.003,
        ..QUIET
    },
];

fn normal(rng: &mut Rng) -> f64 {
    (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
}

/// Returns a value of the noise, with a standard deviation of one.
fn shape(freedom: Option<u32>, rng: &mut Rng) -> f64 {
    let Some(freedom) = freedom else { return normal(rng) };
    let squares: f64 = (0..freedom).map(|_| normal(rng).powi(2)).sum();
    let freedom = f64::from(freedom);
    normal(rng) / (squares / freedom).sqrt() / (freedom / (freedom - 2.0)).sqrt()
}

/// Returns a history whose level changes by a factor at every step, up and down by turns.
fn history(noise: &Noise, spread: f64, factor: f64, rng: &mut Rng) -> Vec<PastValue<usize>> {
    let mut drift = 0.0;
    let run = |position: usize| {
        drift = 0.9 * drift + (1.0f64 - 0.81).sqrt() * noise.drift * normal(rng);
        let (probability, slower) = noise.mode;
        let mut value = 1e4 * (1.0 + spread * shape(noise.freedom, rng) + drift);
        value *= if rng.f64() < probability { 1.0 + slower } else { 1.0 };
        value *= if rng.f64() < noise.spikes {
            1.05 + 0.25 * rng.f64()
        } else {
            1.0
        };
        value *= if (position / BETWEEN) % 2 == 1 { factor } else { 1.0 };
        PastValue {
            value,
            twin: Some(2e3 * (1.0 + drift + 0.002 * normal(rng))),
            sources: Some(position),
        }
    };
    (0..RUNS).map(run).collect()
}

/// What was found in histories to which run after run was added.
#[derive(Default)]
struct Found {
    steps: usize,
    in_time: usize,
    ever: usize,
    points: usize,
    false_alerts: usize,
}

/// Looks at a history after every run, as a user does who looks after every run. Alerts that move
/// by a few runs are one.
fn watch(runs: &[PastValue<usize>], has_steps: bool, found: &mut Found) {
    let is_step = |position: usize| {
        let nearest = (position + BETWEEN / 2) / BETWEEN * BETWEEN;
        has_steps && nearest > 0 && position.abs_diff(nearest) <= NEAR
    };
    let mut alerts: Vec<usize> = Vec::new();
    let mut in_time = vec![false; RUNS / BETWEEN];
    let mut ever = in_time.clone();
    for known in 1..=runs.len() {
        let history = PastRuns {
            runs: runs[..known].to_vec(),
            least_change: 0.01,
        };
        let changes = level_changes(&[history]).remove(0).into_iter();
        for change in changes.filter(|change| change.origin == ChangeOrigin::Case) {
            let position = change.position;
            if is_step(position) {
                let step = (position + BETWEEN / 2) / BETWEEN;
                ever[step.min(RUNS / BETWEEN - 1)] = true;
                in_time[step.min(RUNS / BETWEEN - 1)] |= known <= step * BETWEEN + WITHIN;
            } else if alerts.iter().all(|alert| alert.abs_diff(position) > NEAR) {
                alerts.push(position);
            }
        }
    }
    let count = |of: &[bool]| of.iter().filter(|found| **found).count();
    found.steps += if has_steps { RUNS / BETWEEN - 1 } else { 0 };
    found.in_time += count(&in_time);
    found.ever += count(&ever);
    found.points += runs.len();
    found.false_alerts += alerts.len();
}

fn main() {
    let histories: usize = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .next()
        .unwrap_or(100);
    let began = Instant::now();
    println!("| noise | step | found within {WITHIN} runs | found | false alerts in 10 000 runs |");
    println!("|---|--:|--:|--:|--:|");
    for noise in NOISES {
        for factor in [1.0, 1.03] {
            let mut rng = Rng::with_seed(1);
            let mut found = Found::default();
            for spread in noise.spreads.iter().cycle().take(histories) {
                watch(&history(&noise, *spread, factor, &mut rng), factor != 1.0, &mut found);
            }
            let share = |count: usize| match found.steps {
                0 => "-".to_owned(),
                steps => format!("{:.1} %", 100.0 * count as f64 / steps as f64),
            };
            println!(
                "| {} | {:.0} % | {} | {} | {:.2} |",
                noise.name,
                (factor - 1.0) * 100.0,
                share(found.in_time),
                share(found.ever),
                1e4 * found.false_alerts as f64 / found.points as f64
            );
        }
    }
    println!("{:.0} s", began.elapsed().as_secs_f64());
}
