//! Runs on a real Slurm of three nodes on this machine (`.ci/slurm`).
#![forbid(unsafe_code)]

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{Fixture, Records, Role, Run, RunFolder, Slurm, repository, tool, wait_until};
use rustix::process::{Pid, Signal};
use serde_json::Value;

/// How ReFrame reaches the cluster. The scheduler is Slurm without accounting.
const SITE: &str = "site_configuration = {
    'systems': [{'name': 'cluster', 'hostnames': ['.*'], 'partitions': [
        {'name': 'all', 'scheduler': 'squeue', 'launcher': 'srun', 'environs': ['builtin']},
    ]}],
    'environments': [{'name': 'builtin'}],
}
";

/// Returns the path of ReFrame's program.
fn reframe() -> PathBuf {
    let installed = Command::new(repository().join(".ci/reframe")).output();
    let installed = installed.expect("`.ci/reframe` starts");
    assert!(
        installed.status.success(),
        "this test needs the packages of `.ci/reframe`, which this machine lacks\n{}",
        String::from_utf8_lossy(&installed.stderr)
    );
    String::from_utf8_lossy(&installed.stdout).trim().into()
}

/// Archives the crate `tidy` to a folder, and returns the file.
fn archive_of_tidy(folder: &Path) -> Utf8PathBuf {
    let folder = Utf8Path::from_path(folder).expect("a UTF-8 path");
    let archive = folder.join("tidy.tar.gz");
    let _archived = Run::archiving(&Fixture::new("tidy"), &archive).finish().expect_code(0);
    archive
}

/// A cluster, and a folder for the archive and what runs write.
struct Cluster {
    slurm: Slurm,
    folder: RunFolder,
    archive: Utf8PathBuf,
}

impl Cluster {
    fn with_archive_of(fixture: &str) -> Cluster {
        let folder = RunFolder::new();
        let archive = folder.path("archive.tar.gz");
        let _archived = Run::archiving(&Fixture::new(fixture), &archive).finish().expect_code(0);
        Cluster {
            slurm: Slurm::start(),
            folder,
            archive,
        }
    }

    /// Returns a run of the archive's cases by agents that these options of `srun` start, with
    /// records on standard output. Any `cargo-gpubench` of a node is that of the test.
    fn run(&self, of_srun: &[&str]) -> Run {
        let here = Utf8PathBuf::from(self.archive.parent().expect("a folder"));
        let programs = Utf8Path::new("/usr/local/bin:/usr/bin:/bin");
        let runners = of_srun
            .iter()
            .map(|options| format!("{} {options}", self.slurm.commands().join("srun").display()));
        let runners: Vec<String> = runners.flat_map(|runner| ["--runner".to_owned(), runner]).collect();
        Run::from_archive(&self.archive, &here, programs)
            .briefly()
            .json()
            .args(["--device", "cpu", "--no-wait"])
            .args(runners.iter().map(String::as_str))
            .env("XDG_CACHE_HOME", self.folder.path("cache").as_str())
    }
}

/// Asserts that each case of the run has one record that passes, and returns how often a case was
/// measured again.
#[track_caller]
fn assert_counted_once(records: &Records) -> usize {
    let results: Vec<&Value> = records.results().collect();
    assert_eq!(records.the("run-started")["cases"], results.len());
    assert_eq!(records.the("run-finished")["end"], "completed");
    let cases: BTreeSet<String> = results
        .iter()
        .map(|result| format!("{} {}", result["case"], result["mode"]))
        .collect();
    assert_eq!(cases.len(), results.len(), "one record a case");
    for result in &results {
        assert_eq!(result["verdict"], "pass", "{result:#}");
    }
    let notices = results
        .iter()
        .flat_map(|result| result["notices"].as_array().into_iter().flatten());
    notices
        .filter(|notice| notice.as_str().is_some_and(|notice| notice.contains("measured again")))
        .count()
}

#[test]
fn agents_on_all_nodes_measure_each_case_once() {
    let cluster = Cluster::with_archive_of("tidy");
    let run = cluster
        .run(&["-n1"])
        .args(["--agents", "3", "sums", "arguments"])
        .finish()
        .expect_code(0);
    assert_eq!(assert_counted_once(&run.records()), 0);
    cluster.slurm.await_idle_nodes();
    assert_eq!(cluster.slurm.jobs(), 0);
}

#[test]
fn a_node_that_loses_its_power_loses_no_case() {
    let mut cluster = Cluster::with_archive_of("tidy");
    let mut run = cluster
        .run(&["-n1 -w n1", "-n1 -w n2", "-n1 -w n3"])
        .args(["sums", "arguments"])
        .start();
    run.wait_for_record("a result", |record| record["reason"] == "benchmark-complete");
    cluster.slurm.kill_node(0);
    cluster.slurm.kill_steps("n1");
    std::thread::sleep(Duration::from_secs(1));
    cluster.slurm.start_node(0);
    assert_counted_once(&run.finish().expect_code(0).records());
    cluster.slurm.await_idle_nodes();
    assert_eq!(cluster.slurm.jobs(), 0);
}

#[test]
fn a_node_whose_disk_is_full_leaves_its_cases_to_the_others() {
    let cluster = Cluster::with_archive_of("tidy");
    let full = cluster.folder.path("full");
    std::fs::create_dir(&full).expect("a folder");
    let mounts = format!("mount -t tmpfs -o size=64k tmpfs {full} && XDG_CACHE_HOME={full} exec \\\"\\$@\\\"");
    let on_full = format!("-n1 -w n1 unshare --map-root-user --mount sh -c \"{mounts}\" sh");
    let run = cluster
        .run(&[&on_full, "-n1 -w n2", "-n1 -w n3"])
        .args(["sums", "arguments"]);
    let run = run.finish().expect_code(0);
    assert_counted_once(&run.records());
    assert!(
        run.stderr.contains("agent 1") && run.stderr.contains("No space left on device"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_node_that_is_ten_times_slower_loses_no_case() {
    let cluster = Cluster::with_archive_of("tidy");
    let run = cluster.run(&["-n1 -w n1", "-n1 -w n2", "-n1 -w n3"]);
    let run = run.args(["sums", "arguments"]).start();
    let head = run.wait_for_role(Role::Broker).pid;
    while most_memory(head).is_some() {
        cluster.slurm.signal_tasks("n1", Signal::STOP);
        std::thread::sleep(Duration::from_millis(90));
        cluster.slurm.signal_tasks("n1", Signal::CONT);
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_counted_once(&run.finish().expect_code(0).records());
}

/// How long 200 cases may take while something is killed every ten seconds. A machine of two cores
/// that does much else needs two minutes.
const WITH_KILLS: Duration = Duration::from_secs(600);

#[test]
fn two_hundred_cases_are_counted_once_while_something_is_killed_every_ten_seconds() {
    let mut cluster = Cluster::with_archive_of("tidy");
    let columns = "cols=1:67";
    let run = cluster
        .run(&["-n1"])
        .args(["--agents", "3", "sums", "--axis", "rows=33", "--axis", columns]);
    let began = Instant::now();
    let mut run = run.start();
    let head = run.wait_for_role(Role::Broker).pid;
    let (mut kills, mut memory) = (Kills::default(), 0);
    while let Some(now) = most_memory(head) {
        memory = now;
        assert!(
            began.elapsed() < WITH_KILLS,
            "the run goes on after {WITH_KILLS:?} and {kills:?}"
        );
        kills.start_nodes(&mut cluster.slurm);
        // A fast machine would end too soon for a kill of each kind.
        let is_due = began.elapsed() >= Duration::from_secs(10) * (kills.number + 1);
        if is_due || run.results_so_far() >= 50 * (kills.number as usize + 1) {
            kills.kill(&mut cluster.slurm);
        }
        std::thread::sleep(Duration::from_millis(200));
    }
    let took = began.elapsed();
    let run = run.finish().expect_code(0);
    let records = run.records();
    let again = assert_counted_once(&records);
    let cases = records.results().count();
    println!(
        "{cases} cases, {} kills, {again} cases measured again, {memory} KiB of memory in the head, {:.0} s",
        kills.number,
        took.as_secs_f64()
    );
    assert!(
        cases >= 200 && kills.number >= 3,
        "each kind of kill in {cases} cases, and not {kills:?}"
    );
    assert!(run.stderr.contains("is started again"), "{}", run.stderr);
    assert!(memory > 0 && memory < 200 << 10, "the head had {memory} KiB");
}

/// What was killed during a run.
#[derive(Debug, Default)]
struct Kills {
    number: u32,
    /// Nodes without power.
    off: Vec<usize>,
}

impl Kills {
    /// Kills the daemon of a node, a node with all it does, or an agent: each time another kind, on
    /// another node.
    fn kill(&mut self, slurm: &mut Slurm) {
        let turn = self.number as usize;
        let nodes = (0..3).map(|next| (turn + turn / 3 * 2 + next) % 3);
        let mut nodes = nodes.filter(|node| !self.off.contains(node));
        let name = |node: usize| format!("n{}", node + 1);
        let killed = match turn % 3 {
            0 => nodes.next().inspect(|node| {
                slurm.kill_node(*node);
                slurm.start_node(*node);
            }),
            1 => nodes.next().inspect(|node| {
                slurm.kill_node(*node);
                slurm.kill_steps(&name(*node));
            }),
            _ => nodes.find(|node| slurm.kill_agent(&name(*node))),
        };
        drop(nodes);
        if turn % 3 == 1 {
            self.off.extend(killed);
        }
        self.number += u32::from(killed.is_some());
    }

    /// Starts the nodes again that the controller has missed: a machine needs longer than that to
    /// start.
    fn start_nodes(&mut self, slurm: &mut Slurm) {
        self.off.retain(|node| {
            let is_noticed = slurm.is_down(*node);
            if is_noticed {
                slurm.start_node(*node);
            }
            !is_noticed
        });
    }
}

#[test]
#[ignore = "compares times: `measurements/fleet.sh` runs it"]
fn a_hundred_tiny_cases_in_a_job_and_in_one_process() {
    let cluster = Cluster::with_archive_of("tidy");
    let options = ["one_thread_a_row", "--axis", "rows=33", "--axis", "cols=1:100"];
    let timed = |of_srun: &[&str]| {
        let began = Instant::now();
        let run = cluster.run(of_srun).args(options).finish().expect_code(0);
        assert_eq!(run.records().results().count(), 100);
        began.elapsed().as_secs_f64()
    };
    for _ in 0..3 {
        let (alone, by_srun) = (timed(&[]), timed(&["-n1"]));
        println!(
            "{alone:.1} s in one process, {by_srun:.1} s with srun, {:.3} times",
            by_srun / alone
        );
    }
}

/// Returns the most memory that a process has had, in KiB, if it runs.
fn most_memory(process: Pid) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.as_raw_nonzero())).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[test]
fn an_interrupt_cancels_the_jobs() {
    let cluster = Cluster::with_archive_of("tidy");
    let mut run = cluster.run(&["-n1"]).args(["--agents", "3"]).start();
    run.wait_for_record("a result", |record| record["reason"] == "benchmark-complete");
    run.signal(Signal::INT);
    let ended = run.finish().expect_code(130);
    assert_eq!(ended.records().the("run-finished")["end"], "interrupted");
    cluster.slurm.await_idle_nodes();
    assert_eq!(cluster.slurm.jobs(), 0);
}

#[test]
fn jobs_end_after_a_head_that_was_killed() {
    let cluster = Cluster::with_archive_of("tidy");
    let mut run = cluster.run(&["-n1"]).args(["--agents", "3"]).start();
    run.wait_for_record("a result", |record| record["reason"] == "benchmark-complete");
    run.signal(Signal::KILL);
    let _killed = run.finish();
    cluster.slurm.await_idle_nodes();
    assert_eq!(cluster.slurm.jobs(), 0);
}

#[test]
fn a_killed_daemon_leaves_what_its_node_does() {
    let mut slurm = Slurm::start();
    let folder = tempfile::tempdir().expect("a folder");
    let said = folder.path().join("said");
    let script = format!(
        "echo begun; read line; echo $line $SLURMD_NODENAME > {}",
        said.display()
    );
    let mut job = Command::new(slurm.commands().join("srun"));
    let job = job.args(["-n1", "sh", "-c", &script]).stdin(Stdio::piped());
    let mut job = job.stdout(Stdio::piped()).spawn().expect("srun starts");
    let begun = job.stdout.as_mut().expect("a pipe").read_exact(&mut [0; 6]);
    begun.expect("the job begins");
    slurm.kill_node(0);
    let told = job.stdin.take().expect("a pipe").write_all(b"alive on\n");
    told.expect("the job reads");
    wait_until("the job writes", Duration::from_secs(60), || {
        std::fs::read_to_string(&said).ok().filter(|text| !text.is_empty())
    });
    assert_eq!(std::fs::read_to_string(&said).expect("a text"), "alive on n1\n");
    slurm.start_node(0);
    job.wait().expect("srun ends");
    slurm.await_idle_nodes();
}

#[test]
fn reframe_measures_an_archive_on_a_node() {
    let reframe = reframe();
    let slurm = Slurm::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(file("site.py"), SITE).expect("a file");
    let archive = archive_of_tidy(folder.path());
    let programs = [
        slurm.commands().display().to_string(),
        tool().parent().expect("a folder").to_string(),
    ];
    let path = format!("{}:{}", programs.join(":"), std::env::var("PATH").expect("a path"));
    let mut command = Command::new(reframe);
    command
        .args(["-C", &file("site.py"), "-c"])
        .arg(repository().join("clients/reframe/gpubench.py"));
    command.args(["-r", "--performance-report", "--prefix", &file("out")]);
    command.args([
        "-S",
        &format!("archive={archive}"),
        "-S",
        "options=sums,--max-time,50ms",
    ]);
    let ended = command
        .env("PATH", path)
        .env("HOME", folder.path())
        .output()
        .expect("ReFrame starts");
    let said = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success(), "{said}");
    assert!(said.contains("sums/one_thread_a_row/rows=33,cols=100: "), "{said}");
    assert_eq!(slurm.jobs(), 0);
}
