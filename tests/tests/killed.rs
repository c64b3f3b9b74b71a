//! What a killed run leaves among the temporary files is removed by the next one.
#![forbid(unsafe_code)]

use std::fs;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{Ending, Fixture, Role, Run, RunFolder, Running, wait_until};
use rustix::process::Signal;

/// A case, with more samples than anybody waits for.
const ENDLESS: [&str; 11] = [
    "--exact",
    "sums::one_thread_a_row::rows=33,cols=100",
    "--device",
    "cpu",
    "--no-wait",
    "--max-time",
    "1h",
    "--min-samples",
    "100000000",
    "--max-samples",
    "100000000",
];

fn names_in(folder: &Utf8Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect()
}

/// Writes an archive of a fixture, which needs no cargo to run.
fn archive_in(folder: &RunFolder) -> Utf8PathBuf {
    let archive = folder.path("kernels.tar.gz");
    let _ = Run::archiving(&Fixture::new("tidy"), &archive).finish().expect_code(0);
    archive
}

/// Starts a run of an archive that does not end, and waits for its worker.
fn endless(archive: &Utf8Path, temporary: &Utf8Path) -> Running {
    let programs: Utf8PathBuf = std::env::var("PATH").expect("a path").into();
    let run = Run::from_archive(archive, temporary, &programs).args(ENDLESS).start();
    run.wait_for_role(Role::Worker);
    run
}

#[test]
fn the_next_run_removes_what_a_killed_one_left_and_nothing_of_a_live_one() {
    let folder = RunFolder::new();
    let archive = archive_in(&folder);
    let temporary = folder.path("temporary");
    fs::create_dir(&temporary).expect("a folder");
    let killed = endless(&archive, &temporary);
    let left = names_in(&temporary);
    assert!(
        left.iter().any(|name| name.starts_with("gpubench-archive-")),
        "{left:?}"
    );
    killed.signal(Signal::KILL);
    assert_eq!(killed.finish().ending, Ending::Signal(Signal::KILL.as_raw()));
    assert!(
        !names_in(&temporary).is_empty(),
        "the test needs something that is left"
    );
    fs::create_dir(temporary.join("gpubench-archive-notes")).expect("a folder of the user's");

    let alive = endless(&archive, &temporary);
    let of_alive = names_in(&temporary);
    assert!(
        left.iter().all(|name| !of_alive.contains(name)),
        "{left:?} in {of_alive:?}"
    );
    let another = endless(&archive, &temporary);
    let now = names_in(&temporary);
    assert!(
        of_alive.iter().all(|name| now.contains(name)),
        "{of_alive:?} in {now:?}"
    );
    for run in [alive, another] {
        run.signal(Signal::INT);
        let _ = run.finish().expect_code(130);
    }
    wait_until("the end of all folders", Duration::from_secs(10), || {
        (names_in(&temporary) == ["gpubench-archive-notes"]).then_some(())
    });
}
