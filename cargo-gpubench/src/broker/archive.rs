//! `cargo gpubench archive`: from options to an archive.

use gpubench::catalog::DeviceFacts;

use super::ahead::{AheadTarget, compile_ahead};
use super::authors::{AuthorSettings, Authors};
use super::options::{ArchiveOptions, Verbosity};
use crate::archive::{Contents, typical_device, write};
use crate::build::build_cdylibs;
use crate::build::kernels::{BASELINE, Compiler, GpuCompiler, GpuCompilers, HostCompiler, NamedCompilers, Processors};
use crate::clients::{Interrupt, Output, adopt_orphans};
use crate::device::Facts;
use crate::device::cpu::{self, available_threads};
use crate::device::cuda::Architecture;
use crate::error::{ExpectedError, chain, print_warning};
use crate::exit_code::ExitCode;
use crate::report::units::size;

/// Builds the selected packages and archives their libraries.
///
/// # Errors
/// What keeps the archive from being made.
pub fn archive(options: &ArchiveOptions) -> Result<ExitCode, ExpectedError> {
    let interrupt = Interrupt::catch().map_err(|source| ExpectedError::Internal {
        what: "cannot listen to signals".to_owned(),
        source: source.into(),
    })?;
    let built = build_cdylibs(&options.build, interrupt.flag())?;
    built.notices.iter().for_each(|notice| print_warning(notice));
    adopt_orphans();
    let settings = AuthorSettings {
        within: options.within,
        output: Output::Captured,
        interrupt: &interrupt,
    };
    // A library that cannot be listed here cannot be listed there either.
    let (mut authors, catalogs) = Authors::start(&built.libraries, settings)?;
    let mut contents = Contents::of(&built)?;
    let mut archived = vec![counted(built.libraries.len(), "library", "libraries")];
    for target in targets(options) {
        say(options, &format_args!("   Compiling kernels for {}", target.name));
        let number = compile_ahead(&target, &built, &catalogs, &mut authors, &mut contents, &interrupt)?;
        archived.push(format!("{} for {}", counted(number, "kernel", "kernels"), target.name));
    }
    if interrupt.is_set() {
        return Err(ExpectedError::Interrupted);
    }
    let written = write(&contents, &options.archive)?;
    archived.push(size(written.size).to_string());
    say(
        options,
        &format_args!("    Archived {} to {}", archived.join(", "), options.archive),
    );
    Ok(ExitCode::Success)
}

/// What kernels can be compiled for here: the CPU device, and the GPUs that are asked for. What cannot be is warned of, and compiled where the archive is run.
fn targets(options: &ArchiveOptions) -> Vec<AheadTarget> {
    let host = HostCompiler::find().map(|compiler| AheadTarget {
        name: BASELINE.to_owned(),
        facts: facts_for_recording(cpu::facts(available_threads()).device),
        compiler: Box::new(compiler.for_processors(Processors::Baseline)),
    });
    let host = host.map_err(|missing| (BASELINE.to_owned(), missing.to_string()));
    let gpu = |architecture: &Architecture| {
        let compiler = gpu_compiler(*architecture).map_err(|missing| (architecture.to_string(), missing))?;
        Ok(AheadTarget {
            name: architecture.to_string(),
            facts: facts_for_recording(typical_device(architecture.capability())),
            compiler,
        })
    };
    let wanted = std::iter::once(host).chain(options.architectures.iter().map(gpu));
    let found = wanted.filter_map(|target| {
        let warn = |(name, missing)| {
            print_warning(&format_args!(
                "no kernels are compiled ahead for {name}: {missing}; they are compiled where the archive is run"
            ));
        };
        target.map_err(warn).ok()
    });
    found.collect()
}

/// A compiler for GPUs of an architecture, or why there is none.
fn gpu_compiler(architecture: Architecture) -> Result<Box<dyn Compiler>, String> {
    let tool = std::env::current_exe().map_err(|error| format!("this program cannot be found again: {error}"))?;
    let compilers = GpuCompilers::find(&tool, &NamedCompilers::default()).map_err(|error| chain(&error))?;
    if compilers.is_empty() {
        return Err("neither NVRTC nor nvcc is found (hint: `pip install nvidia-cuda-nvrtc` brings NVRTC)".to_owned());
    }
    Ok(Box::new(GpuCompiler::new(architecture, compilers)))
}

/// Recording looks at what benchmark functions may know, and at the memory that is free, which is another machine's.
fn facts_for_recording(device: DeviceFacts) -> Facts {
    Facts {
        device,
        free_memory: None,
        ..cpu::facts(available_threads())
    }
}

fn say(options: &ArchiveOptions, line: &dyn std::fmt::Display) {
    if options.output.verbosity > Verbosity::Quiet {
        anstream::eprintln!("{line}");
    }
}

fn counted(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}
