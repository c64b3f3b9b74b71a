//! The command from its options to its exit code.

use gpubench::catalog::DeviceKind;

use super::against::opponent::{Opponent, OtherCases};
use super::against::other_revision::Opposition;
use super::campaign::Campaign;
use super::cases::{Case, Naming, write_names};
use super::choice::{cases_left_out, choose_cases, choose_other_cases};
use super::code::compilers::compiler_for;
use super::code::libraries::Libraries;
use super::options::{
    Action, Annotations, DeviceChoice, LibrarySource, MessageFormat, ResultOptions, ResultSource, RunOptions, Verbosity,
};
use super::overrides::warn_of_idle_overrides;
use super::places::Places;
use super::recording::authors::{AuthorSettings, Authors};
use super::selected::Selected;
use super::stored::bookkeeping::Bookkeeping;
use super::stored::loaded_run::show_loaded_run;
use super::stored::noise_floors::NoiseFloors;
use crate::build::{Built, BuiltLibrary};
use crate::error::ExpectedError;
use gpubench_contract::{BenchmarkListed, Record, SchemaVersion};
use gpubench_device::DeviceOrder;
use gpubench_device::compilers::Processors;
use gpubench_device::cpu::{self, available_threads};
use gpubench_device::{Absence, AbsenceKind, Facts};
use gpubench_diagnostic::ExitCode;
use gpubench_diagnostic::{chain, print_warning};
use gpubench_measure::clients::{Interrupt, Output, RefereeClient, RoleFailure, adopt_orphans, allow_many_descriptors};
use gpubench_measure::probe::{Answer, Target, ask};
use gpubench_protocol::sandbox::hide_from_others;
use gpubench_report::json_line;
use gpubench_store::Listing;

/// Does what the options say.
///
/// # Errors
///
/// Whatever keeps the run from having a result for every selected case. A benchmark that fails is a result.
pub fn run(options: &RunOptions) -> Result<ExitCode, ExpectedError> {
    let results = match options.action {
        Action::Measure => options.results.clone(),
        Action::List | Action::Build | Action::Test | Action::Profile(_) => ResultOptions::default(),
    };
    let places = Places::of(&options.libraries, &results)?;
    let mut bookkeeping = Bookkeeping::open(&results, &places, options.output.verbosity)?;
    if let ResultSource::Loaded(name) = &results.source {
        return show_loaded_run(name, options, &places, bookkeeping);
    }
    let interrupt = Interrupt::catch().map_err(|source| ExpectedError::Internal {
        what: "cannot listen to signals".to_owned(),
        source: source.into(),
    })?;
    // The master seed is drawn in this process, and every buffer passes through it.
    hide_from_others().map_err(|source| ExpectedError::Internal {
        what: "cannot close the memory of this process to others".to_owned(),
        source: source.into(),
    })?;
    let verbosity = options.output.verbosity;
    let opposition = results
        .against
        .as_ref()
        .map(|source| Opposition::obtain(source, &options.libraries, verbosity, &interrupt))
        .transpose()?;
    let libraries = Libraries::obtain(&options.libraries, &interrupt)?;
    let other = opposition
        .map(|opposition| opposition.build(verbosity, &interrupt))
        .transpose()?;
    let built = &libraries.built;
    if let Some(archive) = libraries.archive() {
        if other.is_some() && verbosity > Verbosity::Quiet {
            anstream::eprintln!("    Unpacked the candidate, {archive}");
        }
        bookkeeping.heed_archive(archive);
    }
    if options.action == Action::Build {
        if verbosity > Verbosity::Quiet {
            name_libraries(built);
        }
        return Ok(ExitCode::Success);
    }
    if options.annotations == Annotations::Nvtx {
        require_nvtx()?;
    }
    adopt_orphans();
    allow_many_descriptors();
    let Chosen { device, facts, referee } = choose_device(options, &interrupt)?;
    let settings = AuthorSettings {
        within: options.measurement.everywhere().limits.reference,
        output: options.user_output(),
        interrupt: &interrupt,
    };
    let (authors, catalogs) = Authors::start(&built.libraries, settings).map_err(|error| libraries.explain(error))?;
    let cases = choose_cases(options, built, &catalogs, &facts)?;
    if cases.is_empty() && options.output.verbosity > Verbosity::Quiet {
        anstream::eprintln!("        Note every selected case is in another part of `--partition`: this part has none");
    }
    let packages: Vec<String> = built.libraries.iter().map(|library| library.package.clone()).collect();
    let left_out = cases_left_out(&cases, built, &catalogs, &facts)?;
    if let LibrarySource::Build(_) = options.libraries {
        remember_names(built, &packages, cases.iter().chain(&left_out));
    }
    warn_of_idle_overrides(&options.measurement.cases.overrides, &cases, built, &catalogs);
    if options.action == Action::List {
        return list(&cases, built, options.output.format);
    }
    bookkeeping.heed(NoiseFloors::of(&options.measurement.cases, &built.libraries));
    bookkeeping.fit_baseline(&options.cases.names, &packages, &cases, &left_out)?;
    bookkeeping.heed_what_is_saved(&options.cases, &packages, &cases, &left_out);
    let selected = Selected {
        libraries: &built.libraries,
        target_directory: &built.target_directory,
        catalogs: &catalogs,
        cases: &cases,
        device,
        facts: &facts,
    };
    let processors = match &other {
        Some(other) if other.is_measured_as_archived(&libraries, &facts.device) => Processors::Baseline,
        _ => Processors::Here,
    };
    let here = || compiler_for(&facts, &options.device, processors);
    let compiler = libraries.compiler(&facts.device, &catalogs, here())?;
    let campaign = Campaign::new(options, selected, compiler, authors, referee, bookkeeping, &interrupt)?;
    let Some(other) = &other else {
        return campaign.measure();
    };
    let (their_authors, their_catalogs) = other.authors(settings)?;
    let their_compiler = other.compiler(&facts.device, &their_catalogs, here)?;
    let theirs = choose_other_cases(options, other, &their_catalogs, &facts);
    let their_cases = OtherCases::beside(&cases, &left_out, theirs);
    if their_cases.are_all_strange() {
        let name = other.name();
        print_warning(&format!(
            "the baseline, `{name}`, has none of the selected benchmarks: nothing is compared"
        ));
    }
    let opponent = Opponent::new(
        other,
        &their_cases,
        &their_catalogs,
        their_authors,
        their_compiler,
        selected,
    );
    campaign.against(opponent).measure()
}

/// Ranges that reach nobody would look like a profiler's failure.
fn require_nvtx() -> Result<(), ExpectedError> {
    match ask::<String>(Target::Nvtx) {
        Answer::Given(_) => Ok(()),
        Answer::Absent(Absence { reason, hint, .. }) => Err(ExpectedError::SetupMissing { what: reason, hint }),
        Answer::Broken { how } => Err(ExpectedError::SetupMissing {
            what: format!("the profiler's library {how}"),
            hint: "leave `--nvtx` out, or use another version of the profiler".to_owned(),
        }),
    }
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

/// The device of a run.
struct Chosen {
    device: DeviceOrder,
    facts: Facts,
    /// The referee that found the facts out, where one had to.
    referee: Option<RefereeClient>,
}

fn choose_device(options: &RunOptions, interrupt: &Interrupt) -> Result<Chosen, ExpectedError> {
    match options.device.choice {
        DeviceChoice::Kind(DeviceKind::Cpu) => choose_cpu(options),
        DeviceChoice::Kind(DeviceKind::Cuda) => choose_cuda(options, interrupt)?.map_err(|absence| {
            let Absence { reason, hint, .. } = absence;
            let hint = pointing_to_the_doctor(hint);
            ExpectedError::SetupMissing { what: reason, hint }
        }),
        DeviceChoice::Auto => match choose_cuda(options, interrupt)? {
            Ok(chosen) => Ok(chosen),
            Err(absence) => {
                if absence.kind == AbsenceKind::Unusable {
                    print_warning(&format!("no GPU is used: {absence}"));
                }
                choose_cpu(options)
            }
        },
    }
}

fn choose_cpu(options: &RunOptions) -> Result<Chosen, ExpectedError> {
    if let Err(reason) = gpubench_harness::HOST_BUILD {
        return Err(ExpectedError::SetupMissing {
            what: format!("this tool was built without the CPU device: {reason}"),
            hint: "build the tool again where a C++ compiler is found as `c++` or named in `CXX`".to_owned(),
        });
    }
    let facts = cpu::facts(options.device.threads.unwrap_or_else(available_threads));
    Ok(Chosen {
        device: DeviceOrder::cpu(facts.device.multiprocessors, options.measurement.schedule),
        facts,
        referee: None,
    })
}

/// Where the first thing is missing, others may be: the doctor looks at all of them.
fn pointing_to_the_doctor(hint: String) -> String {
    if hint.contains("`cargo gpubench doctor`") {
        return hint;
    }
    format!("{hint}; `cargo gpubench doctor` says what else a GPU needs")
}

/// The GPU, or why there is none. Only the referee has a context on it, so only the referee can tell.
fn choose_cuda(options: &RunOptions, interrupt: &Interrupt) -> Result<Result<Chosen, Absence>, ExpectedError> {
    let device = DeviceOrder::cuda(options.device.ordinal);
    match RefereeClient::spawn(&device, Output::Captured, interrupt) {
        Ok(referee) => Ok(Ok(Chosen {
            device,
            facts: referee.facts().clone(),
            referee: Some(referee),
        })),
        Err(RoleFailure::NoDevice(absence)) => Ok(Err(absence)),
        Err(RoleFailure::Interrupted) => Err(ExpectedError::Interrupted),
        Err(failure) => Ok(Err(Absence {
            kind: AbsenceKind::Unusable,
            reason: format!("the GPU cannot be opened: {}", gpubench_diagnostic::chain(&failure)),
            hint: "`cargo gpubench doctor` says what this machine can do".to_owned(),
        })),
    }
}

/// For commands that build nothing. They say so where they know no names, so a target directory that is full is no reason not to measure.
fn remember_names<'a>(built: &Built, packages: &[String], cases: impl Iterator<Item = &'a Case>) {
    let names: Vec<String> = cases.map(Case::full_name).collect();
    if let Err(error) = Listing::remember(&built.target_directory, packages, &names) {
        print_warning(&format!(
            "the names of the cases are not noted for `show-config`: {}",
            chain(&error)
        ));
    }
}

fn list(cases: &[Case], built: &Built, format: MessageFormat) -> Result<ExitCode, ExpectedError> {
    let naming = Naming::for_packages(built.libraries.len());
    match format {
        MessageFormat::Human => {
            write_names(&mut std::io::stdout().lock(), cases, naming).map_err(|source| ExpectedError::Output {
                what: "the list of benchmarks".to_owned(),
                source,
            })?;
        }
        MessageFormat::Json => {
            let lines: String = listed(cases, naming)
                .map(|case| json_line(&Record::BenchmarkListed(case)))
                .collect::<Result<_, _>>()?;
            gpubench_report::Output::stdout().print(&lines)?;
        }
    }
    Ok(ExitCode::Success)
}

/// The cases as records.
fn listed(cases: &[Case], naming: Naming) -> impl Iterator<Item = BenchmarkListed> {
    cases.iter().enumerate().map(move |(index, case)| BenchmarkListed {
        schema_version: SchemaVersion,
        package: case.package.clone(),
        benchmark: case.path.clone(),
        params: (&case.params).into(),
        case: case.name_as(naming),
        index: index as u64,
        skipped: case.disposition.reason().map(str::to_owned),
    })
}
