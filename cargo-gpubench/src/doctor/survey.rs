//! The survey of this machine.

use rustix::process::{PidfdFlags, Resource};

use super::machine::{Machine, Sandbox};
use crate::broker::options::DeviceOptions;
use crate::probe_program::ProbeProgram;
use gpubench_contract::ProbeAbilities;
use gpubench_device::compilers::{Compiler, GpuCompilers, HostCompiler, NamedCompilers};
use gpubench_device::cpu;
use gpubench_device::cuda::mps_daemon;
use gpubench_diagnostic::{Expected, SetupMissing};
use gpubench_measure::probe::{Target, ask};
use gpubench_sandbox::{FileClosing, landlock_abi};

/// Surveys this machine, and the GPU with the number in `device`.
pub fn survey(device: &DeviceOptions) -> Machine {
    let (nvrtc, nvcc) = gpu_compilers(device);
    let compiler = HostCompiler::find();
    Machine {
        threads: device.threads.unwrap_or_else(cpu::available_threads).get(),
        processor: cpu::processor_name(),
        compiler: compiler
            .map(|compiler| compiler.identity().to_owned())
            .map_err(|missing| gpubench_diagnostic::chain(&missing)),
        cpu_device: gpubench_harness::HOST_BUILD.map_err(str::to_owned),
        ordinal: device.ordinals.first(),
        driver: ask(Target::Device(device.ordinals.first())),
        gpus: ask(Target::Gpus),
        mps: mps_daemon(),
        nvrtc,
        nvcc,
        sandbox: sandbox(),
        abilities: abilities(),
    }
}

/// Returns the NVRTC and the nvcc that a run would use, or why there is no NVRTC.
fn gpu_compilers(device: &DeviceOptions) -> (Result<String, String>, Option<String>) {
    let tool = match std::env::current_exe() {
        Ok(tool) => tool,
        Err(error) => return (Err(error.to_string()), None),
    };
    let find = |named: &NamedCompilers| GpuCompilers::find(&tool, named);
    match find(&device.compilers) {
        Ok(found) => (found.nvrtc().ok_or_else(|| "not found".to_owned()), found.nvcc()),
        Err(error) => (
            Err(gpubench_diagnostic::chain(&error)),
            find(&NamedCompilers::default()).ok().and_then(|found| found.nvcc()),
        ),
    }
}

/// Returns what can be observed, or why nothing.
fn abilities() -> Result<ProbeAbilities, SetupMissing> {
    let asked = ProbeProgram::find().and_then(|program| program.abilities());
    asked.map_err(|error| SetupMissing {
        what: gpubench_diagnostic::chain(&error),
        hint: error.hint().unwrap_or_default(),
    })
}

fn sandbox() -> Sandbox {
    let release = rustix::system::uname().release().to_string_lossy().into_owned();
    let actions = read("/proc/sys/kernel/seccomp/actions_avail");
    Sandbox {
        no_new_privileges: rustix::thread::no_new_privs().is_ok(),
        seccomp: actions.split_whitespace().any(|action| action == "errno"),
        close_range: version_of(&release) >= (5, 9),
        pidfd: rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty()).is_ok(),
        user_namespaces: user_namespaces(),
        files: FileClosing::here(),
        landlock: landlock_abi(),
        locked_memory: rustix::process::getrlimit(Resource::Memlock).current,
        kernel: release,
    }
}

/// Returns whether the system permits unprivileged user namespaces. Reads three switches; a kernel
/// may lack the last two.
fn user_namespaces() -> bool {
    let number = |file: &str| read(file).trim().parse::<u64>().ok();
    number("/proc/sys/user/max_user_namespaces").is_some_and(|most| most > 0)
        && number("/proc/sys/kernel/unprivileged_userns_clone") != Some(0)
        && number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") != Some(1)
}

fn read(file: &str) -> String {
    fs_err::read_to_string(file).unwrap_or_default()
}

/// Returns the major and minor version of a kernel release; zeros if it has another form.
fn version_of(release: &str) -> (u32, u32) {
    let mut numbers = release.split(['.', '-']).map(|number| number.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernels_version_is_read_from_its_release() {
        assert_eq!(version_of("6.8.0-45-generic"), (6, 8));
        assert_eq!(version_of("5.15.167.4-microsoft-standard-WSL2"), (5, 15));
        assert_eq!(version_of("unknown"), (0, 0));
    }
}
