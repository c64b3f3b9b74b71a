//! Agents that a real Slurm starts: three nodes on this machine (`.ci/slurm`).
#![forbid(unsafe_code)]

use std::process::Command;

use gpubench_tests::Slurm;

#[test]
fn a_cluster_runs_jobs_and_leaves_nothing() {
    let mut slurm = Slurm::start();
    let job = Command::new(slurm.srun())
        .args(["-n1", "sh", "-c", "cat; echo $SLURMD_NODENAME"])
        .output()
        .expect("srun starts");
    assert_eq!(String::from_utf8_lossy(&job.stdout).trim(), "n1", "{job:?}");
    slurm.kill_node(0);
    slurm.start_node(0);
    slurm.await_idle_nodes();
    assert_eq!(slurm.jobs(), 0);
}
