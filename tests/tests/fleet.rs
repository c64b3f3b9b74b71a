//! One run over several machines: `--runner` starts agents, here with a local shell. Whatever
//! becomes of them, each case has one record.
#![forbid(unsafe_code)]

#[path = "fleets/grading.rs"]
mod grading;
#[path = "fleets/misbehaving.rs"]
mod misbehaving;

use std::collections::BTreeSet;
use std::time::Duration;

use camino::Utf8PathBuf;
use gpubench_tests::{Ending, Fixture, Records, Role, Run, RunFolder, Running, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// A command that starts what follows it, as `srun` does.
const SHELL: &str = "sh -c 'exec \"$@\"' sh";

/// How long a test waits for something that agents do.
const SOON: Duration = Duration::from_secs(120);

/// A run with agents, and the folder for what it needs.
struct Fleet {
    folder: RunFolder,
}

impl Fleet {
    fn new() -> Fleet {
        Fleet {
            folder: RunFolder::new(),
        }
    }

    fn file(&self, name: &str) -> Utf8PathBuf {
        self.folder.path(name)
    }

    /// Returns a run of a fixture's cases on the CPU device, with records on standard output.
    fn run(&self, runners: &[&str], options: &[&str]) -> Run {
        let runners = runners.iter().flat_map(|runner| ["--runner", runner]);
        Run::on(&Fixture::new("short"))
            .briefly()
            .json()
            .args(["--device", "cpu", "--no-wait"])
            // Inputs can make it exceed its tolerance.
            .args(["--skip", "gelu"])
            .args(runners)
            .args(options.iter().copied())
            .env("XDG_CACHE_HOME", self.file("cache").as_str())
    }

    /// Returns a command that starts an agent and appends its process id to a file.
    fn noting(&self) -> String {
        format!("sh -c 'echo $$ >> {}; exec \"$@\"' sh", self.file("pids"))
    }

    /// Waits until this many agents have started, and returns the process id of each.
    fn agents(&self, number: usize) -> Vec<Pid> {
        wait_until("agents", SOON, || {
            let text = std::fs::read_to_string(self.file("pids")).ok()?;
            let pids: Vec<Pid> = text
                .lines()
                .filter_map(|line| Pid::from_raw(line.parse().ok()?))
                .collect();
            (pids.len() >= number).then_some(pids)
        })
    }
}

/// Returns the names of the cases with the verdict of each, in order. Asserts that each has one
/// record, at its place.
fn told(records: &Records) -> Vec<(String, String)> {
    let results: Vec<&Value> = records.results().collect();
    for (position, result) in results.iter().enumerate() {
        assert_eq!(result["index"], position, "{result}");
    }
    let cases: BTreeSet<&str> = results.iter().filter_map(|result| result["case"].as_str()).collect();
    assert_eq!(cases.len(), results.len(), "one record a case");
    assert_eq!(records.the("run-started")["cases"], results.len());
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    results
        .iter()
        .map(|result| (text(&result["case"]), text(&result["verdict"])))
        .collect()
}

fn assert_all_pass(records: &Records, number: usize) {
    let told = told(records);
    assert_eq!(told.len(), number);
    assert!(told.iter().all(|(_, verdict)| verdict == "pass"), "{told:?}");
    assert_eq!(records.the("run-finished")["end"], "completed");
}

fn notices(result: &Value) -> String {
    result["notices"].to_string()
}

/// Waits for the first result of a run.
fn after_first_result(running: &mut Running) {
    running.wait_for_record("a result", |record| record["reason"] == "benchmark-complete");
}

#[test]
fn agents_measure_what_one_run_measures() {
    let fleet = Fleet::new();
    let finished = fleet.run(&[SHELL], &["--agents", "2"]).finish().expect_code(0);
    let records = finished.records();
    assert_all_pass(&records, 7);
    let alone = Run::on(&Fixture::new("short"))
        .briefly()
        .json()
        .args(["--device", "cpu", "--skip", "gelu"])
        .finish()
        .expect_code(0)
        .records();
    assert_eq!(told(&records), told(&alone));
    let host = rustix::system::uname();
    for (result, other) in records.results().zip(alone.results()) {
        assert_eq!(result["environment"]["host"], *host.nodename().to_string_lossy());
        assert!(other["environment"]["host"].is_null());
        let fields =
            |result: &Value| -> BTreeSet<String> { result.as_object().expect("a record").keys().cloned().collect() };
        assert_eq!(fields(result), fields(other));
        let samples = |result: &Value| result["samples"].as_array().map(Vec::len);
        assert_eq!(samples(result), samples(other), "the options have travelled");
    }
    let archives = std::fs::read_dir(fleet.file("cache/gpubench/archives")).expect("a folder");
    let names = archives.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    assert_eq!(
        names.filter(|name| name.ends_with(".tar.gz")).count(),
        1,
        "it came once"
    );
}

#[test]
fn cases_of_a_killed_agent_are_measured_again_by_another() {
    let fleet = Fleet::new();
    let mut running = fleet.run(&[&fleet.noting()], &["--agents", "2"]).start();
    after_first_result(&mut running);
    running.wait_for_role(Role::Worker);
    for agent in &fleet.agents(2)[..2] {
        kill_process(*agent, Signal::KILL).expect("it runs");
    }
    let finished = running.finish().expect_code(0);
    let records = finished.records();
    assert_all_pass(&records, 7);
    let again = records
        .results()
        .filter(|result| notices(result).contains("was measured again"));
    assert!(again.count() >= 1, "{}", finished.stderr);
    assert!(finished.stderr.contains("is started again"), "{}", finished.stderr);
    assert!(fleet.agents(4).len() >= 4);
}

#[test]
fn the_end_of_a_runner_alone_is_not_the_end_of_its_agent() {
    let fleet = Fleet::new();
    // The shell waits for the agent, and has its own process id in the file.
    let runner = format!("sh -c 'echo $$ >> {}; \"$@\" <&0; true' sh", fleet.file("pids"));
    let mut running = fleet.run(&[&runner], &[]).start();
    after_first_result(&mut running);
    kill_process(fleet.agents(1)[0], Signal::KILL).expect("it runs");
    let finished = running.finish().expect_code(0);
    assert_all_pass(&finished.records(), 7);
    assert_eq!(fleet.agents(1).len(), 1, "{}", finished.stderr);
}

#[test]
fn a_record_that_comes_after_its_lease_is_kept_and_does_not_count() {
    let fleet = Fleet::new();
    let sizes: Vec<String> = (1..=24).map(|n| n.to_string()).collect();
    let axis = format!("n={}", sizes.join(","));
    let options = ["prefix_sums", "--axis", &axis, "--agents", "2", "--agent-silence", "2s"];
    let mut running = fleet.run(&[&fleet.noting()], &options).start();
    running.wait_for_record("the start", |record| record["reason"] == "run-started");
    let stopped = fleet.agents(2)[0];
    running.wait_for_role(Role::Worker);
    kill_process(stopped, Signal::STOP).expect("it runs");
    let lost = running.wait_for_record("a case that was measured again", |record| {
        record["reason"] == "benchmark-complete" && notices(record).contains("was silent for 2 s")
    });
    kill_process(stopped, Signal::CONT).expect("it is stopped");
    let finished = running.finish().expect_code(0);
    assert_all_pass(&finished.records(), 24);
    let late = finished
        .stderr
        .lines()
        .find(|line| line.contains("so it does not count"));
    let late = late.unwrap_or_else(|| panic!("{}", finished.stderr));
    let path = late.split('`').nth_back(1).expect("a path");
    let kept = Records::parse(&std::fs::read_to_string(path).expect("late records"));
    assert_eq!(kept.all()[0]["case"], lost["case"]);
    assert_ne!(kept.all()[0]["samples"], lost["samples"]);
    std::fs::remove_file(path).expect("it is removed");
}

#[test]
fn a_banner_before_the_agent_is_shown_and_harmless() {
    let fleet = Fleet::new();
    let runner = "sh -c 'echo Welcome to node 7; exec \"$@\"' sh";
    let finished = fleet.run(&[runner], &["largest"]).finish().expect_code(0);
    assert_all_pass(&finished.records(), 1);
    assert!(
        finished.stderr.contains("agent 1: Welcome to node 7"),
        "{}",
        finished.stderr
    );
}

#[test]
fn a_command_that_starts_no_agent_is_named_and_the_others_measure() {
    let fleet = Fleet::new();
    let nothing = "sh -c 'echo no such partition; exit 3' sh";
    let garbage = "printf '\\036gpubench-agent\\nGarbage'";
    let missing = "/nowhere/srun";
    let finished = fleet
        .run(&[nothing, garbage, missing, SHELL], &["largest"])
        .finish()
        .expect_code(0);
    assert_all_pass(&finished.records(), 1);
    let alone = fleet.run(&[nothing], &["largest"]).finish().expect_code(96);
    assert_eq!(alone.stdout, "");
    let errors = alone.errors();
    assert!(
        errors[0].contains("no agent is ready") && errors[0].contains("no such partition"),
        "{errors:?}"
    );
    let alone = fleet.run(&[garbage], &["largest"]).finish().expect_code(96);
    assert!(
        alone.errors()[0].contains("its output is no frame"),
        "{:?}",
        alone.errors()
    );
    let alone = fleet.run(&[missing], &["largest"]).finish().expect_code(96);
    assert!(
        alone.errors()[0].contains("`/nowhere/srun` cannot be started"),
        "{:?}",
        alone.errors()
    );
}

#[test]
fn cases_without_an_agent_fail_by_name_and_finished_ones_stay() {
    let fleet = Fleet::new();
    let once = format!(
        "sh -c 'test -e {0} && exit 7; echo $$ > {0}; exec \"$@\"' sh",
        fleet.file("pids")
    );
    let mut running = fleet.run(&[&once], &[]).start();
    after_first_result(&mut running);
    kill_process(fleet.agents(1)[0], Signal::KILL).expect("it runs");
    let finished = running.finish().expect_code(100);
    let records = finished.records();
    let told = told(&records);
    assert_eq!(told.len(), 7);
    assert_eq!(told[0].1, "pass");
    let last = records.results().last().expect("a result");
    assert_eq!(
        (&last["verdict"], &last["cause"]),
        (&"error".into(), &"device-lost".into()),
        "{last}"
    );
    let message = last["message"].as_str().expect("a message");
    assert!(message.contains("no agent is left to measure it"), "{message}");
    assert!(last["device"]["uuid"].is_null());
}

#[test]
fn an_interrupt_ends_all_agents() {
    for signal in [Signal::INT, Signal::TERM] {
        let fleet = Fleet::new();
        let mut running = fleet.run(&[SHELL], &["--agents", "2"]).start();
        after_first_result(&mut running);
        running.signal(signal);
        // It leaves no process.
        let finished = running.finish().expect_code(130);
        assert_eq!(finished.records().the("run-finished")["end"], "interrupted");
    }
}

#[test]
fn an_interrupt_ends_a_command_that_still_waits_for_a_machine() {
    let fleet = Fleet::new();
    let waiting = format!("sh -c 'echo $$ > {}; exec sleep 600' sh", fleet.file("pids"));
    let running = fleet.run(&[&waiting], &[]).start();
    fleet.agents(1);
    running.signal(Signal::INT);
    let _ = running.finish().expect_code(130);
}

#[test]
fn agents_end_with_a_killed_head() {
    let fleet = Fleet::new();
    let mut running = fleet.run(&[SHELL], &["--agents", "2"]).start();
    after_first_result(&mut running);
    running.signal(Signal::KILL);
    let finished = running.finish();
    assert_eq!(finished.ending, Ending::Signal(Signal::KILL.as_raw()));
}

#[test]
fn a_killed_head_goes_on_where_it_was_and_ends_as_one_run() {
    let fleet = Fleet::new();
    let file = fleet.file("run.jsonl");
    let text = || std::fs::read_to_string(&file).unwrap_or_default();
    let run = || fleet.run(&[SHELL], &["--agents", "2", "--resume", file.as_str()]);
    let running = run().start();
    wait_until("three results in the file", SOON, || {
        let written = text().matches("\"reason\":\"benchmark-complete\"").count();
        (written >= 3 && text().ends_with('\n')).then_some(())
    });
    running.signal(Signal::KILL);
    assert_eq!(running.finish().ending, Ending::Signal(Signal::KILL.as_raw()));
    let first = Records::parse(&text());
    let finished = run().finish().expect_code(0);
    let taken = format!("Resumed {} of 7 results", first.results().count());
    assert!(finished.stderr.contains(&taken), "{}", finished.stderr);
    let records = Records::parse(&text());
    assert_all_pass(&records, 7);
    for result in first.results() {
        let now = records.result(result["case"].as_str().expect("a name"));
        assert_eq!(now["samples"], result["samples"], "nothing was measured twice");
        assert_eq!(now["resumed_from"], result["run_id"]);
    }
}

#[test]
fn a_lying_or_broken_agent_ends_alone() {
    for (misbehaviour, words) in [
        ("old-version", "its `cargo gpubench` is version 0.0.1"),
        ("other-case", "was its task"),
        ("other-run", "was its task"),
        ("unknown-lease", "which it did not have"),
        ("two-results", "it sent 2 results of a group of 1"),
        ("done-early", "without its results"),
        ("half-a-frame", "ends in the middle of a frame"),
        ("no-json", "a message cannot be read"),
        ("endless-frame", "a frame has 4294967295 bytes"),
    ] {
        let fleet = Fleet::new();
        let finished = fleet
            .run(
                &[&misbehaving::runner(misbehaviour), SHELL],
                &["largest", "by_thread", "prefix_sums"],
            )
            .finish()
            .expect_code(0);
        assert_all_pass(&finished.records(), 3);
        assert!(finished.stderr.contains(words), "{misbehaviour}: {}", finished.stderr);
    }
}

#[test]
fn progress_comes_before_results_and_a_strange_one_is_harmless() {
    for misbehaviour in ["progress-first", "strange-progress"] {
        let fleet = Fleet::new();
        let runner = misbehaving::runner(misbehaviour);
        let finished = fleet.run(&[&runner], &["largest", "by_thread"]).finish().expect_code(0);
        assert_all_pass(&finished.records(), 2);
        assert!(!finished.stderr.contains("is started again"), "{}", finished.stderr);
    }
}

#[test]
fn filters_that_match_nothing_start_no_agent() {
    let fleet = Fleet::new();
    let finished = fleet.run(&[&fleet.noting()], &["largset"]).finish().expect_code(4);
    assert_eq!(finished.errors(), ["error: no case is selected"]);
    assert!(!fleet.file("pids").exists(), "an agent was started");
}

#[test]
fn an_agent_refuses_another_archive_than_that_of_the_run() {
    let fleet = Fleet::new();
    let runner = misbehaving::runner("damaged-archive");
    let finished = fleet.run(&[&runner], &["largest"]).finish().expect_code(96);
    let errors = finished.errors();
    assert!(
        errors[0].contains("the archive that came has") && errors[0].contains("and the digest"),
        "{errors:?}"
    );
    let kept = std::fs::read_dir(fleet.file("cache/gpubench/archives")).expect("a folder");
    let names = kept.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"));
    assert_eq!(names.filter(|name| name.ends_with(".tar.gz")).count(), 0);
}

#[test]
fn a_second_record_of_a_case_is_kept_and_does_not_count() {
    let fleet = Fleet::new();
    let runner = misbehaving::runner("twice");
    let finished = fleet.run(&[&runner], &["largest", "by_thread"]).finish().expect_code(0);
    assert_all_pass(&finished.records(), 2);
    let late = finished
        .stderr
        .lines()
        .find(|line| line.contains("so it does not count"));
    let path = late.and_then(|line| line.split('`').nth_back(1)).expect("a path");
    assert!(!std::fs::read_to_string(path).expect("late records").is_empty());
    std::fs::remove_file(path).expect("it is removed");
}

#[test]
fn ten_thousand_cases_from_agents_that_replay_need_little_memory() {
    let fleet = Fleet::new();
    let runner = misbehaving::runner("replay");
    let options = ["prefix_sums", "--axis", "n=1:10000:1", "--agents", "3"];
    let export = fleet.file("run.jsonl");
    let run = fleet.run(&[&runner], &options).args(["--export-json", export.as_str()]);
    let running = run.start();
    let head = running
        .processes()
        .into_iter()
        .find(|process| process.role == Role::Broker)
        .expect("the head");
    let mut most = 0;
    let status = format!("/proc/{}/status", head.pid.as_raw_nonzero());
    wait_until("the end of the head", Duration::from_secs(250), || {
        let status = std::fs::read_to_string(&status).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
        most = kibibytes.unwrap_or(most);
        kibibytes.is_none().then_some(())
    });
    let finished = running.finish().expect_code(0);
    assert_all_pass(&finished.records(), 10_000);
    assert!(most > 0 && most < 200 << 10, "the head had {most} KiB");
}

/// An agent that misbehaves. The tests above start it in a process of its own.
#[test]
#[ignore = "it is a program for the other tests"]
fn agent_that_misbehaves() {
    misbehaving::agent();
}
