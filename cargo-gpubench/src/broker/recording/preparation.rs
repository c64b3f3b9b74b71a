//! Preparation of the selected cases before any measurement: recording, then compilation.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::sync::OnceLock;

use gpubench::catalog::{Catalog, Execution, OccupancyQuery, Recording};
use gpubench::codec;
use gpubench::plan::KernelRef;

use super::host_code::{HostCode, HostCodes};
use super::recordings::{RecordedCase, Subject, record_cases};
use super::selected::Side;
use crate::archive::Digest;
use crate::broker::cases::{Case, Disposition};
use crate::broker::code::gpu_check::{GpuRefusals, may_run_on_a_gpu};
use crate::broker::code::kernel_uses::image_of;
use crate::broker::code::kernels::{self, KernelBuild, Modules};
use crate::broker::code::machine_code::{CaseMachineCode, MachineCodes};
use crate::broker::code::occupancy::{AskDevice, Occupancies};
use crate::broker::grading::Library;
use crate::broker::options::Verbosity;
use crate::broker::status::status;
use crate::cdylibs::BuiltLibrary;
use gpubench_contract::{Cause, Launching, Mode};
use gpubench_device::cuda::KernelImage;
use gpubench_device::{Facts, FrozenFile};
use gpubench_diagnostic::Interrupted;
use gpubench_diagnostic::print_warning;
use gpubench_measure::clients::Interrupt;
use gpubench_measure::measurement::{CaseFailure, CaseLibrary, ReadyCase};
use gpubench_measure::verdict::floor_ns;
use gpubench_protocol::window::{WindowCalls, unrolled};
use gpubench_protocol::wire::SourceModule;
use gpubench_report::Phase;

/// A case that is ready to be measured.
#[derive(Debug)]
pub(crate) struct PreparedCase {
    /// The recording.
    pub(crate) recorded: RecordedCase,
    /// The compiled sources of its plan, by their positions in the catalog.
    modules: Vec<SourceModule>,
    /// The compiled sources of its generators and its reference.
    own_modules: Vec<SourceModule>,
    /// The machine code of the kernels of its plan, if they are counted.
    pub(crate) machine_code: CaseMachineCode,
    /// The compilers of the kernels that its plan launches, each once.
    pub(crate) compilers: Vec<String>,
    /// Position of the benchmark, or of the problem of a submission, for the author.
    benchmark: u32,
    /// The host code of a hosted benchmark: its own library, or the cdylib after the libraries that
    /// it needs.
    library: Vec<FrozenFile>,
    /// Folders of shared libraries that the cdylib loads at run time.
    search: Vec<PathBuf>,
    /// The digest of the benchmark's own library.
    pub(crate) own_library: Option<Digest>,
    /// The reference as a case of its own, if this one alternates with it.
    pub(crate) reference: Option<Box<PreparedCase>>,
    /// The number of calls in a sample of each mode and their recording, once it is needed.
    of_calls: [OnceLock<(NonZeroU32, Recording, Vec<u8>)>; Mode::ALL.len()],
}

/// Inputs that alternating cases share.
#[derive(Clone, Copy)]
pub(crate) struct CaseInputs<'g> {
    pub(crate) number: u64,
    pub(crate) annotation: Option<&'g str>,
    pub(crate) facts: &'g Facts,
    pub(crate) mode: Mode,
    pub(crate) flush_bytes: u64,
    /// Number of calls in a sample.
    pub(crate) calls: NonZeroU32,
}

impl PreparedCase {
    /// Returns the compiled file of a kernel of the plan.
    pub(crate) fn module_of(&self, kernel: &KernelRef) -> Option<&FrozenFile> {
        let mut modules = self.modules.iter();
        modules.find_map(|(source, file)| (*source == kernel.source).then_some(file))
    }

    /// Returns the symbols by which the driver knows the kernels that a call launches, each as
    /// often as it does. `None` if a compiled file cannot be read.
    pub(crate) fn symbols(&self) -> Option<Vec<String>> {
        let images = self.modules.iter();
        let images = images.map(|(source, file)| Some((*source, image_of(file)?)));
        let images: Vec<(u32, KernelImage)> = images.collect::<Option<_>>()?;
        let symbol = |kernel: &KernelRef| {
            let (_, image) = images.iter().find(|(source, _)| *source == kernel.source)?;
            Some(image.symbol(&kernel.name).to_owned())
        };
        kernels::kernels_under_test(&self.recorded.recording)
            .map(symbol)
            .collect()
    }

    /// Returns the case in the form in which it is measured.
    pub(crate) fn ready<'g>(&'g self, inputs: &CaseInputs<'g>) -> ReadyCase<'g> {
        let RecordedCase {
            request,
            recording,
            encoded,
        } = &self.recorded;
        let floor_ns = floor_ns(recording, inputs.facts, inputs.mode, inputs.flush_bytes);
        let (calls, recording, encoded) = match inputs.mode.launching() {
            Launching::Alone => (NonZeroU32::MIN, recording, encoded),
            Launching::BackToBack | Launching::InGraph => {
                let (calls, recording, encoded) = self.of_calls[inputs.mode as usize].get_or_init(|| {
                    let recording = unrolled(recording, inputs.calls);
                    let encoded = codec::encode(&recording);
                    (inputs.calls, recording, encoded)
                });
                (*calls, recording, encoded)
            }
        };
        ReadyCase {
            number: inputs.number,
            benchmark: self.benchmark,
            request,
            recording,
            encoded,
            modules: &self.modules,
            own_modules: &self.own_modules,
            calls: WindowCalls {
                mode: inputs.mode,
                count: calls,
            },
            floor_ns,
            annotation: inputs.annotation,
            library: CaseLibrary {
                files: &self.library,
                search: &self.search,
            },
        }
    }
}

#[cfg(test)]
impl PreparedCase {
    /// Returns a case whose kernels are not compiled.
    pub(crate) fn uncompiled(recording: Recording) -> PreparedCase {
        PreparedCase {
            recorded: RecordedCase {
                request: Vec::new(),
                encoded: codec::encode(&recording),
                recording,
            },
            modules: Vec::new(),
            own_modules: Vec::new(),
            machine_code: CaseMachineCode::default(),
            compilers: Vec::new(),
            benchmark: 0,
            library: Vec::new(),
            search: Vec::new(),
            own_library: None,
            reference: None,
            of_calls: Default::default(),
        }
    }
}

/// A prepared case, or its failure; `None` for a skipped case.
pub(crate) type Prepared = Option<Result<PreparedCase, CaseFailure>>;

impl Side<'_> {
    /// Prepares every case that is to run, in order, without those at the positions `left_out`. A
    /// case that cannot be prepared does not stop the others.
    pub(crate) fn prepare(
        &mut self,
        left_out: &BTreeSet<usize>,
        ask_device: &mut AskDevice<'_>,
        phase: &mut dyn FnMut(Phase),
        interrupt: &Interrupt,
    ) -> Result<Vec<Prepared>, Interrupted> {
        let (selected, compiler) = (self.selected, &*self.compiler);
        let mut prepared: Vec<_> = selected.cases.iter().map(|_| None).collect();
        let cache = kernels::cache_below(selected.target_directory);
        for (library, catalog) in selected.catalogs.iter().enumerate() {
            let (positions, cases): (Vec<usize>, Vec<&Case>) = selected
                .cases
                .iter()
                .enumerate()
                .filter(|(_, case)| case.disposition == Disposition::Run && case.library == library)
                .filter(|(position, _)| !left_out.contains(position))
                .unzip();
            phase(Phase::Recording);
            let mut host_codes = HostCodes::default();
            let mut ask = |module: &FrozenFile, query: &OccupancyQuery| ask_device(module, query);
            let build = KernelBuild {
                compiler,
                catalog,
                cache: &cache,
                interrupt,
                most: selected.entrants.map(|entrants| entrants.compile_within),
            };
            let occupancies = Occupancies::new(build, &mut ask);
            let recorded = record_cases(
                &cases,
                library,
                selected.facts,
                &mut self.authors,
                occupancies,
                selected.entrants.map_or(Subject::Benchmarks, Subject::Submissions),
            )?;
            phase(Phase::Compiling);
            let recordings = recorded.iter().flatten().map(|recorded| &recorded.recording);
            let modules = build.compile(recordings);
            let library_of_submission = |case: &Case| selected.entrants.and_then(|entrants| entrants.library(case));
            let called = cases.iter().filter_map(|case| match library_of_submission(case) {
                Some(Library::Compiled { source, linked }) => Some((source, linked)),
                Some(Library::Given(_)) | None => None,
            });
            let compiled_libraries = build.compile_libraries(&called.collect());
            kernels::notices(&modules).for_each(|notice| print_warning(&notice));
            let mut refusals = GpuRefusals::default();
            if let Some(check) = &self.gpu_check {
                let for_gpus = cases.iter().zip(&recorded).filter_map(|(case, recorded)| {
                    let benchmark = selected.benchmark(case)?;
                    let recorded = recorded.as_ref().ok()?;
                    may_run_on_a_gpu(benchmark).then_some(&recorded.recording)
                });
                let (refused, notices) = build.check(check, &modules, for_gpus);
                notices.iter().for_each(|notice| print_warning(notice));
                refusals = refused;
            }
            self.name_files(catalog, &modules);
            if interrupt.is_set() {
                return Err(Interrupted);
            }
            let counted = cases
                .iter()
                .zip(&recorded)
                .filter(|(case, _)| case.metrics.counts_instructions());
            let counted = counted.filter_map(|(_, recorded)| Some(&recorded.as_ref().ok()?.recording));
            let codes = match &self.disassembler {
                Some(disassembler) => MachineCodes::read(disassembler, &modules, counted, interrupt)?,
                None => MachineCodes::default(),
            };
            for (position, recorded) in positions.into_iter().zip(recorded) {
                let (case, library) = (&selected.cases[position], &selected.libraries[library]);
                let benchmark = selected.benchmark(case);
                let own = benchmark.and_then(|benchmark| benchmark.own_library.as_deref());
                let host_code = match library_of_submission(case) {
                    Some(Library::Given(copy)) => HostCode::of_submission(copy.clone(), &[]),
                    Some(Library::Compiled { source, linked }) => {
                        HostCode::of_submission(compiled(&compiled_libraries, source), linked)
                    }
                    None => host_codes.of_case(library, own),
                };
                prepared[position] = Some(recorded.and_then(|recorded| {
                    refuse_command_of_archive(library, &recorded.recording)?;
                    let host_code = host_code?.agreeing_with(&recorded)?;
                    host_codes.ensure_one_gpu(&host_code, &recorded)?;
                    let refusal = benchmark.and_then(|benchmark| refusals.of(benchmark, &recorded.recording));
                    match refusal {
                        Some(refusal) => Err(refusal.clone()),
                        None => prepared_case(
                            selected.position_for_author(case),
                            host_code,
                            recorded,
                            &modules,
                            &codes,
                        )
                        .and_then(|prepared| match selected.entrants {
                            Some(entrants) if entrants.has_reference_in_turns(case) => {
                                prepared.with_reference(&modules)
                            }
                            _ => Ok(prepared),
                        }),
                    }
                }));
            }
        }
        Ok(prepared)
    }

    /// Names the file with the compiled kernels of each source, with `--verbose`.
    fn name_files(&self, catalog: &Catalog, modules: &Modules) {
        if self.verbosity != Verbosity::Verbose {
            return;
        }
        for (source, path) in kernels::files(modules) {
            let source = &catalog.sources[source as usize].name;
            let what = format_args!("{source} for {} ({})", self.compiler.target(), path.display());
            status(self.verbosity, "Compiled", what);
        }
    }
}

/// Returns the compiler messages of cases that cannot be prepared, each text once.
pub(crate) fn compile_errors(prepared: &[Prepared]) -> Vec<&str> {
    let failures = prepared.iter().flatten().filter_map(|case| case.as_ref().err());
    let mut errors = Vec::new();
    for failure in failures.filter(|failure| matches!(failure.cause, Cause::CompileFailed | Cause::DiskFull)) {
        if !errors.contains(&failure.message.as_str()) {
            errors.push(&failure.message);
        }
    }
    errors
}

/// Fails if an archive names a command to run. Whoever measures a crate has built it, and so has
/// run what its author wrote. An archive may come from anybody, and lacks the command's files.
fn refuse_command_of_archive(library: &BuiltLibrary, recording: &Recording) -> Result<(), CaseFailure> {
    match recording.reference.provider() {
        Some(provider) if library.is_archived() => {
            let command = gpubench_diagnostic::printable_line(&provider.command.join(" "));
            let message = format!(
                "the reference is the command `{command}`, and no command of an archive is run (hint: measure the crate itself, or write the \
                 reference in Rust)"
            );
            Err(CaseFailure::error(Cause::ReferenceFailed, message))
        }
        _ => Ok(()),
    }
}

/// Returns the library that was compiled from a submission's source.
fn compiled(
    libraries: &BTreeMap<u32, Result<FrozenFile, CaseFailure>>,
    source: u32,
) -> Result<FrozenFile, CaseFailure> {
    let missing = || CaseFailure::error(Cause::Internal, "its library was not compiled");
    libraries.get(&source).ok_or_else(missing)?.clone()
}

/// Returns a recorded case with its modules, or the failure of the first that did not compile.
fn prepared_case(
    benchmark: u32,
    host_code: HostCode,
    recorded: RecordedCase,
    compiled: &Modules,
    codes: &MachineCodes,
) -> Result<PreparedCase, CaseFailure> {
    let modules = modules_of(kernels::kernels_under_test(&recorded.recording), compiled)?;
    let own_modules = modules_of(kernels::own_kernels(&recorded.recording), compiled)?;
    Ok(PreparedCase {
        compilers: kernels::makers_of(compiled, kernels::kernels_under_test(&recorded.recording)),
        machine_code: codes.of_case(&recorded.recording),
        recorded,
        modules,
        own_modules,
        benchmark,
        library: host_code.files,
        search: host_code.search,
        own_library: host_code.own,
        reference: None,
        of_calls: Default::default(),
    })
}

impl PreparedCase {
    /// Returns the case with its reference as another one: the same tensors, and the reference's
    /// launches in place of its own. One whose reference launches nothing stays as it is.
    fn with_reference(self, compiled: &Modules) -> Result<PreparedCase, CaseFailure> {
        let Some(plan) = self.recorded.recording.reference.plan() else {
            return Ok(self);
        };
        let recording = Recording {
            plan: plan.clone(),
            execution: Execution::Sealed,
            call: None,
            ..self.recorded.recording.clone()
        };
        let under_test = || kernels::kernels_under_test(&recording);
        let reference = PreparedCase {
            modules: modules_of(under_test(), compiled)?,
            own_modules: self.own_modules.clone(),
            machine_code: CaseMachineCode::default(),
            compilers: kernels::makers_of(compiled, under_test()),
            benchmark: self.benchmark,
            library: Vec::new(),
            search: Vec::new(),
            own_library: None,
            reference: None,
            of_calls: Default::default(),
            recorded: RecordedCase {
                request: self.recorded.request.clone(),
                encoded: codec::encode(&recording),
                recording,
            },
        };
        Ok(PreparedCase {
            reference: Some(Box::new(reference)),
            ..self
        })
    }
}

/// Returns the modules of some kernels, each once.
fn modules_of<'a>(
    kernels: impl Iterator<Item = &'a KernelRef>,
    compiled: &Modules,
) -> Result<Vec<SourceModule>, CaseFailure> {
    let mut used: Vec<SourceModule> = Vec::new();
    for kernel in kernels {
        let library = kernels::library_of(compiled, kernel)?;
        if !used.iter().any(|(source, _)| *source == kernel.source) {
            used.push((kernel.source, library.clone()));
        }
    }
    Ok(used)
}
