//! `cargo gpubench new`.

use camino::Utf8PathBuf;
use clap::ValueEnum;
use gpubench_diagnostic::{ExitCode, Failure};
use gpubench_report::{Output, shell_quoted};

use super::ScaffoldError;
use super::dependency::runtime_dependency;
use super::files::{replace, write_new};
use super::manifest::{Manifest, RUNTIME};
use crate::cdylibs::make_crate;

/// How the new crate's kernels are written and launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Template {
    /// CUDA C++, launched by the tool
    Cuda,
    /// PTX, launched by the tool, for GPUs only
    Ptx,
    /// Rust that rustc compiles to PTX, for GPUs only
    RustPtx,
    /// CUDA C++ with a launch function of its own, compiled by nvcc
    Launcher,
    /// As `launcher`, with a C header that bindgen reads
    Bindgen,
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
            Template::RustPtx => files!("rust-ptx": "kernels/add1.ptx" "kernels/add1.rs" "src/lib.rs"),
            Template::Launcher => files!("launcher": "build.rs" "src/add1.cu" "src/lib.rs"),
            Template::Bindgen => files!("bindgen": "build.rs" "src/add1.cu" "src/add1.h" "src/lib.rs"),
            Template::Cudarc => files!("cudarc": "src/lib.rs"),
        }
    }

    /// Returns what the manifest needs besides the runtime: a table, a package and its value.
    fn dependencies(self) -> &'static [(&'static str, &'static str, &'static str)] {
        match self {
            Template::Cuda | Template::Ptx | Template::RustPtx => &[],
            Template::Launcher => &[("build-dependencies", "cc", "\"1.2\"")],
            Template::Bindgen => &[
                ("build-dependencies", "bindgen", "\"0.72\""),
                ("build-dependencies", "cc", "\"1.2\""),
            ],
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
    // Cargo finds that a package depends on itself only when it builds.
    let needed = template.dependencies().iter().map(|(_, package, _)| *package);
    let package = name.as_deref().or(path.file_name()).unwrap_or_default();
    if std::iter::once(RUNTIME).chain(needed).any(|needed| needed == package) {
        let name = package.to_owned();
        return Err(ScaffoldError::NamedLikeDependency { name }.into());
    }
    if path.symlink_metadata().is_ok() {
        return Err(ScaffoldError::PathExists { path: path.clone() }.into());
    }
    if !make_crate(path, name.as_deref()).map_err(ScaffoldError::Cargo)? {
        return Err(ScaffoldError::NotMade { path: path.clone() }.into());
    }
    let mut manifest = Manifest::read(&path.join("Cargo.toml"))?;
    manifest.add_dependency("dependencies", RUNTIME, &runtime_dependency())?;
    for (table, package, value) in template.dependencies() {
        manifest.add_dependency(table, package, value)?;
    }
    manifest.save()?;
    for (file, text) in template.files() {
        let file = path.join(file);
        match file.exists() {
            true => replace(&file, text)?,
            false => write_new(&file, text)?,
        }
    }
    let files: Vec<String> = template.files().iter().map(|(file, _)| format!("`{file}`")).collect();
    Output::stderr().print(&format!(
        "Created `{path}` with {}.\nRun its benchmarks: `cd {} && cargo gpubench`\n",
        files.join(", "),
        shell_quoted(path.as_str()),
    ))?;
    Ok(ExitCode::Success)
}
