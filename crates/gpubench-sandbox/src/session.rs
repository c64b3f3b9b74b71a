//! A session of its own for every process: without a terminal, and with a group that nobody leaves.
#![allow(unsafe_code)]

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use crate::role::ConfinedRole;
use crate::{files, limits};

/// Has the process lead a session, and with it a process group, from its first instruction on. It has
/// no controlling terminal then: `/dev/tty` leads nowhere, and Ctrl-C reaches the broker alone.
pub fn in_own_session(command: &mut Command) -> &mut Command {
    // SAFETY: between fork and exec it makes one system call and touches no memory.
    unsafe { command.pre_exec(|| Ok(rustix::process::setsid().map(drop)?)) }
}

/// The same for a compiler, which can gain no privileges besides, opens no terminal, and writes no endless file.
///
/// # Errors
/// The operating system refuses. A kernel without Landlock is no error: the compiler's session has
/// no terminal all the same.
pub fn confine_compiler(command: &mut Command) -> io::Result<&mut Command> {
    let rules = ConfinedRole::Compiler.rules();
    let mut closing = files::closing(rules.files, None).ok();
    in_own_session(command);
    // SAFETY: between fork and exec it makes system calls with what was allocated before.
    Ok(unsafe {
        command.pre_exec(move || {
            rustix::thread::set_no_new_privs(true)?;
            limits::write_no_longer_file(rules.longest_file)?;
            // At the limit the compiler says so itself, instead of being ended.
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            // The parent has asked whether the kernel can; what it refuses now is left open as there.
            if let Some(closing) = closing.take() {
                let _ = closing.restrict_self();
            }
            Ok(())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(command: &mut Command) -> String {
        let script = "echo $$; cut -d' ' -f5,6,7 /proc/self/stat; (: </dev/tty) 2>/dev/null && echo terminal";
        let output = command.args(["-c", script]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// The shell's number, then its group, session and terminal as `/proc/self/stat` has them: it
    /// leads both and has no terminal.
    fn assert_leads(said: &str) {
        let fields: Vec<i32> = said.split_whitespace().filter_map(|field| field.parse().ok()).collect();
        let [shell, group, session, terminal] = fields[..] else {
            panic!("{said}")
        };
        assert_eq!((group, session, terminal), (shell, shell, 0), "{said}");
        assert!(!said.contains("terminal"), "{said}");
    }

    #[test]
    fn a_process_leads_a_session_without_a_terminal() {
        assert_leads(&of(in_own_session(&mut Command::new("sh"))));
        assert_leads(&of(confine_compiler(&mut Command::new("sh")).unwrap()));
    }

    #[test]
    fn a_compiler_writes_files_and_no_terminals() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        let script = "ulimit -f; echo object >written && cat written; echo >/dev/null && echo null; echo >/dev/ptmx && echo ptmx";
        command.args(["-c", script]).current_dir(folder.path());
        let output = confine_compiler(&mut command).unwrap().output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let terminal = if files::FileClosing::here() == files::FileClosing::Missing {
            "ptmx\n"
        } else {
            ""
        };
        // In blocks of 512 bytes.
        assert_eq!(said, format!("524288\nobject\nnull\n{terminal}"));
    }
}
