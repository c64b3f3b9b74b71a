//! `cargo gpubench init`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_declarations::Texts;
use gpubench_diagnostic::{ExitCode, Failure, in_backticks};
use gpubench_report::Output;

use super::ScaffoldError;
use super::dependency::runtime_dependency;
use super::files::write_new;
use super::manifest::{Manifest, RUNTIME, Runtime};
use super::sketch::sketch;
use super::sources::Sources;

/// The options of `cargo gpubench init`.
#[derive(Clone, Debug)]
pub struct InitOptions {
    /// Files of CUDA C++. Without any, all `.cu` files of the package.
    pub files: Vec<Utf8PathBuf>,
    /// The package's manifest.
    pub manifest: Utf8PathBuf,
    /// The name of the example that gets the benchmarks.
    pub example: String,
}

/// Writes an example with a benchmark for each kernel of a package, and adds it to the manifest.
///
/// # Errors
/// There is no package or no kernel, the example exists, or a file cannot be read or written.
pub fn init(options: &InitOptions) -> Result<ExitCode, Failure> {
    let mut manifest = Manifest::read(&options.manifest)?;
    if manifest.package_name() == Some(RUNTIME) {
        let name = RUNTIME.to_owned();
        return Err(ScaffoldError::NamedLikeDependency { name }.into());
    }
    let runtime = add_to(&mut manifest, &options.example)?;
    manifest.text()?;
    let root = options.manifest.parent().unwrap_or(Utf8Path::new(""));
    let example = free_path(root, &options.example)?;
    let sources = Sources::read(root, &options.files)?;
    let benchmarks = Benchmarks::of(&runtime, &sources);
    if benchmarks.count == 0 && benchmarks.kernels_left_out.is_empty() {
        let searched = options.searched(&sources.left_out);
        return Err(ScaffoldError::NoKernels { searched }.into());
    }
    write_new(&example, &benchmarks.text)?;
    if let Err(error) = manifest.save() {
        // Without its entry in the manifest, the example would be a program.
        let _ = std::fs::remove_file(&example);
        return Err(error.into());
    }
    Output::stderr().print(&benchmarks.told(&example, &options.manifest))?;
    Ok(ExitCode::Success)
}

/// Adds the example, and the runtime as a dev-dependency unless examples can use it. Returns the
/// runtime's name in Rust.
fn add_to(manifest: &mut Manifest, example: &str) -> Result<String, ScaffoldError> {
    let name = match manifest.runtime()? {
        Runtime::Usable(name) => name,
        Runtime::Optional { name, value } => {
            manifest.add_dependency("dev-dependencies", &name, &value)?;
            name
        }
        Runtime::Missing => {
            manifest.add_dependency("dev-dependencies", RUNTIME, &runtime_dependency())?;
            RUNTIME.to_owned()
        }
    };
    manifest.add_example(example)?;
    Ok(name.replace('-', "_"))
}

/// Returns the path of the example, which cargo finds in one of two places.
fn free_path(root: &Utf8Path, example: &str) -> Result<Utf8PathBuf, ScaffoldError> {
    let folder = root.join("examples");
    let paths = [
        folder.join(format!("{example}.rs")),
        folder.join(example).join("main.rs"),
    ];
    match paths.iter().find(|path| path.symlink_metadata().is_ok()) {
        Some(path) => Err(ScaffoldError::Exists { path: path.clone() }),
        None => {
            let [path, _] = paths;
            Ok(path)
        }
    }
}

impl InitOptions {
    /// Returns where kernels were searched, for people.
    fn searched(&self, left_out: &[String]) -> String {
        let files = match self.files.as_slice() {
            [] => format!("the `.cu` files of the package of `{}`", self.manifest),
            files => in_backticks(files),
        };
        match left_out {
            [] => files,
            left_out => format!("{files}; left out {}", left_out.join(", ")),
        }
    }
}

/// The benchmarks of all files.
struct Benchmarks {
    text: String,
    count: usize,
    kernels_left_out: Vec<String>,
    files_left_out: Vec<String>,
}

impl Benchmarks {
    fn of(runtime: &str, sources: &Sources) -> Benchmarks {
        let (mut declared, mut bodies) = (String::new(), String::new());
        // A static with the name of one of the prelude's types would hide it.
        let mut static_names = HashSet::from(["F16", "BF16", "F8E4M3", "F8E5M2"].map(str::to_owned));
        let mut taken = HashSet::new();
        let (mut count, mut kernels_left_out) = (0, Vec::new());
        for file in &sources.files {
            let texts = Texts::of([(file.path.as_str(), Cow::from(file.text.as_str()))]);
            let name = static_name(&file.path, &mut static_names);
            let sketched = sketch(&name, &texts.declarations([]), &mut taken);
            kernels_left_out.extend(sketched.left_out);
            if sketched.benchmarks > 0 {
                let _ = writeln!(declared, "cuda_source!({name} = {:?});", file.from_examples);
                bodies.push_str(&sketched.text);
                count += sketched.benchmarks;
            }
        }
        let mut text = format!(
            "//! Benchmarks of this package's kernels: `cargo gpubench` runs them.\n\nuse {runtime}::prelude::*;\n\n{declared}{bodies}"
        );
        if !kernels_left_out.is_empty() {
            text.push_str("\n// Kernels without a benchmark:\n");
            kernels_left_out.iter().for_each(|kernel| {
                let _ = writeln!(text, "// - {kernel}");
            });
        }
        Benchmarks {
            text,
            count,
            kernels_left_out,
            files_left_out: sources.left_out.clone(),
        }
    }

    fn told(&self, example: &Utf8Path, manifest: &Utf8Path) -> String {
        let benchmarks = if self.count == 1 { "benchmark" } else { "benchmarks" };
        let mut told = format!(
            "Wrote {} {benchmarks} to `{example}`, and the example to `{manifest}`.\n",
            self.count
        );
        for left_out in self.files_left_out.iter().chain(&self.kernels_left_out) {
            let _ = writeln!(told, "Left out {left_out}");
        }
        told.push_str("Next: replace each `TODO` and `todo!`, then run `cargo gpubench --test`.\n");
        told
    }
}

/// Returns the name of a file's `cuda_source!`: `RMS_NORM` for `rms-norm.cu`.
fn static_name(file: &Utf8Path, taken: &mut HashSet<String>) -> String {
    let stem = file.file_stem().unwrap_or("kernels").to_uppercase();
    let mut name: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if name.starts_with(|first: char| !first.is_ascii_alphabetic()) {
        name.insert_str(0, "KERNELS_");
    }
    while !taken.insert(name.clone()) {
        name.push_str("_2");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_named_for_its_file() {
        let mut taken = HashSet::new();
        let mut name = |file: &str| static_name(Utf8Path::new(file), &mut taken);
        assert_eq!(name("src/rms-norm.cu"), "RMS_NORM");
        assert_eq!(name("other/rms_norm.cu"), "RMS_NORM_2");
        assert_eq!(name("2d.cu"), "KERNELS_2D");
    }
}
