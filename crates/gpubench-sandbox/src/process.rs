//! What every process but the broker does first.

use std::os::fd::OwnedFd;

use rustix::process::{DumpableBehavior, Signal};

use crate::limits;
use crate::printing::print_by_lines;

/// Why a role could not be entered.
#[derive(Debug, thiserror::Error)]
#[error("cannot enter a role: {what}")]
pub struct RoleError {
    what: &'static str,
    #[source]
    source: std::io::Error,
}

impl RoleError {
    fn of<E: Into<std::io::Error>>(what: &'static str) -> impl FnOnce(E) -> RoleError {
        move |source| RoleError {
            what,
            source: source.into(),
        }
    }
}

/// Whose code a process is there for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// The tool's alone.
    OwnCode,
    /// Code or sources of others too.
    CodeOfOthers,
}

/// Arranges that this process dies with the broker, gains no privileges, shows its memory to
/// nobody, leaves no core file, ends before others where memory runs out (until host code undoes
/// that), and shows what it prints line by line.
///
/// # Errors
/// When the operating system refuses.
pub fn give_up(runs: Runs) -> Result<(), RoleError> {
    limits::be_the_first_to_end(runs);
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(RoleError::of("dying with the broker"))?;
    rustix::thread::set_no_new_privs(true).map_err(RoleError::of("giving up new privileges"))?;
    hide_from_others().map_err(RoleError::of("closing its memory to other processes"))?;
    limits::leave_no_core().map_err(RoleError::of("leaving no core file"))?;
    print_by_lines().map_err(RoleError::of("printing line by line"))
}

/// Reserves standard output for answers to the broker: what a library prints goes to standard error
/// from now on.
///
/// # Errors
/// When the operating system refuses.
pub fn take_standard_output() -> std::io::Result<std::fs::File> {
    let answers = rustix::io::fcntl_dupfd_cloexec(std::io::stdout(), 3)?;
    rustix::stdio::dup2_stdout(std::io::stderr())?;
    Ok(answers.into())
}

/// Closes this process's memory and descriptors to other processes of the same user, which could
/// open them through `/proc`. Root still can.
///
/// # Errors
/// When the operating system refuses.
pub fn hide_from_others() -> rustix::io::Result<()> {
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)
}

/// Takes the connection to the broker from standard input, where a user's code would read it.
///
/// # Errors
/// When standard input is no socket, or the operating system refuses.
pub fn take_standard_input() -> Result<OwnedFd, RoleError> {
    let stdin = std::io::stdin();
    rustix::net::sockopt::socket_type(&stdin).map_err(RoleError::of("standard input is not the broker's socket"))?;
    let socket = rustix::io::fcntl_dupfd_cloexec(&stdin, 3).map_err(RoleError::of("taking the broker's socket"))?;
    let nothing = fs_err::File::open("/dev/null").map_err(RoleError::of("opening /dev/null"))?;
    rustix::stdio::dup2_stdin(&nothing).map_err(RoleError::of("emptying standard input"))?;
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::Command;

    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    use super::*;

    /// Runs an ignored test in a process of its own.
    fn assert_passes_alone(test: &str, input: impl Into<std::process::Stdio>) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", test, "--ignored", "--test-threads", "1"]);
        let output = command.stdin(input).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }

    /// There is no way back, so it is done in a process of its own.
    #[test]
    fn every_process_gives_up_privileges_its_memory_s_openness_and_core_files() {
        assert_passes_alone("process::tests::gives_up", std::process::Stdio::inherit());
    }

    /// What the broker says first, code of the user must not find in standard input.
    #[test]
    fn the_broker_s_socket_is_taken_out_of_standard_input() {
        let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        (&ours).write_all(b"for the role alone").unwrap();
        ours.shutdown(std::net::Shutdown::Write).unwrap();
        assert_passes_alone("process::tests::takes_input", OwnedFd::from(theirs));
    }

    #[test]
    #[ignore = "run by the test above, in a process of its own"]
    fn takes_input() {
        let socket = take_standard_input().unwrap();
        let (mut left, mut taken) = (String::new(), String::new());
        std::io::stdin().read_to_string(&mut left).unwrap();
        std::os::unix::net::UnixStream::from(socket)
            .read_to_string(&mut taken)
            .unwrap();
        assert_eq!((&*left, &*taken), ("", "for the role alone"));
        assert!(take_standard_input().is_err(), "it is no socket any more");
    }

    #[test]
    #[ignore = "run by the test above, in a process of its own"]
    fn gives_up() {
        let Rlimit { maximum, .. } = getrlimit(Resource::Core);
        // As much as there may be, so that the limit is seen to be set.
        let as_many = Rlimit {
            current: maximum,
            maximum,
        };
        setrlimit(Resource::Core, as_many).unwrap();
        let score = || fs_err::read_to_string("/proc/self/oom_score_adj").unwrap();
        limits::be_the_first_to_end(Runs::OwnCode);
        assert_eq!(score().trim(), "500");
        give_up(Runs::CodeOfOthers).unwrap();
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
}
