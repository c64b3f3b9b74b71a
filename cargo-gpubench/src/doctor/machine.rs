//! The surveyed facts of a machine.

use std::path::PathBuf;

use gpubench::catalog::DeviceKind;

use super::check::Check;
use super::{gpu_checks, grade_check, host_checks, observation_checks, sandbox_checks};
use crate::broker::options::DeviceChoice;
use gpubench_contract::ProbeAbilities;
use gpubench_diagnostic::SetupMissing;
use gpubench_measure::probe::{Answer, Gpu, Opened};
use gpubench_sandbox::FileClosing;

/// The surveyed facts of a machine.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Threads that this process may use.
    pub threads: usize,
    /// The processor's name.
    pub processor: String,
    /// The C++ compiler, or why there is none.
    pub compiler: Result<String, String>,
    /// Whether this build has the CPU device, or why not.
    pub cpu_device: Result<(), String>,
    /// Number of the requested GPU.
    pub ordinal: u32,
    /// The answer of its driver.
    pub driver: Answer<Opened>,
    /// NVML's facts about every GPU.
    pub gpus: Answer<Vec<Gpu>>,
    /// The folder of MPS's control daemon, if it exists.
    pub mps: Option<PathBuf>,
    /// NVRTC's version and path, or why there is none.
    pub nvrtc: Result<String, String>,
    /// nvcc's version and path.
    pub nvcc: Option<String>,
    /// Sandboxing features of the operating system.
    pub sandbox: Sandbox,
    /// What the system lets this process see of others.
    pub abilities: Result<ProbeAbilities, SetupMissing>,
}

/// Sandboxing features of the operating system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// Release of the Linux kernel.
    pub kernel: String,
    /// Whether a process can give up privileges for good.
    pub no_new_privileges: bool,
    /// Whether system calls can be filtered.
    pub seccomp: bool,
    /// Whether a range of descriptors can be closed with one call.
    pub close_range: bool,
    /// Whether descriptors can refer to processes.
    pub pidfd: bool,
    /// Whether unprivileged user namespaces are permitted.
    pub user_namespaces: bool,
    /// How far files can be closed to hosted code.
    pub files: FileClosing,
    /// Version of Landlock, which restricts access to files.
    pub landlock: Option<u32>,
    /// Limit on locked memory in bytes; `None` if there is no limit.
    pub locked_memory: Option<u64>,
}

/// The kind and name of the device that would measure, or what is missing.
pub type Verdict = Result<(DeviceKind, String), SetupMissing>;

/// Returns the name of a device that can measure, or what is missing.
type Look = fn(&Machine) -> Result<String, SetupMissing>;

/// The check for each kind of device, best kind first.
const LOOKS: [(DeviceKind, Look); 2] = [(DeviceKind::Cuda, Machine::gpu), (DeviceKind::Cpu, Machine::cpu_device)];

impl Machine {
    /// Returns every finding, area by area.
    pub fn checks(&self) -> Vec<Check> {
        let mut checks = host_checks::checks(self);
        checks.extend(gpu_checks::checks(self));
        checks.extend(sandbox_checks::checks(&self.sandbox));
        checks.extend(observation_checks::checks(&self.abilities));
        checks.push(grade_check::check(self));
        checks
    }

    /// Returns whether the machine can measure on the device of `choice`.
    pub fn verdict(&self, choice: DeviceChoice) -> Verdict {
        let admitted = LOOKS.iter().filter(|(kind, _)| choice.admits(*kind));
        let found = admitted.map(|(kind, look)| look(self).map(|name| (*kind, name)));
        let best = found.reduce(|better, next| better.or(next));
        best.expect("every kind of device has a row")
    }

    fn cpu_device(&self) -> Result<String, SetupMissing> {
        match (&self.cpu_device, &self.compiler) {
            (Err(reason), _) => Err(SetupMissing {
                what: format!("this tool was built without the CPU device: {reason}"),
                hint: host_checks::REBUILD_HINT.to_owned(),
            }),
            (Ok(()), Err(reason)) => Err(SetupMissing {
                what: reason.clone(),
                hint: host_checks::COMPILER_HINT.to_owned(),
            }),
            (Ok(()), Ok(_)) => Ok(self.processor.clone()),
        }
    }

    fn gpu(&self) -> Result<String, SetupMissing> {
        let opened = given(&self.driver, "the GPU's driver")?;
        match opened.first_failure() {
            None => Ok(opened.facts.device.name.clone()),
            Some((trial, reason)) => Err(SetupMissing {
                what: format!("the GPU cannot {}: {reason}", trial.what()),
                hint: "see the failed check above".to_owned(),
            }),
        }
    }
}

/// Returns the answer of `who`, or why there is none.
pub(super) fn given<'a, T>(answer: &'a Answer<T>, who: &str) -> Result<&'a T, SetupMissing> {
    match answer {
        Answer::Given(given) => Ok(given),
        Answer::Absent(absence) => Err(absence.clone().into()),
        Answer::Broken { how } => Err(SetupMissing {
            what: format!("{who} {how}"),
            hint: "check the driver with `nvidia-smi` and `dmesg`".to_owned(),
        }),
    }
}
