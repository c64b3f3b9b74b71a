//! Damaged stored runs, and stored runs after a killed save or on a full disk.
#![forbid(unsafe_code)]

use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use camino::Utf8Path;
use gpubench_tests::{Ending, Fixture, Run, RunFolder, slowed, wait_until};
use rustix::process::Signal;
use serde_json::Value;

use crate::{loaded, paced, records, save_run};

/// Returns files that cannot be loaded as runs, and a part of the error of each.
fn unusable(folder: &RunFolder) -> Vec<(String, &'static str)> {
    let good = folder.path("good.json");
    let run = folder.lines("run.jsonl", records());
    save_run(&run, &good);
    let text = std::fs::read_to_string(good).expect("it is saved");
    let newer = text.replacen("\"format_version\":2", "\"format_version\":3", 1);
    vec![
        (folder.file("truncated.json", &text[..text.len() / 2]), "is truncated"),
        (
            folder.file("foreign.json", "{\"name\": \"left-pad\"}\n"),
            "is not a stored run",
        ),
        (folder.file("newer.json", newer), "has format version 3"),
        (folder.file("notes.json", "buy milk\n"), "is not JSON"),
    ]
}

#[test]
fn other_files_are_refused_by_name_before_anything_is_measured_and_not_changed() {
    let folder = RunFolder::new();
    for (file, words) in unusable(&folder) {
        let contents = std::fs::read(&file).expect("it is there");
        for option in ["--baseline", "--save-baseline"] {
            let refused = paced().json().args([option, &file]).finish().expect_code(2);
            assert_eq!(refused.stdout, "", "{option} {file}");
            let error = refused.errors()[0];
            assert!(error.contains(&file) && error.contains(words), "{error}");
            assert!(refused.stderr.contains("(hint: "), "{}", refused.stderr);
        }
        assert_eq!(std::fs::read(&file).expect("it is there"), contents);
    }
    assert!(
        folder.names().iter().all(|name| !name.starts_with('.')),
        "{:?}",
        folder.names()
    );
}

#[test]
fn an_edited_baseline_is_refused() {
    let folder = RunFolder::new();
    let saved = folder.path("saved.json");
    let run = folder.lines("run.jsonl", records());
    save_run(&run, &saved);
    let mut text = std::fs::read_to_string(&saved).expect("it is saved");
    let value = text.find("\"value\":").expect("there is one") + "\"value\":".len();
    text.insert(value, '1');
    std::fs::write(&saved, text).expect("it can be edited");
    let refused = loaded(&run)
        .args(["--baseline", saved.as_str()])
        .finish()
        .expect_code(2);
    assert!(
        refused.errors()[0].contains("was changed after it was written"),
        "{}",
        refused.stderr
    );
    let edited = slowed(records(), 2.0).into_iter().map(|mut record| {
        if record["stats"].is_object() {
            record["stats"]["n"] = 1.into();
        }
        record
    });
    let lines = folder.lines("edited.jsonl", &edited.collect::<Vec<_>>());
    let refused = loaded(&run).args(["--baseline", &lines]).finish().expect_code(2);
    assert!(refused.stderr.contains("count 1 samples"), "{}", refused.stderr);
}

/// Returns a run of many cases, so that saving it takes a while.
fn many_cases(folder: &RunFolder, name: &str, factor: f64) -> String {
    let slowed = slowed(records(), factor);
    let (started, finished) = (slowed[0].clone(), slowed[slowed.len() - 1].clone());
    let result = slowed
        .iter()
        .find(|record| record["reason"] == "benchmark-complete")
        .expect("a result");
    let case = |n: u64| {
        let mut case = result.clone();
        case["params"]["n"] = n.into();
        case["case"] = format!("steps::stroll::n={n}").into();
        case
    };
    let mut records = vec![started];
    records.extend((0..500).map(case));
    records.push(finished);
    let last = records.len() - 1;
    records[last]["passed"] = 500.into();
    folder.lines(name, &records)
}

fn is_whole(file: &Utf8Path) -> bool {
    loaded(file.as_str()).args(["-q"]).finish().ending == Ending::Code(0)
}

#[test]
fn a_killed_save_leaves_the_old_run_or_the_new_one() {
    let folder = RunFolder::new();
    let kept = folder.path("kept.json");
    let runs = [many_cases(&folder, "a.jsonl", 1.0), many_cases(&folder, "b.jsonl", 2.0)];
    let saving = |run: &str| loaded(run).args(["-q", "--save-baseline", kept.as_str()]);
    let mut wholes = Vec::new();
    for run in &runs {
        let _ = saving(run).finish().expect_code(0);
        wholes.push(results_of(&kept));
    }
    let half_written = folder.path(".kept.json.tmp");
    let inode = || kept.metadata().expect("it is there").ino();
    let mut cut_off = 0;
    for attempt in 0..12 {
        let before = inode();
        let running = saving(&runs[attempt % 2]).start();
        wait_until("the save", Duration::from_secs(60), || {
            let length = half_written.metadata().map_or(0, |file| file.len());
            (length > 0 || inode() != before).then_some(())
        });
        std::thread::sleep(Duration::from_micros(1500 * attempt as u64));
        running.signal(Signal::KILL);
        let _ = running.finish();
        cut_off += u32::from(half_written.exists());
        assert!(wholes.contains(&results_of(&kept)), "attempt {attempt}");
    }
    println!("{cut_off} of 12 saves were cut off");
    assert!(is_whole(&kept));
    let _ = saving(&runs[0]).finish().expect_code(0);
    assert_eq!(
        folder.names(),
        ["a.jsonl", "b.jsonl", "kept.json"],
        "what was left is gone"
    );
}

/// Returns a stored run without its save time.
fn results_of(file: &Utf8Path) -> Value {
    let stored: Value =
        serde_json::from_str(&std::fs::read_to_string(file).expect("it is there")).expect("it is whole");
    stored["results"].clone()
}

#[test]
fn a_full_disk_is_an_error_and_keeps_the_old_run() {
    let folder = RunFolder::new();
    let kept = folder.path("kept.json");
    let small = folder.lines("small.jsonl", records());
    let large = many_cases(&folder, "large.jsonl", 1.0);
    let _ = loaded(&small)
        .args(["--save-baseline", kept.as_str()])
        .finish()
        .expect_code(0);
    let before = std::fs::read(&kept).expect("it is saved");
    // 64 blocks of 512 bytes are larger than the small run and smaller than the large one.
    let limited = Run::after("trap '' XFSZ; ulimit -f 64", &Fixture::new("paced"));
    let full = limited
        .args(["--load-baseline", &large, "--save-baseline", kept.as_str()])
        .finish()
        .expect_code(110);
    assert!(
        full.errors()[0].contains("could not write") && full.errors()[0].contains("kept.json"),
        "{}",
        full.stderr
    );
    assert_eq!(std::fs::read(&kept).expect("it is there"), before);
    assert_eq!(folder.names(), ["kept.json", "large.jsonl", "small.jsonl"]);
}
