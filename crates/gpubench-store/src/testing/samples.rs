//! Simulated samples with the distribution of kernel times: workers are shifted against each other,
//! and the samples of a worker are noisy. For tests and benchmarks.

use gpubench_stats::{Estimate, Ratio, twin};

/// The distribution of shifts between workers, relative to the center.
#[derive(Clone, Copy, Debug)]
pub enum Shifts {
    /// Normal, with this standard deviation.
    Normal(f64),
    /// Student's distribution with three degrees of freedom, scaled by this value.
    HeavyTailed(f64),
    /// Discrete modes: the fraction of workers in each, and its shift.
    Modes(&'static [(f64, f64)]),
}

/// The distribution of a worker's samples, relative to the worker's center.
#[derive(Clone, Copy, Debug)]
pub enum Noise {
    /// Normal, with this standard deviation.
    Normal(f64),
    /// Student's distribution with two degrees of freedom, scaled by this value.
    HeavyTailed(f64),
    /// Half-normal: a normal distribution with this standard deviation, folded upwards.
    Skewed(f64),
    /// Two modes in steps of 1 %: three in ten samples are 4.5 % above the others. Short kernels on
    /// a GPU look like this, because its clock and its front end have discrete steps.
    Modes,
    /// Normal with a standard deviation of 1 %, and this fraction of the samples takes up to twice
    /// as long, because another process had the processor.
    TimeSlices(f64),
}

/// The distribution of workers and samples.
#[derive(Clone, Copy, Debug)]
pub struct TwoLevel {
    /// The name in printed tables.
    pub name: &'static str,
    /// How workers differ.
    pub shifts: Shifts,
    /// How the samples of a worker differ.
    pub noise: Noise,
}

/// Distributions in which a comparison of the same code must not raise an alarm.
pub const SHAPES: [TwoLevel; 9] = [
    shape("shift 2 %, noise 1 %", Shifts::Normal(0.02), Noise::Normal(0.01)),
    shape("shift 1 %, noise 5 %", Shifts::Normal(0.01), Noise::Normal(0.05)),
    shape("no shift, noise 5 %", Shifts::Normal(0.0), Noise::Normal(0.05)),
    shape(
        "one worker in five 3 % slower",
        Shifts::Modes(&[(0.8, 0.0), (0.2, 0.03)]),
        Noise::Normal(0.01),
    ),
    shape(
        "modes at 0, 1 and 3 %",
        Shifts::Modes(&[(0.7, 0.0), (0.2, 0.01), (0.1, 0.03)]),
        Noise::Normal(0.01),
    ),
    shape(
        "heavy-tailed shifts of 1 %, noise 1 %",
        Shifts::HeavyTailed(0.01),
        Noise::Normal(0.01),
    ),
    shape(
        "shift 1 %, heavy-tailed noise of 1 %",
        Shifts::Normal(0.01),
        Noise::HeavyTailed(0.01),
    ),
    shape(
        "shift 1 %, skewed noise of 5 %",
        Shifts::Normal(0.01),
        Noise::Skewed(0.05),
    ),
    shape("shift 1 %, noise in two modes", Shifts::Normal(0.01), Noise::Modes),
];

/// How the speed of a machine changes for both sides. Each field is a standard deviation on a
/// logarithmic scale.
#[derive(Clone, Copy, Debug)]
pub struct Drift {
    /// The name in printed tables.
    pub name: &'static str,
    /// Between consecutive rounds.
    pub rounds: f64,
    /// At one random point in each round.
    pub step: f64,
    /// Between consecutive windows.
    pub walk: f64,
}

/// Machines for alternating comparisons.
pub const DRIFTS: [Drift; 5] = [
    drifting("a steady machine", 0.0, 0.0, 0.0),
    drifting("a walk by 0.5 % a window", 0.0, 0.0, 0.005),
    drifting("20 % between rounds", 0.2, 0.0, 0.0),
    drifting("20 % between rounds, steps of 20 %", 0.2, 0.2, 0.0),
    drifting("all of these", 0.2, 0.2, 0.005),
];

/// How the speed of a machine differs between two separate runs.
#[derive(Clone, Copy, Debug)]
pub struct Machine {
    /// The name in printed tables.
    pub name: &'static str,
    /// Standard deviation between the runs, on a logarithmic scale.
    pub runs: f64,
    /// Standard deviation between the rounds of a run, on a logarithmic scale.
    pub rounds: f64,
}

/// Machines for comparisons of separate runs.
pub const MACHINES: [Machine; 5] = [
    machine("a steady machine", 0.0, 0.0),
    machine("0.3 % between runs", 0.003, 0.001),
    machine("1 % between runs", 0.01, 0.003),
    machine("10 % between runs, 5 % between rounds", 0.1, 0.05),
    machine("30 % between runs, 10 % between rounds", 0.3, 0.1),
];

const fn machine(name: &'static str, runs: f64, rounds: f64) -> Machine {
    Machine { name, runs, rounds }
}

/// A separate run: the samples of each worker, and the twin's times in its round.
#[derive(Debug)]
pub struct RunApart {
    /// Samples of the kernel.
    pub samples: Vec<Vec<f64>>,
    /// Times of the twin.
    pub twin: Vec<Vec<f64>>,
}

const fn drifting(name: &'static str, rounds: f64, step: f64, walk: f64) -> Drift {
    Drift {
        name,
        rounds,
        step,
        walk,
    }
}

const fn shape(name: &'static str, shifts: Shifts, noise: Noise) -> TwoLevel {
    TwoLevel { name, shifts, noise }
}

impl TwoLevel {
    /// Returns the samples of some workers around `center`.
    pub fn side(&self, random: &mut fastrand::Rng, workers: usize, samples: usize, center: f64) -> Vec<Vec<f64>> {
        (0..workers)
            .map(|_| {
                let own = center * (1.0 + self.shifts.draw(random)).max(0.05);
                (0..samples)
                    .map(|_| own * (1.0 + self.noise.draw(random)).max(0.05))
                    .collect()
            })
            .collect()
    }
}

impl Drift {
    /// Returns the samples of a baseline around `center`, and of a candidate that is slower by
    /// `factor`. Each round has two fresh workers, which alternate window by window.
    pub fn sides(
        &self,
        shape: &TwoLevel,
        random: &mut fastrand::Rng,
        (rounds, pairs): (usize, usize),
        (center, factor): (f64, f64),
    ) -> [Vec<Vec<f64>>; 2] {
        let [mut baseline, mut candidate] =
            [1.0, factor].map(|factor| shape.side(random, rounds, pairs, center * factor));
        let mut walked = 0.0;
        for (baseline, candidate) in baseline.iter_mut().zip(&mut candidate) {
            let mut level = self.rounds * normal(random);
            let step_at = random.usize(..2 * pairs);
            for (pair, (theirs, ours)) in baseline.iter_mut().zip(candidate).enumerate() {
                let turns = if random.bool() { [theirs, ours] } else { [ours, theirs] };
                for (window, sample) in (2 * pair..).zip(turns) {
                    walked += self.walk * normal(random);
                    if window == step_at {
                        level += self.step * normal(random);
                    }
                    *sample *= f64::exp(level + walked);
                }
            }
        }
        [baseline, candidate]
    }
}

impl Machine {
    /// Returns two runs of a kernel around `center`. The second is slower by `factor`. Drift
    /// affects the kernel `follows` times as much as the twin, and not at all if `follows` is zero.
    pub fn two_runs(
        &self,
        shape: &TwoLevel,
        random: &mut fastrand::Rng,
        (workers, samples): (usize, usize),
        (center, factor): (f64, f64),
        follows: f64,
    ) -> [RunApart; 2] {
        let mut run = |center: f64| {
            let mut samples = shape.side(random, workers, samples, center);
            let mut twin = TWIN.side(random, workers, 20, 100.0);
            let level = self.runs * normal(random);
            for (samples, twin) in samples.iter_mut().zip(&mut twin) {
                let level = level + self.rounds * normal(random);
                samples.iter_mut().for_each(|time| *time *= f64::exp(follows * level));
                twin.iter_mut().for_each(|time| *time *= f64::exp(level));
            }
            RunApart { samples, twin }
        };
        [run(center), run(center * factor)]
    }
}

/// The distribution of the twin's times.
const TWIN: TwoLevel = TwoLevel {
    name: "a twin",
    shifts: Shifts::Normal(0.002),
    noise: Noise::Normal(0.02),
};

impl RunApart {
    /// Returns the estimate of the run.
    ///
    /// # Panics
    /// If the run has no samples.
    pub fn estimate(&self) -> Estimate {
        Estimate::from_workers(&slices(&self.samples)).expect("times")
    }

    /// Returns the ratio of two runs of a case, relative to the drift that their twins show.
    ///
    /// # Panics
    /// If one of them has no times.
    pub fn relative(runs: &[RunApart; 2], ratio: Ratio) -> Ratio {
        let [before, after] = runs.each_ref().map(|run| twin(&slices(&run.twin)).expect("times"));
        let drift = gpubench_stats::Drift::between(&before, &after).expect("times above zero");
        ratio.relative_to(drift, gpubench_stats::Drift::typical(&[drift]))
    }
}

fn slices(workers: &[Vec<f64>]) -> Vec<&[f64]> {
    workers.iter().map(Vec::as_slice).collect()
}

impl Shifts {
    fn draw(&self, random: &mut fastrand::Rng) -> f64 {
        match self {
            Shifts::Normal(deviation) => deviation * normal(random),
            Shifts::HeavyTailed(scale) => scale * student(random, 3),
            Shifts::Modes(modes) => {
                let mut left = random.f64();
                for (share, shift) in *modes {
                    left -= share;
                    if left < 0.0 {
                        return *shift;
                    }
                }
                0.0
            }
        }
    }
}

impl Noise {
    fn draw(&self, random: &mut fastrand::Rng) -> f64 {
        match self {
            Noise::Normal(deviation) => deviation * normal(random),
            Noise::HeavyTailed(scale) => scale * student(random, 2),
            Noise::Skewed(deviation) => deviation * normal(random).abs(),
            Noise::Modes => {
                let mode = if random.f64() < 0.3 { 0.045 } else { 0.0 };
                ((mode + 0.005 * normal(random)) * 100.0).round() / 100.0
            }
            Noise::TimeSlices(share) => {
                let slice = if random.f64() < *share { random.f64() } else { 0.0 };
                0.01 * normal(random) + slice
            }
        }
    }
}

/// Returns a normal deviate by the Box-Muller method.
fn normal(random: &mut fastrand::Rng) -> f64 {
    let radius = (-2.0 * (1.0 - random.f64()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.f64()).cos()
}

fn student(random: &mut fastrand::Rng, freedom: u32) -> f64 {
    let squares: f64 = (0..freedom).map(|_| normal(random).powi(2)).sum();
    normal(random) / (squares / f64::from(freedom)).sqrt()
}
