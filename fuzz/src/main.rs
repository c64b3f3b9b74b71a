//! Runs targets on inputs made from their seeds, without libFuzzer.
//!
//! ```text
//! gpubench-fuzz [TARGET] [--seconds N] [--inputs N] [--seed N]
//! gpubench-fuzz TARGET FILE
//! gpubench-fuzz --write-seeds
//! ```
//!
//! Exits with 1 if an input makes a target panic or takes too long. The input is then in
//! `artifacts/`. If the process itself dies, `artifacts/TARGET-running` has the input.
#![forbid(unsafe_code)]

mod mutation;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use gpubench_fuzz::{TARGETS, Target};
use mutation::mutated;

/// No input may take longer, in a build without optimisation on a busy machine.
const SLOW: Duration = Duration::from_secs(10);

/// The longest input.
const LONGEST: usize = 1 << 18;

/// When a target has had enough inputs.
#[derive(Clone, Copy)]
struct Budget {
    time: Duration,
    inputs: u64,
    seed: u64,
}

fn main() -> ExitCode {
    match work(std::env::args().skip(1).collect()) {
        Ok(code) => code,
        Err(problem) => {
            eprintln!("error: {problem}");
            ExitCode::from(2)
        }
    }
}

fn work(arguments: Vec<String>) -> Result<ExitCode, String> {
    let mut words = arguments.into_iter();
    let mut budget = Budget {
        time: Duration::from_secs(10),
        inputs: u64::MAX,
        seed: 1,
    };
    let (mut names, mut writes_seeds) = (Vec::new(), false);
    while let Some(word) = words.next() {
        let mut number = || {
            let number = words.next().and_then(|word| word.parse::<u64>().ok());
            number.ok_or_else(|| format!("`{word}` needs a number"))
        };
        match word.as_str() {
            "--seconds" => budget.time = Duration::from_secs(number()?),
            "--inputs" => {
                budget.inputs = number()?;
                budget.time = Duration::MAX;
            }
            "--seed" => budget.seed = number()?,
            "--write-seeds" => writes_seeds = true,
            _ => names.push(word),
        }
    }
    if writes_seeds {
        return write_seeds()
            .map(|()| ExitCode::SUCCESS)
            .map_err(|error| error.to_string());
    }
    let targets: Vec<Target> = match names.first() {
        None => TARGETS.to_vec(),
        Some(name) => TARGETS.iter().filter(|target| target.name == name).copied().collect(),
    };
    if targets.is_empty() {
        let known = TARGETS.map(|target| target.name).join(", ");
        return Err(format!("the targets are {known}"));
    }
    if let Some(file) = names.get(1) {
        let input = std::fs::read(file).map_err(|error| format!("{file}: {error}"))?;
        return Ok(exit_code(targets.iter().all(|target| passes(*target, &input))));
    }
    let failed = targets.iter().filter(|target| !holds(**target, budget)).count();
    Ok(exit_code(failed == 0))
}

fn exit_code(is_fine: bool) -> ExitCode {
    if is_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Runs a target on its seeds, then on inputs made from them. Stops at the first that fails.
fn holds(target: Target, budget: Budget) -> bool {
    let mut random = fastrand::Rng::with_seed(budget.seed);
    let seeds = (target.seeds)();
    let started = Instant::now();
    let mut inputs = 0;
    while inputs < budget.inputs && (inputs < seeds.len() as u64 || started.elapsed() < budget.time) {
        let input = match seeds.get(inputs as usize) {
            Some(seed) => seed.clone(),
            None => mutated(&seeds, LONGEST, &mut random),
        };
        inputs += 1;
        if !passes(target, &input) {
            println!("{}: input {inputs} fails, with the seed {}", target.name, budget.seed);
            return false;
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("{}: {inputs} inputs in {seconds:.1} s, no failure", target.name);
    true
}

/// Runs a target on an input, and keeps the input if it fails.
fn passes(target: Target, input: &[u8]) -> bool {
    let running = artifact(target, "running");
    std::fs::write(&running, input).expect("room for the input");
    let started = Instant::now();
    let end = catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let took = started.elapsed();
    let how = match end {
        Err(_) => "panicked",
        Ok(()) if took > SLOW => "slow",
        Ok(()) => {
            std::fs::remove_file(&running).expect("the file is there");
            return true;
        }
    };
    let kept = artifact(target, how);
    std::fs::rename(&running, &kept).expect("the file is there");
    println!("{}: {how} after {took:.1?}: {}", target.name, kept.display());
    false
}

fn artifact(target: Target, how: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("artifacts");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join(format!("{}-{how}", target.name))
}

/// Writes the seeds where `cargo fuzz` looks for inputs.
fn write_seeds() -> std::io::Result<()> {
    for target in TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target.name);
        std::fs::create_dir_all(&folder)?;
        for (number, seed) in (target.seeds)().iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{number}")), seed)?;
        }
    }
    Ok(())
}
