//! The first steps of every process except the broker.

use std::os::fd::OwnedFd;

use rustix::process::{DumpableBehavior, Signal};

use crate::limits;
use crate::printing::write_output_at_once;

/// Why the set-up of a process failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up the process: {what}")]
pub struct RoleError {
    what: &'static str,
    #[source]
    source: std::io::Error,
}

impl RoleError {
    fn during<E: Into<std::io::Error>>(what: &'static str) -> impl FnOnce(E) -> RoleError {
        move |source| RoleError {
            what,
            source: source.into(),
        }
    }
}

/// The code that a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Only the tool's code.
    OwnCode,
    /// Also code or sources of the user.
    CodeOfOthers,
}

/// Gives up what no role needs. The process dies with the broker, gains no privileges, hides its
/// memory, leaves no core file, is killed early when memory runs out (until host code undoes that),
/// and writes its output line by line.
///
/// # Errors
/// If the operating system refuses.
pub fn drop_privileges(runs: Runs) -> Result<(), RoleError> {
    limits::end_early_without_memory(runs);
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(RoleError::during("ending with the broker"))?;
    drop_privileges_to_clean_up()?;
    write_output_at_once().map_err(RoleError::during("writing output line by line"))
}

/// Does what [`drop_privileges`] does for a process that outlives the broker, to undo what the
/// broker changed: it gains no privileges, hides its memory and leaves no core file.
///
/// # Errors
/// If the operating system refuses.
pub fn drop_privileges_to_clean_up() -> Result<(), RoleError> {
    rustix::thread::set_no_new_privs(true).map_err(RoleError::during("giving up new privileges"))?;
    // A debugger that started this process reads its memory.
    if !is_traced() {
        hide_from_others().map_err(RoleError::during("hiding its memory from other processes"))?;
    }
    limits::disable_core_files().map_err(RoleError::during("disabling core files"))
}

/// Whether a debugger traces this process. It could change anything here anyway.
pub fn is_traced() -> bool {
    has_tracer(&std::fs::read_to_string("/proc/self/status").unwrap_or_default())
}

fn has_tracer(status: &str) -> bool {
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_some_and(|id| id.trim() != "0")
}

/// Reserves standard output for answers to the broker. Output of libraries goes to standard error
/// from now on.
///
/// # Errors
/// If the operating system refuses.
pub fn take_standard_output() -> std::io::Result<std::fs::File> {
    let answers = rustix::io::fcntl_dupfd_cloexec(std::io::stdout(), 3)?;
    rustix::stdio::dup2_stdout(std::io::stderr())?;
    Ok(answers.into())
}

/// Hides this process's memory and descriptors from other processes of the same user, which could
/// open them through `/proc`. Root still can.
///
/// # Errors
/// If the operating system refuses.
pub fn hide_from_others() -> rustix::io::Result<()> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// Moves the connection to the broker out of standard input, where user code could read it.
///
/// # Errors
/// If standard input is not a socket, or the operating system refuses.
pub fn take_standard_input() -> Result<OwnedFd, RoleError> {
    let stdin = std::io::stdin();
    rustix::net::sockopt::socket_type(&stdin)
        .map_err(RoleError::during("standard input is not the broker's socket"))?;
    let socket = rustix::io::fcntl_dupfd_cloexec(&stdin, 3).map_err(RoleError::during("taking the broker's socket"))?;
    let nothing = fs_err::File::open("/dev/null").map_err(RoleError::during("opening /dev/null"))?;
    rustix::stdio::dup2_stdin(&nothing).map_err(RoleError::during("replacing standard input"))?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::Command;

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use super::*;

    /// Runs an ignored test in a separate process.
    fn assert_passes_alone(test: &str, input: impl Into<std::process::Stdio>) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--ignored", "--test-threads", "1"]);
        let finished = command.stdin(input).output().unwrap();
        let output = String::from_utf8_lossy(&finished.stdout);
        assert!(finished.status.success() && output.contains("1 passed"), "{output}");
    }

    /// The change is permanent, so it runs in a separate process.
    #[test]
    fn every_process_gives_up_privileges_readable_memory_and_core_files() {
        assert_passes_alone("process::tests::gives_up", std::process::Stdio::inherit());
    }

    /// User code must not find the broker's first message in standard input.
    #[test]
    fn the_broker_socket_is_moved_out_of_standard_input() {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        (&ours).write_all(b"for the role alone").unwrap();
        ours.shutdown(std::net::Shutdown::Write).unwrap();
        assert_passes_alone("process::tests::takes_input", OwnedFd::from(theirs));
    }

    #[test]
    #[ignore = "run by the test above in a separate process"]
    fn takes_input() {
        let socket = take_standard_input().unwrap();
        let (mut left, mut taken) = (String::new(), String::new());
        std::io::stdin().read_to_string(&mut left).unwrap();
        std::os::unix::net::UnixStream::from(socket)
            .read_to_string(&mut taken)
            .unwrap();
        assert_eq!((&*left, &*taken), ("", "for the role alone"));
        assert!(take_standard_input().is_err(), "it is no longer a socket");
    }

    #[test]
    #[ignore = "run by the test above in a separate process"]
    fn gives_up() {
        let Rlimit { maximum, .. } = getrlimit(Resource::Core);
        // The maximum, so that the new limit shows.
        let as_many = Rlimit {
            current: maximum,
            maximum,
        };
        setrlimit(Resource::Core, as_many).unwrap();
        let score = || fs_err::read_to_string("/proc/self/oom_score_adj").unwrap();
        limits::end_early_without_memory(Runs::OwnCode);
        assert_eq!(score().trim(), "500");
        drop_privileges(Runs::CodeOfOthers).unwrap();
        let status = fs_err::read_to_string("/proc/thread-self/status").unwrap();
        assert!(status.contains("NoNewPrivs:\t1"), "{status}");
        let none = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        assert_eq!(getrlimit(Resource::Core), none);
        assert_eq!(
            rustix::process::dumpable_behavior().unwrap(),
            DumpableBehavior::NotDumpable
        );
        assert_eq!(
            rustix::process::parent_process_death_signal().unwrap(),
            Some(Signal::KILL)
        );
        assert_eq!(score().trim(), "1000");
    }

    #[test]
    fn a_process_is_traced_if_its_status_names_another() {
        assert!(has_tracer("Name:\tx\nTracerPid:\t17\nUid:\t0\n"));
        assert!(!has_tracer("Name:\tx\nTracerPid:\t0\nUid:\t0\n"));
        assert!(!has_tracer(""));
    }
}
