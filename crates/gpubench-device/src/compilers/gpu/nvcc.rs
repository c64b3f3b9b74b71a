//! nvcc, for sources that need the whole toolkit, and for machines without NVRTC.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::super::error::KernelBuildError;
use super::super::host_compiler::as_a_file;
use super::super::process::describe;
use super::super::readable::Readable;
use super::super::scratch::{read, write};
use super::super::unit::{NVCC_UNIT, nvcc_unit, without_pointers};
use super::image::end_ptx;
use super::job::{Code, Job};
use super::options::Dialect;
use super::tool::Tool;
use crate::cuda::KernelImage;
use crate::cuda::ptxas::reports;
use gpubench_diagnostic::{Purpose, TemporaryFolder};

/// A working nvcc.
#[derive(Clone, Debug)]
pub(super) struct Nvcc {
    program: PathBuf,
    version: String,
    capabilities: Vec<u32>,
    readable: Readable,
}

impl Nvcc {
    /// Returns the first of these programs that works.
    pub(super) fn find(programs: &[PathBuf]) -> Option<Nvcc> {
        programs.iter().find_map(|program| Nvcc::describe(program))
    }

    fn describe(program: &Path) -> Option<Nvcc> {
        let readable = Readable::by(program);
        let version = output_of(program, "--version", &readable)?;
        let capabilities = output_of(program, "--list-gpu-arch", &readable)?;
        let mut capabilities: Vec<u32> = capabilities
            .lines()
            .filter_map(|line| line.trim().strip_prefix("compute_")?.parse().ok())
            .collect();
        capabilities.sort_unstable();
        capabilities.dedup();
        Some(Nvcc {
            program: program.to_owned(),
            version: release(&version)?,
            capabilities,
            readable,
        })
    }
}

impl Tool for Nvcc {
    fn dialect(&self) -> Dialect {
        Dialect::Nvcc
    }

    /// Returns `nvcc 13.0.88`, for example.
    fn version(&self) -> String {
        format!("nvcc {}", self.version)
    }

    fn path(&self) -> &Path {
        &self.program
    }

    fn capabilities(&self) -> &[u32] {
        &self.capabilities
    }

    /// Compiles first to PTX, which shows the kernels' symbols, then to machine code.
    fn compile(&self, job: &Job<'_>) -> Result<KernelImage, KernelBuildError> {
        job.scratch
            .add_unit(NVCC_UNIT, &nvcc_unit(job.wanted.source, job.wanted.names))?;
        let ptx = job.scratch.file("kernels.ptx");
        self.run(job, &["--ptx"], &[Path::new(NVCC_UNIT)], &ptx)?;
        let text = read(&ptx)?;
        let text = String::from_utf8_lossy(&text);
        let (text, symbols) = without_pointers(&text, job.wanted.names.len()).ok_or_else(|| {
            let reason = "its PTX does not list the kernels".to_owned();
            job.crash(Dialect::Nvcc, reason)
        })?;
        let (mut image, reports) = match job.code {
            Code::Ptx(_) => (text.into_bytes(), Vec::new()),
            Code::Machine(_) => {
                write(&ptx, text.as_bytes())?;
                let cubin = job.scratch.file("kernels.cubin");
                let messages = self.run(job, &["--cubin"], &[&ptx], &cubin)?;
                (read(&cubin)?, reports(&messages))
            }
        };
        end_ptx(&mut image);
        Ok(KernelImage {
            names: job.wanted.names.iter().cloned().zip(symbols).collect(),
            reports,
            image,
        })
    }
}

impl Nvcc {
    /// Compiles the host code of a source, with its kernels, to a shared library.
    /// `linked` are libraries that it needs.
    pub(super) fn library(&self, job: &Job<'_>, linked: &[PathBuf]) -> Result<Vec<u8>, KernelBuildError> {
        let (main, library) = (
            as_a_file(&job.wanted.source.files[0].path),
            job.scratch.file("library.so"),
        );
        let inputs: Vec<&Path> = std::iter::once(&main).chain(linked).map(PathBuf::as_path).collect();
        self.run(job, &["--shared", "-Xcompiler=-fPIC"], &inputs, &library)?;
        read(&library)
    }

    /// Runs a step and returns its messages.
    fn run(&self, job: &Job<'_>, step: &[&str], inputs: &[&Path], output: &Path) -> Result<String, KernelBuildError> {
        let mut command = Command::new(&self.program);
        command
            .current_dir(job.scratch.root())
            .args(step)
            .args(job.options())
            .args(["-I.", "-o"])
            .arg(output)
            .args(inputs);
        let finished = job.run(Dialect::Nvcc, &self.readable, &mut command, Stdio::null())?;
        // Some parts of nvcc write messages to standard output, others to standard error.
        let messages = format!("{}{}", String::from_utf8_lossy(&finished.stdout), finished.stderr);
        if finished.status.success() {
            Ok(messages)
        } else {
            Err(job.rejection(&messages))
        }
    }
}

/// Returns the output of a program, if it succeeds.
fn output_of(program: &Path, option: &str, readable: &Readable) -> Option<String> {
    let folder = TemporaryFolder::new(Purpose::Toolkit).ok()?;
    let printed = describe(
        Command::new(program).arg(option),
        Stdio::null(),
        folder.path(),
        readable,
    )
    .ok()?;
    let text = || String::from_utf8_lossy(&printed.stdout).into_owned();
    printed.status.success().then(text)
}

/// Returns the version after `V` in `Cuda compilation tools, release 13.0, V13.0.88`.
fn release(version: &str) -> Option<String> {
    let line = version.lines().find(|line| line.contains("release "))?;
    let (_, number) = line.rsplit_once(", V")?;
    Some(number.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_release_is_parsed_from_nvccs_output() {
        let text =
            "nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 13.0, V13.0.88\nBuild cuda_13.0\n";
        assert_eq!(release(text).as_deref(), Some("13.0.88"));
        assert_eq!(release("gcc 12"), None);
    }
}
