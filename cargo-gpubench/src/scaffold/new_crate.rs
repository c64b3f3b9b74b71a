//! `cargo gpubench new`.

use camino::Utf8PathBuf;
use clap::ValueEnum;
use gpubench_diagnostic::{ExitCode, Failure};
use gpubench_report::Output;

use super::ScaffoldError;
use super::dependency::runtime_dependency;
use super::files::{read, replace, write_new};
use crate::cdylibs::make_crate;

/// How the new crate's kernels are written and launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Template {
    /// CUDA C++, launched by the tool
    Cuda,
    /// PTX, launched by the tool, for GPUs only
    Ptx,
    /// CUDA C++ with a launch function of its own, compiled by nvcc
    Launcher,
    /// CUDA C++, compiled and launched by cudarc
    Cudarc,
}

/// The files of a template: the path in the crate, and the text.
macro_rules! files {
    ($template:literal: $($path:literal)*) => {
        &[$(($path, include_str!(concat!("templates/", $template, "/", $path)))),*]
    };
}

impl Template {
    fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Template::Cuda => files!("cuda": "src/kernels.cu" "src/lib.rs"),
            Template::Ptx => files!("ptx": "src/kernels.ptx" "src/lib.rs"),
            Template::Launcher => files!("launcher": "build.rs" "src/add1.cu" "src/lib.rs"),
            Template::Cudarc => files!("cudarc": "src/lib.rs"),
        }
    }

    /// Returns what the manifest needs besides the runtime: a table, a package and its value.
    fn dependencies(self) -> &'static [(&'static str, &'static str, &'static str)] {
        match self {
            Template::Cuda | Template::Ptx => &[],
            Template::Launcher => &[("build-dependencies", "cc", "\"1.2\"")],
            Template::Cudarc => &[(
                "dependencies",
                "cudarc",
                "{ version = \"0.19\", default-features = false, \
                 features = [\"std\", \"driver\", \"nvrtc\", \"cuda-12080\", \"dynamic-loading\"] }",
            )],
        }
    }
}

/// The options of `cargo gpubench new`.
#[derive(Clone, Debug)]
pub struct NewOptions {
    /// The crate's folder.
    pub path: Utf8PathBuf,
    /// The package's name. The default is the folder's.
    pub name: Option<String>,
    /// How its kernels are written and launched.
    pub template: Template,
}

/// Makes a crate, as `cargo new` does, with a kernel and its benchmark.
///
/// # Errors
/// Cargo refuses, or a file cannot be written.
pub fn new_crate(options: &NewOptions) -> Result<ExitCode, Failure> {
    let NewOptions { path, name, template } = options;
    if !make_crate(path, name.as_deref()).map_err(ScaffoldError::Cargo)? {
        return Err(ScaffoldError::NotMade { path: path.clone() }.into());
    }
    let manifest = path.join("Cargo.toml");
    let mut text = with_dependency(&read(&manifest)?, "dependencies", "gpubench", &runtime_dependency());
    for (table, package, value) in template.dependencies() {
        text = with_dependency(&text, table, package, value);
    }
    replace(&manifest, &text)?;
    for (file, text) in template.files() {
        let file = path.join(file);
        match file.exists() {
            true => replace(&file, text)?,
            false => write_new(&file, text)?,
        }
    }
    let files: Vec<String> = template.files().iter().map(|(file, _)| format!("`{file}`")).collect();
    Output::stderr().print(&format!(
        "Created `{path}` with {}.\nRun its benchmarks: `cd {path} && cargo gpubench`\n",
        files.join(", ")
    ))?;
    Ok(ExitCode::Success)
}

/// Adds a package to a table of a manifest. The table is added if it is missing.
pub(super) fn with_dependency(manifest: &str, table: &str, package: &str, value: &str) -> String {
    let line = format!("{package} = {value}\n");
    let header = format!("[{table}]");
    let mut lines: Vec<String> = manifest.lines().map(|line| format!("{line}\n")).collect();
    match lines.iter().position(|line| line.trim() == header) {
        Some(at) => lines.insert(at + 1, line),
        None => lines.push(format!("\n{header}\n{line}")),
    }
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependency_is_added_to_its_table() {
        let empty = "[package]\nname = \"a\"\n\n[dependencies]\n";
        let added = "[package]\nname = \"a\"\n\n[dependencies]\ngpubench = \"1\"\n";
        assert_eq!(with_dependency(empty, "dependencies", "gpubench", "\"1\""), added);
    }

    #[test]
    fn a_missing_table_is_added() {
        let added = "[package]\nname = \"a\"\n\n[dev-dependencies]\ngpubench = \"1\"\n";
        assert_eq!(
            with_dependency("[package]\nname = \"a\"", "dev-dependencies", "gpubench", "\"1\""),
            added
        );
    }
}
