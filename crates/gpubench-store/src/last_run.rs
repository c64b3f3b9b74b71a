//! The last good result of each case of a package on a device: what the next run compares itself
//! with.
//!
//! There is a stored run for each device and package, so that a run reads only the files of its own
//! packages, whatever else is stored.

use std::collections::HashSet;
use std::io;

use camino::Utf8PathBuf;

use super::name::EXTENSION;
use super::read::read;
use super::write::{replace, written};
use super::{BaselineName, Home, Replaced, StoreError, StoredRun};
use gpubench_contract::{BenchmarkComplete, CaseKey, DeviceIdentity, ResultKey, RunStarted, Verdict};

/// Returns the last results of a run's cases, as a run. `None` if there are none from the same
/// device and the same version of the tool.
///
/// # Errors
/// A file cannot be read, is damaged or something else, or a link leads out of the folder.
pub fn last_run(home: &Home, run: &StoredRun) -> Result<Option<StoredRun>, StoreError> {
    let wanted: HashSet<ResultKey> = run.results.iter().map(BenchmarkComplete::key).collect();
    let mut last: Option<StoredRun> = None;
    for package in packages(run) {
        let Some(path) = place(home, &run.run, package)? else {
            continue;
        };
        let Some(mut found) = usable(&path, &run.run)? else {
            continue;
        };
        found
            .results
            .retain(|result| result.package == package && wanted.contains(&result.key()));
        match &mut last {
            _ if found.results.is_empty() => {}
            Some(last) => last.results.append(&mut found.results),
            None => last = Some(found),
        }
    }
    Ok(last)
}

/// Keeps the good results of a complete run for the next one. The last result of a case stays if
/// the case fails now, or if the run does not have it. `replaced` says which packages were measured
/// as a whole: their other cases are gone.
///
/// # Errors
/// A file cannot be written, or is something else.
pub fn keep_last_run(home: &Home, run: &StoredRun, replaced: &Replaced) -> Result<(), StoreError> {
    for package in packages(run) {
        let Some(path) = place(home, &run.run, package)? else {
            continue;
        };
        replace(&path, || {
            // Edited results are not worth an error each time: they are replaced.
            let earlier = match usable(&path, &run.run) {
                Err(StoreError::Altered { .. } | StoreError::Contradictory { .. }) => None,
                earlier => earlier?,
            };
            Ok((written(&path, &merged(run, package, earlier, replaced))?, ()))
        })?;
    }
    Ok(())
}

/// Returns the packages of a run's results, in order.
fn packages(run: &StoredRun) -> Vec<&str> {
    let mut packages: Vec<&str> = Vec::new();
    for result in &run.results {
        if !packages.contains(&&*result.package) {
            packages.push(&result.package);
        }
    }
    packages
}

/// Returns the file of a package on a run's device. `None` without a folder, and for a name that no
/// package of cargo has.
fn place(home: &Home, run: &RunStarted, package: &str) -> Result<Option<Utf8PathBuf>, StoreError> {
    let device = DeviceIdentity::from_run(run).key();
    match package.parse::<BaselineName>() {
        Ok(package) => home.last_run_of(&device, &format!("{package}.{EXTENSION}")),
        Err(_) => Ok(None),
    }
}

/// Reads the last results. `None` if there are none, or none that a run can be compared with: of an
/// earlier format, another version of the tool or another device.
fn usable(path: &Utf8PathBuf, run: &RunStarted) -> Result<Option<StoredRun>, StoreError> {
    let found = match read(path) {
        Ok(found) => found,
        Err(StoreError::Older { .. }) => return Ok(None),
        Err(StoreError::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(refusal) => return Err(refusal),
    };
    let is_alike = found.run.tool_version == run.tool_version
        && DeviceIdentity::from_run(&found.run) == DeviceIdentity::from_run(run);
    Ok(is_alike.then_some(found))
}

fn merged(run: &StoredRun, package: &str, earlier: Option<StoredRun>, replaced: &Replaced) -> StoredRun {
    let of_package = |result: &&BenchmarkComplete| result.package == package;
    let cases: HashSet<CaseKey> = run
        .results
        .iter()
        .filter(of_package)
        .map(|result| result.key().case)
        .collect();
    let good = run.results.iter().filter(of_package).filter(is_good);
    let mut results: Vec<BenchmarkComplete> = good.map(without_evidence).collect();
    let measured: HashSet<ResultKey> = results.iter().map(BenchmarkComplete::key).collect();
    let is_whole = match replaced {
        Replaced::All => true,
        Replaced::OfPackages(packages) => packages.contains(package),
        Replaced::None => false,
    };
    let earlier = earlier.into_iter().flat_map(|earlier| earlier.results);
    results.extend(earlier.filter(|result| {
        let key = result.key();
        !measured.contains(&key) && (!is_whole || cases.contains(&key.case))
    }));
    StoredRun {
        results,
        ..StoredRun::new(run.run.clone(), Vec::new(), run.finished.clone(), run.revision.clone())
    }
}

fn is_good(result: &&BenchmarkComplete) -> bool {
    result.verdict == Verdict::Pass && result.stats.is_some()
}

/// What a judge decided from is long, and no comparison needs it.
fn without_evidence(result: &BenchmarkComplete) -> BenchmarkComplete {
    BenchmarkComplete {
        evidence: None,
        ..result.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use camino::Utf8Path;
    use gpubench_testing::all_passed;

    struct Folder {
        home: Home,
        kept: tempfile::TempDir,
    }

    fn folder() -> Folder {
        let kept = tempfile::tempdir().unwrap();
        let home = Home::in_target_directory(Utf8Path::from_path(kept.path()).unwrap());
        Folder { home, kept }
    }

    fn run() -> StoredRun {
        let sample = all_passed();
        StoredRun::new(sample.started, sample.results, Some(sample.finished), None)
    }

    fn names(run: Option<StoredRun>) -> Vec<String> {
        let mut names: Vec<String> = run
            .into_iter()
            .flat_map(|run| run.results)
            .map(|result| result.label())
            .collect();
        names.sort();
        names
    }

    fn only_file(folder: &Folder) -> Utf8PathBuf {
        let run = run();
        place(&folder.home, &run.run, &run.results[0].package).unwrap().unwrap()
    }

    #[test]
    fn a_run_finds_the_last_results_of_its_own_cases() {
        let folder = folder();
        let whole = run();
        assert_eq!(last_run(&folder.home, &whole).unwrap(), None);
        keep_last_run(&folder.home, &whole, &Replaced::None).unwrap();
        assert_eq!(
            names(last_run(&folder.home, &whole).unwrap()).len(),
            whole.results.len()
        );
        let mut part = run();
        part.results.truncate(1);
        assert_eq!(names(last_run(&folder.home, &part).unwrap()), names(Some(part)));
    }

    #[test]
    fn a_run_of_a_part_keeps_the_others_and_a_run_of_all_drops_what_is_gone() {
        let folder = folder();
        let whole = run();
        keep_last_run(&folder.home, &whole, &Replaced::None).unwrap();
        let mut part = run();
        part.results.truncate(1);
        keep_last_run(&folder.home, &part, &Replaced::None).unwrap();
        assert_eq!(
            names(last_run(&folder.home, &whole).unwrap()).len(),
            whole.results.len()
        );
        let replaced = Replaced::OfPackages(HashSet::from([part.results[0].package.clone()]));
        keep_last_run(&folder.home, &part, &replaced).unwrap();
        assert_eq!(names(last_run(&folder.home, &whole).unwrap()), names(Some(part)));
    }

    #[test]
    fn a_failure_replaces_no_good_result() {
        let folder = folder();
        keep_last_run(&folder.home, &run(), &Replaced::None).unwrap();
        let mut failed = run();
        failed.results[0].verdict = Verdict::WrongOutput;
        keep_last_run(&folder.home, &failed, &Replaced::All).unwrap();
        let last = last_run(&folder.home, &failed).unwrap().unwrap();
        assert_eq!(last.results.len(), failed.results.len());
        assert!(last.results.iter().all(|result| result.verdict == Verdict::Pass));
    }

    #[test]
    fn results_of_another_device_or_version_are_not_found_and_not_mixed() {
        let folder = folder();
        let ours = run();
        keep_last_run(&folder.home, &ours, &Replaced::None).unwrap();
        let mut elsewhere = run();
        elsewhere.run.device.name = "another GPU".into();
        assert_eq!(last_run(&folder.home, &elsewhere).unwrap(), None);
        let mut later = run();
        later.run.tool_version = "99.0.0".into();
        later.results.truncate(1);
        assert_eq!(last_run(&folder.home, &later).unwrap(), None);
        keep_last_run(&folder.home, &later, &Replaced::None).unwrap();
        let later_whole = StoredRun {
            run: later.run.clone(),
            ..run()
        };
        assert_eq!(names(last_run(&folder.home, &later_whole).unwrap()).len(), 1);
        // A file of another device under this device's name, as after a copy.
        let path = only_file(&folder);
        std::fs::write(&path, written(&path, &elsewhere).unwrap()).unwrap();
        assert_eq!(last_run(&folder.home, &ours).unwrap(), None);
    }

    #[test]
    fn damaged_files_are_errors_that_name_them_and_stay() {
        for damage in [
            &b""[..],
            b"{",
            b"[1]",
            b"\xff\xfe",
            b"{\"format\":\"gpubench-run\",\"format_version\":99}",
        ] {
            let folder = folder();
            let path = only_file(&folder);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, damage).unwrap();
            let error = last_run(&folder.home, &run()).unwrap_err();
            assert!(error.to_string().contains(path.as_str()), "{error}");
            keep_last_run(&folder.home, &run(), &Replaced::All).unwrap_err();
            assert_eq!(std::fs::read(&path).unwrap(), damage);
        }
    }

    #[test]
    fn an_edited_file_is_an_error_once_and_replaced() {
        let folder = folder();
        keep_last_run(&folder.home, &run(), &Replaced::None).unwrap();
        let path = only_file(&folder);
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, text.replacen("\"tool_version\":\"", "\"tool_version\":\"x", 1)).unwrap();
        assert!(matches!(
            last_run(&folder.home, &run()),
            Err(StoreError::Altered { .. })
        ));
        keep_last_run(&folder.home, &run(), &Replaced::None).unwrap();
        assert!(last_run(&folder.home, &run()).unwrap().is_some());
    }

    #[test]
    fn names_and_links_do_not_lead_out_of_the_folder() {
        let folder = folder();
        let mut hostile = run();
        for result in &mut hostile.results {
            result.package = "../../outside".into();
        }
        keep_last_run(&folder.home, &hostile, &Replaced::None).unwrap();
        assert_eq!(folder.kept.path().read_dir().unwrap().count(), 0);
        let outside = tempfile::tempdir().unwrap();
        let gpubench = folder.kept.path().join("gpubench");
        std::fs::create_dir(&gpubench).unwrap();
        std::os::unix::fs::symlink(outside.path(), gpubench.join("last")).unwrap();
        assert!(matches!(
            keep_last_run(&folder.home, &run(), &Replaced::None),
            Err(StoreError::Leaves { .. })
        ));
        assert_eq!(outside.path().read_dir().unwrap().count(), 0);
    }

    #[test]
    fn without_a_folder_nothing_is_kept() {
        keep_last_run(&Home::ABSENT, &run(), &Replaced::All).unwrap();
        assert_eq!(last_run(&Home::ABSENT, &run()).unwrap(), None);
    }
}
