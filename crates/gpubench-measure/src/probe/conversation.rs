//! Queries a driver in a separate process, and defines that process's output.

use std::io::Read;
use std::num::NonZeroUsize;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::gpus::{self, Gpu};
use super::trials;
use crate::clients::End;
use gpubench::DeviceKind;
use gpubench_device::{
    self, Absence, AbsenceKind, Backend, CountRequest, CounterHold, DeviceError, DeviceRequest, Launcher,
};
use gpubench_diagnostic::{Purpose, TemporaryFolder};
use gpubench_sandbox::{Rights, confine, in_own_session, this_program};

/// Time limit for a driver's answer. A GPU without persistence mode takes seconds to wake.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a probe examines. The text form is the argument of the hidden verb.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// The driver, with a context on the GPU of this number.
    Device(u32),
    /// NVML's data on every GPU.
    Gpus,
    /// Whether a profiler receives NVTX ranges.
    Nvtx,
    /// What counts on a device.
    Counter(CounterTarget),
}

/// A device, and what it is to count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterTarget {
    /// The device as `--device` names it.
    pub device: String,
    /// The names of hardware metrics. Without any, instructions.
    pub metrics: Vec<String>,
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Device(ordinal) => write!(f, "cuda:{ordinal}"),
            Target::Gpus => f.write_str("gpus"),
            Target::Nvtx => f.write_str("nvtx"),
            Target::Counter(CounterTarget { device, metrics }) => write!(f, "count/{device}/{}", metrics.join(",")),
        }
    }
}

/// The error for text that is not a target.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a probe target (hint: use `cuda:0`, `gpus` or `nvtx`)")]
pub struct UnknownTarget(String);

impl std::str::FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(text: &str) -> Result<Target, UnknownTarget> {
        let unknown = || UnknownTarget(text.to_owned());
        match text {
            "gpus" => Ok(Target::Gpus),
            "nvtx" => Ok(Target::Nvtx),
            _ if text.starts_with("count/") => {
                let (device, metrics) = text["count/".len()..].split_once('/').ok_or_else(unknown)?;
                let metrics = metrics.split(',').filter(|name| !name.is_empty());
                Ok(Target::Counter(CounterTarget {
                    device: device.to_owned(),
                    metrics: metrics.map(str::to_owned).collect(),
                }))
            }
            _ => {
                let ordinal = text.strip_prefix("cuda:").ok_or_else(unknown)?;
                Ok(Target::Device(ordinal.parse().map_err(|_| unknown())?))
            }
        }
    }
}

/// The result of a probe, as its process prints it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer<T> {
    /// The answer.
    Given(T),
    /// The target does not exist or cannot be used.
    Absent(Absence),
    /// The probe failed before it answered.
    Broken {
        /// What the driver did, as in `did not answer within 30s`.
        how: String,
    },
}

impl<T> Answer<T> {
    /// Returns the answer, if there is one.
    pub fn given(&self) -> Option<&T> {
        match self {
            Answer::Given(answer) => Some(answer),
            Answer::Absent(_) | Answer::Broken { .. } => None,
        }
    }
}

/// Examines `target` in this process and prints the result for [`ask`].
pub fn answer(target: Target) {
    let printed = match target {
        Target::Device(ordinal) => serde_json::to_string(&printed(trials::open(ordinal))),
        Target::Gpus => serde_json::to_string(&printed(list_gpus())),
        Target::Nvtx => serde_json::to_string(&printed(find_nvtx())),
        Target::Counter(target) => serde_json::to_string(&printed(open_counter(&target))),
    };
    // This fails only for a number that JSON cannot express. [`ask`] then reports that there was no
    // answer.
    if let Ok(text) = printed {
        anstream::println!("{text}");
    }
}

fn printed<T>(answer: Result<T, DeviceError>) -> Answer<T> {
    match answer {
        Ok(answer) => Answer::Given(answer),
        Err(DeviceError::Absent(absence)) => Answer::Absent(absence),
        Err(error) => Answer::Broken {
            how: format!("failed: {}", gpubench_diagnostic::chain(&error)),
        },
    }
}

fn list_gpus() -> Result<Vec<Gpu>, DeviceError> {
    gpus::list().map_err(|reason| {
        DeviceError::Absent(Absence {
            kind: AbsenceKind::NotInstalled,
            reason,
            hint: "NVML comes with the GPU's driver, as `libnvidia-ml.so.1`".to_owned(),
        })
    })
}

fn find_nvtx() -> Result<String, DeviceError> {
    let nvtx = gpubench_device::nvtx::Nvtx::open().map_err(|error| {
        DeviceError::Absent(Absence {
            kind: AbsenceKind::NotInstalled,
            reason: gpubench_diagnostic::chain(&error),
            hint: error.hint(),
        })
    })?;
    Ok(nvtx.reaches().to_owned())
}

/// Opens a counter. Returns its description.
fn open_counter(target: &CounterTarget) -> Result<String, DeviceError> {
    let CounterTarget { device, metrics } = target;
    let named = Backend::parse(device).ok().flatten();
    let (backend, ordinals) = named.ok_or_else(|| DeviceError::Unsupported(format!("be `{device}`")))?;
    let request = DeviceRequest {
        ordinal: ordinals.first(),
        threads: Some(NonZeroUsize::MIN),
        ..DeviceRequest::default()
    };
    let mut driver = gpubench_device::open(&(backend.order)(&request))?;
    let request = match metrics.as_slice() {
        [] => CountRequest::Instructions,
        names => CountRequest::Hardware(names),
    };
    Ok(driver.counter(request, CounterHold::default())?.description())
}

/// Examines `target` in a separate process.
pub fn ask<T: DeserializeOwned>(target: Target) -> Answer<T> {
    ask_under(target, None)
}

/// Asks a device for the description of its counter, in a process that can count.
pub fn ask_counter(backend: &Backend, target: CounterTarget) -> Answer<String> {
    let folder = match TemporaryFolder::new(Purpose::Toolkit) {
        Ok(folder) => folder,
        Err(error) => {
            return Answer::Broken {
                how: format!("has no folder for temporary files: {error}"),
            };
        }
    };
    match (backend.counted_under)(folder.path()) {
        Ok(launcher) => ask_under(Target::Counter(target), launcher.as_ref()),
        Err(absence) => Answer::Absent(absence),
    }
}

fn ask_under<T: DeserializeOwned>(target: Target, launcher: Option<&Launcher>) -> Answer<T> {
    match converse(&target, launcher) {
        Ok((printed, _)) if !printed.is_empty() => understand(&printed),
        Ok((_, end)) => Answer::Broken {
            how: format!("{end} before it answered"),
        },
        Err(how) => Answer::Broken { how },
    }
}

fn understand<T: DeserializeOwned>(printed: &str) -> Answer<T> {
    serde_json::from_str(printed.trim()).unwrap_or_else(|_| Answer::Broken {
        how: format!("answered `{}`", printed.trim()),
    })
}

/// Returns the probe's output and how its process ended.
fn converse(target: &Target, launcher: Option<&Launcher>) -> Result<(String, End), String> {
    let failed = |error: std::io::Error| format!("could not be queried: {error}");
    let mut command = match launcher {
        None => Command::new(this_program()),
        Some(launcher) => {
            let mut command = Command::new(&launcher.program);
            command
                .args(&launcher.arguments)
                .arg(std::env::current_exe().map_err(failed)?);
            command
        }
    };
    command
        .args(["__probe", &target.to_string()])
        // The referee and the workers have the same setting.
        .env("CUDA_MODULE_LOADING", "EAGER")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = with_rights(&mut command, target).spawn().map_err(failed)?;
    let mut stdout = child.stdout.take().ok_or("gave no output to read")?;
    let reader = std::thread::spawn(move || {
        let mut printed = String::new();
        // Output that is not text is not an answer.
        let _ = stdout.read_to_string(&mut printed);
        printed
    });
    let deadline = Instant::now() + PATIENCE;
    let end = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break End::from(status),
            None if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            None => {
                // It may have ended already.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!(
                    "did not answer within {}",
                    humantime::format_duration(PATIENCE)
                ));
            }
        }
    };
    Ok((reader.join().unwrap_or_default(), end))
}

/// Gives a probe's process the rights that it needs. The driver may start a privileged program to
/// load its kernel module, so a probe of the driver has those of the broker.
fn with_rights<'c>(command: &'c mut Command, target: &Target) -> &'c mut Command {
    match target {
        Target::Device(_) | Target::Gpus => in_own_session(command),
        Target::Counter(CounterTarget { device, .. }) => match Backend::parse(device) {
            Ok(Some((backend, _))) if backend.kind == DeviceKind::Cuda => confine(command, Rights::CountOnGpu),
            _ => confine(command, Rights::None),
        },
        Target::Nvtx => confine(command, Rights::None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_parse_their_own_text() {
        let counter = |metrics: &[&str]| {
            Target::Counter(CounterTarget {
                device: "cuda:1".to_owned(),
                metrics: metrics.iter().map(|name| (*name).to_owned()).collect(),
            })
        };
        let counters = [
            counter(&[]),
            counter(&["dram__bytes.sum", "lts__t_sector_hit_rate.pct"]),
        ];
        for target in [Target::Device(3), Target::Gpus, Target::Nvtx]
            .into_iter()
            .chain(counters)
        {
            assert_eq!(target.to_string().parse::<Target>().unwrap(), target);
        }
        assert!("cuda:".parse::<Target>().is_err());
    }

    #[test]
    fn answers_round_trip() {
        let absence = Absence {
            kind: AbsenceKind::Unusable,
            reason: "the driver is a stub".to_owned(),
            hint: "install a driver".to_owned(),
        };
        let print = |answer: Result<String, DeviceError>| serde_json::to_string(&printed(answer)).unwrap();
        assert_eq!(
            understand::<String>(&print(Ok("yes".to_owned()))),
            Answer::Given("yes".to_owned())
        );
        let absent = print(Err(DeviceError::Absent(absence.clone())));
        assert_eq!(understand::<String>(&absent), Answer::Absent(absence));
        let failed = print(Err(DeviceError::Unsupported("fly".to_owned())));
        let how = "failed: the device cannot fly".to_owned();
        assert_eq!(understand::<String>(&failed), Answer::Broken { how });
    }

    #[test]
    fn other_text_is_not_an_answer() {
        assert_eq!(
            understand::<String>("Segmentation fault\n"),
            Answer::Broken {
                how: "answered `Segmentation fault`".to_owned()
            }
        );
    }
}
