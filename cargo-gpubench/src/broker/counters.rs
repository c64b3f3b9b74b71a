//! What counts on the device of a run.

use super::cases::Case;
use super::observers::find_counting_ncu;
use super::options::RunOptions;
use gpubench_device::{Absence, AbsenceKind, DeviceOrder};
use gpubench_diagnostic::{SetupMissing, print_warning};
use gpubench_measure::clients::ObserverProgram;
use gpubench_measure::probe::{Answer, CounterTarget, ask_counter};

/// The counters that a run needs.
#[derive(Clone, Debug, Default)]
pub(super) struct Counters {
    /// A description of what counts instructions.
    pub(super) instructions: Option<String>,
    /// The program that counts them, if the device does not let a worker count.
    pub(super) program: Option<ObserverProgram>,
    /// A description of what reads hardware metrics.
    pub(super) hardware: Option<String>,
}

impl Counters {
    /// Returns the counters for these cases.
    ///
    /// # Errors
    /// The device cannot count what a case needs, or does not have one of its metrics.
    pub(super) fn for_cases(
        cases: &[Case],
        device: DeviceOrder,
        options: &RunOptions,
    ) -> Result<Counters, SetupMissing> {
        let mut metrics: Vec<String> = Vec::new();
        for name in cases.iter().flat_map(|case| case.metrics.hardware()) {
            if !metrics.contains(name) {
                metrics.push(name.clone());
            }
        }
        let counts_instructions = cases.iter().any(|case| case.metrics.counts_instructions());
        let mut counters = match counts_instructions {
            true => Counters::of_instructions(device, options)?,
            false => Counters::default(),
        };
        if !metrics.is_empty() {
            counters.hardware = Some(find(device, metrics)??);
        }
        Ok(counters)
    }

    fn of_instructions(device: DeviceOrder, options: &RunOptions) -> Result<Counters, SetupMissing> {
        let absence = match find(device, Vec::new())? {
            Ok(description) => {
                return Ok(Counters {
                    instructions: Some(description),
                    ..Counters::default()
                });
            }
            Err(absence) => absence,
        };
        // What the driver refuses to CUPTI, it refuses to ncu.
        let program = match absence.kind {
            AbsenceKind::Refused => None,
            AbsenceKind::NotInstalled | AbsenceKind::Unusable => find_counting_ncu(device.backend()),
        };
        let Some(program) = program else {
            return Err(absence.into());
        };
        if options.results.against.is_some() {
            let Absence { reason, hint, .. } = absence;
            return Err(SetupMissing {
                what: format!("ncu cannot count in alternating workers of two revisions, and {reason}"),
                hint,
            });
        }
        let path = program.path.display().to_string();
        print_warning(&format_args!(
            "`{path}` counts instructions, which takes longer, because {}",
            absence.reason
        ));
        Ok(Counters {
            instructions: Some(format!("ncu, `{path}`")),
            program: Some(program),
            hardware: None,
        })
    }
}

fn find(device: DeviceOrder, metrics: Vec<String>) -> Result<Result<String, Absence>, SetupMissing> {
    let backend = device.backend();
    let word = backend.words().word;
    let target = CounterTarget {
        device: match backend.is_numbered {
            true => format!("{word}:{}", device.ordinal),
            false => word.to_owned(),
        },
        metrics,
    };
    match ask_counter(backend, target) {
        Answer::Given(description) => Ok(Ok(description)),
        Answer::Absent(absence) => Ok(Err(absence)),
        Answer::Broken { how } => Err(SetupMissing {
            what: format!("the counter of the device {how}"),
            hint: "leave out `--metric` to measure only the time".to_owned(),
        }),
    }
}
