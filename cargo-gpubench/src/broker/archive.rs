//! `cargo gpubench archive`: makes an archive from the options.

mod ahead;

use std::collections::BTreeSet;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench::catalog::{Catalog, DeviceFacts};

use super::code::compilers::gpu_compilers;
use super::libraries::authors::{AuthorSettings, Authors};
use super::options::ArchiveOptions;
use super::process::{catch_interrupts, prepare_for_roles};
use super::status::status;
use crate::archive::{Contents, typical_device, write};
use crate::cdylibs::{BuildOptions, Built, WorkspaceFolders, build_cdylibs};
use crate::git::Git;
use ahead::{AheadTarget, compile_ahead};
use gpubench_contract::Revision;
use gpubench_contract::units::{counted, size};
use gpubench_device::Facts;
use gpubench_device::compilers::{GpuCompiler, HostCompiler, PORTABLE, Processors};
use gpubench_device::cpu::{self, available_threads};
use gpubench_device::cuda::Architecture;
use gpubench_diagnostic::{ExitCode, Expected, Failure, Interrupted, SetupMissing, print_warning};
use gpubench_measure::clients::Output;

/// The archive was written, but lacks requested kernels.
#[derive(Debug, thiserror::Error)]
#[error("`{archive}` lacks the kernels that could not be compiled for {}", .targets.join(" and "))]
struct NotCompiledAhead {
    archive: Utf8PathBuf,
    /// The targets of the missing kernels.
    targets: Vec<String>,
}

impl Expected for NotCompiledAhead {
    fn exit_code(&self) -> ExitCode {
        ExitCode::BuildFailed
    }

    fn hint(&self) -> Option<String> {
        Some(
            "cases that launch them will fail when the archive runs; limit cases to suitable devices with `requires(..)`"
                .to_owned(),
        )
    }
}

/// Builds the selected packages and archives their libraries.
///
/// # Errors
/// Anything that prevents the archive from being written.
pub fn archive(options: &ArchiveOptions) -> Result<ExitCode, Failure> {
    let interrupt = catch_interrupts()?;
    let verbosity = options.output.verbosity;
    // Read before the build: later changes may not be in the archive.
    let revision = revision_of(&options.build)?;
    let built = build_cdylibs(&options.build, interrupt.flag())?;
    built.notices.iter().for_each(|notice| print_warning(notice));
    prepare_for_roles();
    let settings = AuthorSettings {
        within: options.within,
        output: Output::Captured,
        interrupt: &interrupt,
    };
    let mut contents = Contents::new(&built, revision)?;
    // A library that cannot be listed here cannot be listed on another machine either.
    let (mut authors, catalogs) = Authors::start(&built.libraries, settings)?;
    add_own_libraries(&mut contents, &built, &catalogs)?;
    let mut archived = vec![match built.libraries.len() {
        1 => "1 library".to_owned(),
        count => format!("{count} libraries"),
    }];
    let mut lacking = Vec::new();
    for target in targets(options)? {
        status(verbosity, "Compiling", format_args!("kernels for {}", target.name));
        target
            .compiler
            .notices()
            .iter()
            .for_each(|notice| print_warning(notice));
        let compiled = compile_ahead(&target, &built, &catalogs, &mut authors, &mut contents, &interrupt)?;
        archived.push(format!("{} for {}", counted(compiled.kernels, "kernel"), target.name));
        if compiled.sources_that_do_not_compile > 0 && is_requested(options, &target) {
            lacking.push(target.name);
        }
    }
    if interrupt.is_set() {
        return Err(Interrupted.into());
    }
    let written = write(&contents, &options.archive)?;
    archived.push(size(written).to_string());
    let what = format_args!("{} to {}", archived.join(", "), options.archive);
    status(verbosity, "Archived", what);
    if !lacking.is_empty() {
        return Err(NotCompiledAhead {
            archive: options.archive.clone(),
            targets: lacking,
        }
        .into());
    }
    Ok(ExitCode::Success)
}

/// Archives built libraries, whose kernels are compiled where they run.
///
/// # Errors
/// The archive cannot be written.
pub(super) fn write_uncompiled(
    built: &Built,
    catalogs: &[Catalog],
    revision: Option<Revision>,
    archive: &Utf8Path,
) -> Result<(), Failure> {
    let mut contents = Contents::new(built, revision)?.without_time();
    add_own_libraries(&mut contents, built, catalogs)?;
    write(&contents, archive)?;
    Ok(())
}

/// Adds the libraries that benchmarks name as their own. One that is missing or cannot be opened
/// fails only the cases that need it.
fn add_own_libraries(contents: &mut Contents, built: &Built, catalogs: &[Catalog]) -> Result<(), Failure> {
    for (library, catalog) in built.libraries.iter().zip(catalogs) {
        let named: BTreeSet<&String> = catalog
            .benchmarks
            .iter()
            .filter_map(|benchmark| benchmark.own_library.as_ref())
            .collect();
        let own = named
            .into_iter()
            .filter_map(|named| match library.own_libraries.copy(&library.root, named) {
                Ok(_) => Some((named.clone(), library.root.join(named))),
                Err(error) => {
                    print_warning(&format_args!("the archive lacks a library: {}", error.printable()));
                    None
                }
            });
        contents.add_own_libraries(library, own)?;
    }
    Ok(())
}

/// Returns whether missing kernels for the target are a failure. A crate for GPUs may have kernels
/// that no CPU compiler accepts. Without `--gpu-arch`, the archive is for the CPU device.
fn is_requested(options: &ArchiveOptions, target: &AheadTarget) -> bool {
    options.architectures.is_empty() || target.name != PORTABLE
}

/// Returns the revision of the sources.
///
/// # Errors
/// Cargo cannot locate the workspace.
fn revision_of(build: &BuildOptions) -> Result<Option<Revision>, Failure> {
    let target_dir = build.compilation.target_dir.as_deref();
    let WorkspaceFolders { root, .. } = WorkspaceFolders::find(&build.manifest, target_dir)?;
    Ok(Git::in_folder(&root).revision())
}

/// Returns the targets to compile for: the CPU device and the requested GPUs. Without a compiler
/// for the CPU device, its kernels are compiled where the archive runs.
///
/// # Errors
/// `--nvrtc` does not name NVRTC, or there is no compiler for a requested GPU.
fn targets(options: &ArchiveOptions) -> Result<Vec<AheadTarget>, Failure> {
    let mut targets = Vec::new();
    match HostCompiler::find() {
        Ok(compiler) => targets.push(AheadTarget {
            name: PORTABLE.to_owned(),
            facts: facts_for_recording(cpu::facts(available_threads()).device),
            compiler: Box::new(compiler.for_processors(Processors::Portable)),
        }),
        Err(missing) => warn_of_lack(PORTABLE, &missing.to_string()),
    }
    if options.architectures.is_empty() {
        return Ok(targets);
    }
    let compilers = gpu_compilers(&options.compilers)?;
    if compilers.is_empty() {
        let names: Vec<String> = options.architectures.iter().map(ToString::to_string).collect();
        return Err(SetupMissing {
            what: format!("found neither NVRTC nor nvcc to compile kernels for {}", names.join(", ")),
            hint: "install NVRTC with `pip install nvidia-cuda-nvrtc`, or name it with `--nvrtc PATH`. Without `--gpu-arch`, \
                   kernels are compiled where the archive runs"
                .to_owned(),
        }
        .into());
    }
    let target = |&architecture: &Architecture| AheadTarget {
        name: architecture.to_string(),
        facts: facts_for_recording(typical_device(architecture.capability)),
        compiler: Box::new(GpuCompiler::new(architecture, compilers.clone())),
    };
    targets.extend(options.architectures.iter().map(target));
    Ok(targets)
}

fn warn_of_lack(target: &str, reason: &str) {
    print_warning(&format_args!(
        "no kernels are compiled for {target}, so running the archive there needs a compiler: {reason}"
    ));
}

/// Returns the facts for recording. Benchmark functions see the target's device facts. The target's
/// free memory is unknown.
fn facts_for_recording(device: DeviceFacts) -> Facts {
    Facts {
        device,
        free_memory: None,
        ..cpu::facts(available_threads())
    }
}
