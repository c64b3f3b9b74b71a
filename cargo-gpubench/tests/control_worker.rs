//! Control windows between real processes, on the CPU device, under a clock bound that the device
//! does not have. A busy machine can therefore make a claim look too short.

use std::collections::HashSet;
use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use cargo_gpubench::cdylibs::{BuildOptions, build_cdylibs};
use cargo_gpubench::cli::{App, play};
use clap::Parser;
use gpubench::catalog::{Catalog, RecordRequest, Recording};
use gpubench::codec;
use gpubench_contract::Mode;
use gpubench_contract::{Cause, Grade, Verdict};
use gpubench_device::compilers::{Compiler as _, HostCompiler, Wanted};
use gpubench_device::{ClockBound, cpu};
use gpubench_device::{DeviceOrder, FrozenFile};
use gpubench_measure::clients::{AuthorClient, ControlWorker, Interrupt, Output, Recorded, RefereeClient};
use gpubench_measure::measurement::{
    CaseLibrary, CasesInTurns, Entrant, EvidenceUse, IdleWorkers, LeavingWorkers, Measured, MeasuredInTurns, Protocol,
    ReadyCase, RunMode, Session, Standing, TurnCase,
};
use gpubench_measure::verdict::Judgement;
use gpubench_protocol::window::{Gate, Numbering, Seeds, WindowCalls, WindowKind};
use gpubench_protocol::wire::{Begin, OtherAnswer, SourceModule, WindowEnd};
use gpubench_stats::{StopRule, WarmUpRule, WorkerCountRule};

const LIBRARY: &str = r#"
use gpubench::prelude::*;

cuda_source!(COPY = "copy.cu");

fn vectors(n: usize) -> Tensors {
    Tensors::new().input("x", u32::shape([n]), Bits).output("y", u32::shape([n]))
}

fn on_cpu(_n: usize, x: &[u32], y: &mut [u32]) {
    y.copy_from_slice(x);
}

#[gpubench(axes(n = [64, 4096]), tensors = vectors, reference = on_cpu, exact)]
fn copy(launcher: &mut Launcher, n: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    launcher.launch(COPY.kernel("copy"), Grid::covering(n, 64), (x, y, n))
}

#[gpubench(hosted, axes(n = [64, 4096]), tensors = vectors, reference = on_cpu, exact)]
fn copy_on_the_host(host: &mut Host, n: usize, x: In<u32>, y: Out<u32>) -> Result<()> {
    let (x, y) = (host.pointer(x), host.pointer_mut(y));
    host.call(move || {
        unsafe { std::ptr::copy_nonoverlapping(x, y, n) };
        Ok(())
    })
}
"#;

/// Fewest control windows among 40 samples: the key draws one in four, and at most eight other
/// windows pass between two control windows until the bound is checked.
const FEWEST: usize = 4;

/// Positions of the benchmarks.
const COPY: u32 = 0;
const COPY_ON_THE_HOST: u32 = 1;

const KERNEL: &str = "__global__ void copy(const unsigned *x, unsigned *y, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}
";

fn main() -> Result<(), Box<dyn Error>> {
    // The roles run this same program.
    if std::env::args().nth(1).is_some_and(|verb| verb.starts_with("__")) {
        return match play(&App::parse().verb) {
            Some(Err(error)) => Err(error.into()),
            _ => Ok(()),
        };
    }
    if let Err(reason) = gpubench_harness::HOST_BUILD {
        return Err(format!("the CPU device is needed: {reason}").into());
    }
    let mut stage = Stage::set()?;
    control_windows_are_interleaved_and_one_process_serves_every_case(&mut stage)?;
    a_dead_control_worker_lowers_the_grade_of_its_case_and_is_replaced(&mut stage)?;
    without_a_clock_bound_there_is_no_control_worker(&mut stage)?;
    the_worker_of_a_plan_runs_its_control_windows_itself(&mut stage)?;
    cases_take_turns_window_by_window(&mut stage)?;
    a_second_measurement_shares_no_number_and_no_input_with_the_first(&mut stage)?;
    println!("windows between real processes: 6 tests passed");
    Ok(())
}

fn control_windows_are_interleaved_and_one_process_serves_every_case(stage: &mut Stage) -> Result<(), Box<dyn Error>> {
    let mut control_worker = ControlWorker::on(stage.device);
    let mut processes = Vec::new();
    for case in 0..2 {
        let measured = stage.measure(case, &ClockBound::Exclusive, &mut control_worker, |_| ())?;
        assert_right(&measured.judgement);
        let controls = measured.controls().count();
        assert!(controls >= FEWEST, "{controls} control windows");
        assert_eq!(measured.controls_afterwards.len(), 8, "after the worker's end");
        for window in measured.controls().chain(&measured.controls_afterwards) {
            let facts = &window.facts;
            assert_eq!(facts.kind, WindowKind::Control);
            assert_eq!(facts.end, WindowEnd::Checked);
            let [output] = facts.outputs() else {
                panic!("one output")
            };
            assert_eq!(output.digest_claimed, output.digest_expected);
            assert!(window.claim.as_deref().is_some_and(|claim| claim.elapsed_ns >= 0.0));
        }
        let calls: Vec<u32> = measured.windows().map(|window| window.facts.window).collect();
        assert!(
            calls.iter().copied().eq(1..=calls.len() as u32),
            "calls keep their numbers"
        );
        assert!(measured.balance.is_some());
        assert_ne!(measured.judgement.grade, Grade::Sealed, "host code is never sealed");
        let reason = measured.judgement.grade_reason.unwrap_or_default();
        assert!(!reason.contains("sandbox"), "{reason}");
        processes.push(control_worker.process().map(|worker| worker.child().id()));
    }
    assert!(processes[0].is_some() && processes[0] == processes[1], "{processes:?}");
    Ok(())
}

fn a_dead_control_worker_lowers_the_grade_of_its_case_and_is_replaced(stage: &mut Stage) -> Result<(), Box<dyn Error>> {
    let mut control_worker = ControlWorker::on(stage.device);
    stage.measure(0, &ClockBound::Exclusive, &mut control_worker, |_| ())?;
    let doomed = control_worker.process().expect("it is there").child().id();
    let killed = stage.measure(1, &ClockBound::Exclusive, &mut control_worker, |samples| {
        if samples == 3 {
            kill(doomed);
        }
    })?;
    assert_right(&killed.judgement);
    assert_eq!(killed.judgement.grade, Grade::Unverified);
    let reason = killed.judgement.grade_reason.unwrap_or_default();
    assert!(reason.contains("the control worker was killed by SIGKILL"), "{reason}");
    let after = stage.measure(0, &ClockBound::Exclusive, &mut control_worker, |_| ())?;
    assert_right(&after.judgement);
    assert!(after.controls().count() >= FEWEST);
    let replacement = control_worker.process().expect("it was replaced").child();
    assert_ne!(replacement.id(), doomed);

    // A control worker that dies between two cases is replaced silently.
    replacement.kill();
    replacement.end();
    let next = stage.measure(1, &ClockBound::Exclusive, &mut control_worker, |_| ())?;
    assert!(next.controls().count() >= FEWEST);
    Ok(())
}

fn without_a_clock_bound_there_is_no_control_worker(stage: &mut Stage) -> Result<(), Box<dyn Error>> {
    let mut control_worker = ControlWorker::on(stage.device);
    let absent = ClockBound::Absent("a test says so".into());
    let measured = stage.measure(0, &absent, &mut control_worker, |_| ())?;
    assert_eq!(measured.judgement.grade_reason.as_deref(), Some("a test says so"));
    assert!(measured.controls().next().is_none() && measured.balance.is_none());
    assert!(control_worker.process().is_none());
    Ok(())
}

fn the_worker_of_a_plan_runs_its_control_windows_itself(stage: &mut Stage) -> Result<(), Box<dyn Error>> {
    let mut control_worker = ControlWorker::on(stage.device);
    let bound = ClockBound::Exclusive;
    let measured = stage.measure_of(COPY, 0, &bound, &mut control_worker, |_| ())?;
    assert_right(&measured.judgement);
    assert!(measured.controls().count() >= FEWEST && measured.balance.is_some());
    assert_eq!(measured.workers.len(), 1);
    assert!(measured.controls_afterwards.is_empty() && control_worker.process().is_none());
    Ok(())
}

/// Asserts that a case passes, apart from the clock's check.
fn assert_right(judgement: &Judgement) {
    let right = match judgement.verdict {
        Verdict::Pass | Verdict::TimeMismatch => true,
        _ => judgement.cause == Some(Cause::WorksBetweenWindows),
    };
    assert!(right, "{judgement:?}");
}

/// One case replays a plan, one runs on the host, and one is a twin of the first. They share
/// buffers, input distributions and the reference.
fn cases_take_turns_window_by_window(stage: &mut Stage) -> Result<(), Box<dyn Error>> {
    let mut control_worker = ControlWorker::on(stage.device);
    let first = Numbering::default();
    let cases = [COPY, COPY_ON_THE_HOST, COPY];
    let measured = stage.measure_in_turns(&cases, 2, first, &mut control_worker)?;
    let arms: Vec<Measured> = measured.arms.into_iter().collect::<Result<_, _>>()?;
    let disturbs = |side: &Measured| {
        let reason = side.judgement.grade_reason.as_deref().unwrap_or_default();
        reason.contains("host code of a case could disturb it in the same contest")
    };
    assert_eq!(arms.iter().map(disturbs).collect::<Vec<_>>(), [true, false, true]);
    let mut sides = Vec::new();
    for (side, measured) in arms.iter().enumerate() {
        assert_right(&measured.judgement);
        let samples: Vec<usize> = measured.workers.iter().map(|run| run.samples.values.len()).collect();
        assert_eq!(samples, [20, 20], "of side {side}");
        assert!(measured.controls().count() >= 6 && measured.balance.is_some());
        sides.extend(measured.windows().map(|window| (window.facts.window, side)));
    }
    sides.sort_unstable();
    let numbers = sides.iter().map(|(number, _)| *number);
    assert!(numbers.eq(1..=sides.len() as u32), "no number twice, none left out");
    let longest = sides.chunk_by(|one, other| one.1 == other.1).map(<[_]>::len).max();
    // At the end of its turn, one case may need one early check or sample more than the others.
    assert!(longest <= Some(12), "{longest:?} windows of one case in a row");
    let laps = sides.chunks(cases.len());
    let firsts: HashSet<usize> = laps.map(|lap| lap[0].1).collect();
    assert_eq!(firsts.len(), cases.len(), "each case begins some laps");
    let inputs: HashSet<u64> = arms.iter().flat_map(digests).collect();
    assert_eq!(inputs.len(), sides.len(), "no case sees the inputs of another");
    Ok(())
}

fn digests(measured: &Measured) -> HashSet<u64> {
    measured.windows().map(|window| window.facts.input_digest).collect()
}

fn a_second_measurement_shares_no_number_and_no_input_with_the_first(stage: &mut Stage) -> Result<(), Box<dyn Error>> {
    let mut control_worker = ControlWorker::on(stage.device);
    let (mut numbers, mut inputs) = (HashSet::new(), HashSet::new());
    let mut numbering = Numbering::default();
    let mut descriptors = None;
    for _ in 0..2 {
        let cases = [COPY, COPY_ON_THE_HOST];
        let measured = stage.measure_in_turns(&cases, 2, numbering, &mut control_worker)?;
        let arms: Vec<Measured> = measured.arms.into_iter().collect::<Result<_, _>>()?;
        let mut last = 0;
        for side in &arms {
            assert_right(&side.judgement);
            assert_eq!(side.sample_count(), 40);
            for window in side.windows() {
                assert!(numbers.insert(window.facts.window), "window {}", window.facts.window);
                assert!(
                    inputs.insert(window.facts.input_digest),
                    "window {}",
                    window.facts.window
                );
                assert!(window.facts.window > numbering.opening);
                last = last.max(window.facts.window);
            }
        }
        let asked = OtherAnswer::Fails as u64;
        let first = arms.iter().flat_map(Measured::windows);
        let first = first.filter(|window| (2..=17).contains(&(window.facts.window - numbering.opening)));
        let mut answers = first
            .flat_map(|window| window.facts.outputs())
            .map(|output| output.old_answer);
        assert!(answers.all(|answer| answer == asked), "the check is tried again");
        let controls = || {
            let of_sides = arms
                .iter()
                .flat_map(|side| side.controls().chain(&side.controls_afterwards));
            of_sides.map(|window| window.facts.window)
        };
        for window in controls() {
            assert!(numbers.insert(window), "control window {window}");
        }
        assert_eq!(measured.next.controls - numbering.controls, controls().count());
        assert_eq!(measured.next.opening, last + 1);
        numbering = measured.next;
        let open = std::fs::read_dir("/proc/self/fd")?.count();
        assert_eq!(
            open,
            *descriptors.get_or_insert(open),
            "descriptors of the first are closed"
        );
    }
    Ok(())
}

fn kill(process: u32) {
    let id = rustix::process::Pid::from_raw(process as i32).expect("a process");
    rustix::process::kill_process(id, rustix::process::Signal::KILL).expect("it is ours");
}

/// The processes that all cases share.
struct Stage {
    _folder: tempfile::TempDir,
    library: Vec<FrozenFile>,
    catalog: Catalog,
    modules: [SourceModule; 1],
    author: AuthorClient,
    referee: RefereeClient,
    device: DeviceOrder,
    seeds: Seeds,
    interrupt: Interrupt,
}

impl Stage {
    fn set() -> Result<Stage, Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        write_crate(folder.path())?;
        let mut options = BuildOptions::default();
        let manifest = folder.path().join("Cargo.toml").to_string_lossy().into_owned();
        options.manifest.manifest_path = Some(manifest.into());
        let built = build_cdylibs(&options, &AtomicBool::new(false))?;
        let interrupt = Interrupt::default();
        let library = &built.libraries[0].code;
        let (author, catalog) =
            AuthorClient::spawn(library, &[], Duration::from_secs(60), Output::Captured, &interrupt)?;
        let module = HostCompiler::find()?.compile(Wanted {
            source: &catalog.sources[0],
            names: &["copy".to_owned()],
            cache: folder.path(),
            interrupt: interrupt.flag(),
            most: None,
        })?;
        let seeds = Seeds::from_os()?;
        let device = DeviceOrder::cpu(2, 0);
        let begin = Begin {
            master_seed: *seeds.master(),
            flush_bytes: 1 << 16,
            flush_kind: gpubench_contract::Flush::Read,
            reserved: 0,
        };
        let mut referee = RefereeClient::spawn(&device, Output::Captured, &interrupt)?;
        referee.begin(&begin, &interrupt)?;
        Ok(Stage {
            _folder: folder,
            library: library.clone(),
            catalog,
            modules: [(0, FrozenFile::copy_of(&module)?)],
            author,
            referee,
            device,
            seeds,
            interrupt,
        })
    }

    /// Measures the case of the hosted benchmark whose axis value is at `value`. Calls `at` after
    /// each sample with the number of samples.
    fn measure(
        &mut self,
        value: usize,
        clock_bound: &ClockBound,
        control_worker: &mut ControlWorker,
        at: impl Fn(usize),
    ) -> Result<Measured, Box<dyn Error>> {
        self.measure_of(COPY_ON_THE_HOST, value, clock_bound, control_worker, at)
    }

    fn measure_of(
        &mut self,
        benchmark: u32,
        value: usize,
        clock_bound: &ClockBound,
        control_worker: &mut ControlWorker,
        at: impl Fn(usize),
    ) -> Result<Measured, Box<dyn Error>> {
        let recorded = self.record(benchmark, value)?;
        let protocol = Side::protocol(
            clock_bound,
            NonZeroUsize::MIN,
            self.device,
            &self.seeds,
            &self.interrupt,
        );
        let case = recorded.ready(value as u64, &self.library, &self.modules);
        let mut session = Session {
            protocol: &protocol,
            referee: &mut self.referee,
            author: &mut self.author,
            control_worker,
            idle_workers: &mut IdleWorkers::default(),
            earlier_sets: &mut Default::default(),
            leaving_workers: &mut LeavingWorkers::default(),
            watcher: &mut |of_workers: &[&[f64]]| at(of_workers.concat().len()),
        };
        Ok(session.measure(&case)?)
    }

    /// Measures benchmarks alternately, with `workers` workers each.
    fn measure_in_turns(
        &mut self,
        benchmarks: &[u32],
        workers: usize,
        numbering: Numbering,
        control_worker: &mut ControlWorker,
    ) -> Result<MeasuredInTurns, Box<dyn Error>> {
        let sides: Result<Vec<Side>, _> = benchmarks.iter().map(|benchmark| self.record(*benchmark, 0)).collect();
        let sides = sides?;
        let workers = NonZeroUsize::new(workers).ok_or("no workers")?;
        let bound = ClockBound::Exclusive;
        let protocol = Side::protocol(&bound, workers, self.device, &self.seeds, &self.interrupt);
        let cases: Vec<ReadyCase<'_>> = sides
            .iter()
            .map(|side| side.ready(0, &self.library, &self.modules))
            .collect();
        let arms: Vec<TurnCase<'_>> = cases
            .iter()
            .map(|case| TurnCase {
                case,
                entrant: Entrant {
                    name: "a case",
                    standing: Standing::Judged,
                    keeper: None,
                },
            })
            .collect();
        let turns = CasesInTurns {
            arms: &arms,
            source: &cases[0],
            question: None,
        };
        let mut session = Session {
            protocol: &protocol,
            referee: &mut self.referee,
            author: &mut self.author,
            control_worker,
            idle_workers: &mut IdleWorkers::default(),
            earlier_sets: &mut Default::default(),
            leaving_workers: &mut LeavingWorkers::default(),
            watcher: &mut |_: &[&[f64]]| (),
        };
        Ok(session.measure_in_turns(&turns, numbering, Gate::new(turns.source.recording.execution))?)
    }

    fn record(&mut self, benchmark: u32, value: usize) -> Result<Side, Box<dyn Error>> {
        let facts = cpu::facts(cpu::available_threads());
        let axis = self.catalog.benchmarks[benchmark as usize].axes[0].values[value][0].clone();
        let request = RecordRequest {
            params: vec![("n".to_owned(), axis)],
            facts: facts.device,
            occupancies: Vec::new(),
        };
        let Recorded::Recording(recording, encoded) = self.author.record(benchmark, &request, &self.interrupt)? else {
            return Err("a case asks for an occupancy".into());
        };
        Ok(Side {
            benchmark,
            request: codec::encode(&request),
            recording: *recording,
            encoded,
        })
    }
}

/// A recorded benchmark.
struct Side {
    benchmark: u32,
    request: Vec<u8>,
    recording: Recording,
    encoded: Vec<u8>,
}

impl Side {
    fn ready<'a>(&'a self, number: u64, library: &'a [FrozenFile], modules: &'a [SourceModule]) -> ReadyCase<'a> {
        ReadyCase {
            number,
            benchmark: self.benchmark,
            request: &self.request,
            recording: &self.recording,
            encoded: &self.encoded,
            modules,
            annotation: None,
            own_modules: &[],
            calls: WindowCalls::one(Mode::Cold),
            floor_ns: None,
            library: CaseLibrary {
                files: library,
                search: &[],
            },
        }
    }

    fn protocol<'a>(
        clock_bound: &'a ClockBound,
        workers: NonZeroUsize,
        device: DeviceOrder,
        seeds: &'a Seeds,
        interrupt: &'a Interrupt,
    ) -> Protocol<'a> {
        Protocol {
            energy: Default::default(),
            rest: Default::default(),
            metric: Default::default(),
            mode: RunMode::Measure,
            worker_count: WorkerCountRule::exactly(workers),
            warm_up: WarmUpRule {
                max_windows: 5,
                ..WarmUpRule::default()
            },
            stop: StopRule {
                min_samples: 40,
                max_samples: 40,
                max_time: Duration::from_secs(60),
                ..StopRule::default()
            },
            within: Duration::from_secs(60),
            reference_within: Duration::from_secs(60),
            kernels_run_in: cpu::facts(cpu::available_threads()).kernels_run_in,
            device,
            schedules: &[],
            observer: None,
            submissions: None,
            evidence: EvidenceUse::Judged,
            output: Output::Captured,
            clock_bound,
            seeds,
            interrupt,
        }
    }
}

fn write_crate(folder: &std::path::Path) -> std::io::Result<()> {
    let runtime = concat!(env!("CARGO_MANIFEST_DIR"), "/../gpubench");
    let manifest = format!(
        "[package]\nname = \"control-windows\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[workspace]\n\n\
         [dependencies]\ngpubench = {{ path = {runtime:?} }}\n"
    );
    // The dependency versions that are downloaded already.
    fs_err::copy(
        concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.lock"),
        folder.join("Cargo.lock"),
    )?;
    fs_err::create_dir(folder.join("src"))?;
    fs_err::write(folder.join("Cargo.toml"), manifest)?;
    fs_err::write(folder.join("src/lib.rs"), LIBRARY)?;
    fs_err::write(folder.join("src/copy.cu"), KERNEL)
}
