//! What a test needs of its machine, and of generated pages.
//!
//! A test that needs a program calls [`need`] first. Where the program is missing, the test ends
//! with one message, which `.ci/test` counts as a skip.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Ends the test if no folder of `PATH` has a program.
///
/// # Panics
/// If it is missing.
#[track_caller]
pub fn need(program: &str) {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&folders).any(|folder| folder.join(program).is_file());
    assert!(is_there, "{}", missing(&format!("`{program}`")));
}

/// Compares a page with its generated text, or writes it if the environment has the variable
/// `update`.
///
/// # Panics
/// If the page is not up to date, or cannot be read or written.
pub fn assert_generated(page: impl AsRef<Path>, wanted: &str, update: &str) {
    let page = page.as_ref();
    if std::env::var_os(update).is_some() {
        return std::fs::write(page, wanted).expect("the page is written");
    }
    let found = std::fs::read_to_string(page).expect("the page is read");
    let page = page.display();
    assert!(
        found == wanted,
        "{page}: run this test with {update}=1 and look at the difference"
    );
}

fn missing(what: &str) -> String {
    format!("this test needs {what}, which this machine lacks")
}

/// Python packages with GPU compilers and their tools, which `.ci/cuda-tools` installs.
#[derive(Debug)]
pub struct CudaPackages {
    name: &'static str,
    found: OnceLock<Result<PathBuf, String>>,
}

/// NVRTC of CUDA 12.
pub static CUDA_12: CudaPackages = CudaPackages::new("12");
/// NVRTC and nvcc of CUDA 13.
pub static CUDA_13: CudaPackages = CudaPackages::new("13");
/// The programs that print SASS.
pub static SASS: CudaPackages = CudaPackages::new("sass");

impl CudaPackages {
    const fn new(name: &'static str) -> CudaPackages {
        let found = OnceLock::new();
        CudaPackages { name, found }
    }

    /// Returns their folder. Installs them first if they are missing. `repository` has the script.
    ///
    /// # Panics
    /// If they cannot be installed.
    #[track_caller]
    pub fn folder(&self, repository: &Path) -> &Path {
        let found = self.found.get_or_init(|| installed(repository, self.name));
        match found {
            Ok(folder) => folder,
            Err(reason) => panic!(
                "{}\n{reason}",
                missing(&format!("the packages of `.ci/cuda-tools {}`", self.name))
            ),
        }
    }
}

fn installed(repository: &Path, name: &str) -> Result<PathBuf, String> {
    let script = repository.join(".ci/cuda-tools");
    let ran = Command::new(script)
        .arg(name)
        .output()
        .map_err(|error| error.to_string())?;
    if ran.status.success() {
        Ok(PathBuf::from(String::from_utf8_lossy(&ran.stdout).trim()))
    } else {
        Err(String::from_utf8_lossy(&ran.stderr).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_there_is_no_reason_to_skip() {
        need("sh");
    }

    #[test]
    #[should_panic(expected = "this test needs `no-such-program`, which this machine lacks")]
    fn a_program_that_is_missing_ends_the_test() {
        need("no-such-program");
    }
}
