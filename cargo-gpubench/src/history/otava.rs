//! Histories as files that Apache Otava reads: a configuration and one CSV file per series, since
//! each row needs all of its metrics, and runs differ in the cases that they have.

use std::collections::BTreeSet;

use camino::Utf8Path;

use gpubench_contract::{BenchmarkHistory, Better, HistoryRun, Reading};
use gpubench_diagnostic::csv_text;
use gpubench_report::{OutputError, OutputTarget};

/// The configuration's file.
pub(super) const CONFIGURATION: &str = "otava.yaml";

/// The most characters of a name.
const LONGEST: usize = 100;

/// The group of all tests.
const GROUP: &str = "all";

/// Writes the files to a folder. Replaces those of the same name. Otava looks for a file in its
/// working directory, so the configuration has whole paths. Returns the number of histories.
///
/// # Errors
/// A file cannot be written.
pub(super) fn export<'a>(
    folder: &Utf8Path,
    histories: impl Iterator<Item = &'a BenchmarkHistory>,
) -> Result<usize, OutputError> {
    let folder = camino::absolute_utf8(folder).unwrap_or_else(|_| folder.to_owned());
    let mut names = BTreeSet::from([GROUP.to_owned()]);
    let mut group = Vec::new();
    let mut configuration = "tests:\n".to_owned();
    for history in histories {
        let name = unused(&name_of(history), &mut names);
        let file = folder.join(&name).with_extension("csv");
        OutputTarget::File(file.clone()).write(&rows(history))?;
        configuration += &test(&name, &file, history);
        group.push(name);
    }
    let groups = format!("test_groups:\n  {GROUP}: [{}]\n", group.join(", "));
    configuration += &groups;
    OutputTarget::File(folder.join(CONFIGURATION)).write(&configuration)?;
    Ok(group.len())
}

/// Returns the command that looks for changes in all histories that were exported to a folder.
pub(super) fn command(folder: &Utf8Path) -> String {
    format!("otava analyze --config-file {} {GROUP}", folder.join(CONFIGURATION))
}

/// Returns a name of letters, digits and hyphens: `suite-axpy-add-one-n-1024-graph`.
fn name_of(history: &BenchmarkHistory) -> String {
    let reading = Reading::new(history.mode, &history.metric);
    let label = reading.label(&history.case);
    let whole = [Some(&*label), history.device.driver.as_deref(), history.gpu.as_deref()];
    let parts = whole
        .iter()
        .flatten()
        .flat_map(|part| part.split(|c: char| !c.is_ascii_alphanumeric()));
    let joined = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-");
    joined.chars().take(LONGEST).collect::<String>().to_ascii_lowercase()
}

fn unused(name: &str, names: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    let mut candidates = [name.to_owned()].into_iter().chain(numbered);
    // The numbers do not end.
    let free = candidates.find(|candidate| names.insert(candidate.clone()));
    free.unwrap_or_default()
}

/// Returns the rows. The twin is a metric if every run has its time: Otava reads no empty fields.
fn rows(history: &BenchmarkHistory) -> String {
    let has_twins = has_twins(history);
    let mut text = format!("time,commit,run,tool,value{}\n", if has_twins { ",twin" } else { "" });
    for run in &history.runs {
        let words = [&run.started_at, &commit(run), &run.run_id, &run.tool_version].map(|word| csv_text(word));
        let twin = run.twin_ns.filter(|_| has_twins);
        let numbers = [Some(run.value), twin]
            .into_iter()
            .flatten()
            .map(|number| number.to_string());
        let fields: Vec<String> = words.into_iter().chain(numbers).collect();
        text += &fields.join(",");
        text.push('\n');
    }
    text
}

fn has_twins(history: &BenchmarkHistory) -> bool {
    history.runs.iter().all(|run| run.twin_ns.is_some())
}

/// Returns the commit, with a `+` if the sources had local changes. Empty if not known.
fn commit(run: &HistoryRun) -> String {
    let revision = run.revision.as_ref();
    revision.map_or_else(String::new, |revision| {
        let modified = if revision.modified { "+" } else { "" };
        format!("{}{modified}", revision.commit)
    })
}

/// Returns a test of the configuration. A text of JSON is one of YAML, too.
fn test(name: &str, file: &Utf8Path, history: &BenchmarkHistory) -> String {
    let direction = match history.metric.better {
        Better::Lower => -1,
        Better::Higher => 1,
    };
    let twin = if has_twins(history) {
        "      twin: {direction: -1}\n"
    } else {
        ""
    };
    format!(
        "  {name}:\n    type: csv\n    file: {}\n    time_column: time\n    attributes: [commit, run, tool]\n    \
         metrics:\n      value: {{direction: {direction}}}\n{twin}",
        serde_json::Value::from(file.as_str())
    )
}

#[cfg(test)]
mod tests {
    use camino::Utf8PathBuf;

    use super::*;
    use crate::history::tests::with_steps;
    use crate::history::trend::trends;

    fn exported(histories: &[BenchmarkHistory]) -> (tempfile::TempDir, Utf8PathBuf) {
        let kept = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(kept.path().join("new/otava")).unwrap();
        export(&folder, histories.iter()).unwrap();
        (kept, folder)
    }

    #[test]
    fn a_series_is_a_csv_file_and_a_test() {
        let mut history = trends(&[with_steps()]).remove(0).remove(0);
        history.runs.truncate(2);
        history.runs[1].value = 3658.5;
        let (_kept, folder) = exported(&[history]);
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let name = "suite-axpy-add-one-n-1024-580-159-cuda-13-0";
        assert_eq!(
            read(&format!("{name}.csv")),
            "time,commit,run,tool,value\n\
             2026-10-01T13:43:00Z,9e3779b97f4a7c15000000000000000000000000,0000,0.1.0,3648\n\
             2026-10-02T13:43:00Z,3c6ef372fe94f82a000000000000000000000000+,0001,0.1.0,3658.5\n"
        );
        let file = serde_json::Value::from(folder.join(format!("{name}.csv")).as_str());
        assert_eq!(
            read(CONFIGURATION),
            format!(
                "tests:\n  {name}:\n    type: csv\n    file: {file}\n    time_column: time\n    \
                 attributes: [commit, run, tool]\n    metrics:\n      value: {{direction: -1}}\n\
                 test_groups:\n  all: [{name}]\n"
            )
        );
    }

    #[test]
    fn the_twin_is_a_metric_only_if_every_run_has_its_time() {
        let mut history = trends(&[with_steps()]).remove(0).remove(0);
        history.runs.iter_mut().for_each(|run| run.twin_ns = Some(2e3));
        assert!(rows(&history).starts_with("time,commit,run,tool,value,twin\n"));
        assert!(rows(&history).lines().skip(1).all(|row| row.ends_with(",2000")));
        history.runs[3].twin_ns = None;
        assert!(rows(&history).lines().all(|row| row.split(',').count() == 5));
    }

    #[test]
    fn names_cannot_leave_the_folder_and_are_not_used_twice() {
        let mut history = trends(&[with_steps()]).remove(0).remove(0);
        history.case = "../../etc/passwd: {evil}\n".to_owned();
        history.device.driver = None;
        let (_kept, folder) = exported(&[history.clone(), history]);
        let files = std::fs::read_dir(&folder).unwrap().flatten();
        let mut files: Vec<_> = files.map(|file| file.file_name().into_string().unwrap()).collect();
        files.sort();
        assert_eq!(files, ["etc-passwd-evil-2.csv", "etc-passwd-evil.csv", "otava.yaml"]);
    }
}
