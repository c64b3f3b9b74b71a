//! The calls of the selected cases, on the CPU device.

use std::collections::HashSet;

use gpubench::catalog::{Catalog, OccupancyQuery, Recording, Tensor};

use super::LintOptions;
use crate::broker::cases::{Case, CaseDevice, Disposition, Naming};
use crate::broker::choice::chosen::cases_of;
use crate::broker::code::kernels::{self, KernelBuild, Modules};
use crate::broker::code::occupancy::Occupancies;
use crate::broker::libraries::authors::Authors;
use crate::broker::recording::recordings::{RecordedCase, Subject, record_cases};
use crate::cdylibs::{Built, packages_of};
use gpubench_contract::Cause;
use gpubench_device::FrozenFile;
use gpubench_device::compilers::{HostCompiler, NoHostCompiler};
use gpubench_device::cpu::{self, available_threads};
use gpubench_diagnostic::{Failure, InternalError, Interrupted, chain};
use gpubench_measure::clients::Interrupt;
use gpubench_measure::lint::{AuthorAfterwards, Bench, LintCase, LintError, LintLimits, OutputReport};
use gpubench_measure::measurement::CaseFailure;
use gpubench_protocol::window::case_number;
use gpubench_protocol::wire::SourceModule;

/// The seed of all inputs. The same findings appear every time, whoever runs the command.
const MASTER: [u8; 32] = *b"the inputs that a problem meets.";

/// What was found out about the selected cases.
#[derive(Debug, Default)]
pub(super) struct Judged {
    /// The cases that were judged. Of equal cases of a problem it has one.
    pub(super) cases: Vec<JudgedCase>,
    /// The names of cases that could not be judged, with the reasons.
    pub(super) failures: Vec<(String, CaseFailure)>,
    /// The names of cases that are not judged because a tensor holds structs, with its name.
    pub(super) with_structs: Vec<(String, String)>,
    /// The number of cases that are not for the CPU device, or skip themselves.
    pub(super) skipped: usize,
}

/// The message if there is no such case.
pub(super) const NOTHING_JUDGED: &str =
    "no case was judged: the selected ones are not for the CPU device, hold structs, or skipped";

impl Judged {
    /// Whether there was nothing to judge.
    pub(super) fn has_judged_nothing(&self) -> bool {
        self.cases.is_empty() && self.failures.is_empty()
    }
}

/// A judged case.
#[derive(Debug)]
pub(super) struct JudgedCase {
    pub(super) name: String,
    /// Positions of the library and of the benchmark in its catalog.
    pub(super) library: usize,
    pub(super) benchmark: usize,
    pub(super) outputs: Vec<OutputReport>,
}

/// Judges the selected cases, of each problem the smallest first.
///
/// # Errors
/// No case is selected, there is no CPU device, or the user interrupts.
pub(super) fn judge(
    options: &LintOptions,
    built: &Built,
    catalogs: &[Catalog],
    mut authors: Authors<'_>,
    interrupt: &Interrupt,
) -> Result<Judged, Failure> {
    let facts = cpu::facts(available_threads());
    let cases = cases_of(built, catalogs, CaseDevice::from_facts(&facts), &options.cases)?;
    let naming = Naming::for_packages(packages_of(&built.libraries).len());
    let compiler = HostCompiler::find().map_err(NoHostCompiler)?;
    let cache = kernels::cache_below(&built.target_directory);
    let mut bench = Bench::open(None, MASTER).map_err(InternalError::because("cannot open the CPU device"))?;
    let limits = LintLimits {
        case: options.trial_time,
        reference: options.within,
    };
    let (to_run, skipped): (Vec<&Case>, Vec<&Case>) =
        cases.iter().partition(|case| case.disposition == Disposition::Run);
    let mut judged = Judged {
        skipped: skipped.len(),
        ..Judged::default()
    };
    let mut known = HashSet::new();
    for (library, catalog) in catalogs.iter().enumerate() {
        let of_library: Vec<&Case> = to_run.iter().copied().filter(|case| case.library == library).collect();
        let build = KernelBuild {
            compiler: &compiler,
            catalog,
            cache: &cache,
            interrupt,
            most: None,
        };
        // The answer affects how a kernel is launched, and none is.
        let mut ask = |_: &FrozenFile, _: &OccupancyQuery| Ok(1);
        let recorded = record_cases(
            &of_library,
            library,
            &facts,
            &mut authors,
            Occupancies::new(build, &mut ask),
            Subject::Problems,
        )?;
        let mut ready: Vec<(&Case, RecordedCase)> = Vec::new();
        for (case, recorded) in of_library.into_iter().zip(recorded) {
            match recorded {
                Ok(recorded) if known.insert(problem_case(case, catalog, &recorded.recording)) => {
                    ready.push((case, recorded));
                }
                Ok(_) => {}
                Err(failure) if failure.verdict.is_failure() => judged.failures.push((case.name_as(naming), failure)),
                Err(_) => judged.skipped += 1,
            }
        }
        ready.sort_by_key(|(_, recorded)| recorded.recording.tensors.iter().map(Tensor::bytes).sum::<u64>());
        let modules = build.compile(ready.iter().map(|(_, recorded)| &recorded.recording));
        for (case, recorded) in ready {
            let name = case.name_as(naming);
            if let Some(tensor) = recorded.recording.tensors.iter().find(|tensor| tensor.record.is_some()) {
                judged.with_structs.push((name, tensor.name.clone()));
                continue;
            }
            let found = modules_of(&recorded.recording, &modules).and_then(|own_modules| {
                let author = authors.client(library);
                let author = author.map_err(|problem| CaseFailure::author(Cause::AuthorFailed, &problem))?;
                let lint_case = LintCase {
                    number: case_number(&case.full_name()),
                    benchmark: case.benchmark as u32,
                    request: &recorded.request,
                    recording: &recorded.recording,
                    encoded: &recorded.encoded,
                    own_modules: &own_modules,
                };
                bench
                    .lint(lint_case, author, limits, interrupt)
                    .map_err(|error| explain(&error))
            });
            if interrupt.is_set() {
                return Err(Interrupted.into());
            }
            match found {
                Ok(report) => {
                    if report.author == AuthorAfterwards::Lost {
                        authors.retire(library);
                    }
                    judged.cases.push(JudgedCase {
                        name,
                        library,
                        benchmark: case.benchmark,
                        outputs: report.outputs,
                    });
                }
                Err(failure) => {
                    authors.retire(library);
                    judged.failures.push((name, failure));
                }
            }
        }
    }
    Ok(judged)
}

/// Returns a text that two cases share if they have the same inputs, reference and tolerance: those
/// of one problem that only differ in the kernel.
fn problem_case(case: &Case, catalog: &Catalog, recording: &Recording) -> String {
    let benchmark = catalog.benchmarks.get(case.benchmark);
    let problem = benchmark.map_or("", |benchmark| &benchmark.problem);
    let own = benchmark.map_or(&[][..], |benchmark| &benchmark.own_axes);
    let params: Vec<_> = case.params.iter().filter(|(name, _)| !own.contains(name)).collect();
    format!("{} {problem} {params:?} {:?}", case.library, recording.tensors)
}

/// Returns the compiled sources of generators and reference.
fn modules_of(recording: &Recording, compiled: &Modules) -> Result<Vec<SourceModule>, CaseFailure> {
    let mut modules: Vec<SourceModule> = Vec::new();
    for kernel in kernels::own_kernels(recording) {
        let library = kernels::library_of(compiled, kernel)?;
        if !modules.iter().any(|(source, _)| *source == kernel.source) {
            modules.push((kernel.source, library.clone()));
        }
    }
    Ok(modules)
}

fn explain(error: &LintError) -> CaseFailure {
    let internal = || CaseFailure::error(Cause::Internal, chain(error));
    match error {
        LintError::Measure(error) => CaseFailure::of_measuring(error).unwrap_or_else(internal),
        LintError::Device(_) => internal(),
    }
}
