//! Who answers for a process.

use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::fs::MetadataExt as _;

/// Who answers for what a process does. What is limited for each of them cannot be used up by one
/// for all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Account {
    /// Root, or the user of this process.
    Own,
    /// A user. In a user namespace, it is the one who made the outermost one: a user can have as
    /// many user ids there as they like.
    User(u32),
    /// A container that root made, by the number of its namespace of process ids.
    Container(u64),
    /// Unknown: the process has ended.
    Ended,
}

impl Account {
    /// Returns who answers for a process.
    pub fn from_pid(pid: u32) -> Account {
        account_of(pid).unwrap_or(Account::Ended)
    }

    fn of_user(user: u32) -> Account {
        // SAFETY: the call has no arguments and cannot fail.
        let own = unsafe { libc::getuid() };
        if user == 0 || user == own {
            Account::Own
        } else {
            Account::User(user)
        }
    }
}

impl fmt::Display for Account {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Account::Own => write!(out, "root or this user"),
            Account::User(user) => write!(out, "user {user}"),
            Account::Container(number) => write!(out, "the container with the pid namespace {number}"),
            Account::Ended => write!(out, "processes that have ended"),
        }
    }
}

fn account_of(pid: u32) -> io::Result<Account> {
    let namespace = |name: &str| Ok::<_, io::Error>(fs::metadata(format!("/proc/{pid}/ns/{name}"))?.ino());
    let own = |name: &str| Ok::<_, io::Error>(fs::metadata(format!("/proc/self/ns/{name}"))?.ino());
    if namespace("user")? != own("user")? {
        return Ok(Account::of_user(maker(pid, own("user")?)?));
    }
    match Account::of_user(user(pid)?) {
        Account::Own if namespace("pid")? != own("pid")? => Ok(Account::Container(namespace("pid")?)),
        account => Ok(account),
    }
}

/// Returns the real user id of a process. The owner of its files in `/proc` is root if the process
/// asks for that.
fn user(pid: u32) -> io::Result<u32> {
    let status = fs::read(format!("/proc/{pid}/status"))?;
    let mut lines = status.split(|byte| *byte == b'\n');
    let line = lines.find_map(|line| line.strip_prefix(b"Uid:"));
    let text = String::from_utf8_lossy(line.unwrap_or_default());
    let first = text.split_whitespace().next().and_then(|first| first.parse().ok());
    first.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Returns who made the outermost user namespace of a process below the own one.
fn maker(pid: u32, own: u64) -> io::Result<u32> {
    let mut namespace = File::open(format!("/proc/{pid}/ns/user"))?;
    // The kernel nests at most 32.
    for _ in 0..64 {
        // SAFETY: the descriptor is open, and the request has no argument.
        let parent = unsafe { libc::ioctl(namespace.as_raw_fd(), libc::NS_GET_PARENT) };
        if parent < 0 {
            break;
        }
        // SAFETY: the kernel has just opened the descriptor, and nobody else has it.
        let parent = unsafe { File::from_raw_fd(parent) };
        if parent.metadata()?.ino() == own {
            break;
        }
        namespace = parent;
    }
    let mut user: libc::uid_t = 0;
    // SAFETY: the descriptor is open, and the kernel writes a user id to the argument.
    match unsafe { libc::ioctl(namespace.as_raw_fd(), libc::NS_GET_OWNER_UID, &raw mut user) } {
        0 => Ok(user),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use super::*;

    /// Returns the account of a shell that begins with `command` and then waits. `None` if it
    /// cannot.
    fn account(command: &mut Command) -> Option<Account> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take()?).read_line(&mut line).ok()?;
        let account = line.trim().parse().ok().map(Account::from_pid);
        drop(child.stdin.take());
        let _ = child.wait();
        account
    }

    const WAITS: &str = "echo $$; read line";

    #[test]
    fn a_process_of_this_user_is_its_own_and_one_that_ended_is_nobodys() {
        assert_eq!(Account::from_pid(std::process::id()), Account::Own);
        assert_eq!(Account::from_pid(u32::MAX >> 1), Account::Ended);
    }

    #[test]
    fn a_user_answers_for_its_processes_and_for_those_in_its_namespaces() {
        let mut plain = Command::new("sh");
        plain.args(["-c", WAITS]).uid(12_345).gid(12_345);
        let mut inside = Command::new("unshare");
        let nested = format!("exec unshare --user sh -c '{WAITS}'");
        inside.args(["--user", "--map-root-user", "sh", "-c", &nested]);
        inside.uid(12_345).gid(12_345);
        for command in [&mut plain, &mut inside] {
            match account(command) {
                Some(account) => assert_eq!(account, Account::User(12_345)),
                // Only root can be another user, and not every machine has user namespaces.
                None => drop(writeln!(io::stderr(), "skipped: {command:?} cannot be started")),
            }
        }
    }
}
