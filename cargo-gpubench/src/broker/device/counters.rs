//! What counts on the device of a run.

use camino::{Utf8Path, Utf8PathBuf};

use crate::broker::cases::Case;
use gpubench_device::{Backend, DeviceOrder, Facts, KernelHost};
use gpubench_diagnostic::{ExitCode, Expected, SetupMissing};
use gpubench_measure::probe::{Answer, CounterTarget, ask_counter};

/// The counters that a run needs.
#[derive(Clone, Debug, Default)]
pub(in crate::broker) struct Counters {
    /// A description of what counts instructions.
    pub(in crate::broker) instructions: Option<String>,
    /// A description of what reads hardware metrics.
    pub(in crate::broker) hardware: Option<String>,
}

impl Counters {
    /// Returns the counters for these cases.
    ///
    /// # Errors
    /// The device cannot count what a case needs, or does not have one of its metrics.
    pub(in crate::broker) fn for_cases(cases: &[Case], device: DeviceOrder) -> Result<Counters, SetupMissing> {
        let mut metrics: Vec<String> = Vec::new();
        for name in cases.iter().flat_map(|case| case.metrics.hardware()) {
            if !metrics.contains(name) {
                metrics.push(name.clone());
            }
        }
        let counts_instructions = cases.iter().any(|case| case.metrics.counts_instructions());
        Ok(Counters {
            instructions: counts_instructions.then(|| find(device, Vec::new())).transpose()?,
            hardware: (!metrics.is_empty()).then(|| find(device, metrics)).transpose()?,
        })
    }
}

/// Makes the folder for callgrind's profiles, if there will be some.
///
/// # Errors
/// Callgrind does not count on the device, nothing is counted, or the folder cannot be made.
pub(in crate::broker) fn ensure_profiles_can_be_kept(
    folder: &Utf8Path,
    cases: &[Case],
    facts: &Facts,
) -> Result<(), ProfilesError> {
    if facts.kernels_run_in != KernelHost::Author {
        let device = Backend::for_facts(facts).words().noun;
        return Err(ProfilesError::OtherDevice { device });
    }
    if !cases.iter().any(|case| case.metrics.counts_instructions()) {
        return Err(ProfilesError::NothingCounted);
    }
    std::fs::create_dir_all(folder).map_err(|source| ProfilesError::Folder {
        folder: folder.to_owned(),
        source,
    })
}

/// Why no profiles of callgrind can be kept.
#[derive(Debug, thiserror::Error)]
pub(in crate::broker) enum ProfilesError {
    /// Something else counts on the device.
    #[error("`--keep-callgrind` needs the CPU device: callgrind counts no instructions of a {device}")]
    OtherDevice { device: &'static str },
    /// No case counts instructions.
    #[error("`--keep-callgrind` keeps profiles of counts, but no selected case counts instructions")]
    NothingCounted,
    /// The folder cannot be made.
    #[error("cannot make the folder `{folder}`")]
    Folder {
        folder: Utf8PathBuf,
        source: std::io::Error,
    },
}

impl Expected for ProfilesError {
    fn exit_code(&self) -> ExitCode {
        match self {
            ProfilesError::OtherDevice { .. } | ProfilesError::NothingCounted => ExitCode::Usage,
            ProfilesError::Folder { .. } => ExitCode::OutputFailed,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            ProfilesError::OtherDevice { .. } => Some("add `--device cpu`".to_owned()),
            ProfilesError::NothingCounted => Some("add `--metric instructions`".to_owned()),
            ProfilesError::Folder { .. } => None,
        }
    }
}

/// Returns a description of what counts on the device.
fn find(device: DeviceOrder, metrics: Vec<String>) -> Result<String, SetupMissing> {
    let backend = Backend::for_order(&device);
    let word = backend.words().word;
    let target = CounterTarget {
        device: if backend.is_numbered {
            format!("{word}:{}", device.ordinal)
        } else {
            word.to_owned()
        },
        metrics,
    };
    match ask_counter(backend, target) {
        Answer::Given(description) => Ok(description),
        Answer::Absent(absence) => Err(absence.into()),
        Answer::Broken { how } => Err(SetupMissing {
            what: format!("the counter of the device {how}"),
            hint: "leave out `--metric` to measure only the time".to_owned(),
        }),
    }
}
