//! `cargo gpubench archive`: from options to an archive.

use super::ahead::{AheadTarget, compile_ahead};
use super::authors::{AuthorSettings, Authors};
use super::options::{ArchiveOptions, Verbosity};
use crate::archive::{Contents, write};
use crate::build::build_cdylibs;
use crate::build::kernels::{BASELINE, HostCompiler, Processors};
use crate::clients::{Interrupt, Output, adopt_orphans};
use crate::device::Facts;
use crate::device::cpu::{self, available_threads};
use crate::error::{ExpectedError, print_warning};
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
    for target in targets() {
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

/// What kernels can be compiled for here.
fn targets() -> Vec<AheadTarget> {
    match HostCompiler::find() {
        Ok(compiler) => vec![AheadTarget {
            name: BASELINE.to_owned(),
            facts: Facts {
                free_memory: None,
                ..cpu::facts(available_threads())
            },
            compiler: Box::new(compiler.for_processors(Processors::Baseline)),
        }],
        Err(missing) => {
            print_warning(&format_args!(
                "no kernels for the CPU device are archived: {}",
                crate::error::chain(&missing)
            ));
            Vec::new()
        }
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
