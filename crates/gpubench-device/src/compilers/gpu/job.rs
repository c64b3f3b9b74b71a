//! The compilation of a source by a GPU compiler.

use std::process::{Command, Stdio};
use std::time::Duration;

use gpubench::catalog::Source;

use super::super::compiler::Wanted;
use super::super::error::KernelBuildError;
use super::super::process::Finished;
use super::super::readable::Readable;
use super::super::scratch::Scratch;
use super::front_end::usual_form;
use super::options::ASSEMBLER_OPTION;
use super::options::{Dialect, SourceOptions};
use super::store::Maker;
use crate::cuda::ptxas::VERBOSE;
use crate::cuda::{Architecture, Features};

/// The time limit for compiling a source. Matrix multiplication templates take minutes.
const LIMIT: Duration = Duration::from_secs(900);

/// The default language standard.
const STANDARD: &str = "c++17";

/// GPU code: the output of a compiler, or a part of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    /// A cubin.
    Machine(Architecture),
    /// PTX, which the driver compiles.
    Ptx(Architecture),
}

impl Code {
    /// Returns the best code for a device that a compiler with these compute capabilities
    /// (ascending) can make; `None` if the device is too old for it.
    pub(super) fn for_device(device: Architecture, capabilities: &[u32]) -> Option<Code> {
        if capabilities.contains(&device.capability) {
            return Some(Code::Machine(device));
        }
        let older = |capability: &&u32| **capability < device.capability;
        let newest = Architecture::of_capability(*capabilities.iter().rev().find(older)?);
        if newest.machine_code_runs_on(device) {
            Some(Code::Machine(newest))
        } else {
            Some(Code::Ptx(newest))
        }
    }

    /// Returns the architecture's name for the compiler.
    pub(super) fn architecture_name(self) -> String {
        match self {
            Code::Machine(architecture) => architecture.to_string(),
            Code::Ptx(architecture) => architecture.virtual_name(),
        }
    }
}

/// Returns the architecture to compile a source for: the device's, with the features that the
/// source's options name.
pub(super) fn wanted_architecture(
    source: &Source,
    options: &SourceOptions,
    device: Architecture,
) -> Result<Architecture, KernelBuildError> {
    let featured: Vec<Architecture> = options
        .architectures
        .iter()
        .copied()
        .filter(|architecture| architecture.features != Features::Portable)
        .collect();
    if featured.is_empty() {
        return Ok(device);
    }
    let fitting = featured
        .iter()
        .find(|architecture| architecture.machine_code_runs_on(device));
    fitting
        .copied()
        .ok_or_else(|| KernelBuildError::other_architecture(source, &featured, device))
}

/// The inputs of a compilation.
pub(super) struct Job<'a> {
    pub(super) wanted: Wanted<'a>,
    pub(super) device: Architecture,
    pub(super) code: Code,
    pub(super) maker: Maker,
    pub(super) source_options: &'a SourceOptions,
    pub(super) scratch: &'a Scratch,
}

impl Job<'_> {
    /// Returns the options for both compilers.
    pub(super) fn options(&self) -> Vec<String> {
        let standard = self.source_options.standard.as_deref().unwrap_or(STANDARD);
        let mut options = vec![
            format!("--gpu-architecture={}", self.code.architecture_name()),
            format!("--std={standard}"),
        ];
        // The two options exclude each other.
        if !self
            .source_options
            .passed
            .iter()
            .any(|option| option == "--device-debug")
        {
            options.push("-lineinfo".to_owned());
        }
        options.extend(self.source_options.passed.iter().cloned());
        let verbose = format!("{ASSEMBLER_OPTION}={VERBOSE}");
        if matches!(self.code, Code::Machine(_)) && !options.contains(&verbose) {
            options.push(verbose);
        }
        options
    }

    /// Runs a compiler's command.
    pub(super) fn run(
        &self,
        dialect: Dialect,
        readable: &Readable,
        command: &mut Command,
        input: Stdio,
    ) -> Result<Finished, KernelBuildError> {
        let compiler = (dialect.name(), LIMIT, readable);
        self.wanted.run(compiler, command, input, self.scratch)
    }

    /// Returns why a compiler rejected the source, from its messages.
    pub(super) fn rejection(&self, log: &str) -> KernelBuildError {
        self.wanted
            .rejection(self.device.to_string(), self.scratch, &usual_form(log))
    }

    pub(super) fn crash(&self, dialect: Dialect, reason: String) -> KernelBuildError {
        KernelBuildError::Crash {
            compiler: dialect.name(),
            source_name: self.wanted.source.name.clone(),
            reason,
        }
    }
}

#[cfg(test)]
mod tests {
    use gpubench::catalog::SourceForm;

    use super::*;

    fn code(device: u32, capabilities: &[u32]) -> Option<String> {
        Code::for_device(Architecture::of_capability(device), capabilities).map(Code::architecture_name)
    }

    #[test]
    fn an_unsupported_device_gets_the_newest_code_that_runs_on_it() {
        assert_eq!(code(90, &[75, 80, 90, 100]).as_deref(), Some("sm_90"));
        assert_eq!(code(103, &[75, 80, 90, 100]).as_deref(), Some("sm_100"));
        assert_eq!(code(130, &[75, 80, 90, 120]).as_deref(), Some("compute_120"));
        assert_eq!(code(88, &[75, 80, 86, 90]).as_deref(), Some("sm_86"));
        assert_eq!(code(70, &[75, 80]), None);
    }

    #[test]
    fn features_are_used_if_the_source_names_them_for_this_device() {
        let source = Source {
            name: "a.cu".into(),
            form: SourceForm::Cuda,
            files: Vec::new(),
            options: Vec::new(),
        };
        let wanted = |named: &[&str], device: &str| {
            let options = SourceOptions {
                architectures: named
                    .iter()
                    .map(|name| name.parse().expect("an architecture"))
                    .collect(),
                ..SourceOptions::default()
            };
            let device = device.parse().expect("an architecture");
            wanted_architecture(&source, &options, device).map_or_else(|error| error.to_string(), |it| it.to_string())
        };
        assert_eq!(wanted(&[], "sm_90"), "sm_90");
        assert_eq!(wanted(&["sm_80"], "sm_90"), "sm_90");
        assert_eq!(wanted(&["sm_90a", "sm_100a"], "sm_90"), "sm_90a");
        assert_eq!(
            wanted(&["sm_90a"], "sm_80"),
            "`a.cu` is for sm_90a, but this device is sm_80"
        );
    }
}
