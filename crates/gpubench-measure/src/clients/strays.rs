//! Processes that roles leave running.
//!
//! Every role leads a session and a process group, which is killed with it. User code cannot leave
//! the group if its sandbox is closed. If the sandbox is open, a process can leave. When its parent
//! dies, it becomes a child of the broker, which has asked the kernel for that and then finds it.
//!
//! The broker adopts nobody else's processes: it begins without children that it has not started
//! ([`continue_without_foreign_children`](gpubench_sandbox::continue_without_foreign_children)).

use std::collections::BTreeSet;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, kill_process_group, set_child_subreaper,
    waitid, waitpid,
};

use gpubench_diagnostic::print_warning;

/// The running roles. Every other child of the broker is a stray.
static ROLES: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Whether the broker adopts orphans. Before that, other children may have another purpose.
static ADOPTING: AtomicBool = AtomicBool::new(false);

/// Time limit for killing strays. Each kill may orphan more children, and a stray may start new
/// ones faster than they are killed.
const PATIENCE: Duration = Duration::from_secs(5);

/// Pause between two searches.
const BREATH: Duration = Duration::from_micros(200);

/// Makes orphaned descendants children of the broker from now on. Every child must descend from a
/// process that the broker has started. Call it when the broker's own
/// work, such as a build, no longer starts processes that are meant to stay. A kernel compiler may
/// start such a process too, for example a cache server. It ends with the next role and starts
/// again when needed.
pub fn adopt_orphans() {
    // If the kernel refuses, processes that leave their group are not found. Nothing else changes.
    let adopting = set_child_subreaper(Some(getpid())).is_ok();
    ADOPTING.store(adopting, Ordering::Relaxed);
}

/// A running role, by its process id; 0 after it has been reaped.
#[derive(Debug)]
pub(crate) struct Registered(i32);

impl Registered {
    pub(crate) fn new(process: u32) -> Registered {
        let process = process as i32;
        roles().insert(process);
        Registered(process)
    }

    /// Starts a role. Other threads that look for strays at this time do not see it.
    pub(super) fn start(command: &mut Command) -> io::Result<(Child, Registered)> {
        Registered::start_by(|| command.spawn())
    }

    /// Starts a role as told.
    pub(crate) fn start_by(start: impl FnOnce() -> io::Result<Child>) -> io::Result<(Child, Registered)> {
        let mut roles = roles();
        let process = start()?;
        let id = process.id() as i32;
        roles.insert(id);
        Ok((process, Registered(id)))
    }

    /// Waits for the end of the role and reaps it. Then another role can have its id.
    pub(crate) fn reap(&mut self, process: &mut Child) -> io::Result<ExitStatus> {
        if let Some(own) = Pid::from_raw(self.0) {
            // Only the end is waited for here: other threads may need the list meanwhile.
            let _ = waitid(WaitId::Pid(own), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        }
        let mut roles = roles();
        roles.remove(&std::mem::take(&mut self.0));
        process.wait()
    }

    /// Whether the role has ended. It keeps its id until it is reaped.
    pub(crate) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let process = Pid::from_raw(self.0);
        // A process whose state is unknown no longer exists.
        process.is_none_or(|process| !matches!(waitid(WaitId::Pid(process), options), Ok(None)))
    }

    /// Kills the role's process group. Call it before the role is reaped, while the id is still
    /// valid.
    pub(crate) fn kill_group(&self) {
        if let Some(group) = Pid::from_raw(self.0) {
            // The group may be empty.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        roles().remove(&self.0);
    }
}

fn roles() -> MutexGuard<'static, BTreeSet<i32>> {
    ROLES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills and reaps children of the broker that are not roles, with their descendants.
pub(crate) fn end_strays() {
    if !ADOPTING.load(Ordering::Relaxed) {
        return;
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        // No role starts or ends during the search.
        let roles = roles();
        let mut strays = children();
        strays.retain(|child| !roles.contains(&child.as_raw_nonzero().get()));
        let [first, ..] = &strays[..] else { return };
        if Instant::now() > deadline {
            let first = first.as_raw_nonzero();
            return print_warning(&format_args!(
                "cannot end processes that the code under test started, among them process `{first}`"
            ));
        }
        for stray in strays {
            let _ = kill_process(stray, Signal::KILL);
            let _ = waitpid(Some(stray), WaitOptions::NOHANG);
        }
        drop(roles);
        std::thread::sleep(BREATH);
    }
}

/// Returns the children of this process.
fn children() -> Vec<Pid> {
    let Ok(entries) = fs_err::read_dir("/proc") else {
        return Vec::new();
    };
    let own = getpid().as_raw_nonzero().get();
    let processes = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    processes
        .filter(|process| parent_of(*process) == Some(own))
        .filter_map(Pid::from_raw)
        .filter(|process| is_child(*process))
        .collect()
}

/// Asks the system itself: `/proc` can be that of another namespace, with other numbers.
fn is_child(process: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(process), options).is_ok()
}

fn parent_of(process: i32) -> Option<i32> {
    let stat = fs_err::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may itself contain parentheses.
    let (_, behind_name) = stat.rsplit_once(')')?;
    behind_name.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
    use std::process::Stdio;

    use super::*;

    #[test]
    fn the_parent_is_read_after_the_name() {
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(parent_of(child.id() as i32), Some(std::process::id() as i32));
        assert!(
            children()
                .iter()
                .any(|process| process.as_raw_nonzero().get() == child.id() as i32)
        );
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_process_of_another_parent_is_no_child_whatever_proc_says() {
        let parent = rustix::process::getppid().expect("a parent");
        assert!(!is_child(parent) && !is_child(getpid()));
    }

    /// With adoption, every other child of the process is killed, so the test runs in a separate
    /// process.
    #[test]
    fn processes_that_left_their_group_are_killed_with_their_descendants() {
        let alone = "clients::strays::tests::kills_strays_of_strays";
        let finished = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", alone, "--ignored", "--test-threads", "1"])
            .output()
            .unwrap();
        let output = String::from_utf8_lossy(&finished.stdout);
        assert!(finished.status.success() && output.contains("1 passed"), "{output}");
    }

    #[test]
    #[ignore = "run by the test above in a separate process"]
    fn kills_strays_of_strays() {
        adopt_orphans();
        // Each process leaves its group. The first is orphaned at once, the others when their
        // parents end.
        let tree = "setsid sh -c 'setsid sh -c \"setsid sleep 30 & echo \\$!; wait\" & wait' & read there";
        let mut role = Command::new("sleep").arg("30").spawn().unwrap();
        let registered = Registered::new(role.id());
        let (mut output, theirs) = std::io::pipe().unwrap();
        let mut parent = Command::new("sh");
        parent
            .args(["-c", tree])
            .stdin(Stdio::null())
            .stdout(theirs)
            .stderr(Stdio::null());
        parent.status().unwrap();
        drop(parent);
        let last = number(&mut output);
        let of_role = |process: &Pid| process.as_raw_nonzero().get() == role.id() as i32;
        assert!(
            children().iter().any(|process| !of_role(process)),
            "there are no strays"
        );
        end_strays();
        let left = children();
        assert!(left.iter().all(of_role), "{left:?} are left");
        assert!(parent_of(last).is_none(), "the last stray still runs");
        assert!(!registered.has_ended(), "a role was killed");
        role.kill().unwrap();
        role.wait().unwrap();
    }

    /// Reads a line with a number.
    fn number(output: &mut std::io::PipeReader) -> i32 {
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).unwrap();
        line.trim().parse().unwrap()
    }

    #[test]
    fn a_role_that_has_been_reaped_has_no_place_in_the_list() {
        let (mut process, mut registered) = Registered::start(&mut Command::new("true")).unwrap();
        let id = process.id() as i32;
        assert!(roles().contains(&id));
        assert!(registered.reap(&mut process).unwrap().success());
        assert!(!roles().contains(&id) && registered.has_ended());
        // Another role may have the id by now.
        roles().insert(id);
        drop(registered);
        assert!(roles().remove(&id), "it is the other role's");
    }

    #[test]
    fn the_group_of_a_role_is_killed_with_it() {
        let (mut output, theirs) = std::io::pipe().unwrap();
        let mut role = Command::new("sh")
            .args(["-c", "sleep 10 & echo $!; wait"])
            .process_group(0)
            .stdout(theirs)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let started = number(&mut output);
        let registered = Registered::new(role.id());
        assert!(!registered.has_ended());
        registered.kill_group();
        assert_eq!(role.wait().unwrap().signal(), Some(9));
        // Its new parent may need a moment to reap it.
        let lives = || fs_err::read_to_string(format!("/proc/{started}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
        let ended = (0..5_000).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            !lives()
        });
        assert!(ended, "its child still runs");
    }
}
