//! Applies a role's row of the table to a process, before it loads user code.

use std::os::fd::BorrowedFd;
use std::path::Path;

use rustix::io::Errno;
use rustix::process::Pid;

use crate::calls::Calls;
use crate::role::ConfinedRole;
use crate::{Confinement, calls, descriptors, files, limits, rights, session};

/// A sandbox that is not yet closed. A part that cannot be closed does not stop the process. It is
/// reported and lowers the grade of the result.
#[derive(Debug)]
#[must_use = "`close` closes it"]
pub struct Sandbox {
    calls: Calls,
    gaps: Vec<String>,
}

impl Sandbox {
    /// Makes the role's child processes end with the role. Closes every descriptor except standard
    /// input, output, error and those in `kept`. Drops all capabilities, limits memory and files,
    /// and protects all files from changes except those in `private` and a driver's devices. Call
    /// it while the process has one thread, so that later threads inherit the limits, and before a
    /// device opens descriptors.
    pub fn begin(role: ConfinedRole, kept: &[BorrowedFd<'_>], private: Option<&Path>) -> Sandbox {
        let rules = role.rules();
        let mut sandbox = Sandbox {
            calls: rules.calls,
            gaps: Vec::new(),
        };
        if rules.calls == Calls::OfProcesses {
            sandbox.note("its child processes may outlive it", session::end_group_with_this());
        }
        sandbox.note("cannot close inherited descriptors", descriptors::close_all_but(kept));
        // Without capabilities, root cannot open the memory of a process that is not dumpable, nor
        // load a kernel module.
        sandbox.note("cannot drop capabilities", rights::drop_capabilities());
        sandbox.note(
            "cannot limit memory and files",
            limits::limit_file_length(rules.longest_file).and_then(|()| limits::limit_memory(rules.share_of_memory)),
        );
        if let Err(error) = files::close(rules.files, private) {
            sandbox.gaps.push(gpubench_diagnostic::chain(&error));
        }
        sandbox
    }

    /// Returns an open sandbox, with the reason.
    pub fn left_open(reason: &str) -> Sandbox {
        Sandbox {
            calls: Calls::All,
            gaps: vec![reason.to_owned()],
        }
    }

    /// Filters the system calls of every thread, then checks that this process cannot open the
    /// memory of the processes in `guarded`.
    pub fn close(self, guarded: impl IntoIterator<Item = Pid>) -> Confinement {
        let filtered = calls::apply_filter(self.calls);
        self.closed_after(filtered, guarded)
    }

    /// Returns how far the process is confined, given whether its system calls are filtered.
    fn closed_after(
        mut self,
        filtered: Result<(), calls::FilterError>,
        guarded: impl IntoIterator<Item = Pid>,
    ) -> Confinement {
        if let Err(error) = filtered {
            self.gaps.push(gpubench_diagnostic::chain(&error));
        }
        for process in guarded {
            if memory_can_be_opened(process) {
                let process = process.as_raw_nonzero();
                self.gaps.push(format!("the memory of process `{process}` is readable"));
            }
        }
        if self.gaps.is_empty() {
            Confinement::Closed
        } else {
            Confinement::Open(self.gaps.join("; "))
        }
    }

    fn note(&mut self, what: &str, outcome: Result<(), Errno>) {
        self.gaps.extend(outcome.err().map(|error| format!("{what}: {error}")));
    }
}

fn memory_can_be_opened(process: Pid) -> bool {
    fs_err::File::open(format!("/proc/{}/mem", process.as_raw_nonzero())).is_ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::*;

    /// How long a child lives that nobody ends.
    const CHILD_LASTS: Duration = Duration::from_secs(60);

    fn nothing_filtered(gaps: &[&str]) -> Sandbox {
        Sandbox {
            calls: Calls::All,
            gaps: gaps.iter().map(|gap| (*gap).to_owned()).collect(),
        }
    }

    #[test]
    fn readable_memory_of_any_guarded_process_is_detected() {
        let mut open = Command::new("sleep").arg("30").spawn().unwrap();
        let open_one = Pid::from_child(&open);
        // A new process has memory that its parent can open.
        assert!(memory_can_be_opened(open_one));
        let output = format!("the memory of process `{}` is readable", open.id());
        let gone = Pid::from_raw(i32::MAX).unwrap();
        for guarded in [&[open_one][..], &[gone, open_one], &[open_one, gone]] {
            let confinement = nothing_filtered(&[]).close(guarded.iter().copied());
            assert_eq!(confinement, Confinement::Open(output.clone()));
        }
        assert_eq!(nothing_filtered(&[]).close([gone]), Confinement::Closed);
        open.kill().unwrap();
        open.wait().unwrap();
    }

    #[test]
    fn every_gap_is_reported() {
        assert_eq!(nothing_filtered(&[]).close([]), Confinement::Closed);
        assert_eq!(
            nothing_filtered(&["one", "another"]).close([]),
            Confinement::Open("one; another".to_owned())
        );
        assert_eq!(Sandbox::left_open("why").close([]), Confinement::Open("why".to_owned()));
        let mut sandbox = nothing_filtered(&[]);
        sandbox.note("this fails", Err(Errno::PERM));
        sandbox.note("this does not", Ok(()));
        assert_eq!(
            sandbox.close([]),
            Confinement::Open("this fails: Operation not permitted (os error 1)".to_owned())
        );
    }

    #[test]
    fn a_filter_that_the_kernel_refuses_is_a_gap() {
        let refused = calls::FilterError::Architecture;
        let expected = Confinement::Open(format!("one; {refused}"));
        assert_eq!(nothing_filtered(&["one"]).closed_after(Err(refused), []), expected);
        assert_eq!(nothing_filtered(&[]).closed_after(Ok(()), []), Confinement::Closed);
    }

    #[test]
    fn what_host_code_starts_ends_with_it() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "--exact",
            "sandbox::tests::starts_one_and_ends",
            "--ignored",
            "--nocapture",
        ]);
        let began = Instant::now();
        // The output ends when no process has it open.
        let output = session::in_own_session(&mut command).output().unwrap();
        let output = String::from_utf8_lossy(&output.stdout);
        assert!(output.contains("child started"), "{output}");
        assert!(began.elapsed() < CHILD_LASTS, "it ended by itself");
    }

    #[test]
    #[ignore = "run by the test above in a separate process"]
    #[allow(clippy::zombie_processes, reason = "the test needs an orphan")]
    fn starts_one_and_ends() {
        // In a run of all ignored tests, this process does not lead a session.
        if rustix::process::getpid() != rustix::process::getpgrp() {
            return;
        }
        let _sandbox = Sandbox::begin(ConfinedRole::HostCode, &[], Some(&std::env::temp_dir()));
        let seconds = CHILD_LASTS.as_secs().to_string();
        Command::new("sleep").arg(seconds).spawn().unwrap();
        println!("child started");
    }

    /// Checks the rights of closed roles in a separate process, because they cannot be regained.
    #[test]
    fn a_closed_role_has_neither_capabilities_nor_unlimited_files_nor_new_privileges() {
        let folder = tempfile::tempdir().unwrap();
        for role in ["author", "native", "host"] {
            let finished = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "sandbox::tests::closes", "--ignored", "--test-threads", "1"])
                .env("GPUBENCH_TEST_ROLE", role)
                .env("TMPDIR", folder.path())
                .output()
                .unwrap();
            let output = String::from_utf8_lossy(&finished.stdout);
            assert!(
                finished.status.success() && output.contains("1 passed"),
                "{role}: {output}"
            );
        }
    }

    #[test]
    #[ignore = "run by the test above in a separate process"]
    fn closes() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let lower_limit = || Rlimit {
            current: Some(1 << 20),
            maximum: Some(1 << 30),
        };
        let Ok(role) = std::env::var("GPUBENCH_TEST_ROLE") else {
            return;
        };
        let (role, private) = match role.as_str() {
            "author" => (ConfinedRole::Author, None),
            "native" => (ConfinedRole::NativeKernels, None),
            _ => (ConfinedRole::HostCode, Some(std::env::temp_dir())),
        };
        let file = fs_err::File::open("/dev/null").unwrap();
        if role == ConfinedRole::NativeKernels {
            setrlimit(Resource::Fsize, lower_limit()).unwrap();
        }
        let confinement = Sandbox::begin(role, &[], private.as_deref()).close([]);
        let whole = crate::FileClosing::here() == crate::FileClosing::Whole;
        assert_eq!(matches!(confinement, Confinement::Closed), whole, "{confinement:?}");
        assert!(
            rustix::io::fcntl_getfd(&file).is_err(),
            "an inherited descriptor is open"
        );
        std::mem::forget(file);
        let status = fs_err::read_to_string("/proc/thread-self/status").unwrap();
        for nothing in ["CapInh:", "CapPrm:", "CapEff:"] {
            assert!(status.contains(&format!("{nothing}\t0000000000000000")), "{status}");
        }
        assert!(
            status.contains("Seccomp:\t2") && status.contains("NoNewPrivs:\t1"),
            "{status}"
        );
        let files = getrlimit(Resource::Fsize);
        match role {
            ConfinedRole::NativeKernels => assert_eq!(files, lower_limit()),
            _ => assert_eq!(files.maximum, Some(4 << 30)),
        }
        let started = Command::new("true").status();
        assert_eq!(started.is_ok(), role == ConfinedRole::HostCode, "{started:?}");
        // The flags of `clone3` are in memory, where no filter can read them.
        let children = crate::calls::tests::answer(libc::SYS_clone3, [u64::MAX; 4]);
        assert_eq!(children, libc::ENOSYS);
        let system = rustix::system::sysinfo();
        let most = getrlimit(Resource::Data).maximum.unwrap();
        assert!(most <= system.totalram as u64 * u64::from(system.mem_unit), "{most}");
        assert_eq!(
            rustix::process::kill_process(rustix::process::getppid().unwrap(), rustix::process::Signal::CONT),
            Err(Errno::PERM)
        );
    }
}
