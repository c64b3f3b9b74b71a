//! The libraries of a run: the candidate's, and those of the baseline that it alternates with.

use std::rc::Rc;

use gpubench::catalog::{Catalog, DeviceKind};

use super::against::baseline_run::{BaselineRun, OtherCases};
use super::against::other_revision::{BaselineSource, OtherRevision};
use super::cases::CaseDevice;
use super::choice::chosen::{ChosenCases, cases_of, choose_other_cases};
use super::choice::listing::remember_names;
use super::choice::overrides::warn_of_idle_overrides;
use super::code::compilers::compiler_for;
use super::code::gpu_check::gpu_check;
use super::device::opened::ChosenDevice;
use super::grading::Entrants;
use super::libraries::authors::{AuthorSettings, Authors};
use super::libraries::built::Libraries;
use super::options::{LibrarySource, ResultOptions, RunOptions};
use super::recording::selected::{Selected, Side};
use super::status::status;
use super::stored::bookkeeping::{Origin, ResultPlan, ResultTargets};
use super::stored::noise_floors::NoiseFloors;
use super::stored::saving::replaced_by_measured;
use crate::cdylibs::Built;
use gpubench_device::compilers::{Optimization, Processors};
use gpubench_device::{Backend, Facts};
use gpubench_diagnostic::{ExitCode, Failure, print_warning};
use gpubench_measure::clients::Interrupt;
use gpubench_protocol::window::Seeds;

/// A pair of values: the candidate's, and the baseline's if the run alternates with one.
#[derive(Debug)]
pub(super) struct Both<T> {
    pub(super) candidate: T,
    pub(super) other: Option<T>,
}

/// The selected cases of both sides.
pub(super) struct Chosen {
    catalogs: Both<Vec<Catalog>>,
    pub(super) ours: ChosenCases,
    theirs: Option<OtherCases>,
    /// The submissions that our cases are of, if it is not the libraries' benchmarks.
    entrants: Option<Entrants>,
}

/// The built or unpacked libraries of both sides.
pub(super) struct Sources {
    pub(super) candidate: Libraries,
    pub(super) other: Option<OtherRevision>,
}

impl Sources {
    /// Builds or unpacks the libraries. Locates the baseline before it builds anything.
    ///
    /// # Errors
    /// One of the sides cannot be built or unpacked.
    pub(super) fn build(
        options: &RunOptions,
        results: &ResultOptions,
        interrupt: &Interrupt,
    ) -> Result<Sources, Failure> {
        let verbosity = options.output.verbosity;
        let baseline_source = results.against.as_ref();
        let baseline_source =
            baseline_source.map(|source| BaselineSource::obtain(source, &options.libraries, verbosity, interrupt));
        let baseline_source = baseline_source.transpose()?;
        let candidate = Libraries::obtain(&options.libraries, interrupt)?;
        let other = baseline_source.map(|baseline_source| baseline_source.build(verbosity, interrupt));
        let other = other.transpose()?;
        if let (Some(archive), Some(_)) = (candidate.archive(), &other) {
            status(verbosity, "Unpacked", format_args!("the candidate {archive}"));
        }
        Ok(Sources { candidate, other })
    }

    /// Returns the libraries of the candidate.
    pub(super) fn built(&self) -> &Built {
        &self.candidate.built
    }

    /// Prints the libraries, as `cargo bench --no-run` prints its executables.
    pub(super) fn name_libraries(&self, options: &RunOptions) -> ExitCode {
        for library in &self.built().libraries {
            let what = format_args!("{} v{} ({})", library.package, library.version, library.library);
            status(options.output.verbosity, "Library", what);
        }
        ExitCode::Success
    }

    /// Starts an author for each library and lists its benchmarks.
    ///
    /// # Errors
    /// A library cannot be listed.
    pub(super) fn list<'a>(
        &'a self,
        settings: AuthorSettings<'a>,
    ) -> Result<(Both<Authors<'a>>, Both<Vec<Catalog>>), Failure> {
        let listed = Authors::start(&self.built().libraries, settings);
        let (candidate, mut catalogs) = listed.map_err(|error| self.candidate.explain(error))?;
        if let Some(dataset) = self.candidate.dataset() {
            catalogs = vec![dataset.catalog()];
        }
        let other = self.other.as_ref().map(|other| other.authors(settings)).transpose()?;
        let (other, other_catalogs) = other.unzip();
        let catalogs = Both {
            candidate: catalogs,
            other: other_catalogs,
        };
        Ok((Both { candidate, other }, catalogs))
    }

    /// Checks before a device is known that the run has cases on some kind of device. Axes differ
    /// by kind, and so do the names of cases.
    ///
    /// # Errors
    /// It has none on any, or nothing can be graded.
    pub(super) fn ensure_some_match(
        &self,
        options: &RunOptions,
        catalogs: &[Catalog],
        seeds: &Seeds,
    ) -> Result<(), Failure> {
        let on = |kind| -> Result<(), Failure> {
            let mut catalogs = catalogs.to_vec();
            if let Some(grading) = &options.grading {
                let sources = (self.built(), self.candidate.dataset());
                Entrants::enter(grading, sources, &mut catalogs, kind, seeds.master())?;
            }
            let device = CaseDevice {
                kind,
                capability: u32::MAX,
            };
            cases_of(self.built(), &catalogs, device, &options.cases)?;
            Ok(())
        };
        on(DeviceKind::Cuda).or_else(|_| on(DeviceKind::Cpu))
    }

    /// Selects the cases.
    ///
    /// # Errors
    /// No case is selected, no case matches, or the modes of a case are invalid.
    pub(super) fn select(
        &self,
        options: &RunOptions,
        mut catalogs: Both<Vec<Catalog>>,
        facts: &Facts,
        seeds: &Seeds,
    ) -> Result<Chosen, Failure> {
        let built = self.built();
        let enter = |grading| {
            let kind = facts.device.kind;
            let dataset = self.candidate.dataset();
            Entrants::enter(grading, (built, dataset), &mut catalogs.candidate, kind, seeds.master())
        };
        let entrants = options.grading.as_ref().map(enter).transpose()?;
        if let (Some(entrants), Some(observer)) = (&entrants, &options.observer) {
            entrants.may_be_observed_by(observer)?;
        }
        if let Some(note) = entrants.as_ref().and_then(Entrants::note) {
            status(options.output.verbosity, "Note", note);
        }
        let ours = ChosenCases::new(options, built, &catalogs.candidate, facts)?;
        if let (LibrarySource::Build(_), None) = (&options.libraries, &entrants) {
            remember_names(built, &ours);
        }
        warn_of_idle_overrides(&options.measurement.cases.overrides, &ours, built, &catalogs.candidate);
        let theirs =
            self.other
                .as_ref()
                .zip(catalogs.other.as_ref())
                .map(|(other, catalogs)| -> Result<OtherCases, Failure> {
                    let theirs = choose_other_cases(options, other, catalogs, facts)?;
                    let theirs = OtherCases::split(&ours.cases, &ours.left_out, theirs);
                    if theirs.share_none() {
                        let name = other.name();
                        print_warning(&format!(
                            "the baseline `{name}` has none of the selected cases; nothing is compared"
                        ));
                    }
                    Ok(theirs)
                });
        let theirs = theirs.transpose()?;
        Ok(Chosen {
            catalogs,
            ours,
            theirs,
            entrants,
        })
    }

    /// Returns what is done with the results of the selected cases.
    ///
    /// # Errors
    /// The baseline lacks a selected benchmark, and the options do not allow that.
    pub(super) fn fit(
        &self,
        options: &RunOptions,
        targets: ResultTargets,
        chosen: &Chosen,
    ) -> Result<ResultPlan, Failure> {
        let ours = &chosen.ours;
        let replaced = replaced_by_measured(&options.cases, ours);
        // Only the archive knows the revision of its sources.
        let origin = self.candidate.archive().map(|archive| Origin {
            name: archive.path.to_string(),
            revision: archive.revision().cloned(),
        });
        let floors = NoiseFloors::new(&options.measurement.cases, &self.built().libraries);
        Ok(targets.of_cases(&options.cases.names, ours, replaced, origin, floors)?)
    }

    /// Returns the selected cases of the candidate, with their libraries and the device.
    pub(super) fn selected<'a>(&'a self, device: &'a ChosenDevice, chosen: &'a Chosen) -> Selected<'a> {
        Selected {
            libraries: &self.built().libraries,
            target_directory: &self.built().target_directory,
            catalogs: &chosen.catalogs.candidate,
            cases: &chosen.ours.cases,
            device: device.order,
            facts: &device.facts,
            entrants: chosen.entrants.as_ref(),
        }
    }

    /// Returns the sides of the run, each with the compiler of its kernels.
    ///
    /// # Errors
    /// There is no compiler here, and an archive has no kernels for the device.
    pub(super) fn sides<'a>(
        &'a self,
        options: &RunOptions,
        device: &'a ChosenDevice,
        chosen: &'a Chosen,
        authors: Both<Authors<'a>>,
    ) -> Result<(Side<'a>, Option<BaselineRun<'a>>), Failure> {
        let facts = &device.facts;
        let processors = match &self.other {
            Some(other) if other.is_measured_as_archived(&self.candidate, &facts.device) => Processors::Portable,
            // Counts are comparable between machines, and counters lack the newest processors.
            _ if chosen.ours.cases.iter().any(|case| case.metrics.counts_instructions()) => Processors::Portable,
            _ => Processors::Here,
        };
        let optimization = if options.is_debugged() {
            Optimization::ForDebugger
        } else {
            Optimization::Full
        };
        let here = || compiler_for(facts, &options.device, processors, optimization);
        let compiler = self
            .candidate
            .compiler(&facts.device, &chosen.catalogs.candidate, here)?;
        let counts = chosen.ours.cases.iter().any(|case| case.metrics.counts_instructions());
        let disassembler = Backend::for_facts(facts).disassembler.filter(|_| counts);
        let candidate = Side {
            selected: self.selected(device, chosen),
            authors: authors.candidate,
            compiler: Rc::from(compiler),
            gpu_check: gpu_check(options, facts)?,
            disassembler: disassembler.map(|find| Rc::new(find(&options.device.compilers))),
            verbosity: options.output.verbosity,
        };
        let (Some(other), Some(catalogs), Some(cases), Some(authors)) =
            (&self.other, &chosen.catalogs.other, &chosen.theirs, authors.other)
        else {
            return Ok((candidate, None));
        };
        let own_compiler = other.compiler(&facts.device, catalogs, here)?;
        let compiler = own_compiler.map_or_else(|| Rc::clone(&candidate.compiler), Rc::from);
        let side = Side {
            selected: Selected {
                libraries: &other.built().libraries,
                catalogs,
                cases: cases.shared(),
                entrants: None,
                ..candidate.selected
            },
            authors,
            compiler,
            gpu_check: None,
            disassembler: candidate.disassembler.clone(),
            verbosity: candidate.verbosity,
        };
        let baseline_run = BaselineRun::new(other, cases, side);
        Ok((candidate, Some(baseline_run)))
    }
}
