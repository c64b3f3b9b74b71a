//! A Slurm of three nodes on this machine.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::leftovers::{Role, processes_with};
use crate::{repository, wait_until, write_script};

/// How long a cluster may take to start, or to give a node back. A busy machine needs seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// A Slurm with munge and three nodes, each with one processor. All its processes run on this
/// machine, as the user of the test. They end when it is dropped.
pub struct Slurm {
    folder: tempfile::TempDir,
    packages: PathBuf,
    nodes: Vec<(String, Option<Child>)>,
    others: Vec<Child>,
}

impl Slurm {
    /// Starts a cluster and waits until its nodes take jobs.
    ///
    /// # Panics
    /// If this machine lacks the packages of `.ci/slurm`, or the cluster does not start.
    pub fn start() -> Slurm {
        let packages = packages();
        let folder = tempfile::tempdir().expect("a folder");
        // munged refuses a socket in a folder that others cannot enter.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o711)).expect("permissions");
        let mut slurm = Slurm {
            folder,
            packages,
            nodes: ["n1", "n2", "n3"].map(|name| (name.to_owned(), None)).into(),
            others: Vec::new(),
        };
        slurm.configure();
        let munged = slurm
            .daemon("munged", "munged")
            .args([
                "--foreground".to_owned(),
                "--force".to_owned(),
                format!("--socket={}", slurm.path("munge/socket").display()),
                format!("--key-file={}", slurm.path("munge.key").display()),
                format!("--pid-file={}", slurm.path("munge/pid").display()),
                format!("--seed-file={}", slurm.path("munge/seed").display()),
                format!("--log-file={}", slurm.path("log/munged.log").display()),
            ])
            .spawn();
        slurm.others.push(munged.expect("munged starts"));
        wait_until("munged has a socket", PATIENCE, || {
            slurm.path("munge/socket").exists().then_some(())
        });
        slurm.start_controller();
        for node in 0..slurm.nodes.len() {
            slurm.start_node(node);
        }
        for command in ["sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun"] {
            write_script(&slurm.commands().join(command), &slurm.script(command));
        }
        slurm.await_idle_nodes();
        slurm
    }

    /// Returns the folder of commands for this cluster, whatever their environment.
    pub fn commands(&self) -> PathBuf {
        self.path("commands")
    }

    /// Starts the controller, which was killed or not yet started.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_controller(&mut self) {
        let mut controller = self.daemon("slurmctld-wlm", "controller");
        let started = controller.arg("-D").arg("-f").arg(self.path("slurm.conf")).spawn();
        self.others.push(started.expect("the controller starts"));
    }

    /// Starts a node, which was killed or not yet started.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_node(&mut self, node: usize) {
        let name = self.nodes[node].0.clone();
        let mut daemon = self.daemon("slurmd-wlm", &name);
        daemon.args(["-D", "-N", &name, "-f"]).arg(self.path("slurm.conf"));
        daemon.arg("-d").arg(self.packages.join("usr/sbin/slurmstepd-wlm"));
        self.nodes[node].1 = Some(daemon.spawn().expect("the node starts"));
    }

    /// Kills the daemon of a node. What it has started goes on.
    ///
    /// # Panics
    /// If the node does not run.
    pub fn kill_node(&mut self, node: usize) {
        let mut daemon = self.nodes[node].1.take().expect("the node runs");
        daemon.kill().expect("the node can be killed");
        daemon.wait().expect("the node has ended");
    }

    /// Kills everything that jobs have started on a node, as a power failure does.
    pub fn kill_steps(&self, node: &str) {
        let tasks = processes_with(&format!("SLURMD_NODENAME={node}"));
        let steps = processes_with(&self.mark()).into_iter();
        let steps = steps.filter(|process| process.command.starts_with("slurmstepd"));
        let of_node = steps.filter(|step| tasks.iter().any(|task| is_parent(step.pid, task.pid)));
        for process in of_node.chain(tasks.iter().cloned()) {
            let _ended_meanwhile = kill_process(process.pid, Signal::KILL);
        }
    }

    /// Kills an agent that runs on a node, and returns whether there was one. What it has started
    /// must end by itself.
    pub fn kill_agent(&self, node: &str) -> bool {
        let tasks = processes_with(&format!("SLURMD_NODENAME={node}"));
        let agent = tasks.iter().find(|process| process.role == Role::Broker);
        agent.is_some_and(|agent| kill_process(agent.pid, Signal::KILL).is_ok())
    }

    /// Sends a signal to everything that jobs have started on a node.
    pub fn signal_tasks(&self, node: &str, signal: Signal) {
        for process in processes_with(&format!("SLURMD_NODENAME={node}")) {
            let _ended_meanwhile = kill_process(process.pid, signal);
        }
    }

    /// Waits until all nodes take jobs.
    ///
    /// # Panics
    /// If they do not.
    pub fn await_idle_nodes(&self) {
        let began = Instant::now();
        while self.idle_nodes() < self.nodes.len() {
            assert!(began.elapsed() < PATIENCE, "the nodes take no jobs:\n{}", self.logs());
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Whether the controller has noticed that a node does not answer. It has ended its jobs then.
    pub fn is_down(&self, node: usize) -> bool {
        self.states().get(node).is_some_and(|state| state.starts_with("down"))
    }

    /// Returns how many nodes have nothing to do.
    fn idle_nodes(&self) -> usize {
        self.states().iter().filter(|state| *state == "idle").count()
    }

    /// Returns the states of the nodes, in their order, or nothing if the controller does not
    /// answer.
    fn states(&self) -> Vec<String> {
        let listed = self.client("sinfo").args(["--noheader", "-N", "-o", "%t"]).output();
        let listed = listed.expect("sinfo starts");
        let states = String::from_utf8_lossy(&listed.stdout).into_owned();
        states.lines().map(|state| state.trim().to_owned()).collect()
    }

    /// Returns how many jobs wait or run.
    ///
    /// # Panics
    /// If the controller does not answer.
    pub fn jobs(&self) -> usize {
        let listed = self.client("squeue").args(["--noheader", "-o", "%i"]).output();
        let listed = listed.expect("squeue starts");
        assert!(listed.status.success(), "{}", String::from_utf8_lossy(&listed.stderr));
        String::from_utf8_lossy(&listed.stdout).lines().count()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The variable that every process of this cluster has.
    fn mark(&self) -> String {
        format!("SLURM_CONF={}", self.path("slurm.conf").display())
    }

    fn libraries(&self) -> String {
        let libraries = self.packages.join("usr/lib/x86_64-linux-gnu");
        let libraries = libraries.display();
        format!("{libraries}:{libraries}/slurm-wlm")
    }

    /// Returns a script that runs a command of the packages.
    fn script(&self, command: &str) -> String {
        let (conf, libraries) = (self.path("slurm.conf"), self.libraries());
        let (conf, packages) = (conf.display(), self.packages.display());
        format!(
            "#!/bin/sh\nexport SLURM_CONF='{conf}' LD_LIBRARY_PATH='{libraries}'\n\
             exec '{packages}/usr/bin/{command}' \"$@\"\n"
        )
    }

    fn client(&self, command: &str) -> Command {
        Command::new(self.commands().join(command))
    }

    /// Returns a command that starts a daemon, with its output in a file.
    fn daemon(&self, program: &str, name: &str) -> Command {
        let log = self.path(&format!("log/{name}.out"));
        let log = fs::File::options().create(true).append(true).open(log).expect("a log");
        let mut command = Command::new(self.packages.join("usr/sbin").join(program));
        self.surround(&mut command);
        let errors = log.try_clone().expect("a second handle of the log");
        command.stdin(Stdio::null()).stdout(log).stderr(errors);
        command
    }

    fn surround(&self, command: &mut Command) {
        command.env("SLURM_CONF", self.path("slurm.conf"));
        command.env("LD_LIBRARY_PATH", self.libraries());
    }

    fn configure(&self) {
        for name in ["commands", "state", "log", "spool.n1", "spool.n2", "spool.n3", "munge"] {
            fs::create_dir(self.path(name)).expect("a folder");
        }
        fs::set_permissions(self.path("munge"), fs::Permissions::from_mode(0o711)).expect("permissions");
        let mut key = vec![0; 1024];
        fill_randomly(&mut key);
        fs::write(self.path("munge.key"), key).expect("a key");
        fs::set_permissions(self.path("munge.key"), fs::Permissions::from_mode(0o600)).expect("permissions");
        fs::write(self.path("slurm.conf"), self.settings()).expect("settings");
    }

    fn settings(&self) -> String {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").expect("the host has a name");
        let host = host.trim().split('.').next().unwrap_or_default();
        let user = user();
        let [controller, nodes @ ..] = free_ports();
        let folder = self.folder.path().display();
        let plugins = self.packages.join("usr/lib/x86_64-linux-gnu/slurm-wlm");
        let plugins = plugins.display();
        let mut settings = format!(
            "ClusterName=tests\nSlurmctldHost={host}(127.0.0.1)\nSlurmctldPort={controller}\n\
             SlurmUser={user}\nSlurmdUser={user}\n\
             AuthType=auth/munge\nAuthInfo=socket={folder}/munge/socket\n\
             PluginDir={plugins}\nMailProg=/bin/true\nMpiDefault=none\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nSchedulerType=sched/builtin\n\
             AccountingStorageType=accounting_storage/none\nJobAcctGatherType=jobacct_gather/none\n\
             ReturnToService=2\nSlurmdParameters=config_overrides\nSlurmdTimeout=10\nKillWait=5\n\
             SlurmctldPidFile={folder}/controller.pid\nSlurmdPidFile={folder}/%n.pid\n\
             SlurmdSpoolDir={folder}/spool.%n\nStateSaveLocation={folder}/state\n\
             SlurmctldLogFile={folder}/log/controller.log\nSlurmdLogFile={folder}/log/%n.log\n"
        );
        let nodes = self.nodes.iter().zip(nodes).map(|((name, _), port)| {
            format!("NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=500\n")
        });
        settings.extend(nodes);
        settings + "PartitionName=all Nodes=n[1-3] Default=YES MaxTime=60 State=UP\n"
    }

    /// Returns the last lines of all logs.
    fn logs(&self) -> String {
        let files = fs::read_dir(self.path("log")).expect("a folder").flatten();
        let last = files.map(|file| {
            let text = fs::read(file.path()).unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            let lines: Vec<&str> = text.lines().collect();
            let last = lines[lines.len().saturating_sub(10)..].join("\n");
            format!("{}:\n{last}\n", file.file_name().display())
        });
        last.collect()
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        // The daemons first: they would start more, and end jobs in their own order.
        let daemons = self.nodes.iter_mut().filter_map(|(_, daemon)| daemon.as_mut());
        for daemon in daemons.chain(&mut self.others) {
            let _ended = daemon.kill();
            let _reaped = daemon.wait();
        }
        for process in processes_with(&self.mark()) {
            let _ended = kill_process(process.pid, Signal::KILL);
        }
    }
}

/// Returns the folder of the unpacked packages.
///
/// # Panics
/// If they cannot be had.
fn packages() -> PathBuf {
    let unpacked = Command::new(repository().join(".ci/slurm")).output();
    let unpacked = unpacked.expect("`.ci/slurm` starts");
    assert!(
        unpacked.status.success(),
        "this test needs the packages of `.ci/slurm`, which this machine lacks\n{}",
        String::from_utf8_lossy(&unpacked.stderr)
    );
    String::from_utf8_lossy(&unpacked.stdout).trim().into()
}

fn is_parent(parent: Pid, child: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/status", child.as_raw_nonzero()));
    let line = format!("PPid:\t{}", parent.as_raw_nonzero());
    status.is_ok_and(|status| status.lines().any(|known| known == line))
}

fn user() -> String {
    let named = Command::new("id").arg("-un").output().expect("`id` starts");
    String::from_utf8_lossy(&named.stdout).trim().to_owned()
}

/// Returns ports that nobody listened on a moment ago.
fn free_ports() -> [u16; 4] {
    let listeners = [(); 4].map(|()| TcpListener::bind("127.0.0.1:0").expect("a free port"));
    listeners.map(|listener| listener.local_addr().expect("an address").port())
}

fn fill_randomly(bytes: &mut [u8]) {
    use std::io::Read;
    let mut source = fs::File::open("/dev/urandom").expect("random numbers");
    source.read_exact(bytes).expect("random numbers");
}
