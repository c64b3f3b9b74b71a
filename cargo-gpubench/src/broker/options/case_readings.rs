//! The modes and metrics of each case: from the settings, then from its benchmark's attribute, then
//! by default.

use gpubench::catalog::{ALLOWED, Benchmark, Catalog};
use thiserror::Error;

use super::RunOptions;
use crate::broker::cases::Case;
use crate::cdylibs::Built;
use crate::config::{CaseSettings, InvalidSetting, Modes};
use gpubench_contract::Mode;
use gpubench_device::{Facts, KernelHost};
use gpubench_diagnostic::{ExitCode, Expected, print_warning};
use gpubench_measure::measurement::RunMode;

/// The modes or metrics of a case are invalid.
#[derive(Debug, Error)]
pub(in crate::broker) enum ReadingError {
    /// Cold calls without a cache flush.
    #[error("`{case}` has the mode `cold`, but `--flush-bytes 0` flushes nothing")]
    NothingFlushed { case: String },
    /// An attribute has an invalid setting.
    #[error("{file}:{line}: `{key}` of `{path}` has an invalid value")]
    Attribute {
        file: String,
        line: u32,
        path: String,
        key: String,
        source: InvalidSetting,
    },
}

impl Expected for ReadingError {
    fn exit_code(&self) -> ExitCode {
        match self {
            Self::NothingFlushed { .. } => ExitCode::Usage,
            Self::Attribute { .. } => ExitCode::ListingFailed,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NothingFlushed { .. } => Some("leave out `--flush-bytes 0`, or use `--mode warm`".to_owned()),
            Self::Attribute { .. } => None,
        }
    }
}

/// Sets the modes and the metrics of the cases of these libraries. A run that measures nothing uses
/// the first mode.
///
/// # Errors
/// Calls are to be cold, but nothing is flushed; or an attribute has an invalid setting.
pub(in crate::broker) fn choose_readings(
    cases: &mut [Case],
    options: &RunOptions,
    (built, catalogs): (&Built, &[Catalog]),
    facts: &Facts,
) -> Result<(), ReadingError> {
    let measurement = &options.measurement;
    let flushes = measurement.flushed_bytes(facts) > 0;
    let mut left_out = None;
    for case in cases {
        let package = built.libraries[case.library].settings;
        let benchmark = catalogs[case.library].benchmarks.get(case.benchmark);
        let own = benchmark.map(settings_of).transpose()?.unwrap_or_default();
        let wanted = measurement.settings_of(case, own.over(package));
        // An observer sees one call, which the default mode makes.
        let mode = wanted.mode.filter(|_| options.observer.is_none());
        let modes = modes_of(mode, flushes).ok_or_else(|| ReadingError::NothingFlushed { case: case.name() })?;
        if RunMode::from(options.action).is_timed() {
            case.modes = modes;
            case.metrics = wanted.complete().metric;
            if case.metrics.counts_instructions() && opens_sandbox_of_archive(options, facts) {
                case.metrics = case.metrics.without_counts();
                left_out.get_or_insert_with(|| case.name());
            }
        } else {
            case.modes = Modes::only(modes.first());
        }
    }
    if let Some(case) = left_out {
        print_warning(&format_args!(
            "instructions are not counted, of `{case}` for example: kernels of an archive would run without a sandbox, \
             which only the command line or the environment can allow (hint: `--metric time,instructions`)"
        ));
    }
    Ok(())
}

/// Whether counts would run native kernels of an archive without a sandbox, although neither the
/// command line nor the environment asks for them. Where sources are built, their build scripts
/// have run without one already.
fn opens_sandbox_of_archive(options: &RunOptions, facts: &Facts) -> bool {
    let are_asked_for = options.measurement.cases.given.metric.is_some();
    facts.kernels_run_in == KernelHost::Author && options.runs_an_archive() && !are_asked_for
}

/// Returns the wanted modes, or the default. `None` if calls are to be cold without a flush.
fn modes_of(wanted: Option<Modes>, flushes: bool) -> Option<Modes> {
    match wanted {
        None if flushes => Some(Modes::only(Mode::Cold)),
        None => Some(Modes::only(Mode::Warm)),
        Some(modes) => Some(modes).filter(|modes| flushes || modes.iter().all(|mode| mode != Mode::Cold)),
    }
}

/// Returns the settings of a benchmark's attribute.
pub(in crate::broker) fn settings_of(benchmark: &Benchmark) -> Result<CaseSettings, ReadingError> {
    let mut settings = CaseSettings::default();
    let wrong = |key: &str, source| ReadingError::Attribute {
        file: benchmark.file.clone(),
        line: benchmark.line,
        path: benchmark.path.clone(),
        key: key.to_owned(),
        source,
    };
    for (key, value) in benchmark.settings.iter().filter(|(key, _)| key != ALLOWED) {
        settings.set(key, value).map_err(|source| wrong(key, source))?;
    }
    let crossing = |error| wrong("min-samples", InvalidSetting::Value(Box::new(error)));
    settings.consistent().map_err(crossing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_cold_by_default_and_warm_without_a_flush() {
        let [cold, warm] = [Mode::Cold, Mode::Warm].map(Modes::only);
        assert_eq!(modes_of(None, true), Some(cold));
        assert_eq!(modes_of(None, false), Some(warm));
        assert_eq!(modes_of(Some(warm), true), Some(warm));
        assert_eq!(modes_of(Some(warm), false), Some(warm));
    }

    #[test]
    fn cold_calls_need_a_flush() {
        let both = "warm,cold".parse().expect("modes");
        assert_eq!(modes_of(Some(both), true), Some(both));
        assert_eq!(modes_of(Some(both), false), None);
    }
}
