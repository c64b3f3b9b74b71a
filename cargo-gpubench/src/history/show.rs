//! Runs `cargo gpubench history`.

use camino::Utf8PathBuf;
use regex::Regex;

use super::case_name::{both_forms, naming};
use super::confirm::{Confirmed, confirm};
use super::otava::{CONFIGURATION, command, export};
use super::page::page;
use super::trend::trends;
use super::{HistoryError, TrendOptions};
use crate::broker::cases::Naming;
use crate::broker::options::{MessageFormat, Verbosity};
use crate::broker::{first_failure, status};
use gpubench_contract::units::counted;
use gpubench_contract::{BenchmarkHistory, Record};
use gpubench_diagnostic::{ExitCode, Failure, closest, print_warning};
use gpubench_report::{Color, Output, TerminalOptions, json_line};
use gpubench_store::StoreError;
use gpubench_store::history::{History, Tail, all};

/// Prints the histories of the selected cases.
///
/// # Errors
/// There is no history, it cannot be read, a change cannot be measured again, or an output cannot
/// be written.
pub fn show(options: &TrendOptions) -> Result<ExitCode, Failure> {
    let folder = folder(options)?;
    let histories = all(&folder)?;
    if histories.iter().all(|history| history.entries.is_empty()) {
        return Err(HistoryError::Absent { folder }.into());
    }
    warn_of_unfinished(&histories);
    let of_devices: Vec<Vec<BenchmarkHistory>> = trends(&histories);
    let mut shown = chosen(&of_devices, options)?;
    let (mut code, mut failures) = (ExitCode::Success, Vec::new());
    if let Some(settings) = &options.confirm {
        let mut settings = settings.clone();
        // Programs get records alone.
        settings.output.format = options.format;
        Confirmed { code, failures } = confirm(&settings, &mut shown)?;
    }
    let text = match options.format {
        MessageFormat::Human => pages(&shown, naming(of_devices.iter().flatten())),
        MessageFormat::Json => lines(&shown)?,
    };
    Output::stdout_as_styled().print(&text)?;
    if let Some(folder) = &options.otava {
        let files = counted(export(folder, shown.iter().flatten())?, "CSV file");
        let what = format_args!(
            "`{CONFIGURATION}` and {files} to `{folder}`; next: `{}`",
            command(folder)
        );
        status(Verbosity::Normal, "Exported", what);
    }
    first_failure(failures)?;
    Ok(code)
}

fn folder(options: &TrendOptions) -> Result<Utf8PathBuf, Failure> {
    match &options.places.histories {
        Some(folder) => Ok(folder.clone()),
        None => Ok(options
            .places
            .home()?
            .histories()
            .ok_or_else(StoreError::no_history_folder)?),
    }
}

fn warn_of_unfinished(histories: &[History]) {
    let unfinished = histories.iter().filter(|history| history.tail == Tail::Unfinished);
    for history in unfinished {
        let device = &history.identity.name;
        print_warning(&format!(
            "ignoring the incomplete last line of the history of `{device}`; the next run with `--history` removes it"
        ));
    }
}

/// Returns the selected cases of each device. Leaves out devices without selected cases.
fn chosen(
    of_devices: &[Vec<BenchmarkHistory>],
    options: &TrendOptions,
) -> Result<Vec<Vec<BenchmarkHistory>>, HistoryError> {
    let is_chosen = |history: &&BenchmarkHistory| {
        let names = both_forms(&history.case);
        // A whole name may contain characters with a special meaning in an expression: `kind=a+b`.
        let fits = |filter: &Regex| {
            let mut names = names.iter();
            names.any(|name| filter.is_match(name) || filter.as_str() == *name)
        };
        options.filters.is_empty() || options.filters.iter().any(fits)
    };
    let shown: Vec<Vec<BenchmarkHistory>> = of_devices
        .iter()
        .map(|cases| cases.iter().filter(is_chosen).cloned().collect::<Vec<_>>())
        .filter(|cases| !cases.is_empty())
        .collect();
    if !shown.is_empty() {
        return Ok(shown);
    }
    let all = || of_devices.iter().flatten();
    let names = all().flat_map(|history| both_forms(&history.case));
    let first = options.filters.first();
    Err(HistoryError::NothingFits {
        of: all().count(),
        closest: first
            .and_then(|filter| closest(filter.as_str(), names))
            .map(str::to_owned),
    })
}

fn pages(shown: &[Vec<BenchmarkHistory>], naming: Naming) -> String {
    let width = TerminalOptions::of_stdout(Color::Auto).width;
    let of_device = |cases: &Vec<BenchmarkHistory>| Some(page(&cases.first()?.device, cases, naming, width));
    shown.iter().filter_map(of_device).collect::<Vec<_>>().join("\n")
}

fn lines(shown: &[Vec<BenchmarkHistory>]) -> Result<String, Failure> {
    let mut text = String::new();
    for history in shown.iter().flatten() {
        let record = Record::BenchmarkHistory(Box::new(history.clone()));
        text += &json_line(&record)?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::{DeviceIdentity, Metric, Mode, SchemaVersion};
    use gpubench_testing::on_gpu;

    fn names(filter: &str) -> Result<Vec<String>, HistoryError> {
        let history = |case: &str| BenchmarkHistory {
            schema_version: SchemaVersion,
            device: DeviceIdentity::from_run(&on_gpu().started),
            case: case.to_owned(),
            mode: Mode::Cold,
            metric: Metric::time(),
            usual_change: None,
            gpu: None,
            known_break: None,
            changes: Vec::new(),
            runs: Vec::new(),
        };
        let all = vec![
            ["lcg::lcg::n=64", "lcg::lcg::kind=a+b", "lcg::sort"]
                .map(history)
                .to_vec(),
        ];
        let options = TrendOptions {
            filters: vec![Regex::new(filter).expect("an expression")],
            places: Default::default(),
            format: MessageFormat::Human,
            otava: None,
            confirm: None,
        };
        let shown = chosen(&all, &options)?;
        Ok(shown.into_iter().flatten().map(|history| history.case).collect())
    }

    #[test]
    fn a_displayed_name_selects_its_case() {
        for name in ["^lcg::n=64$", "^lcg::lcg::n=64$", "lcg::lcg::n=64"] {
            assert_eq!(names(name).expect(name), ["lcg::lcg::n=64"], "{name}");
        }
        for name in ["lcg::kind=a+b", "lcg::lcg::kind=a+b"] {
            assert_eq!(names(name).expect(name), ["lcg::lcg::kind=a+b"], "{name}");
        }
    }

    #[test]
    fn a_misspelt_name_has_a_suggestion_in_the_same_form() {
        let closest = |filter: &str| match names(filter) {
            Err(HistoryError::NothingFits { of: 3, closest }) => closest,
            other => panic!("{other:?}"),
        };
        assert_eq!(closest("lcg::lgc::n=64").as_deref(), Some("lcg::lcg::n=64"));
        assert_eq!(closest("lgc::n=64").as_deref(), Some("lcg::n=64"));
    }
}
