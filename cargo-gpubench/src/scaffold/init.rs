//! `cargo gpubench init`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_declarations::Texts;
use gpubench_diagnostic::{ExitCode, Failure};
use gpubench_report::Output;

use super::ScaffoldError;
use super::dependency::runtime_dependency;
use super::files::{read, replace, write_new};
use super::new_crate::with_dependency;
use super::sketch::{TakenNames, sketch};

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
    if !options.manifest.exists() {
        let manifest = options.manifest.clone();
        return Err(ScaffoldError::NoPackage { manifest }.into());
    }
    let manifest_text = read(&options.manifest)?;
    let manifest: toml::Table = manifest_text.parse().map_err(|source| ScaffoldError::Manifest {
        manifest: options.manifest.clone(),
        source: Box::new(source),
    })?;
    if !manifest.contains_key("package") {
        let manifest = options.manifest.clone();
        return Err(ScaffoldError::NoPackage { manifest }.into());
    }
    let root = options.manifest.parent().filter(|folder| !folder.as_str().is_empty());
    let root = root.unwrap_or(Utf8Path::new(""));
    let files = match options.files.as_slice() {
        [] => sources_below(root),
        files => files.to_vec(),
    };
    let benchmarks = Benchmarks::of(root, &files)?;
    if benchmarks.count == 0 && benchmarks.left_out.is_empty() {
        let searched = match options.files.as_slice() {
            [] => format!("the `.cu` files of the package of `{}`", options.manifest),
            files => files
                .iter()
                .map(|file| format!("`{file}`"))
                .collect::<Vec<_>>()
                .join(", "),
        };
        return Err(ScaffoldError::NoKernels { searched }.into());
    }
    let example = root.join("examples").join(format!("{}.rs", options.example));
    write_new(&example, &benchmarks.text)?;
    replace(
        &options.manifest,
        &with_example(&manifest_text, &manifest, &options.example),
    )?;
    Output::stderr().print(&benchmarks.told(&example, &options.manifest))?;
    Ok(ExitCode::Success)
}

/// The benchmarks of all files.
struct Benchmarks {
    text: String,
    count: usize,
    left_out: Vec<String>,
}

impl Benchmarks {
    fn of(root: &Utf8Path, files: &[Utf8PathBuf]) -> Result<Benchmarks, ScaffoldError> {
        let (mut sources, mut bodies) = (String::new(), String::new());
        let (mut taken, mut source_names) = (TakenNames::default(), HashSet::new());
        let (mut count, mut left_out) = (0, Vec::new());
        for file in files {
            let text = read(file)?;
            let shown = file.strip_prefix(root).unwrap_or(file);
            let texts = Texts::of([(shown.as_str(), Cow::from(text.as_str()))]);
            let source = source_name(shown, &mut source_names);
            let sketched = sketch(&source, &texts.declarations([]), &mut taken);
            left_out.extend(sketched.left_out);
            if sketched.benchmarks > 0 {
                let _ = writeln!(sources, "cuda_source!({source} = {:?});", from_example(root, file));
                bodies.push_str(&sketched.text);
                count += sketched.benchmarks;
            }
        }
        let mut text = format!(
            "//! Benchmarks of this package's kernels: `cargo gpubench` runs them.\n\nuse gpubench::prelude::*;\n\n{sources}{bodies}"
        );
        if !left_out.is_empty() {
            text.push_str("\n// Kernels without a benchmark:\n");
            left_out.iter().for_each(|kernel| {
                let _ = writeln!(text, "// - {kernel}");
            });
        }
        Ok(Benchmarks { text, count, left_out })
    }

    fn told(&self, example: &Utf8Path, manifest: &Utf8Path) -> String {
        let benchmarks = if self.count == 1 { "benchmark" } else { "benchmarks" };
        let mut told = format!(
            "Wrote {} {benchmarks} to `{example}`, and the example to `{manifest}`.\n",
            self.count
        );
        for kernel in &self.left_out {
            let _ = writeln!(told, "Left out {kernel}");
        }
        told.push_str("Next: replace each `TODO` and `todo!`, then run `cargo gpubench --test`.\n");
        told
    }
}

/// Returns the `.cu` files of a package in order, without those of packages in it.
fn sources_below(root: &Utf8Path) -> Vec<Utf8PathBuf> {
    let folder = if root.as_str().is_empty() {
        Utf8Path::new(".")
    } else {
        root
    };
    let Ok(entries) = folder.read_dir_utf8() else {
        return Vec::new();
    };
    let mut paths: Vec<Utf8PathBuf> = entries.flatten().map(|entry| entry.path().to_owned()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let is_hidden = path
            .file_name()
            .is_none_or(|name| name.starts_with('.') || name == "target");
        // A link could lead back.
        if is_hidden || path.is_symlink() {
            continue;
        }
        if path.extension() == Some("cu") && path.is_file() {
            found.push(path.strip_prefix("./").unwrap_or(&path).to_owned());
        } else if path.is_dir() && !path.join("Cargo.toml").exists() {
            found.extend(sources_below(&path));
        }
    }
    found
}

/// Returns the name of a file's `cuda_source!`: `RMS_NORM` for `rms-norm.cu`.
fn source_name(file: &Utf8Path, taken: &mut HashSet<String>) -> String {
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

/// Returns the path of a file from `examples`.
fn from_example(root: &Utf8Path, file: &Utf8Path) -> Utf8PathBuf {
    match file.strip_prefix(root) {
        Ok(inside) => Utf8Path::new("..").join(inside),
        Err(_) if file.is_absolute() => file.to_owned(),
        Err(_) => Utf8Path::new("..").join(file),
    }
}

/// Adds the example, and the runtime as a dev-dependency unless the package has it.
fn with_example(text: &str, manifest: &toml::Table, example: &str) -> String {
    let has_runtime = ["dependencies", "dev-dependencies"].iter().any(|table| {
        let table = manifest.get(*table).and_then(toml::Value::as_table);
        table.is_some_and(|table| table.contains_key("gpubench"))
    });
    let text = match has_runtime {
        true => text.to_owned(),
        false => with_dependency(text, "dev-dependencies", "gpubench", &runtime_dependency()),
    };
    format!(
        "{}\n\n[[example]]\nname = {example:?}\ncrate-type = [\"cdylib\"]\n",
        text.trim_end()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_gets_the_example_and_the_runtime_once() {
        let of = |text: &str| with_example(text, &text.parse().expect("TOML"), "gpu");
        let added = of("[package]\nname = \"a\"\n");
        assert!(added.contains("\n[dev-dependencies]\ngpubench = "), "{added}");
        assert!(
            added.ends_with("\n[[example]]\nname = \"gpu\"\ncrate-type = [\"cdylib\"]\n"),
            "{added}"
        );
        let has_it = of("[package]\nname = \"a\"\n[dependencies]\ngpubench = \"1\"\n");
        assert_eq!(has_it.matches("gpubench").count(), 1, "{has_it}");
        assert!(added.parse::<toml::Table>().is_ok() && has_it.parse::<toml::Table>().is_ok());
    }

    #[test]
    fn a_source_is_named_for_its_file() {
        let mut taken = HashSet::new();
        let mut name = |file: &str| source_name(Utf8Path::new(file), &mut taken);
        assert_eq!(name("src/rms-norm.cu"), "RMS_NORM");
        assert_eq!(name("other/rms_norm.cu"), "RMS_NORM_2");
        assert_eq!(name("2d.cu"), "KERNELS_2D");
    }
}
