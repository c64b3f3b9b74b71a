//! The cost of isolation on the CPU device: an empty kernel as one isolated case, and the tool's
//! part of a window with 1 MiB of buffers.
//!
//! `cargo bench -p cargo-gpubench --bench isolation` prints both. The clock starts after building
//! and listing.

use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cargo_gpubench::cdylibs::{BuildOptions, build_cdylibs};
use cargo_gpubench::cli::{App, play};
use clap::Parser;
use gpubench::catalog::RecordRequest;
use gpubench::codec;
use gpubench_contract::Mode;
use gpubench_device::compilers::{Compiler as _, HostCompiler, Wanted};
use gpubench_device::{DeviceOrder, FrozenFile, cpu};
use gpubench_measure::clients::{AuthorClient, ControlWorker, Interrupt, Output, Recorded, RefereeClient};
use gpubench_measure::measurement::{
    CaseLibrary, EvidenceUse, IdleWorkers, LeavingWorkers, Protocol, ReadyCase, RunMode, Session,
};
use gpubench_protocol::window::{Seeds, WindowCalls};
use gpubench_protocol::wire::Begin;
use gpubench_stats::{StopRule, WarmUpRule, WorkerCountRule, median};

/// Checked calls per case.
const CALLS: usize = 50;

/// Number of cases whose median is printed.
const CASES: u64 = 21;

const LIBRARY: &str = r#"
use gpubench::prelude::*;

cuda_source!(NOTHING = "nothing.cu");

fn scratch(_n: usize) -> Tensors {
    Tensors::new().inout("x", u32::shape([_n]), Bits)
}

fn untouched(_n: usize, _x: &mut [u32]) {}

/// 1 element for the cost of a case, 1 MiB for the cost of a window.
#[gpubench(axes(n = [1, 262_144]), tensors = scratch, reference = untouched, exact)]
fn nothing(launcher: &mut Launcher, n: usize, x: InOut<u32>) -> Result<()> {
    launcher.launch(NOTHING.kernel("nothing"), Grid::new(1, 1), (x, n))
}
"#;

const KERNEL: &str = "__global__ void nothing(unsigned *, size_t) {}\n";

fn main() -> Result<(), Box<dyn Error>> {
    // The roles run this same program.
    if std::env::args()
        .nth(1)
        .is_some_and(|argument| argument.starts_with("__"))
    {
        return match play(&App::parse().verb) {
            Some(Err(error)) => Err(error.into()),
            _ => Ok(()),
        };
    }
    let folder = tempfile::tempdir()?;
    write_crate(folder.path())?;
    let manifest = folder.path().join("Cargo.toml").to_string_lossy().into_owned();
    let mut options = BuildOptions::default();
    options.manifest.manifest_path = Some(manifest.into());
    let built = build_cdylibs(&options, &AtomicBool::new(false))?;
    let library = &built.libraries[0];

    let interrupt = Interrupt::default();
    let within = Duration::from_secs(60);
    let (mut author, catalog) = AuthorClient::spawn(&library.code, &[], within, Output::Captured, &interrupt)?;
    let facts = cpu::facts(cpu::available_threads());
    let module = HostCompiler::find()?.compile(Wanted {
        source: &catalog.sources[0],
        names: &["nothing".to_owned()],
        cache: folder.path(),
        interrupt: interrupt.flag(),
        most: None,
    })?;
    let modules = [(0, FrozenFile::copy_of(&module)?)];
    let seeds = Seeds::from_os()?;
    let device = DeviceOrder::cpu(facts.device.multiprocessors, 0);
    let begin = Begin {
        master_seed: *seeds.master(),
        flush_bytes: facts.flush_bytes,
        flush_kind: gpubench_contract::Flush::Read,
        reserved: 0,
    };
    let mut referee = RefereeClient::spawn(&device, Output::Captured, &interrupt)?;
    referee.begin(&begin, &interrupt)?;
    let mut control_worker = ControlWorker::on(device);
    let protocol = Protocol {
        energy: Default::default(),
        rest: Default::default(),
        metric: Default::default(),
        mode: RunMode::Measure,
        worker_count: WorkerCountRule::exactly(NonZeroUsize::MIN),
        warm_up: WarmUpRule {
            max_windows: 10,
            ..WarmUpRule::default()
        },
        stop: StopRule {
            min_samples: CALLS,
            max_samples: CALLS,
            target_cv: 0.0,
            plateau: None,
            ..StopRule::default()
        },
        within,
        reference_within: within,
        kernels_run_in: facts.kernels_run_in,
        device,
        schedules: &[],
        observer: None,
        submissions: None,
        evidence: EvidenceUse::Judged,
        output: Output::Captured,
        clock_bound: &facts.clock_bound,
        seeds: &seeds,
        interrupt: &interrupt,
    };

    for axis in &catalog.benchmarks[0].axes[0].values {
        let params = vec![("n".to_owned(), axis[0].clone())];
        let request = RecordRequest {
            params,
            facts: facts.device.clone(),
            occupancies: Vec::new(),
        };
        let Recorded::Recording(recording, encoded) = author.record(0, &request, &interrupt)? else {
            return Err("the suite's first benchmark asks for no occupancy".into());
        };
        let request = codec::encode(&request);
        let (mut walls, mut own, mut flushes, mut calls) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for number in 0..CASES {
            let case = ReadyCase {
                number,
                benchmark: 0,
                request: &request,
                recording: &recording,
                encoded: &encoded,
                modules: &modules,
                library: CaseLibrary {
                    files: &library.code,
                    search: &[],
                },
                calls: WindowCalls::one(Mode::Cold),
                floor_ns: None,
                own_modules: &[],
                annotation: None,
            };
            let began = Instant::now();
            let mut session = Session {
                protocol: &protocol,
                referee: &mut referee,
                author: &mut author,
                control_worker: &mut control_worker,
                idle_workers: &mut IdleWorkers::default(),
                earlier_sets: &mut Default::default(),
                leaving_workers: &mut LeavingWorkers::default(),
                watcher: &mut |_: &[&[f64]]| {},
            };
            let measured = session.measure(&case)?;
            walls.push(began.elapsed().as_secs_f64() * 1e3);
            println_if_not_passed(&measured.judgement);
            calls = measured.windows().count();
            own.extend(measured.windows().map(|window| window.facts.own_ns as f64 * 1e-6));
            flushes.extend(measured.windows().map(|window| window.facts.flush_ns as f64 * 1e-6));
        }
        let tensor = &recording.tensors[0];
        let kib = tensor.shape[0] * 4 / 1024;
        println!(
            "in-out buffer of {kib:>4} KiB: a case of {calls} checked calls, worker spawn to verdict: {:.1} ms; \
             own cost of a window: {:.3} ms; cache flush: {:.3} ms (medians, {} threads)",
            median(&walls).unwrap_or_default(),
            median(&own).unwrap_or_default(),
            median(&flushes).unwrap_or_default(),
            facts.device.multiprocessors,
        );
    }
    Ok(())
}

fn println_if_not_passed(judgement: &gpubench_measure::verdict::Judgement) {
    if judgement.verdict != gpubench_contract::Verdict::Pass {
        println!("not passed: {judgement:?}");
    }
}

fn write_crate(folder: &std::path::Path) -> std::io::Result<()> {
    let runtime = concat!(env!("CARGO_MANIFEST_DIR"), "/../gpubench");
    let manifest = format!(
        "[package]\nname = \"isolation\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ngpubench = {{ path = {runtime:?} }}\n"
    );
    fs_err::create_dir(folder.join("src"))?;
    fs_err::write(folder.join("Cargo.toml"), manifest)?;
    fs_err::write(folder.join("src/lib.rs"), LIBRARY)?;
    fs_err::write(folder.join("src/nothing.cu"), KERNEL)
}
