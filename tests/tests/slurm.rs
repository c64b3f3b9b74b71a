//! Runs on a real Slurm of three nodes on this machine (`.ci/slurm`).
#![forbid(unsafe_code)]

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use gpubench_tests::{Fixture, Run, Slurm, repository, tool, wait_until};

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
