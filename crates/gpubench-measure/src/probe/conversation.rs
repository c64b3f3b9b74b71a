//! Asking a process of its own, and what that process prints.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::gpus::{self, Gpu};
use super::trials;
use crate::clients::End;
use gpubench_device::{self, Absence, AbsenceKind, DeviceError};
use gpubench_sandbox::{in_own_session, this_program};

/// How long a driver may take to answer: a GPU without persistence mode takes seconds to wake.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a probe looks at; its words are those of the hidden verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The driver, with a context on the GPU of this number.
    Device(u32),
    /// What NVML says of every GPU.
    Gpus,
    /// Whether NVTX ranges reach anybody.
    Nvtx,
}

impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Target::Device(ordinal) => write!(f, "cuda:{ordinal}"),
            Target::Gpus => f.write_str("gpus"),
            Target::Nvtx => f.write_str("nvtx"),
        }
    }
}

/// A probe's target that is none.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is nothing that can be probed")]
pub struct UnknownTarget(String);

impl std::str::FromStr for Target {
    type Err = UnknownTarget;

    fn from_str(text: &str) -> Result<Target, UnknownTarget> {
        let unknown = || UnknownTarget(text.to_owned());
        match text {
            "gpus" => Ok(Target::Gpus),
            "nvtx" => Ok(Target::Nvtx),
            _ => {
                let ordinal = text.strip_prefix("cuda:").ok_or_else(unknown)?;
                Ok(Target::Device(ordinal.parse().map_err(|_| unknown())?))
            }
        }
    }
}

/// What became of a probe. Its process prints it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer<T> {
    /// It answered.
    Given(T),
    /// There is nothing to look at.
    Absent(Absence),
    /// It did not come to an answer.
    Broken {
        /// What the driver did: `did not answer within 30s`.
        how: String,
    },
}

impl<T> Answer<T> {
    /// The answer, where there is one.
    pub fn given(&self) -> Option<&T> {
        match self {
            Answer::Given(answer) => Some(answer),
            Answer::Absent(_) | Answer::Broken { .. } => None,
        }
    }
}

/// Looks at `target` in this process, and prints what it finds for [`ask`] to read.
pub fn answer(target: Target) {
    let printed = match target {
        Target::Device(ordinal) => serde_json::to_string(&printed(trials::open(ordinal))),
        Target::Gpus => serde_json::to_string(&printed(list_gpus())),
        Target::Nvtx => serde_json::to_string(&printed(find_nvtx())),
    };
    // A number that JSON has no word for is the only way to fail; the asker then says that nothing
    // was answered.
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

/// Asks a process of its own about `target`.
pub fn ask<T: DeserializeOwned>(target: Target) -> Answer<T> {
    match converse(target) {
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

/// What the probe printed, and how it ended.
fn converse(target: Target) -> Result<(String, End), String> {
    let failed = |error: std::io::Error| format!("could not be asked: {error}");
    let mut command = Command::new(this_program());
    command
        .args(["__probe", &target.to_string()])
        // As referee and workers have it.
        .env("CUDA_MODULE_LOADING", "EAGER")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = in_own_session(&mut command).spawn().map_err(failed)?;
    let mut stdout = child.stdout.take().ok_or("could not be heard")?;
    let reader = std::thread::spawn(move || {
        let mut printed = String::new();
        // What is no text is no answer.
        let _ = stdout.read_to_string(&mut printed);
        printed
    });
    let deadline = Instant::now() + PATIENCE;
    let end = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break End::from(status),
            None if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            None => {
                // It may end at this very moment, which is as good.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_read_back() {
        for target in [Target::Device(3), Target::Gpus, Target::Nvtx] {
            assert_eq!(target.to_string().parse::<Target>().unwrap(), target);
        }
        assert!("cuda:".parse::<Target>().is_err());
    }

    #[test]
    fn an_answer_arrives_as_it_was_given() {
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
    fn words_of_another_program_are_no_answer() {
        assert_eq!(
            understand::<String>("Segmentation fault\n"),
            Answer::Broken {
                how: "answered `Segmentation fault`".to_owned()
            }
        );
    }
}
