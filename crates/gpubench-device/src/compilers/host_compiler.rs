//! Compiles kernels with the host's C++ compiler.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use gpubench::catalog::Source;
use gpubench_contract::units::size;
use gpubench_harness::shim::{OPTIONAL_OPTIONS, REQUIRED_OPTIONS, SHIM, SILENCED_WARNINGS};
use gpubench_sandbox::{Rights, confine};

use super::alignment::alignment_first;
use super::cache_file::{is_intact, keep};
use super::cache_key::CacheKey;
use super::compiler::{Compiler, Wanted};
use super::constants::{self, too_much_constant_memory};
use super::cut::{Extent, all_refused, for_cpu, without};
use super::diagnostics::{narrowed, readable};
use super::dynamic_shared::{PLACED, define_arrays};
use super::error::{CompilerMissing, KernelBuildError};
use super::items::{Marks, items};
use super::optimization::Optimization;
use super::options::host_options;
use super::process::Finished;
use super::processors::{PORTABLE, Processors};
use super::readable::Readable;
use super::refusal::{includes, needs_analysis, stub, user_words};
use super::scratch::{Scratch, read, write};
use super::static_shared::{LISTED, MOST_BYTES, beyond_a_gpu, set_apart};
use super::undefined::missing_definitions;
use super::unit::{UNIT, host_unit};

/// The time limit for compiling a source.
const LIMIT: Duration = Duration::from_secs(120);

/// The largest preprocessed source that is analyzed, in bytes. The standard library's headers need
/// a tenth of it.
const LONGEST_PREPROCESSED: usize = 16 << 20;

/// The target in messages.
const THE_DEVICE: &str = "the CPU device";

/// A C++ compiler of this machine.
#[derive(Clone, Debug)]
pub struct HostCompiler {
    program: PathBuf,
    identity: String,
    processors: Processors,
    optimization: Optimization,
    /// The optional flags of the shim that this compiler supports.
    options: Vec<&'static str>,
    readable: Readable,
}

impl HostCompiler {
    /// Finds the compiler as `cc` does: `CXX` if it is set, else `c++`.
    ///
    /// # Errors
    /// When the compiler does not run.
    pub fn find() -> Result<HostCompiler, CompilerMissing> {
        let program = find_program();
        let missing = |source| CompilerMissing {
            tried: program.display().to_string(),
            source,
        };
        let version = confined(&program, &["--version"]).map_err(missing)?;
        if !version.status.success() {
            return Err(missing(io::Error::other(format!(
                "`--version` failed: {}",
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
            readable: Readable::by(&found_on_path(&program)).and(search_folders(&program)),
            program,
            identity,
            processors: Processors::Here,
            optimization: Optimization::Full,
            options,
        })
    }

    /// Returns the compiler for other processors.
    #[must_use]
    pub fn for_processors(self, processors: Processors) -> HostCompiler {
        HostCompiler { processors, ..self }
    }

    /// Returns the compiler with another optimisation.
    #[must_use]
    pub fn optimizing(self, optimization: Optimization) -> HostCompiler {
        HostCompiler { optimization, ..self }
    }

    /// Returns a hash of everything that a library depends on, as a file name. `here` identifies
    /// this processor.
    fn key(&self, wanted: Wanted<'_>, here: &str) -> String {
        let mut key = CacheKey::new();
        key.add(&self.identity);
        match self.processors {
            Processors::Here => key.add(here),
            Processors::Portable => key.add(PORTABLE),
        }
        key.add_all(self.optimization.options());
        key.add_all(REQUIRED_OPTIONS);
        key.add_all(&self.options);
        for (path, text) in SHIM {
            key.add(path);
            key.add(text);
        }
        key.add_all(&[
            PLACED,
            LISTED,
            &MOST_BYTES.to_string(),
            &constants::MOST_BYTES.to_string(),
        ]);
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
                "`{}` cannot run on the CPU device: it is {}, which only GPUs can run",
                source.name, source.form
            )));
        }
        let library = cache.join(format!("{}.so", self.key(wanted, &processor())));
        if is_intact(&library) {
            return Ok(library);
        }
        let scratch = Scratch::new(cache, source)?;
        for file in &source.files {
            if let Some(text) = alignment_first(&file.text()) {
                scratch.add_unit(&file.path, &text)?;
            }
        }
        scratch.add_headers(SHIM)?;
        scratch.add_unit(UNIT, &host_unit(source, names))?;
        let job = Job {
            compiler: self,
            wanted,
            scratch: &scratch,
        };
        job.build_what_compiles()?;
        let built = read(&scratch.file("kernels.so"))?;
        keep(&library, &built).map_err(KernelBuildError::io("write", &library))?;
        Ok(library)
    }

    /// The library is C++ without CUDA: on the CPU device, its functions get ordinary memory.
    fn compile_library(&self, wanted: Wanted<'_>, linked: &[PathBuf]) -> Result<PathBuf, KernelBuildError> {
        let Wanted { source, cache, .. } = wanted;
        let library = cache.join(format!("{}.library.so", self.key(wanted, &processor())));
        if is_intact(&library) {
            return Ok(library);
        }
        let scratch = Scratch::new(cache, source)?;
        let job = Job {
            compiler: self,
            wanted,
            scratch: &scratch,
        };
        let linked = scratch.add_libraries(linked)?;
        let (main, made) = (&source.files[0].path, scratch.file("library.so"));
        let mut command = Command::new(&self.program);
        command
            .current_dir(scratch.root())
            .args(["-x", "c++", "-std=gnu++17", &self.processors.option()])
            .args(self.optimization.options())
            .args([
                "-shared",
                "-fPIC",
                "-pthread",
                "-Wl,-z,defs",
                "-fdiagnostics-color=never",
                "-w",
            ])
            .args(host_options(&source.options))
            .args(["-I.", "-o"])
            .arg(&made)
            .arg(as_a_file(main))
            // Not C++.
            .args(["-x", "none"])
            .args(linked);
        let finished = job.run(&mut command)?;
        if !finished.status.success() {
            return Err(wanted.rejection(THE_DEVICE.to_owned(), &scratch, &finished.stderr));
        }
        let built = read(&made)?;
        keep(&library, &built).map_err(KernelBuildError::io("write", &library))?;
        Ok(library)
    }
}

/// The words that the shim leaves for the kernel marks, so that they survive the preprocessor.
const MARKS: Marks = Marks {
    global: "gb_mark_global",
    device: "gb_mark_device",
};

/// Removes from a `preprocessed` source what its kernels of these `names` do not need on the CPU
/// device, host code above all.
///
/// # Errors
/// If the kernels use constructs that the CPU device lacks.
pub fn cut_for_cpu(source: &Source, preprocessed: &str, names: &[String]) -> Result<String, KernelBuildError> {
    cut(source, preprocessed, names, Extent::AllKernels)
}

fn cut(source: &Source, preprocessed: &str, names: &[String], extent: Extent) -> Result<String, KernelBuildError> {
    let words = user_words(preprocessed, |path| source.files.iter().any(|file| file.path == path));
    let cut = match items(&words, MARKS) {
        Some(items) => for_cpu(&words, &items, names, extent),
        None => all_refused(&words),
    };
    if !cut.refusals.is_empty() {
        return Err(KernelBuildError::refused(source, &cut.refusals));
    }
    let mut rest = without(preprocessed, &cut.removed);
    for mark in [MARKS.global, MARKS.device] {
        rest = rest.replace(mark, "");
    }
    Ok(rest)
}

/// The file name of a source without the removed parts.
const CUT_UNIT: &str = "gpubench_unit.ii";

/// The text that is compiled for a source.
#[derive(Clone, Copy, Debug)]
enum Unit {
    Unchanged,
    /// The preprocessed source without the removed parts.
    Cut,
}

impl Unit {
    fn file(self) -> &'static str {
        match self {
            Unit::Unchanged => UNIT,
            Unit::Cut => CUT_UNIT,
        }
    }

    fn language(self) -> &'static str {
        match self {
            Unit::Unchanged => "c++",
            Unit::Cut => "c++-cpp-output",
        }
    }
}

/// The compilation of a source.
struct Job<'a> {
    compiler: &'a HostCompiler,
    wanted: Wanted<'a>,
    scratch: &'a Scratch,
}

impl Job<'_> {
    /// Builds the wanted kernels. If the source does not compile, other kernels may be the reason:
    /// then only what the wanted ones need is built.
    fn build_what_compiles(&self) -> Result<(), KernelBuildError> {
        let all = self.unit(Extent::AllKernels)?;
        let Err(error) = self.build(all) else {
            return Ok(());
        };
        if !matches!(error, KernelBuildError::Compile { .. }) {
            return Err(error);
        }
        match self.unit(Extent::WantedKernels) {
            Ok(Unit::Cut) => self.build(Unit::Cut).map_err(|part| narrowed(error, part)),
            Err(KernelBuildError::Interrupted) => Err(KernelBuildError::Interrupted),
            Ok(Unit::Unchanged) | Err(_) => Err(error),
        }
    }

    /// Removes code that the kernels do not need, host code above all, and refuses unsupported
    /// constructs in the rest. To build all kernels, the source is preprocessed and analyzed only
    /// if a first scan finds something to remove or refuse.
    fn unit(&self, extent: Extent) -> Result<Unit, KernelBuildError> {
        let Job { wanted, scratch, .. } = *self;
        let source = wanted.source;
        let needs_analysis = || source.files.iter().any(|file| needs_analysis(&file.text()));
        if extent == Extent::AllKernels && !needs_analysis() {
            return Ok(Unit::Unchanged);
        }
        self.add_stubs()?;
        let preprocessed = self.run(self.command(Unit::Unchanged).args(["-DGB_MARKED=1", "-E", UNIT]))?;
        if !preprocessed.status.success() {
            // The compilation will report the error.
            return Ok(Unit::Unchanged);
        }
        if preprocessed.stdout.len() > LONGEST_PREPROCESSED {
            return Err(KernelBuildError::Unusable(format!(
                "preprocessing expands `{}` to more than {}, which is too much to analyze (hint: macros that repeat their arguments grow fast)",
                source.name,
                size(LONGEST_PREPROCESSED as u64)
            )));
        }
        let text = String::from_utf8_lossy(&preprocessed.stdout).into_owned();
        scratch.add_unit(CUT_UNIT, &cut(source, &text, wanted.names, extent)?)?;
        Ok(Unit::Cut)
    }

    /// Adds stubs for the NVIDIA headers that the shim lacks. A kernel that uses one of their
    /// declarations is refused.
    fn add_stubs(&self) -> Result<(), KernelBuildError> {
        let files = &self.wanted.source.files;
        let is_users = |header: &str| {
            let mut paths = files.iter().map(|file| file.path.as_str());
            paths.any(|path| {
                path.strip_suffix(header)
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
            })
        };
        files.iter().try_for_each(|file| {
            let text = file.text();
            let stubs = includes(&text).filter(|header| !is_users(header));
            let stubs: Vec<(&str, &str)> = stubs.filter_map(|header| Some((header, stub(header)?))).collect();
            self.scratch.add_headers(&stubs)
        })
    }

    fn build(&self, unit: Unit) -> Result<(), KernelBuildError> {
        let Job { wanted, scratch, .. } = *self;
        let object = scratch.file("kernels.o");
        let compiled = self.run(self.command(unit).args(["-c", unit.file(), "-o"]).arg(&object))?;
        if !compiled.status.success() {
            return Err(wanted.rejection(THE_DEVICE.to_owned(), scratch, &compiled.stderr));
        }
        let mut link = Command::new(&self.compiler.program);
        link.current_dir(scratch.root())
            .args(["-shared", "-pthread", "-Wl,-z,defs", "-Wl,-Bsymbolic"])
            .arg(&object);
        let mut bytes = read(&object)?;
        if let Some(diagnostics) = beyond_a_gpu(&bytes).or_else(|| too_much_constant_memory(wanted.source, &bytes)) {
            return Err(KernelBuildError::Compile {
                source_name: wanted.source.name.clone(),
                target: THE_DEVICE.to_owned(),
                diagnostics,
            });
        }
        let definitions = [define_arrays(&mut bytes), set_apart(&mut bytes)];
        let definitions = definitions.into_iter().flatten().collect::<String>();
        if !definitions.is_empty() {
            write(&object, &bytes)?;
            let assembly = scratch.file("shared.s");
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

    /// Returns the compiler's command without its action.
    fn command(&self, unit: Unit) -> Command {
        let Job { wanted, scratch, .. } = *self;
        let mut command = Command::new(&self.compiler.program);
        command
            .current_dir(scratch.root())
            .args(["-x", unit.language(), &self.compiler.processors.option()])
            .args(self.compiler.optimization.options())
            .args(REQUIRED_OPTIONS)
            .args(&self.compiler.options)
            .args(SILENCED_WARNINGS)
            .args(["-fdiagnostics-color=never", "-w"]);
        command
            .args(self.line_tables())
            .args(host_options(&wanted.source.options))
            .arg("-I")
            .arg(scratch.shim())
            .arg("-I.");
        command
    }

    /// Returns the options that write paths in line tables as the user knows them: those of the
    /// crate's files are relative, and all others absolute. A debugger needs the paths as they are.
    fn line_tables(&self) -> Vec<String> {
        // A slash at the end would not match.
        let written = |folder: &Path| folder.components().collect::<PathBuf>().display().to_string();
        let shown = |folder: &Path, name: &str| format!("-fdebug-prefix-map={}={name}", written(folder));
        match self.compiler.optimization {
            Optimization::Full => vec![shown(self.scratch.root(), "."), shown(&self.scratch.shim(), "/shim")],
            Optimization::ForDebugger => Vec::new(),
        }
    }

    fn run(&self, command: &mut Command) -> Result<Finished, KernelBuildError> {
        let compiler = ("the C++ compiler", LIMIT, &self.compiler.readable);
        self.wanted.run(compiler, command, Stdio::null(), self.scratch)
    }
}

/// Returns a path that a compiler takes for a file, whatever its name is: a name may begin with `-`
/// or `@`, like an option or a file of options.
pub(super) fn as_a_file(path: &str) -> PathBuf {
    Path::new(".").join(path)
}

fn find_program() -> PathBuf {
    let mut build = cc::Build::new();
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    build
        .cpp(true)
        .cargo_metadata(false)
        // `cc` would print its warnings to standard output, among the results.
        .cargo_warnings(false)
        .no_default_flags(true)
        .opt_level(3)
        .target(&target)
        .host(&target);
    build
        .try_get_compiler()
        .map_or_else(|_| PathBuf::from("c++"), |tool| tool.path().to_owned())
}

/// Returns the folders in which a compiler searches its own programs and libraries.
fn search_folders(program: &Path) -> Vec<PathBuf> {
    let answer = confined(program, &["-print-search-dirs"]);
    let text = answer.map(|answer| String::from_utf8_lossy(&answer.stdout).into_owned());
    let text = text.unwrap_or_default();
    let lists = text.lines().filter_map(|line| line.split_once(": "));
    let folders = lists.flat_map(|(_, list)| list.trim_start_matches('=').split(':').map(PathBuf::from));
    folders.collect()
}

/// Returns the program that a name means, as the system finds it.
fn found_on_path(program: &Path) -> PathBuf {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .map(|folder| folder.join(program))
        .find(|path| path.is_file());
    found.unwrap_or_else(|| program.to_owned())
}

/// Runs the compiler with the rights that it has when it compiles.
fn confined(program: &Path, options: &[&str]) -> io::Result<Output> {
    confine(Command::new(program).args(options), Rights::ReadFiles).output()
}

fn understood_options(program: &Path) -> io::Result<Vec<&'static str>> {
    let understands = |options: &[&str]| {
        let nothing = ["-Werror", "-x", "c++", "-E", "/dev/null", "-o", "/dev/null"];
        confined(program, &[options, &nothing].concat()).map(|output| output.status.success())
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

/// Returns the processor's name and features, which `-march=native` depends on.
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
