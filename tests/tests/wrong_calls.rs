//! `--keep-wrong-outputs`: the tensors of wrong calls, as files of NumPy.
#![forbid(unsafe_code)]

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{FakeGpu, Finished, Fixture, Npy, Run};
use serde_json::Value;

const TWO_OUTPUTS: &str = "answers::second_output_is_wrong";

/// A folder that the run has to make.
struct Wrong {
    outer: tempfile::TempDir,
}

impl Wrong {
    fn new() -> Wrong {
        Wrong {
            outer: tempfile::tempdir().expect("a folder"),
        }
    }

    fn path(&self) -> Utf8PathBuf {
        let outer = Utf8Path::from_path(self.outer.path()).expect("text");
        outer.join("a folder/wrong")
    }

    /// Lets a run keep the tensors of a benchmark's wrong calls here.
    fn of(&self, run: Run, benchmark: &str) -> Finished {
        run.briefly()
            .json()
            .args([benchmark, "--keep-wrong-outputs", self.path().as_str()])
            .finish()
    }

    fn names(&self) -> Vec<String> {
        let entries = self.path().read_dir_utf8().expect("the folder was made");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_owned())
            .collect();
        names.sort();
        names
    }

    fn read(&self, name: &str) -> Npy {
        Npy::read(self.path().join(name))
    }

    fn floats(&self, name: &str) -> Vec<f32> {
        self.read(name).elements("<f4", f32::from_le_bytes)
    }
}

/// Checks the message of the only case against the files, and the files against what the case
/// computes and what the record says. Only element 123 of `bad` is wrong.
#[track_caller]
fn assert_two_outputs_are_kept(finished: &Finished, wrong: &Wrong) {
    assert_tensors_are_kept("", finished, wrong);
}

/// The same for tensors with `suffix`.
#[track_caller]
fn assert_tensors_are_kept(suffix: &str, finished: &Finished, wrong: &Wrong) {
    let records = finished.records();
    let result = records.result(TWO_OUTPUTS);
    let message = result["message"].as_str().expect("a message");
    let prefix = format!("0.hostile.{}.n=600", TWO_OUTPUTS.replace("::", "."));
    let kinds = [
        ("good", "expected"),
        ("good", "got"),
        ("bad", "expected"),
        ("bad", "got"),
        ("x", "input"),
    ];
    let names = kinds.map(|(tensor, kind)| format!("{prefix}.{tensor}{suffix}.{kind}.npy"));
    let lines: Vec<String> = names
        .iter()
        .map(|name| format!("  {}", wrong.path().join(name)))
        .collect();
    let title = "\nthe tensors of call 1, the first wrong one, for `numpy.load`:\n";
    assert!(message.ends_with(&format!("{title}{}", lines.join("\n"))), "{message}");
    let mut sorted = names.clone();
    sorted.sort();
    assert_eq!(wrong.names(), sorted);

    let [good, good_got, bad, bad_got, x] = names.each_ref().map(|name| name.as_str());
    let given = wrong.floats(x);
    assert_eq!(wrong.read(x).shape, "(600,)");
    let doubled: Vec<f32> = given.iter().map(|x| 2.0 * x + 1.0).collect();
    assert_eq!(wrong.floats(good), doubled);
    assert_eq!(wrong.read(good_got), wrong.read(good));
    assert_eq!(wrong.read(bad).shape, "(30, 20)");
    let [bad, got] = [bad, bad_got].map(|name| wrong.read(name).elements("<i4", i32::from_le_bytes));
    assert_eq!(bad, given.iter().map(|x| (1000.0 * x) as i32).collect::<Vec<_>>());
    for (index, (expected, got)) in bad.iter().zip(&got).enumerate() {
        assert_eq!(got - expected, i32::from(index == 123), "{index}");
    }
    let first = &result["checks"][1]["first_wrong"];
    assert_eq!(
        (&first["index"], &first["expected"], &first["got"]),
        (&Value::from(123), &Value::from(bad[123]), &Value::from(got[123]))
    );
}

#[test]
fn the_tensors_of_the_first_wrong_call_are_kept() {
    let wrong = Wrong::new();
    let finished = wrong
        .of(Run::on(&Fixture::new("hostile")), TWO_OUTPUTS)
        .expect_code(100);
    assert_two_outputs_are_kept(&finished, &wrong);
    // A second run, with other inputs, replaces the files.
    let before = wrong.names();
    let finished = wrong
        .of(Run::on(&Fixture::new("hostile")), TWO_OUTPUTS)
        .expect_code(100);
    assert_eq!(wrong.names(), before);
    assert_two_outputs_are_kept(&finished, &wrong);
}

#[test]
fn they_are_kept_on_a_gpu() {
    let (wrong, gpu) = (Wrong::new(), FakeGpu::new());
    let finished = wrong
        .of(gpu.run(&Fixture::new("hostile")), TWO_OUTPUTS)
        .expect_code(100);
    assert_two_outputs_are_kept(&finished, &wrong);
}

#[test]
fn they_are_kept_in_runs_of_archives() {
    let wrong = Wrong::new();
    let folder = Utf8Path::from_path(wrong.outer.path()).expect("text");
    let archive = folder.join("contest.tar.gz");
    let _ = Run::archiving(&Fixture::new("contest"), &archive).finish();
    let programs = std::env::var("PATH").expect("a path");
    let run = Run::from_archive(&archive, folder, Utf8Path::new(&programs));
    let finished = wrong
        .of(run.args(["--include-ignored"]), "stale::n=64")
        .expect_code(100);
    let result = finished.records().result("stale").clone();
    let message = result["message"].as_str().expect("a message");
    let files = message.lines().filter(|line| line.contains(".npy"));
    assert!(files.count() > 0 && message.contains("for `numpy.load`:"), "{message}");
}

#[test]
fn they_are_kept_in_tests_and_of_windows_with_several_calls() {
    // The tensors of the calls of one window are numbered.
    for (options, suffix) in [
        (&["--test"][..], ""),
        (&["--mode", "hot"], "@1"),
        (&["--mode", "graph"], "@1"),
    ] {
        let wrong = Wrong::new();
        let run = Run::on(&Fixture::new("hostile")).args(options.iter().copied());
        let finished = wrong.of(run, TWO_OUTPUTS).expect_code(100);
        assert_tensors_are_kept(suffix, &finished, &wrong);
    }
}

/// The case is measured twice: alternating with the other, then alone.
#[test]
fn the_first_wrong_call_of_a_contestant_is_kept() {
    let wrong = Wrong::new();
    let options = ["--contest", "--include-ignored", "--exact", "quick::n=64"];
    let run = Run::on(&Fixture::new("contest")).args(options);
    let finished = wrong.of(run, "stale::n=64").expect_code(100);
    let message = finished.records().result("stale")["message"]
        .as_str()
        .expect("a message")
        .to_owned();
    let (first, kept) = message.split_once('\n').expect("several lines");
    assert!(first.ends_with("; alone it fails in the same way"), "{message}");
    let (title, files) = kept.split_once('\n').expect("files");
    assert!(title.ends_with(", the first wrong one, for `numpy.load`:"), "{message}");
    let prefix = wrong.path().join("1.contest.stale.n=64");
    let files: Vec<&str> = files.lines().map(str::trim_start).collect();
    let kinds = ["y.expected", "y.got", "x.input"];
    assert_eq!(files, kinds.map(|kind| format!("{prefix}.{kind}.npy")));
}

#[test]
fn a_tensor_that_is_longer_than_a_message_is_kept_whole() {
    let wrong = Wrong::new();
    let run = Run::on(&Fixture::new("hostile")).args(["--axis", "n=600001"]);
    let _ = wrong.of(run, "answers::writes_half").expect_code(100);
    let read = |what| wrong.floats(&format!("0.hostile.answers.writes_half.n=600001.{what}.npy"));
    let doubled: Vec<f32> = read("x.input").iter().map(|x| 2.0 * x + 1.0).collect();
    let (expected, got) = (read("y.expected"), read("y.got"));
    assert_eq!((expected.len(), got.len()), (600_001, 600_001));
    assert!(expected == doubled && got[..300_000] == expected[..300_000]);
    assert!(
        got.iter()
            .zip(&expected)
            .skip(300_001)
            .all(|(got, expected)| got != expected)
    );
}

#[test]
fn an_in_place_tensor_has_what_the_call_was_given_too() {
    let wrong = Wrong::new();
    let _ = wrong
        .of(Run::on(&Fixture::new("hostile")), "answers::leaves_in_place")
        .expect_code(100);
    let read = |what| wrong.floats(&format!("0.hostile.answers.leaves_in_place.n=600.z.{what}.npy"));
    let given = read("input");
    assert_eq!(read("got"), given);
    assert_eq!(
        read("expected"),
        given.iter().map(|z| 2.0 * z + 1.0).collect::<Vec<_>>()
    );
}

#[test]
fn the_first_wrong_call_of_host_code_is_kept() {
    let wrong = Wrong::new();
    let run = Run::on(&Fixture::new("hosted"));
    let finished = wrong.of(run, "calls::computes_the_first_time_only").expect_code(100);
    let message = finished.records().result("calls::computes_the_first_time_only")["message"].to_string();
    assert!(
        message.contains("the tensors of call 2, the first wrong one, for `numpy.load`:"),
        "{message}"
    );
    let read = |what| wrong.floats(&format!("0.hosted.calls.computes_the_first_time_only.n=600.{what}.npy"));
    let doubled: Vec<f32> = read("x.input").iter().map(|x| 2.0 * x + 1.0).collect();
    assert_eq!(read("y.expected"), doubled);
    assert_ne!(read("y.got"), doubled);
}

#[test]
fn a_case_that_passes_leaves_nothing() {
    let wrong = Wrong::new();
    let finished = wrong
        .of(Run::on(&Fixture::new("hostile")), "answers::honest")
        .expect_code(0);
    assert_eq!(finished.records().result("answers::honest")["message"], Value::Null);
    assert_eq!(wrong.names(), [""; 0]);
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_before_anything_is_measured() {
    let option = ["--keep-wrong-outputs", "/dev/null/wrong"];
    let run = Run::on(&Fixture::new("hostile")).briefly().json();
    let finished = run.args(option).finish().expect_code(110);
    assert_eq!(finished.records().results().count(), 0);
    for words in ["cannot make files in the folder `/dev/null/wrong`", "Not a directory"] {
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
}

/// Returns the command of a shell that mounts a small file system over a folder and then runs the
/// program, if mounting is permitted.
fn with_little_room(folder: &Utf8Path) -> Option<String> {
    let inside = format!("mount -t tmpfs -o size=8k tmpfs '{folder}'");
    let tried = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", &inside])
        .output();
    tried.is_ok_and(|tried| tried.status.success()).then(|| {
        format!(
            "exec unshare --map-root-user --mount sh -c \"{inside} && exec \\\"\\$0\\\" \\\"\\$@\\\"\" \"$0\" \"$@\""
        )
    })
}

#[test]
fn a_full_disk_is_told_and_the_result_stays() {
    let wrong = Wrong::new();
    std::fs::create_dir_all(wrong.path()).expect("a folder");
    let Some(shell) = with_little_room(&wrong.path()) else {
        eprintln!("no file system can be mounted here: not tested");
        return;
    };
    let run = Run::after(&shell, &Fixture::new("hostile"));
    let finished = wrong.of(run, TWO_OUTPUTS).expect_code(100);
    let records = finished.records();
    let message = records.result(TWO_OUTPUTS)["message"].as_str().expect("a message");
    for words in [
        "1 of 600 elements of `bad` are wrong in call 1",
        "good.got.npy",
        "further tensors are not kept: cannot write `",
        "No space left on device",
        "the disk is full",
    ] {
        assert!(message.contains(words), "`{words}` is not in:\n{message}");
    }
}
