//! A session for every process: without a terminal, and with a process group that nobody can leave.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::rights::{Rights, keep_only};
use crate::role::ConfinedRole;

use crate::{descriptors, files, limits};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, Signal, getpid, kill_process_group, pidfd_open};

/// Makes the process lead a session, and so a process group, from its first instruction on. It has
/// no controlling terminal: `/dev/tty` does not open, and Ctrl-C reaches only the broker.
pub fn in_own_session(command: &mut Command) -> &mut Command {
    // SAFETY: between fork and exec it makes one system call and touches no memory.
    unsafe { command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?)) }
}

/// Makes the process lead a session, keep at most the capabilities for `rights`, and gain none.
pub fn confine(command: &mut Command, rights: Rights) -> &mut Command {
    in_own_session(command);
    confine_on_terminal(command, rights)
}

/// Makes the process keep at most the capabilities for `rights`, and gain none. It stays in the
/// session of its parent, with the terminal: a person debugs it.
pub fn confine_on_terminal(command: &mut Command, rights: Rights) -> &mut Command {
    // SAFETY: between fork and exec it makes system calls and touches no memory.
    unsafe { command.pre_exec(move || Ok(gain_nothing(rights)?)) }
}

fn gain_nothing(rights: Rights) -> rustix::io::Result<()> {
    rustix::thread::set_no_new_privs(true)?;
    keep_only(rights)
}

/// Confines a compiler: it leads a session, gains no privileges, has no capability but the one to
/// read files, has limits of memory and files, writes to `private` and reads what comes with the
/// system, `toolkits` and `private`.
///
/// # Errors
/// If the operating system refuses. A kernel without Landlock is no error: then files are not
/// protected from a compiler.
pub fn confine_compiler<'a>(
    command: &'a mut Command,
    private: &Path,
    toolkits: &[PathBuf],
) -> io::Result<&'a mut Command> {
    let rules = ConfinedRole::Compiler.rules();
    let mut closing = files::closing(rules.files, Some(private), toolkits).ok();
    in_own_session(command);
    // SAFETY: between fork and exec it makes system calls with memory that was allocated before.
    Ok(unsafe {
        command.pre_exec(move || {
            gain_nothing(Rights::ReadFiles)?;
            limits::limit_file_length(rules.longest_file)?;
            limits::limit_memory(rules.share_of_memory)?;
            // Without it the system chooses by itself which process ends.
            let _ = limits::end_first_without_memory();
            // At the limit the compiler reports an error instead of being killed.
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            // The parent has checked that the kernel supports it. A failure here leaves the files
            // open.
            if let Some(closing) = closing.take() {
                let _ = closing.restrict_self();
            }
            Ok(())
        })
    })
}

/// Starts a process that kills this one's group when this one ends for any reason. If the broker
/// has died, nobody else would kill its children. Call it while the process has one thread.
///
/// # Errors
/// If the operating system refuses.
pub(crate) fn end_group_with_this() -> rustix::io::Result<()> {
    let own = getpid();
    let end = pidfd_open(own, PidfdFlags::empty())?;
    const NOTHING: libc::c_ulong = 0;
    // SAFETY: this is `fork` without a signal at the child's end, so that a wait for children does
    // not see it. The process has one thread, so no lock is held.
    match unsafe { libc::syscall(libc::SYS_clone, NOTHING, NOTHING, NOTHING, NOTHING, NOTHING) } {
        -1 => Err(Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::AGAIN)),
        0 => {
            // The connection to the broker closes here, so that it ends with the worker.
            let _ = descriptors::close_all_but(&[end.as_fd()]);
            while poll(&mut [PollFd::new(&end, PollFlags::IN)], None) == Err(Errno::INTR) {}
            let _ = kill_process_group(own, Signal::KILL);
            // SAFETY: the child exits without running the parent's exit handlers.
            unsafe { libc::_exit(0) }
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    #[test]
    fn child_processes_end_with_their_parent() {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([
            "--exact",
            "session::tests::starts_one_and_ends",
            "--ignored",
            "--nocapture",
        ]);
        // The output ends when no process has it open.
        let output = in_own_session(&mut command).output().unwrap();
        let output = String::from_utf8_lossy(&output.stdout);
        assert!(output.contains("child started"), "{output}");
    }

    #[test]
    #[ignore = "run by the test above in a separate process"]
    #[allow(clippy::zombie_processes, reason = "the test needs an orphan")]
    fn starts_one_and_ends() {
        // In a run of all ignored tests, this process does not lead a session.
        if getpid() != rustix::process::getpgrp() {
            return;
        }
        // The other thread of this process waits for this one, and holds no lock.
        end_group_with_this().unwrap();
        Command::new("sleep").arg("600").spawn().unwrap();
        println!("child started");
    }

    /// Checks a shell's group, session and terminal in `/proc/PID/stat`: it leads both and has no
    /// terminal.
    fn assert_leads(command: &mut Command) {
        let script = "(: </dev/tty) 2>/dev/null && exit 1; read end; exit 0";
        let mut shell = command.args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap();
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", shell.id())).unwrap();
        let fields: Vec<u32> = stat
            .split(' ')
            .skip(4)
            .take(3)
            .map(|field| field.parse().unwrap())
            .collect();
        assert_eq!(fields, [shell.id(), shell.id(), 0], "{stat}");
        drop(shell.stdin.take());
        assert!(shell.wait().unwrap().success(), "it has a terminal");
    }

    #[test]
    fn a_process_leads_a_session_without_a_terminal() {
        assert_leads(in_own_session(&mut Command::new("sh")));
        let folder = tempfile::tempdir().unwrap();
        assert_leads(confine_compiler(&mut Command::new("sh"), folder.path(), &[]).unwrap());
    }

    /// Returns the capabilities of a process, one set after another.
    fn capabilities_of(command: &mut Command) -> Vec<u64> {
        let script = "sed -n 's/^Cap[IPEBA][a-z]*:.//p' /proc/self/status";
        let output = command.args(["-c", script]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines().map(|set| u64::from_str_radix(set, 16).unwrap()).collect()
    }

    #[test]
    fn a_process_keeps_no_capability_that_its_work_does_not_need() {
        let own = capabilities_of(&mut Command::new("sh"));
        let [_, permitted, ..] = own[..] else { panic!("{own:?}") };
        for (rights, most) in [
            (Rights::None, 0),
            (Rights::ReadFiles, 1 << 2),
            (Rights::CountOnGpu, 1 << 2 | 1 << 21 | 1 << 38),
            (Rights::LockClocks, 1 << 1 | 1 << 21),
        ] {
            let kept = permitted & most;
            assert_eq!(
                capabilities_of(confine(&mut Command::new("sh"), rights))[..3],
                [kept; 3],
                "{rights:?}"
            );
        }
        let folder = tempfile::tempdir().unwrap();
        // The script reads there.
        let proc = PathBuf::from("/proc");
        let compiler = capabilities_of(confine_compiler(&mut Command::new("sh"), folder.path(), &[proc]).unwrap());
        assert_eq!(compiler[..3], [permitted & 1 << 2; 3]);
    }

    #[test]
    fn confined_processes_gain_no_privileges() {
        let status = |command: &mut Command| {
            let output = command.arg("/proc/self/status").output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        let cat = || Command::new("cat");
        let folder = tempfile::tempdir().unwrap();
        let proc = PathBuf::from("/proc");
        for (role, status) in [
            ("worker", status(confine(&mut cat(), Rights::None))),
            ("debugged worker", status(confine_on_terminal(&mut cat(), Rights::None))),
            (
                "compiler",
                status(confine_compiler(&mut cat(), folder.path(), &[proc]).unwrap()),
            ),
        ] {
            assert!(status.contains("NoNewPrivs:\t1"), "{role}: {status}");
        }
    }

    #[test]
    fn a_compiler_writes_files_and_no_terminals() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        let script = "ulimit -f; ulimit -d; echo object >written && cat written; echo >/dev/null && echo null; echo >/dev/ptmx && echo ptmx";
        command.args(["-c", script]).current_dir(folder.path());
        let output = confine_compiler(&mut command, folder.path(), &[])
            .unwrap()
            .output()
            .unwrap();
        let output = String::from_utf8(output.stdout).unwrap();
        let terminal = if files::FileClosing::here() == files::FileClosing::Missing {
            "ptmx\n"
        } else {
            ""
        };
        // In blocks of 512 bytes, and in KiB.
        let memory = limits::installed_memory() / 2 / 1024;
        assert_eq!(output, format!("524288\n{memory}\nobject\nnull\n{terminal}"));
    }

    #[test]
    fn a_compiler_that_writes_too_much_sees_an_error_instead_of_a_signal() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command
            .args(["-c", "kill -s XFSZ $$; echo lives"])
            .current_dir(folder.path());
        let output = confine_compiler(&mut command, folder.path(), &[])
            .unwrap()
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "lives\n");
    }
}
