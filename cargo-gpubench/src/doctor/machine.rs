//! What was found of a machine.

use std::path::PathBuf;

use gpubench::catalog::DeviceKind;

use super::check::Check;
use super::{gpu_checks, grade_check, host_checks, sandbox_checks};
use crate::broker::options::DeviceChoice;
use gpubench_diagnostic::SetupMissing;
use gpubench_measure::probe::{Answer, Gpu, Opened};
use gpubench_sandbox::FileClosing;

/// A machine as far as it was looked at.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Threads this process may use.
    pub threads: usize,
    /// The processor.
    pub processor: String,
    /// The C++ compiler, or why there is none.
    pub compiler: Result<String, String>,
    /// Whether this build has the CPU device, or why not.
    pub cpu_device: Result<(), String>,
    /// Which GPU was asked for.
    pub ordinal: u32,
    /// What its driver answered.
    pub driver: Answer<Opened>,
    /// What NVML says of every GPU.
    pub gpus: Answer<Vec<Gpu>>,
    /// The folder of MPS's control daemon, where it is there.
    pub mps: Option<PathBuf>,
    /// NVRTC's version and path, or why there is none.
    pub nvrtc: Result<String, String>,
    /// nvcc's version and path.
    pub nvcc: Option<String>,
    /// What the operating system offers.
    pub sandbox: Sandbox,
}

/// What the operating system offers to confine a worker with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// Release of the kernel.
    pub kernel: String,
    /// Whether privileges can be given up for good.
    pub no_new_privileges: bool,
    /// Whether system calls can be filtered.
    pub seccomp: bool,
    /// Whether many descriptors can be closed at once.
    pub close_range: bool,
    /// Whether processes can be held by descriptors.
    pub pidfd: bool,
    /// Whether unprivileged user namespaces are permitted.
    pub user_namespaces: bool,
    /// How far files can be closed to hosted code.
    pub files: FileClosing,
    /// Version of Landlock, which closes them.
    pub landlock: Option<u32>,
    /// Bytes of memory that may be locked; `None` is without a limit.
    pub locked_memory: Option<u64>,
}

/// Whether a machine can measure: the kind of device that would be measured on and its name, or
/// what is not there.
pub type Verdict = Result<(DeviceKind, String), SetupMissing>;

/// The name of the device of a machine that can measure, or what is not there.
type Look = fn(&Machine) -> Result<String, SetupMissing>;

/// How each kind of device is looked for, the best first.
const LOOKS: [(DeviceKind, Look); 2] = [(DeviceKind::Cuda, Machine::gpu), (DeviceKind::Cpu, Machine::cpu_device)];

impl Machine {
    /// Every finding, area by area.
    pub fn checks(&self) -> Vec<Check> {
        let mut checks = host_checks::checks(self);
        checks.extend(gpu_checks::checks(self));
        checks.extend(sandbox_checks::checks(&self.sandbox));
        checks.push(grade_check::check(self));
        checks
    }

    /// Whether it can measure on the device of `choice`.
    pub fn verdict(&self, choice: DeviceChoice) -> Verdict {
        let admitted = LOOKS.iter().filter(|(kind, _)| choice.admits(*kind));
        let found = admitted.map(|(kind, look)| look(self).map(|name| (*kind, name)));
        let best = found.reduce(|better, next| better.or(next));
        best.expect("every kind of device has a row")
    }

    fn cpu_device(&self) -> Result<String, SetupMissing> {
        let hint = host_checks::COMPILER_HINT.to_owned();
        match (&self.cpu_device, &self.compiler) {
            (Err(reason), _) => Err(SetupMissing {
                what: format!("this tool was built without the CPU device: {reason}"),
                hint,
            }),
            (Ok(()), Err(reason)) => Err(SetupMissing {
                what: reason.clone(),
                hint,
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

/// What `who` answered, or why there is no answer.
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
