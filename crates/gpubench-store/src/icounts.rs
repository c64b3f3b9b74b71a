//! `NAME.icounts.csv`: the instructions of a stored run by kernel and function, for people and for
//! diffs. The tool never reads it. Its lines are sorted by name, so that a diff shows only what
//! changed.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};

use super::error::LEFT_ALONE;
use super::{StoreError, StoredRun};
use crate::Replacement;
use gpubench_contract::{BenchmarkComplete, FunctionCount};
use gpubench_diagnostic::csv_text;

const HEADER: &str = "package,case,mode,kernel,function,instructions\n";

/// Returns the path of the table next to a stored run.
pub(super) fn path_of(run: &Utf8Path) -> Utf8PathBuf {
    let name = run.as_str();
    format!("{}.icounts.csv", name.strip_suffix(".json").unwrap_or(name)).into()
}

/// Fails if the table would replace a file that the tool did not write.
pub(super) fn ensure_replaceable(run: &Utf8Path) -> Result<(), StoreError> {
    is_there(&path_of(run)).map(|_| ())
}

/// Writes the table of a run. Removes the old table if the run has no counts. Returns the path of
/// the table, if there is one.
///
/// # Errors
/// It cannot be written or removed, or the tool did not write the existing file.
pub(super) fn write(path: &Utf8Path, run: &StoredRun) -> Result<Option<Utf8PathBuf>, StoreError> {
    let table = path_of(path);
    let was_there = is_there(&table)?;
    let not_written = StoreError::not_written(&table);
    match text_of(run) {
        Some(text) => Replacement::new(&table)
            .and_then(|replacement| replacement.commit(text.as_bytes()))
            .map(|()| Some(table.clone()))
            .map_err(not_written),
        None if was_there => std::fs::remove_file(&table).map(|()| None).map_err(not_written),
        None => Ok(None),
    }
}

/// Whether a table exists.
///
/// # Errors
/// The file is something else, or cannot be read.
fn is_there(table: &Utf8Path) -> Result<bool, StoreError> {
    match std::fs::read(table) {
        Ok(text) if text.starts_with(HEADER.as_bytes()) => Ok(true),
        Ok(_) => Err(StoreError::refused(
            table,
            "is not a table of instruction counts, so it is not replaced",
            LEFT_ALONE,
        )),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(StoreError::unreadable(table)(error)),
    }
}

/// Returns the table. `None` if no result has counts of functions.
fn text_of(run: &StoredRun) -> Option<String> {
    let mut lines: Vec<String> = run.results.iter().flat_map(lines_of).collect();
    lines.sort();
    (!lines.is_empty()).then(|| HEADER.to_owned() + &lines.concat())
}

fn lines_of(result: &BenchmarkComplete) -> Vec<String> {
    let functions = result.counts.iter().flat_map(|counts| &counts.functions);
    let line = |count: &FunctionCount| {
        let function = count.function.as_deref().unwrap_or_default();
        let names = [
            &result.package,
            &result.case,
            result.mode.as_str(),
            &count.kernel,
            function,
        ];
        format!("{},{}\n", names.map(csv_text).join(","), count.instructions)
    };
    functions.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::stored;
    use crate::{Destination, Home, Replaced, RunName};
    use gpubench_contract::Counts;
    use gpubench_testing::on_gpu;

    fn count(kernel: &str, function: Option<&str>, instructions: f64) -> FunctionCount {
        FunctionCount {
            kernel: kernel.to_owned(),
            function: function.map(str::to_owned),
            instructions,
        }
    }

    /// Returns a run with counts in its first two results.
    fn counted() -> StoredRun {
        let mut run = stored(&on_gpu());
        let of = |functions: Vec<FunctionCount>| {
            Some(Counts {
                functions,
                ..Counts::default()
            })
        };
        run.results[1].counts = of(vec![count("sum", None, 1e9)]);
        run.results[0].counts = of(vec![
            count("spin", Some("f(int, int)"), 544.0),
            count("spin", Some("expf"), 20.0),
        ]);
        run
    }

    fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Utf8PathBuf::from_path_buf(temporary.path().to_owned()).unwrap();
        (temporary, folder)
    }

    fn save(path: &Utf8Path, run: StoredRun) -> Result<Option<Utf8PathBuf>, StoreError> {
        let destination = Destination::new(&RunName::File(path.to_owned()), &Home::ABSENT)?;
        Ok(destination.save(&run, &Replaced::All)?.icounts)
    }

    #[test]
    fn a_run_with_counts_has_a_table_next_to_it_with_a_line_for_each_function() {
        let (_kept, folder) = folder();
        let table = save(&folder.join("v1.2.json"), counted()).unwrap().unwrap();
        assert_eq!(table, folder.join("v1.2.icounts.csv"));
        let text = std::fs::read_to_string(table).unwrap();
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_table_does_not_outlive_its_counts() {
        let (_kept, folder) = folder();
        let run = folder.join("main.json");
        let table = save(&run, counted()).unwrap().unwrap();
        assert_eq!(save(&run, stored(&on_gpu())).unwrap(), None);
        assert!(!table.exists());
    }

    #[test]
    fn another_file_of_the_tables_name_is_refused_before_anything_is_measured() {
        let (_kept, folder) = folder();
        let other = folder.join("main.icounts.csv");
        std::fs::write(&other, "mine\n").unwrap();
        let refused = Destination::new(&RunName::File(folder.join("main.json")), &Home::ABSENT).unwrap_err();
        assert!(
            refused
                .to_string()
                .ends_with("main.icounts.csv` is not a table of instruction counts, so it is not replaced")
        );
        assert_eq!(std::fs::read_to_string(other).unwrap(), "mine\n");
    }

    #[test]
    fn names_of_runs_that_differ_after_a_dot_have_tables_of_their_own() {
        let of = |name: &str| path_of(Utf8Path::new(name)).into_string();
        assert_eq!(
            ["runs/v1.0", "runs/v1.1"].map(of),
            ["runs/v1.0.icounts.csv", "runs/v1.1.icounts.csv"]
        );
    }

    #[test]
    fn the_lines_of_a_table_do_not_depend_on_the_order_of_the_results() {
        let mut reversed = counted();
        reversed.results.reverse();
        assert_eq!(text_of(&counted()), text_of(&reversed));
        let of = |name: &str| path_of(Utf8Path::new(name)).into_string();
        assert_eq!(
            ["a.json", "a.json.json"].map(of),
            ["a.icounts.csv", "a.json.icounts.csv"]
        );
    }
}
