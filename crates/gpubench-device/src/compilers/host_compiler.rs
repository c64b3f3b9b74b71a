//! The host's C++ compiler as a compiler of kernels.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use gpubench_harness::shim::{OPTIONAL_OPTIONS, REQUIRED_OPTIONS, SHIM, SILENCED_WARNINGS};

use super::cache_key::CacheKey;
use super::compiler::{Compiler, Wanted};
use super::diagnostics::readable;
use super::dynamic_shared::{PLACED, define_arrays};
use super::error::{CompilerMissing, KernelBuildError};
use super::options::host_options;
use super::process::Finished;
use super::processors::{BASELINE, Processors};
use super::refusal::{Refusal, refusals, refusals_after_preprocessing};
use super::scratch::{Scratch, read, write};
use super::undefined::missing_definitions;
use super::unit::{UNIT, host_unit};

/// The longest a source may take to compile.
const LIMIT: Duration = Duration::from_secs(120);

/// What it compiles for, in words.
const THE_DEVICE: &str = "the CPU device";

/// A C++ compiler of this machine.
#[derive(Clone, Debug)]
pub struct HostCompiler {
    program: PathBuf,
    identity: String,
    processors: Processors,
    /// What this compiler understands of the options the shim likes to have.
    options: Vec<&'static str>,
}

impl HostCompiler {
    /// The compiler that `cc` finds: `CXX` if it is set, `c++` otherwise.
    ///
    /// # Errors
    /// If it does not run.
    pub fn find() -> Result<HostCompiler, CompilerMissing> {
        let program = find_program();
        let missing = |source| CompilerMissing {
            tried: program.display().to_string(),
            source,
        };
        let version = Command::new(&program).arg("--version").output().map_err(missing)?;
        if !version.status.success() {
            return Err(missing(io::Error::other(format!(
                "`--version` ends with {}",
                version.status
            ))));
        }
        let version = String::from_utf8_lossy(&version.stdout);
        let options = understood_options(&program).map_err(missing)?;
        let identity = format!(
            "{} ({})",
            version.lines().next().unwrap_or("unknown"),
            program.display()
        );
        Ok(HostCompiler {
            program,
            identity,
            processors: Processors::Here,
            options,
        })
    }

    /// The same for other processors.
    #[must_use]
    pub fn for_processors(self, processors: Processors) -> HostCompiler {
        HostCompiler { processors, ..self }
    }

    /// Everything a library depends on, as a file name; `here` says which processor this is.
    fn key(&self, wanted: Wanted<'_>, here: &str) -> String {
        let mut key = CacheKey::new();
        key.add(&self.identity);
        match self.processors {
            Processors::Here => key.add(here),
            Processors::Baseline => key.add(BASELINE),
        }
        key.add_all(REQUIRED_OPTIONS);
        key.add_all(&self.options);
        for (path, text) in SHIM {
            key.add(path);
            key.add(text);
        }
        key.add(PLACED);
        key.add_wanted(wanted);
        key.finish()
    }
}

impl Compiler for HostCompiler {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn target(&self) -> String {
        self.processors.name().to_owned()
    }

    fn compile(&self, wanted: Wanted<'_>) -> Result<PathBuf, KernelBuildError> {
        let Wanted {
            source, names, cache, ..
        } = wanted;
        if !source.form.is_compiled() {
            return Err(KernelBuildError::Unsupported(format!(
                "`{}` cannot run on the CPU device: it is {}, which runs on GPUs alone",
                source.name, source.form
            )));
        }
        let library = cache.join(format!("{}.so", self.key(wanted, &processor())));
        if library.is_file() {
            return Ok(library);
        }
        let scratch = Scratch::new(cache, source)?;
        scratch.add_headers(SHIM)?;
        scratch.add_unit(UNIT, &host_unit(source, names))?;
        let job = Job {
            compiler: self,
            wanted,
            scratch: &scratch,
        };
        job.refuse_unsupported()?;
        job.build()?;
        let built = scratch.file("kernels.so");
        fs_err::rename(&built, &library).map_err(KernelBuildError::io("write", &library))?;
        Ok(library)
    }
}

/// A source on its way through the compiler.
struct Job<'a> {
    compiler: &'a HostCompiler,
    wanted: Wanted<'a>,
    scratch: &'a Scratch,
}

impl Job<'_> {
    /// Refuses what the CPU device cannot run. The text is read first; only if something is found there, the preprocessor says whether it is
    /// really compiled.
    fn refuse_unsupported(&self) -> Result<(), KernelBuildError> {
        let source = self.wanted.source;
        let found: Vec<Refusal> = source
            .files
            .iter()
            .flat_map(|file| refusals(&file.path, &file.text()))
            .collect();
        if found.is_empty() {
            return Ok(());
        }
        let preprocessed = self.run(self.command().args(["-E", UNIT]))?;
        let is_users = |path: &str| {
            source
                .files
                .iter()
                .any(|file| file.path == path.trim_start_matches("./"))
        };
        let refusals = match preprocessed.status.success() {
            true => refusals_after_preprocessing(&String::from_utf8_lossy(&preprocessed.stdout), is_users),
            false => found,
        };
        let lines: Vec<String> = refusals.iter().map(|refusal| format!("  {refusal}")).collect();
        match lines.is_empty() {
            true => Ok(()),
            false => Err(KernelBuildError::Unsupported(format!(
                "`{}` cannot run on the CPU device\n{}",
                source.name,
                lines.join("\n")
            ))),
        }
    }

    fn build(&self) -> Result<(), KernelBuildError> {
        let Job { wanted, scratch, .. } = *self;
        let object = scratch.file("kernels.o");
        let compiled = self.run(self.command().args(["-c", UNIT, "-o"]).arg(&object))?;
        if !compiled.status.success() {
            return Err(wanted.rejection(THE_DEVICE.to_owned(), scratch, &compiled.stderr));
        }
        let mut link = Command::new(&self.compiler.program);
        link.current_dir(scratch.root())
            .args(["-shared", "-pthread", "-Wl,-z,defs", "-Wl,-Bsymbolic"])
            .arg(&object);
        let mut bytes = read(&object)?;
        if let Some(definitions) = define_arrays(&mut bytes) {
            write(&object, &bytes)?;
            let assembly = scratch.file("dynamic_shared.s");
            write(&assembly, definitions.as_bytes())?;
            link.arg(&assembly);
        }
        let linked = self.run(link.arg("-o").arg(scratch.file("kernels.so")))?;
        if !linked.status.success() {
            return Err(KernelBuildError::Compile {
                source_name: wanted.source.name.clone(),
                target: THE_DEVICE.to_owned(),
                diagnostics: missing_definitions(wanted.source, &linked.stderr)
                    .unwrap_or_else(|| readable(wanted.source, scratch, &linked.stderr)),
            });
        }
        Ok(())
    }

    /// The compiler with everything but what to do.
    fn command(&self) -> Command {
        let Job { wanted, scratch, .. } = *self;
        let mut command = Command::new(&self.compiler.program);
        command
            .current_dir(scratch.root())
            .args(["-x", "c++", "-O3", &self.compiler.processors.option()]);
        command
            .args(REQUIRED_OPTIONS)
            .args(&self.compiler.options)
            .args(SILENCED_WARNINGS)
            .args(["-fdiagnostics-color=never", "-w"]);
        command
            .args(host_options(&wanted.source.options))
            .arg("-I")
            .arg(scratch.shim())
            .arg("-I.");
        command
    }

    fn run(&self, command: &mut Command) -> Result<Finished, KernelBuildError> {
        let compiler = ("the C++ compiler", LIMIT);
        self.wanted.run(compiler, command, Stdio::null(), self.scratch)
    }
}

fn find_program() -> PathBuf {
    let mut build = cc::Build::new();
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    build
        .cpp(true)
        .cargo_metadata(false)
        // Its warnings would go to standard output, among the results.
        .cargo_warnings(false)
        .no_default_flags(true)
        .opt_level(3)
        .target(&target)
        .host(&target);
    build
        .try_get_compiler()
        .map_or_else(|_| PathBuf::from("c++"), |tool| tool.path().to_owned())
}

fn understood_options(program: &Path) -> io::Result<Vec<&'static str>> {
    let understands = |options: &[&str]| {
        let mut command = Command::new(program);
        command
            .args(options)
            .args(["-Werror", "-x", "c++", "-E", "/dev/null", "-o", "/dev/null"]);
        command.output().map(|output| output.status.success())
    };
    if understands(OPTIONAL_OPTIONS)? {
        return Ok(OPTIONAL_OPTIONS.to_vec());
    }
    let mut understood = Vec::new();
    for &option in OPTIONAL_OPTIONS {
        if understands(&[option])? {
            understood.push(option);
        }
    }
    Ok(understood)
}

/// The processor's name and features: what `-march=native` stands for.
fn processor() -> String {
    let text = fs_err::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let relevant = |line: &&str| {
        ["model name", "flags", "CPU part", "Features"]
            .iter()
            .any(|key| line.starts_with(key))
    };
    text.lines().filter(relevant).take(2).collect()
}

#[cfg(test)]
mod tests;
