//! The command from its options to its exit code.

use std::path::PathBuf;
use std::time::Instant;

use gpubench::catalog::Catalog;

use super::authors::{AuthorSettings, Authors};
use super::cases::{Case, CaseDevice, Disposition, Naming, PackageCatalog, select_cases, write_names};
use super::environment;
use super::failure::CaseFailure;
use super::kernels::{self, Modules};
use super::measure::{Protocol, ReadyCase, measure};
use super::options::{Action, AfterFailure, DeviceChoice, MasterSeed, RunOptions, UserOutput, Verbosity};
use super::recordings::{RecordedCase, record_cases};
use super::reporting::Reporting;
use super::result::fill_in;
use crate::build::kernels::HostCompiler;
use crate::build::{Built, BuiltLibrary, build_cdylibs};
use crate::device::cpu::{self, available_threads};
use crate::device::{ClockBound, Facts};
use crate::error::{ExpectedError, print_warning};
use crate::exit_code::ExitCode;
use crate::report::{BenchmarkComplete, BenchmarkStarted, Phase, RunEnd};
use crate::roles::{Interrupt, Output, RefereeClient};
use crate::stats::{StopRule, WarmUpRule};
use crate::verdict::{Cause, Verdict};
use crate::window::Seeds;
use crate::wire::{FlushKind, Hello};

/// Does what the options say.
///
/// # Errors
///
/// Whatever keeps the run from having a result for every selected case. A benchmark that fails is a result.
pub fn run(options: &RunOptions) -> Result<ExitCode, ExpectedError> {
    let interrupt = Interrupt::catch().map_err(|source| ExpectedError::Internal {
        what: "cannot listen to signals".to_owned(),
        source: source.into(),
    })?;
    let built = build_cdylibs(&options.build, interrupt.flag())?;
    for notice in &built.notices {
        print_warning(notice);
    }
    if options.action == Action::Build {
        if options.output.verbosity > Verbosity::Quiet {
            name_libraries(&built);
        }
        return Ok(ExitCode::Success);
    }
    let facts = choose_device(options)?;
    let settings = AuthorSettings {
        within: options.measurement.limits.reference,
        output: user_output(options),
        interrupt: &interrupt,
    };
    let (authors, catalogs) = Authors::start(&built.libraries, settings)?;
    let cases = choose_cases(options, &built, &catalogs, &facts)?;
    if options.action == Action::List {
        return list(&cases, &built);
    }
    let run = Run {
        options,
        built: &built,
        catalogs: &catalogs,
        facts: &facts,
        cases: &cases,
        interrupt: &interrupt,
    };
    run.measure(authors)
}

/// As `cargo bench --no-run` names its executables.
fn name_libraries(built: &Built) {
    for library in &built.libraries {
        let BuiltLibrary {
            package,
            version,
            library,
            ..
        } = library;
        anstream::eprintln!("     Library {package} v{version} ({library})");
    }
}

/// The device that was asked for.
fn choose_device(options: &RunOptions) -> Result<Facts, ExpectedError> {
    match options.device.choice {
        DeviceChoice::Auto | DeviceChoice::Kind(gpubench::catalog::DeviceKind::Cpu) => {
            Ok(cpu::facts(options.device.threads.unwrap_or_else(available_threads)))
        }
        DeviceChoice::Kind(gpubench::catalog::DeviceKind::Cuda) => Err(ExpectedError::SetupMissing {
            what: "this version has no CUDA device".to_owned(),
            hint: "`--device cpu` runs the kernels on the built-in CPU device".to_owned(),
        }),
    }
}

fn user_output(options: &RunOptions) -> Output {
    match options.output.user_output {
        UserOutput::Captured => Output::Captured,
        UserOutput::Shown => Output::Inherited,
    }
}

fn choose_cases(
    options: &RunOptions,
    built: &Built,
    catalogs: &[Catalog],
    facts: &Facts,
) -> Result<Vec<Case>, ExpectedError> {
    let packages: Vec<PackageCatalog<'_>> = built
        .libraries
        .iter()
        .zip(catalogs)
        .map(|(library, catalog)| PackageCatalog {
            package: &library.package,
            library: &library.crate_name,
            catalog,
        })
        .collect();
    let device = CaseDevice {
        kind: facts.device.kind,
        capability: facts.device.capability,
    };
    Ok(select_cases(&packages, device, &options.cases)?)
}

fn list(cases: &[Case], built: &Built) -> Result<ExitCode, ExpectedError> {
    let naming = Naming::for_packages(built.libraries.len());
    write_names(&mut std::io::stdout().lock(), cases, naming).map_err(|source| ExpectedError::Output {
        what: "the list of benchmarks".to_owned(),
        source,
    })?;
    Ok(ExitCode::Success)
}

struct Run<'a> {
    options: &'a RunOptions,
    built: &'a Built,
    catalogs: &'a [Catalog],
    facts: &'a Facts,
    cases: &'a [Case],
    interrupt: &'a Interrupt,
}

/// A case that can be measured or has its failure already.
type Prepared = Result<(RecordedCase, Vec<(u32, PathBuf)>), CaseFailure>;

/// The user wants the run to end.
struct Interrupted;

impl Run<'_> {
    fn measure(&self, mut authors: Authors<'_>) -> Result<ExitCode, ExpectedError> {
        let seeds = self.seeds()?;
        let compiler = HostCompiler::find()?;
        let environment = environment::environment(
            self.facts,
            self.facts.device.multiprocessors,
            self.options.measurement.flush_bytes,
            Some(compiler.identity()),
        );
        let device = environment::device(self.facts);
        let packages = self
            .built
            .libraries
            .iter()
            .map(|library| library.package.clone())
            .collect();
        let mut reporting = Reporting::new(self.options, Naming::for_packages(self.built.libraries.len()))?;
        let announced: Vec<BenchmarkStarted> = self
            .cases
            .iter()
            .enumerate()
            .map(|(index, case)| reporting.announce(case, index))
            .collect();
        reporting.run_started(device, environment, &seeds, packages, &announced);

        let Ok(prepared) = self.prepare(&mut authors, &compiler, &mut reporting) else {
            return reporting.finish(RunEnd::Interrupted);
        };
        let mut referee = None;
        for (number, ((case, prepared), announced)) in self.cases.iter().zip(prepared).zip(&announced).enumerate() {
            if self.interrupt.is_set() {
                return reporting.finish(RunEnd::Interrupted);
            }
            reporting.benchmark_started(announced);
            let began = Instant::now();
            let library = self.library_of(case);
            let outcome = match (&case.disposition, prepared) {
                (Disposition::Skip(reason), _) => Ok(self.skipped(case, announced, reason)),
                (Disposition::Run, Err(failure)) => Ok(self.failed(case, announced, failure)),
                (Disposition::Run, Ok(ready)) => {
                    let number = number as u64;
                    self.run_case(
                        number,
                        case,
                        announced,
                        &ready,
                        &seeds,
                        &mut authors,
                        &mut referee,
                        &mut reporting,
                    )
                }
            };
            let Ok(mut result) = outcome else {
                return reporting.finish(RunEnd::Interrupted);
            };
            result.wall_ns = began.elapsed().as_nanos() as u64;
            if result.cause.is_some_and(is_of_author) {
                authors.retire(library);
            }
            let failed = result.verdict.is_failure();
            reporting.benchmark_complete(&result);
            if failed && self.options.after_failure == AfterFailure::Stop {
                return reporting.finish(RunEnd::FailedFast);
            }
        }
        reporting.finish(RunEnd::Completed)
    }

    /// Position of the library a case comes from.
    fn library_of(&self, case: &Case) -> usize {
        let libraries = &self.built.libraries;
        libraries
            .iter()
            .position(|library| library.package == case.package)
            .unwrap_or(libraries.len())
    }

    fn seeds(&self) -> Result<Seeds, ExpectedError> {
        match self.options.measurement.seed {
            MasterSeed::Pinned(master) => Ok(Seeds::new(master)),
            MasterSeed::Fresh => Seeds::from_os().map_err(|source| ExpectedError::Internal {
                what: "the operating system gives no random seed".to_owned(),
                source: source.into(),
            }),
        }
    }

    /// Records every case that runs and compiles what the recordings use.
    fn prepare(
        &self,
        authors: &mut Authors<'_>,
        compiler: &HostCompiler,
        reporting: &mut Reporting,
    ) -> Result<Vec<Prepared>, Interrupted> {
        let mut prepared: Vec<Option<Prepared>> = self.cases.iter().map(|_| None).collect();
        let cache = self
            .built
            .target_directory
            .join("gpubench")
            .join("kernels")
            .into_std_path_buf();
        for (library, catalog) in self.catalogs.iter().enumerate() {
            let positions: Vec<usize> = (0..self.cases.len())
                .filter(|position| {
                    let case = &self.cases[*position];
                    self.library_of(case) == library && case.disposition == Disposition::Run
                })
                .collect();
            let cases: Vec<&Case> = positions.iter().map(|position| &self.cases[*position]).collect();
            reporting.phase(Phase::Recording);
            let facts = self.facts;
            let Ok(recorded) = record_cases(&cases, library, catalog, facts, authors, self.interrupt) else {
                return Err(Interrupted);
            };
            reporting.phase(Phase::Compiling);
            let recordings = recorded.iter().flatten().map(|recorded| &recorded.recording);
            let modules = kernels::compile(compiler, catalog, recordings, &cache);
            reporting.show_compile_errors(&modules);
            for (position, recorded) in positions.into_iter().zip(recorded) {
                prepared[position] = Some(recorded.and_then(|recorded| with_modules(recorded, &modules)));
            }
        }
        let skipped = || Err(CaseFailure::error(Cause::Internal, "it was not prepared"));
        Ok(prepared
            .into_iter()
            .map(|prepared| prepared.unwrap_or_else(skipped))
            .collect())
    }

    #[expect(clippy::too_many_arguments, reason = "a case meets every part of the run once")]
    fn run_case(
        &self,
        number: u64,
        case: &Case,
        announced: &BenchmarkStarted,
        (recorded, modules): &(RecordedCase, Vec<(u32, PathBuf)>),
        seeds: &Seeds,
        authors: &mut Authors<'_>,
        referee: &mut Option<RefereeClient>,
        reporting: &mut Reporting,
    ) -> Result<BenchmarkComplete, Interrupted> {
        let stopping = self.options.measurement.stopping;
        let tick_ns = self.facts.clock_tick_ns;
        let clock_bound: &ClockBound = &self.facts.clock_bound;
        let protocol = Protocol {
            warm_up: WarmUpRule {
                tick_ns,
                ..WarmUpRule::default()
            },
            stop: StopRule {
                target_cv: stopping.target_cv,
                min_samples: stopping.min_samples as usize,
                max_samples: stopping.max_samples as usize,
                max_time: stopping.max_time,
                tick_ns,
                ..StopRule::default()
            },
            within: self.options.measurement.limits.window,
            threads: self.facts.device.multiprocessors,
            output: user_output(self.options),
            clock_bound,
            seeds,
            interrupt: self.interrupt,
        };
        let ready = ReadyCase {
            number,
            benchmark: case.benchmark as u32,
            request: &recorded.request,
            recording: &recorded.recording,
            encoded: &recorded.encoded,
            modules,
        };
        let attempt = (|| {
            let referee = self.referee(seeds, referee)?;
            let author = authors
                .client(self.library_of(case))
                .map_err(super::measure::MeasureError::Attach)?;
            measure(&ready, &protocol, referee, author, &mut |samples| {
                reporting.progress(samples)
            })
        })();
        match attempt {
            Ok(measured) => {
                let mut result = self.result(case, announced, Verdict::Pass);
                fill_in(&mut result, &recorded.recording, measured, stopping.target_cv);
                Ok(result)
            }
            Err(error) => {
                let failure = CaseFailure::of_measuring(&error).ok_or(Interrupted)?;
                // Its state is unknown now; the next case gets a new one.
                *referee = None;
                Ok(self.failed(case, announced, failure))
            }
        }
    }

    fn referee<'r>(
        &self,
        seeds: &Seeds,
        slot: &'r mut Option<RefereeClient>,
    ) -> Result<&'r mut RefereeClient, super::measure::MeasureError> {
        let referee = match slot.take() {
            Some(referee) => referee,
            None => {
                let hello = Hello {
                    master_seed: *seeds.master(),
                    flush_bytes: self.options.measurement.flush_bytes,
                    threads: self.facts.device.multiprocessors,
                    flush_kind: FlushKind::default().number(),
                };
                RefereeClient::spawn(&hello, Output::Captured, self.interrupt)
                    .map_err(super::measure::MeasureError::Open)?
            }
        };
        Ok(slot.insert(referee))
    }

    fn result(&self, case: &Case, announced: &BenchmarkStarted, verdict: Verdict) -> BenchmarkComplete {
        let device = environment::device(self.facts).short();
        let mut result = BenchmarkComplete::unmeasured(announced, device, verdict);
        let benchmark = self.catalogs[self.library_of(case)].benchmarks.get(case.benchmark);
        result.problem = benchmark.map(|benchmark| benchmark.problem.clone());
        result
    }

    fn skipped(&self, case: &Case, announced: &BenchmarkStarted, reason: &str) -> BenchmarkComplete {
        let mut result = self.result(case, announced, Verdict::Skipped);
        result.cause = Some(Cause::Unsupported);
        result.message = Some(reason.to_owned());
        result
    }

    fn failed(&self, case: &Case, announced: &BenchmarkStarted, failure: CaseFailure) -> BenchmarkComplete {
        let mut result = self.result(case, announced, failure.verdict);
        result.cause = Some(failure.cause);
        result.message = Some(failure.message);
        result
    }
}

/// The modules a recorded case uses, or the failure of the first that did not compile.
fn with_modules(recorded: RecordedCase, modules: &Modules) -> Prepared {
    let mut used: Vec<(u32, PathBuf)> = Vec::new();
    for kernel in kernels::kernels_of(&recorded.recording) {
        if used.iter().any(|(source, _)| *source == kernel.source) {
            continue;
        }
        match modules.get(&kernel.source) {
            Some(Ok(path)) => used.push((kernel.source, path.clone())),
            Some(Err(failure)) => return Err(failure.clone()),
            None => return Err(CaseFailure::error(Cause::Internal, "its kernels were not compiled")),
        }
    }
    Ok((recorded, used))
}

/// Whether a cause leaves the author in a state that no other case should meet.
fn is_of_author(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::ReferenceFailed
            | Cause::ReferenceTimeout
            | Cause::GeneratorFailed
            | Cause::GeneratorTimeout
            | Cause::AuthorFailed
            | Cause::RefereeFailed
            | Cause::WorkerFailed
            | Cause::Internal
    )
}
