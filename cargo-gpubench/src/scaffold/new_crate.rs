//! `cargo gpubench new`.

use camino::Utf8PathBuf;
use clap::ValueEnum;
use gpubench_diagnostic::{ExitCode, Failure};
use gpubench_report::Output;

use super::ScaffoldError;
use super::dependency::runtime_dependency;
use super::files::{read, replace, write_new};
use crate::cdylibs::make_crate;

/// What the new crate's kernels are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Template {
    /// CUDA C++
    Cuda,
    /// PTX, for GPUs only
    Ptx,
}

impl Template {
    /// Returns the file of the kernels in `src`, with its text, and the text of `lib.rs`.
    fn files(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Template::Cuda => (
                "kernels.cu",
                include_str!("templates/kernels.cu"),
                include_str!("templates/cuda.rs"),
            ),
            Template::Ptx => (
                "kernels.ptx",
                include_str!("templates/kernels.ptx"),
                include_str!("templates/ptx.rs"),
            ),
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
    /// What its kernels are written in.
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
    let text = with_dependency(&read(&manifest)?, "dependencies", &runtime_dependency());
    replace(&manifest, &text)?;
    let (file, kernels, library) = template.files();
    write_new(&path.join("src").join(file), kernels)?;
    replace(&path.join("src/lib.rs"), library)?;
    Output::stderr().print(&format!(
        "Created `{path}`: kernels in `src/{file}`, benchmarks in `src/lib.rs`.\nRun them: `cd {path} && cargo gpubench`\n"
    ))?;
    Ok(ExitCode::Success)
}

/// Adds the runtime to a table of a manifest. The table is added if it is missing.
pub(super) fn with_dependency(manifest: &str, table: &str, value: &str) -> String {
    let line = format!("gpubench = {value}\n");
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
        assert_eq!(with_dependency(empty, "dependencies", "\"1\""), added);
    }

    #[test]
    fn a_missing_table_is_added() {
        let added = "[package]\nname = \"a\"\n\n[dev-dependencies]\ngpubench = \"1\"\n";
        assert_eq!(
            with_dependency("[package]\nname = \"a\"", "dev-dependencies", "\"1\""),
            added
        );
    }
}
