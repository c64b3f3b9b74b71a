//! Measures how long a comparison of two stored runs takes, and how often it is right on simulated
//! samples.
//!
//! `cargo bench -p gpubench-store --bench comparison` prints the time for 1 000 benchmarks, the
//! rate of false alarms between runs of the same code, and how often changes are found.

use std::hint::black_box;
use std::time::Instant;

use gpubench_contract::{Arrangement, Better, ChangeVerdict, ThresholdSource};
use gpubench_stats::{Confidence, Estimate, InterimAnalyses, Paired, Ratio, median};
use gpubench_store::compare::{NamedRun, Rules, Threshold, compare, is_decided, judge};
use gpubench_store::testing::{DRIFTS, Drift, MACHINES, Machine, Noise, RunApart, SHAPES, Shifts, Size, TwoLevel, run};
use gpubench_store::{read, save};

/// Number of comparisons for each rate. The standard error of a rate of 1 % is 0.07 %.
const TRIALS: usize = 20_000;

/// Workers per side, and samples of each.
const SIZES: [(usize, usize); 6] = [(3, 10), (3, 30), (5, 6), (5, 30), (8, 4), (8, 25)];

/// An estimator: from the samples of each worker to one value.
type Estimator = fn(&[Vec<f64>]) -> f64;

fn main() {
    let parts: [(&str, fn()); 10] = [
        ("time", time),
        ("alarms", alarms),
        ("quiet", quiet),
        ("power", power),
        ("precision", precision),
        ("apart", apart),
        ("turns-alarms", alarms_alternating),
        ("turns-quiet", quiet_alternating),
        ("turns-power", power_alternating),
        ("decided", until_decided),
    ];
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            part();
        }
    }
}

fn time() {
    let names: Vec<String> = (0..1_000).map(|index| format!("bench_{index}")).collect();
    for (workers, samples) in [(5, 40), (1, 200)] {
        let [before, after] = [1, 2].map(|seed| {
            let benchmarks: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1e5)).collect();
            run(seed, &benchmarks, Size { workers, samples })
        });
        let folder = tempfile::tempdir().expect("a folder");
        let files = ["before.json", "after.json"].map(|name| folder.path().join(name));
        let files = files.map(|file| camino::Utf8PathBuf::from_path_buf(file).expect("UTF-8"));
        for (file, run) in files.iter().zip([&before, &after]) {
            save(file, run).expect("it is saved");
        }
        let began = Instant::now();
        let [before, after] = files.map(|file| read(&file).expect("it is read"));
        let read_in = began.elapsed();
        let began = Instant::now();
        let [baseline, candidate] = [("before", &before), ("after", &after)].map(|(name, run)| NamedRun { name, run });
        black_box(compare(baseline, candidate, Arrangement::Apart, &Rules::default()));
        println!(
            "1 000 benchmarks, {workers} workers of {samples} samples per side: read in {read_in:.0?}, compared in {:.0?}",
            began.elapsed()
        );
    }
}

const FLOOR: Threshold = Threshold {
    value: Rules::FLOOR,
    source: ThresholdSource::Floor,
};

/// Returns the verdicts of [`TRIALS`] comparisons in which the second side is slower by `factor`.
fn verdicts(shape: &TwoLevel, (workers, samples): (usize, usize), factor: f64) -> Vec<ChangeVerdict> {
    let mut random = fastrand::Rng::with_seed(2026);
    let mut side = |center: f64| {
        let side = shape.side(&mut random, workers, samples, center);
        let side: Vec<&[f64]> = side.iter().map(Vec::as_slice).collect();
        Estimate::from_workers(&side).expect("times")
    };
    (0..TRIALS)
        .map(|_| {
            let (before, after) = (side(100.0), side(100.0 * factor));
            judge(&compared(&before, &after), FLOOR, Better::Lower)
        })
        .collect()
}

fn compared(before: &Estimate, after: &Estimate) -> Ratio {
    Ratio::from_estimates(before, after, Confidence::DEFAULT, 0.0).expect("times")
}

/// Returns the percentage of verdicts that match.
fn share(verdicts: &[ChangeVerdict], of: impl Fn(ChangeVerdict) -> bool) -> f64 {
    100.0 * verdicts.iter().filter(|verdict| of(**verdict)).count() as f64 / verdicts.len() as f64
}

fn row(name: &str, figure: impl Fn((usize, usize)) -> f64) {
    print!("  {name:52}");
    for size in SIZES {
        print!("  {:6.2}", figure(size));
    }
    println!();
}

fn title(text: &str) {
    println!("\n{text}");
    print!("  {:52}", "workers per side × samples of each");
    for (workers, samples) in SIZES {
        print!("  {:>6}", format!("{workers}×{samples}"));
    }
    println!();
}

fn is_alarm(verdict: ChangeVerdict) -> bool {
    matches!(verdict, ChangeVerdict::Regressed | ChangeVerdict::Improved)
}

fn alarms() {
    title("False alarms between runs of the same code, percent");
    for shape in SHAPES {
        row(shape.name, |size| share(&verdicts(&shape, size, 1.0), is_alarm));
    }
    // With few workers, this cannot be distinguished from a change: all workers of one side can be
    // in one mode and all of the other side in the other.
    row(COIN.name, |size| share(&verdicts(&COIN, size, 1.0), is_alarm));
}

const COIN: TwoLevel = TwoLevel {
    name: "every other worker 3 % slower",
    shifts: Shifts::Modes(&[(0.5, 0.0), (0.5, 0.03)]),
    noise: Noise::Normal(0.01),
};

fn quiet() {
    title("No change between runs of the same code, percent");
    for (shift, noise) in [(0.002, 0.01), (0.005, 0.01), (0.01, 0.01), (0.02, 0.01)] {
        let shape = normal(shift, noise);
        let name = format!("shift {} %, noise {} %", shift * 100.0, noise * 100.0);
        row(&name, |size| {
            share(&verdicts(&shape, size, 1.0), ChangeVerdict::is_quiet)
        });
    }
}

fn power() {
    title("Changes found, percent");
    for (change, shift, noise) in [
        (0.03, 0.0, 0.01),
        (0.03, 0.002, 0.01),
        (0.03, 0.005, 0.01),
        (0.03, 0.01, 0.01),
        (0.05, 0.01, 0.01),
        (0.1, 0.02, 0.01),
    ] {
        let shape = normal(shift, noise);
        let name = format!(
            "{} % slower, shift {} %, noise {} %",
            change * 100.0,
            shift * 100.0,
            noise * 100.0
        );
        row(&name, |size| {
            share(&verdicts(&shape, size, 1.0 + change), |verdict| {
                verdict == ChangeVerdict::Regressed
            })
        });
    }
}

fn precision() {
    title("Standard deviation of a side, percent");
    let mut estimators: Vec<(&str, Estimator)> = Vec::new();
    estimators.push(("the value of a case", |side| {
        let side: Vec<&[f64]> = side.iter().map(Vec::as_slice).collect();
        Estimate::from_workers(&side).expect("samples").value().ln()
    }));
    estimators.push(("median of all samples", |side| {
        median(&side.concat()).expect("samples").ln()
    }));
    for (shift, noise) in [(0.0, 0.01), (0.01, 0.01), (0.02, 0.01)] {
        let shape = normal(shift, noise);
        for (name, estimator) in &estimators {
            let name = format!("shift {} %: {name}", shift * 100.0);
            row(&name, |(workers, samples)| {
                let mut random = fastrand::Rng::with_seed(5);
                let values: Vec<f64> = (0..TRIALS / 4)
                    .map(|_| estimator(&shape.side(&mut random, workers, samples, 100.0)))
                    .collect();
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
                100.0 * (squares / values.len() as f64).sqrt()
            });
        }
    }
}

/// Workers per side, and samples of each, for separate runs.
const SIZES_SEPARATE: [(usize, usize); 3] = [(5, 6), (5, 30), (10, 20)];

/// Compares separate runs on machines that drift, by their values alone and relative to their
/// twins.
fn apart() {
    for (factor, what, wanted) in [
        (
            1.0,
            "regressed or improved, the same code",
            is_alarm as fn(ChangeVerdict) -> bool,
        ),
        (1.1, "found, 10 % slower", |verdict| verdict == ChangeVerdict::Regressed),
        (1.03, "found, 3 % slower", |verdict| verdict == ChangeVerdict::Regressed),
    ] {
        println!("\nTwo separate runs: {what}, percent, by their values alone and relative to their twins");
        println!("  workers per side × samples of each: {SIZES_SEPARATE:?}");
        for machine in &MACHINES {
            for follows in [0.0, 0.5, 1.0, 2.0] {
                let shape = normal(0.005, 0.01);
                let name = format!("{}, follows {follows}", machine.name);
                print!("  {name:52}");
                for size in SIZES_SEPARATE {
                    let [alone, relative] = verdicts_separate(machine, &shape, size, factor, follows);
                    print!("  {:5.2} {:5.2}", share(&alone, wanted), share(&relative, wanted));
                }
                println!();
            }
        }
    }
}

/// Returns the verdicts of comparisons of two separate runs, by their values alone and relative to
/// their twins.
fn verdicts_separate(
    machine: &Machine,
    shape: &TwoLevel,
    size: (usize, usize),
    factor: f64,
    follows: f64,
) -> [Vec<ChangeVerdict>; 2] {
    let mut random = fastrand::Rng::with_seed(2026);
    let judged = |ratio: &Ratio| judge(ratio, FLOOR, Better::Lower);
    let (alone, relative) = (0..TRIALS / 4)
        .map(|_| {
            let runs = machine.two_runs(shape, &mut random, size, (100.0, factor), follows);
            let [before, after] = runs.each_ref().map(RunApart::estimate);
            let measured = compared(&before, &after);
            (judged(&measured), judged(&RunApart::relative(&runs, measured)))
        })
        .unzip();
    [alone, relative]
}

/// How alternating samples are compared.
#[derive(Clone, Copy)]
enum Method {
    Paired,
    Unpaired,
}

/// Returns the verdicts of [`TRIALS`] alternating comparisons in which the second side is slower by
/// `factor`.
fn verdicts_alternating(
    method: Method,
    drift: &Drift,
    shape: &TwoLevel,
    size: (usize, usize),
    factor: f64,
) -> Vec<ChangeVerdict> {
    let mut random = fastrand::Rng::with_seed(2026);
    (0..TRIALS)
        .map(|_| {
            let sides = drift.sides(shape, &mut random, size, (100.0, factor));
            let [before, after] = sides
                .each_ref()
                .map(|side| side.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let ratio = match method {
                Method::Paired => Paired::new(&before, &after)
                    .expect("rounds")
                    .ratio(Confidence::DEFAULT, 0.0),
                Method::Unpaired => {
                    let [before, after] = [before, after].map(|side| Estimate::from_workers(&side).expect("times"));
                    compared(&before, &after)
                }
            };
            judge(&ratio, FLOOR, Better::Lower)
        })
        .collect()
}

fn alarms_alternating() {
    title("Alternating: false alarms between two sides of the same code, percent");
    let rates = |drift: &Drift, shape: &TwoLevel| {
        row(&format!("{}: {}", drift.name, shape.name), |size| {
            share(&verdicts_alternating(Method::Paired, drift, shape, size, 1.0), is_alarm)
        });
    };
    let [steady, .., everything] = &DRIFTS;
    for drift in [steady, everything] {
        for shape in SHAPES.iter().chain([&COIN]) {
            rates(drift, shape);
        }
    }
    for drift in &DRIFTS[1..DRIFTS.len() - 1] {
        rates(drift, &SHAPES[0]);
    }
}

fn quiet_alternating() {
    title("Alternating: no change between two sides of the same code, percent");
    for drift in &DRIFTS {
        row(&format!("{}: noise 1 %", drift.name), |size| {
            let seen = verdicts_alternating(Method::Paired, drift, &normal(0.0, 0.01), size, 1.0);
            share(&seen, ChangeVerdict::is_quiet)
        });
    }
}

fn power_alternating() {
    title("Alternating: 3 % slower with noise of 1 %, found, percent");
    for (method, name) in [(Method::Paired, "paired"), (Method::Unpaired, "unpaired")] {
        for drift in &DRIFTS {
            row(&format!("{}: {name}", drift.name), |size| {
                let seen = verdicts_alternating(method, drift, &normal(0.0, 0.01), size, 1.03);
                share(&seen, |verdict| verdict == ChangeVerdict::Regressed)
            });
        }
    }
}

/// Compares rounds that continue until they decide with exactly five rounds.
fn until_decided() {
    for pairs in [6, 20, 40] {
        println!(
            "\nAlternating, all drifts, {pairs} pairs per round: alarms and 3 % slower found in percent, of 5 rounds and of rounds until decided; mean rounds of the same code, and of slower code"
        );
        for shape in SHAPES.iter().chain([&COIN, &SLICES, &STEADY, &SHIFTED]) {
            let [same, slower] = [1.0, 1.03].map(|factor| decided(shape, pairs, factor));
            let found = |verdict| verdict == ChangeVerdict::Regressed;
            println!(
                "{:<40} {:>6.2} {:>6.1} {:>6.2} {:>6.1} {:>5.1} {:>5.1}",
                shape.name,
                share(&same.of_five, is_alarm),
                share(&slower.of_five, found),
                share(&same.verdicts, is_alarm),
                share(&slower.verdicts, found),
                same.rounds,
                slower.rounds
            );
        }
    }
}

const STEADY: TwoLevel = TwoLevel {
    name: "no shift, noise 1 %",
    ..normal(0.0, 0.01)
};

const SHIFTED: TwoLevel = TwoLevel {
    name: "shift 1 %, noise 1 %",
    ..normal(0.01, 0.01)
};

const SLICES: TwoLevel = TwoLevel {
    name: "shift 0.5 %, time slices in a third",
    shifts: Shifts::Normal(0.005),
    noise: Noise::TimeSlices(1.0 / 3.0),
};

/// The result of continuing until the rounds decide.
struct Decided {
    /// Verdicts after exactly five rounds.
    of_five: Vec<ChangeVerdict>,
    verdicts: Vec<ChangeVerdict>,
    rounds: f64,
}

fn decided(shape: &TwoLevel, pairs: usize, factor: f64) -> Decided {
    let drift = &DRIFTS[DRIFTS.len() - 1];
    let mut random = fastrand::Rng::with_seed(2026);
    let [first, .., most] = InterimAnalyses::ROUNDS;
    let trials = TRIALS / 4;
    let mut taken = 0;
    let (of_five, verdicts) = (0..trials)
        .map(|_| {
            let sides = drift.sides(shape, &mut random, (most, pairs), (100.0, factor));
            let [before, after] = sides
                .each_ref()
                .map(|side| side.iter().map(Vec::as_slice).collect::<Vec<_>>());
            let ratio = |rounds: usize, analyses: InterimAnalyses| {
                let paired = Paired::new(&before[..rounds], &after[..rounds]).expect("rounds");
                paired.ratio(analyses.confidence(Confidence::DEFAULT), 0.0)
            };
            let mut rounds = first;
            while let Some(next) = InterimAnalyses::UntilDecided.next(rounds) {
                if is_decided(&ratio(rounds, InterimAnalyses::UntilDecided), FLOOR) {
                    break;
                }
                rounds = next;
            }
            taken += rounds;
            (
                judge(&ratio(first, InterimAnalyses::Once), FLOOR, Better::Lower),
                judge(&ratio(rounds, InterimAnalyses::UntilDecided), FLOOR, Better::Lower),
            )
        })
        .unzip();
    Decided {
        of_five,
        verdicts,
        rounds: taken as f64 / trials as f64,
    }
}

const fn normal(shift: f64, noise: f64) -> TwoLevel {
    TwoLevel {
        name: "",
        shifts: Shifts::Normal(shift),
        noise: Noise::Normal(noise),
    }
}
