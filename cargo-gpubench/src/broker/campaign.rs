//! A run's cases, measured one after another.

use std::num::NonZeroUsize;
use std::time::Instant;

use gpubench::catalog::{DeviceKind, OccupancyQuery};

use super::against::opponent::{Counterpart, Opponent};
use super::against::question::Question;
use super::cases::{Case, Naming};
use super::code::occupancy::NoAnswer;
use super::environment;
use super::ground::Ground;
use super::options::{AfterFailure, Annotations, CaseOptions, MasterSeed, RunOptions};
use super::recording::authors::Authors;
use super::recording::preparation::{PreparedCase, compile_errors, prepare};
use super::recording::recordings::Interrupted;
use super::reporting::Reporting;
use super::selected::Selected;
use super::standing::Standing;
use super::stored::bookkeeping::Bookkeeping;
use crate::error::ExpectedError;
use gpubench_contract::{BenchmarkComplete, BenchmarkStarted, Environment, Method, Peaks, RunEnd, ThresholdSource};
use gpubench_contract::{Cause, Verdict};
use gpubench_device::compilers::Compiler;
use gpubench_device::telemetry::nvml::NvmlGauge;
use gpubench_device::telemetry::{Gauge, Telemetry};
use gpubench_device::{ClockBound, Facts, KernelPart};
use gpubench_device::SealedFile;
use gpubench_diagnostic::ExitCode;
use gpubench_diagnostic::print_warning;
use gpubench_measure::clients::{Interrupt, NullWorker, RefereeClient};
use gpubench_measure::measurement::CaseFailure;
use gpubench_measure::measurement::Purpose;
use gpubench_measure::measurement::{Contest, MeasureError, Measured, Protocol, RolesAfterwards, Session, Watcher};
use gpubench_measure::measurement::{Yardsticks, fill_in};
use gpubench_measure::measurement::{note_observation, note_reading};
use gpubench_protocol::window::{Seeds, case_number};
use gpubench_protocol::wire::Begin;
use gpubench_stats::{Looks, StopRule, Turnout, WarmUpRule};
use gpubench_store::compare::Threshold;

/// A run in progress.
pub(super) struct Campaign<'a> {
    options: &'a RunOptions,
    /// How calls are measured.
    method: Method,
    /// Bytes that are flushed before each.
    flush_bytes: u64,
    selected: Selected<'a>,
    interrupt: &'a Interrupt,
    seeds: Seeds,
    compiler: Box<dyn Compiler>,
    authors: Authors<'a>,
    referee: Standing,
    null_worker: NullWorker,
    telemetry: Telemetry,
    reporting: Reporting,
    opponent: Option<Opponent<'a>>,
}

impl<'a> Campaign<'a> {
    /// Draws the seed and opens the reports. A `referee` that has its device already is used.
    ///
    /// # Errors
    /// When one of them cannot be had.
    pub(super) fn new(
        options: &'a RunOptions,
        selected: Selected<'a>,
        compiler: Box<dyn Compiler>,
        authors: Authors<'a>,
        referee: Option<RefereeClient>,
        bookkeeping: Bookkeeping,
        interrupt: &'a Interrupt,
    ) -> Result<Campaign<'a>, ExpectedError> {
        for notice in compiler.notices() {
            print_warning(&notice);
        }
        let (method, flush_bytes) = options.measurement.method(selected.facts);
        Ok(Campaign {
            options,
            method,
            flush_bytes,
            selected,
            interrupt,
            seeds: seeds(options.measurement.seed)?,
            compiler,
            authors,
            referee: referee.map_or(Standing::Absent, Standing::Waiting),
            null_worker: NullWorker::on(selected.device),
            telemetry: Telemetry::through(gauge_of(selected.facts)),
            reporting: Reporting::new(options, Naming::for_packages(selected.libraries.len()), bookkeeping)?,
            opponent: None,
        })
    }

    /// Has the cases measured in turns with those of another revision.
    #[must_use]
    pub(super) fn against(self, opponent: Opponent<'a>) -> Campaign<'a> {
        Campaign {
            opponent: Some(opponent),
            ..self
        }
    }

    /// Measures every case and gives what the command exits with.
    ///
    /// # Errors
    /// The history of the device cannot be used, or a result could not be written.
    pub(super) fn measure(mut self) -> Result<ExitCode, ExpectedError> {
        let announced = self.announce()?;
        let end = match self.measure_all(&announced) {
            Ok(end) => end,
            Err(Interrupted) => RunEnd::Interrupted,
        };
        self.note_removed();
        if let Some(opponent) = self.opponent.take() {
            self.reporting.note_other(opponent.finish());
        }
        self.reporting.finish(end)
    }

    /// What is around the run now.
    fn environment(&self) -> Environment {
        let facts = self.selected.facts;
        let flush = (self.options.measurement.flush.into(), self.flush_bytes);
        environment::environment(facts, flush, Some(self.compiler.identity()))
    }

    /// How the referee measures.
    fn begin(&self) -> Begin {
        Begin {
            master_seed: *self.seeds.master(),
            flush_bytes: self.flush_bytes,
            flush_kind: self.options.measurement.flush,
            reserved: 0,
        }
    }

    fn announce(&mut self) -> Result<Vec<BenchmarkStarted>, ExpectedError> {
        let facts = self.selected.facts;
        let mut environment = self.environment();
        if let Some(reading) = self.telemetry.now() {
            note_reading(&reading, &mut environment);
        }
        let packages = self
            .selected
            .libraries
            .iter()
            .map(|library| library.package.clone())
            .collect();
        let cases = self.selected.cases.iter().enumerate();
        let announced: Vec<_> = cases
            .map(|(index, case)| self.reporting.announce(case, index))
            .collect();
        self.reporting.run_started(
            environment::device(facts),
            environment,
            &self.seeds,
            packages,
            &announced,
        )?;
        Ok(announced)
    }

    fn measure_all(&mut self, announced: &[BenchmarkStarted]) -> Result<RunEnd, Interrupted> {
        let selected = self.selected;
        let (begin, interrupt) = (self.begin(), self.interrupt);
        let referee = &mut self.referee;
        let mut ask_device = |module: &SealedFile, query: &OccupancyQuery| {
            let referee = referee.begin(selected.device, &begin, interrupt);
            referee
                .and_then(|referee| referee.occupancy(module, query, interrupt))
                .map_err(|failure| NoAnswer::of_referee(query, failure))
        };
        let prepared = prepare(
            &selected,
            &mut self.authors,
            &*self.compiler,
            &mut ask_device,
            &mut self.reporting,
            self.interrupt,
        )?;
        self.reporting.show_compile_errors(&compile_errors(&prepared));
        if let Some(opponent) = &mut self.opponent {
            let theirs = opponent.selected;
            let prepared = prepare(
                &theirs,
                &mut opponent.authors,
                opponent.compiler.as_deref().unwrap_or(&*self.compiler),
                &mut ask_device,
                &mut self.reporting,
                self.interrupt,
            )?;
            opponent.note_prepared(prepared);
        }
        for ((case, prepared), announced) in selected.cases.iter().zip(prepared).zip(announced) {
            if self.interrupt.is_set() {
                return Err(Interrupted);
            }
            self.reporting.benchmark_started(announced);
            let began = Instant::now();
            let mut result = self.settle(case, prepared, announced)?;
            result.wall_ns = began.elapsed().as_nanos() as u64;
            self.reporting.benchmark_complete(&result);
            self.settle_owed(case, announced);
            if result.verdict.is_failure() && self.options.after_failure == AfterFailure::Stop {
                return Ok(RunEnd::FailedFast);
            }
        }
        Ok(RunEnd::Completed)
    }

    /// Gives a case its result.
    fn settle(
        &mut self,
        case: &Case,
        prepared: Option<Result<PreparedCase, CaseFailure>>,
        announced: &BenchmarkStarted,
    ) -> Result<BenchmarkComplete, Interrupted> {
        let mut result = self.unmeasured(case, announced);
        match prepared {
            None => {
                result.cause = Some(Cause::Unsupported);
                result.message = case.disposition.reason().map(str::to_owned);
            }
            Some(Err(failure)) => failure.fill_in(&mut result),
            Some(Ok(prepared)) => {
                self.telemetry.begin_case();
                match self.measure_one(case, &prepared, announced) {
                    Ok((measured, theirs)) => {
                        let yardsticks = self.yardsticks(case);
                        fill_in(&mut result, &prepared.recorded.recording, measured, yardsticks);
                        if !Purpose::from(self.options.action).is_timed() {
                            result.event_overhead_ns = None;
                            result.conservation = None;
                        }
                        let looks = self.options_of(case).looks;
                        if let (Some(theirs), Some(opponent)) = (theirs, &mut self.opponent) {
                            opponent.note_looks(&theirs, looks);
                            opponent.keep(theirs);
                        }
                    }
                    Err(error) => {
                        self.retire_roles(case);
                        CaseFailure::of_measuring(&error)
                            .ok_or(Interrupted)?
                            .fill_in(&mut result);
                    }
                }
                if let Some(observation) = self.telemetry.end_case(result.samples.len()) {
                    note_observation(&observation, &mut result);
                }
            }
        }
        Ok(result)
    }

    /// How long and how often a case is measured.
    fn options_of(&self, case: &Case) -> CaseOptions {
        let library = &self.selected.libraries[self.selected.library_of(case)];
        self.options.measurement.of_case(case, library.settings)
    }

    fn yardsticks(&self, case: &Case) -> Yardsticks {
        let Facts {
            peak_bandwidth,
            peak_flops,
            device,
            ..
        } = self.selected.facts;
        Yardsticks {
            target_cv: self.options_of(case).stopping.target_cv,
            peaks: Peaks {
                bandwidth: *peak_bandwidth,
                flops: *peak_flops,
            },
            kernel_part: KernelPart::of_device(&device.name),
        }
    }

    /// Measures a case, in turns with its counterpart where there is one; and gives that one's result where the other revision has the case.
    fn measure_one(
        &mut self,
        case: &Case,
        prepared: &PreparedCase,
        announced: &BenchmarkStarted,
    ) -> Result<(Measured, Option<BenchmarkComplete>), MeasureError> {
        let recording = &prepared.recorded.recording;
        let mut theirs = self.unmeasured(case, announced);
        let counterpart = match &self.opponent {
            None => Counterpart::Absent,
            Some(opponent) => opponent.counterpart(case, recording),
        };
        let facts = self.selected.facts;
        let CaseOptions {
            workers,
            looks,
            noise_threshold,
            stopping,
            limits,
        } = self.options_of(case);
        let purpose = Purpose::from(self.options.action);
        let untimed = ClockBound::Absent("nothing is timed".into());
        let protocol = Protocol {
            purpose,
            turnout: match (&counterpart, looks) {
                _ if !purpose.is_timed() => Turnout::exactly(NonZeroUsize::MIN),
                (Counterpart::Ready(..), _) => Turnout::exactly(looks.first(workers)),
                (_, Looks::Once) => Turnout::exactly(workers),
                (_, Looks::UntilDecided) => match facts.device.kind {
                    DeviceKind::Cuda => Turnout::until_known(workers),
                    // Its times are advisory: not worth twice the time.
                    DeviceKind::Cpu => Turnout::first_of(workers),
                },
            },
            warm_up: WarmUpRule {
                step: facts.clock_tick_ns,
                ..WarmUpRule::default()
            },
            stop: match counterpart {
                // How far samples spread is no measure of how well the ratio of pairs is known.
                Counterpart::Ready(..) => StopRule {
                    plateau: None,
                    ..stop_rule(&stopping, facts)
                },
                _ => stop_rule(&stopping, facts),
            },
            within: limits.window,
            reference_within: limits.reference,
            kernels_run_in: facts.kernels_run_in,
            device: self.selected.device,
            output: self.options.user_output(),
            clock_bound: if purpose.is_timed() {
                &facts.clock_bound
            } else {
                &untimed
            },
            kernel_part: KernelPart::of_device(&facts.device.name),
            seeds: &self.seeds,
            interrupt: self.interrupt,
        };
        let name = case.full_name();
        let ground = Ground {
            annotation: (self.options.annotations == Annotations::Nvtx).then_some(&*name),
            number: case_number(&name),
            facts,
            method: self.method,
            flush_bytes: self.flush_bytes,
        };
        let library_path = self.selected.library(case).search_path();
        let ready = ground.ready(&self.selected, case, prepared, &library_path);
        let their_path = match (&self.opponent, &counterpart) {
            (Some(opponent), Counterpart::Ready(theirs, _)) => opponent.selected.library(theirs).search_path(),
            _ => Vec::new(),
        };
        let their_case = match (&self.opponent, &counterpart) {
            (Some(opponent), Counterpart::Ready(theirs, prepared)) => {
                Some(ground.ready(&opponent.selected, theirs, prepared, &their_path))
            }
            _ => None,
        };
        let question = Question {
            looks,
            confidence: self.options.results.judging.confidence,
            threshold: Threshold {
                value: noise_threshold,
                source: ThresholdSource::Floor,
            },
            step: facts.clock_tick_ns,
        };
        let contest = Contest {
            candidate: &ready,
            baseline: their_case.as_ref(),
            question: Some(&question),
        };
        let yardsticks = self.yardsticks(case);
        let begin = self.begin();
        let referee = self
            .referee
            .begin(self.selected.device, &begin, self.interrupt)
            .map_err(MeasureError::Open)?;
        let author = self
            .authors
            .client(self.selected.library_of(case))
            .map_err(MeasureError::Attach)?;
        let mut session = Session {
            protocol: &protocol,
            referee,
            author,
            null_worker: &mut self.null_worker,
            watcher: &mut CaseWatcher {
                telemetry: &mut self.telemetry,
                reporting: &mut self.reporting,
            },
        };
        let measured = session.measure_and_confirm(&contest)?;
        let theirs = match (counterpart, measured.baseline) {
            (Counterpart::Absent, _) => None,
            (Counterpart::Unlike(reason), _) => {
                theirs.message = Some(reason);
                Some(theirs)
            }
            (Counterpart::Failed(failure), _) => {
                failure.fill_in(&mut theirs);
                Some(theirs)
            }
            (Counterpart::Ready(_, prepared), Some(Ok(measured))) => {
                fill_in(&mut theirs, &prepared.recorded.recording, measured, yardsticks);
                Some(theirs)
            }
            (Counterpart::Ready(..), Some(Err(failure))) => {
                let failure = CaseFailure::of_measuring(&MeasureError::Worker(failure));
                failure.into_iter().for_each(|failure| failure.fill_in(&mut theirs));
                Some(theirs)
            }
            (Counterpart::Ready(..), None) => None,
        };
        if measured.roles == RolesAfterwards::Unknown {
            self.retire_roles(case);
        }
        Ok((measured.candidate, theirs))
    }

    /// What the author of a case, the referee and the null worker are in the middle of is unknown: the next case gets new ones.
    fn retire_roles(&mut self, case: &Case) {
        self.authors.retire(self.selected.library_of(case));
        self.referee = Standing::Absent;
        self.null_worker.retire();
    }

    /// Where the candidate could not be measured, the other revision was not either.
    fn settle_owed(&mut self, case: &Case, announced: &BenchmarkStarted) {
        let mut theirs = self.unmeasured(case, announced);
        theirs.message = Some("it takes turns with the candidate, which was not measured".to_owned());
        if let Some(opponent) = self.opponent.as_mut().filter(|opponent| opponent.owes(case)) {
            opponent.keep(theirs);
        }
    }

    /// What only the other revision has is told, not measured.
    fn note_removed(&mut self) {
        let Some(opponent) = &mut self.opponent else { return };
        let device = environment::device(self.selected.facts).short();
        for case in opponent.only_there() {
            let started = self.reporting.announce(case, 0);
            opponent.keep(BenchmarkComplete::unmeasured(
                &started,
                device.clone(),
                Verdict::Skipped,
            ));
        }
    }

    fn unmeasured(&self, case: &Case, announced: &BenchmarkStarted) -> BenchmarkComplete {
        let device = environment::device(self.selected.facts).short();
        let mut result = BenchmarkComplete::unmeasured(announced, device, Verdict::Skipped);
        let catalog = &self.selected.catalogs[self.selected.library_of(case)];
        result.mode = self.method;
        result.environment = self.environment();
        result.problem = catalog
            .benchmarks
            .get(case.benchmark)
            .map(|benchmark| benchmark.problem.clone());
        result
    }
}

/// The instruments, and whoever follows the run.
struct CaseWatcher<'a> {
    telemetry: &'a mut Telemetry,
    reporting: &'a mut Reporting,
}

impl Watcher for CaseWatcher<'_> {
    fn sampled(&mut self, samples: &[f64], of_workers: &[&[f64]]) {
        self.telemetry.after_sample(samples.len());
        self.reporting.progress(samples, of_workers);
    }

    fn begins_again(&mut self) {
        self.telemetry.begin_again();
    }

    fn goes_back(&mut self) {
        self.telemetry.go_back();
    }

    fn other_clients(&mut self) -> Option<u32> {
        self.telemetry.other_clients()
    }
}

/// The instruments of a device that has some; without NVML nothing is known.
fn gauge_of(facts: &Facts) -> Option<Box<dyn Gauge>> {
    let gauge = NvmlGauge::open(facts.identity.as_deref()?).ok()?;
    Some(Box::new(gauge))
}

fn seeds(wanted: MasterSeed) -> Result<Seeds, ExpectedError> {
    match wanted {
        MasterSeed::Pinned(master) => Ok(Seeds::new(master)),
        MasterSeed::Fresh => Seeds::from_os().map_err(|source| ExpectedError::Internal {
            what: "the operating system gives no random seed".to_owned(),
            source: source.into(),
        }),
    }
}

fn stop_rule(stopping: &StopRule, facts: &Facts) -> StopRule {
    StopRule {
        step: facts.clock_tick_ns,
        ..stopping.clone()
    }
}
