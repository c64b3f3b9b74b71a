//! Processes that roles leave behind.
//!
//! Every role leads a session and its process group, which is killed with it. Roles that run code
//! of others cannot leave it, where the sandbox is closed. Where it is not, a process that left
//! becomes a child of the broker when its parent dies, if the broker has asked for that, and is
//! found among its children.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, kill_process, kill_process_group, set_child_subreaper,
    waitid, waitpid,
};

use gpubench_diagnostic::print_warning;

/// The roles that live: every other child of the broker is a stray.
static ROLES: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Whether orphans come here. Until then other children may be somebody else's business.
static ADOPTING: AtomicBool = AtomicBool::new(false);

/// How long strays are hunted: killing one may bring its children up, and one that starts others
/// all the time may stay ahead.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long is waited between two looks.
const BREATH: Duration = Duration::from_micros(200);

/// From now on, orphans among the broker's descendants become its children. To be called when
/// nothing of the broker's own (a build, say) leaves processes behind on purpose any more. A
/// compiler of kernels is such a one too, but runs among the roles, whose strays are to be found:
/// the server of a cache that it starts ends with the next role, and is started again.
pub fn adopt_orphans() {
    // Where the kernel refuses, what leaves its group is not found; nothing else changes.
    let adopting = set_child_subreaper(Some(getpid())).is_ok();
    ADOPTING.store(adopting, Ordering::Relaxed);
}

/// A role that lives.
#[derive(Debug)]
pub(super) struct Registered(i32);

impl Registered {
    pub(super) fn new(process: u32) -> Registered {
        let process = process as i32;
        ROLES.lock().unwrap_or_else(PoisonError::into_inner).insert(process);
        Registered(process)
    }

    /// Whether the role has ended; it keeps its number until it is reaped.
    pub(super) fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let process = Pid::from_raw(self.0);
        // One that cannot be asked about is not there any more.
        process.is_none_or(|process| !matches!(waitid(WaitId::Pid(process), options), Ok(None)))
    }

    /// Kills the role's process group. To be called before the role is reaped, while its number is
    /// its own.
    pub(super) fn kill_group(&self) {
        if let Some(group) = Pid::from_raw(self.0) {
            // There may be nobody left in it.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        ROLES.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// Kills and reaps the broker's children that are no roles, and theirs.
pub(super) fn end_strays() {
    if !ADOPTING.load(Ordering::Relaxed) {
        return;
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        let roles = ROLES.lock().unwrap_or_else(PoisonError::into_inner).clone();
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
        std::thread::sleep(BREATH);
    }
}

/// The processes whose parent is this one.
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
        .collect()
}

fn parent_of(process: i32) -> Option<i32> {
    let stat = fs_err::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name in parentheses may hold anything, also parentheses.
    let (_, behind_name) = stat.rsplit_once(')')?;
    behind_name.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
    use std::process::{Command, Stdio};

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

    /// Where orphans are adopted every other child of the process is killed, so it is done in a
    /// process of its own.
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
    #[ignore = "run by the test above, in a process of its own"]
    fn kills_strays_of_strays() {
        adopt_orphans();
        // Each leaves its group. The first is orphaned at once, the others when those above them
        // end.
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
        assert!(children().iter().any(|process| !of_role(process)), "there are strays");
        end_strays();
        let left = children();
        assert!(left.iter().all(of_role), "{left:?} are left");
        assert!(parent_of(last).is_none(), "the last of them lives");
        assert!(!registered.has_ended(), "a role is no stray");
        role.kill().unwrap();
        role.wait().unwrap();
    }

    /// A line that is a number.
    fn number(output: &mut std::io::PipeReader) -> i32 {
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).unwrap();
        line.trim().parse().unwrap()
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
        // Its new parent may take a moment to reap it.
        let lives = || fs_err::read_to_string(format!("/proc/{started}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
        let ended = (0..5_000).any(|_| {
            std::thread::sleep(Duration::from_millis(1));
            !lives()
        });
        assert!(ended, "what it started lives");
    }
}
