//! The filter of system calls that reach into other processes or into the system.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Why there is no filter.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FilterError {
    /// Nobody has written down the numbers of its system calls.
    #[error(
        "there is no filter of system calls for the architecture `{}`",
        std::env::consts::ARCH
    )]
    Architecture,
    /// The rules are wrong.
    #[error("the filter of system calls is wrong")]
    Rules(#[from] BackendError),
    /// The operating system refuses it.
    #[error("the filter of system calls is refused")]
    Refused(#[from] seccompiler::Error),
}

/// Rules by the number of their system call; a call that one of its rules matches, or that has
/// none, is refused.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The system calls that a role may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    /// All.
    All,
    /// Those that reach neither other processes nor the system, and those that start processes.
    OfProcesses,
    /// The same without processes: threads only.
    OfThreads,
}

/// Refuses, with `EPERM` and in every thread there is and will be, what the role may not call.
/// Needs no privilege but to have given up gaining any.
///
/// # Errors
/// When there is no filter for this architecture, or the operating system does not take it.
pub(crate) fn refuse_others(calls: Calls) -> Result<(), FilterError> {
    if calls == Calls::All {
        return Ok(());
    }
    apply(unknown(), libc::ENOSYS)?;
    apply(rules(calls, std::process::id())?, libc::EPERM)
}

fn apply(rules: Rules, refusal: i32) -> Result<(), FilterError> {
    Ok(seccompiler::apply_filter_all_threads(&program(rules, refusal)?)?)
}

fn program(rules: Rules, refusal: i32) -> Result<BpfProgram, FilterError> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(|_| FilterError::Architecture)?;
    let refuse = SeccompAction::Errno(refusal as u32);
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?.try_into()?)
}

/// Calls that are answered as by a kernel that does not have them.
fn unknown() -> Rules {
    // It takes its flags from memory, which a filter cannot read. C libraries use `clone` then.
    let numbers = std::iter::once(libc::SYS_clone3).chain(LATER_CALLS);
    let mut rules: Rules = numbers.map(|number| (number, Vec::new())).collect();
    #[cfg(target_arch = "x86_64")]
    add_x32_twins(&mut rules);
    rules
}

fn rules(calls: Calls, own: u32) -> Result<Rules, BackendError> {
    let mut rules: Rules = refused().into_iter().map(|number| (number, Vec::new())).collect();
    let own = u64::from(own);
    for number in [
        libc::SYS_kill,
        libc::SYS_tgkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
    ] {
        rules.insert(number, vec![unless_process(own)?]);
    }
    // Limits and scheduling of another process.
    for number in [
        libc::SYS_prlimit64,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setscheduler,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setattr,
    ] {
        rules.insert(number, vec![unless_this(0, own)?]);
    }
    for (number, process) in [
        (libc::SYS_setpriority, libc::PRIO_PROCESS as u64),
        (libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS),
    ] {
        let many = SeccompRule::new(vec![not_equal(0, process)?])?;
        rules.insert(number, vec![many, unless_this(1, own)?]);
    }
    let mut children = flags(&STRANGE_CHILDREN)?;
    if calls == Calls::OfThreads {
        rules.extend(NEW_PROGRAMS.map(|number| (number, Vec::new())));
        children.push(SeccompRule::new(vec![masked(0, libc::CLONE_THREAD as u64, 0)?])?);
    }
    rules.insert(libc::SYS_clone, children);
    // Dying with the broker is not taken back.
    rules.insert(
        libc::SYS_prctl,
        vec![SeccompRule::new(vec![equal(0, libc::PR_SET_PDEATHSIG as u64)?])?],
    );
    let mut fcntls = commands(&REACHING_FCNTLS)?;
    if calls == Calls::OfThreads {
        fcntls.extend(commands(&LOCKING_FCNTLS)?);
        rules.insert(libc::SYS_flock, Vec::new());
    }
    rules.insert(libc::SYS_fcntl, fcntls);
    let mut ioctls = commands(&[FIOSETOWN, SIOCSPGRP])?;
    ioctls.push(terminal_ioctls()?);
    for attributes in FILE_ATTRIBUTES {
        ioctls.push(SeccompRule::new(vec![of_type(attributes)?])?);
    }
    rules.insert(libc::SYS_ioctl, ioctls);
    // Two ends of a stream reach each other only; a datagram can be sent to any service that has a
    // name.
    let mut pairs = vec![SeccompRule::new(vec![not_equal(0, libc::AF_UNIX as u64)?])?];
    for datagrams in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
        pairs.push(SeccompRule::new(vec![masked(1, SOCKET_TYPE, datagrams as u64)?])?);
    }
    rules.insert(libc::SYS_socketpair, pairs);
    #[cfg(target_arch = "x86_64")]
    add_x32(&mut rules);
    Ok(rules)
}

/// Children in other namespaces, and children of this process's parent.
const STRANGE_CHILDREN: [i32; 8] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
    libc::CLONE_PARENT,
];

/// What starts another program or, beside `clone`, another process.
#[cfg(target_arch = "x86_64")]
const NEW_PROGRAMS: [i64; 4] = [libc::SYS_execve, libc::SYS_execveat, libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const NEW_PROGRAMS: [i64; 2] = [libc::SYS_execve, libc::SYS_execveat];

const IOPRIO_WHO_PROCESS: u64 = 1;

/// A descriptor's owner is sent a signal of the caller's choice, and who opens a file with a lease
/// waits for its holder.
const REACHING_FCNTLS: [u64; 4] = [F_SETOWN, F_SETOWN_EX, libc::F_SETLEASE as u64, libc::F_NOTIFY as u64];
/// A lock needs no more than a file that can be read: another run's would wait for it. A driver may
/// need some, to share a GPU with other processes.
const LOCKING_FCNTLS: [u64; 4] = [
    libc::F_SETLK as u64,
    libc::F_SETLKW as u64,
    libc::F_OFD_SETLK as u64,
    libc::F_OFD_SETLKW as u64,
];
const F_SETOWN: u64 = 8;
const F_SETOWN_EX: u64 = 15;
const FIOSETOWN: u64 = 0x8901;
const SIOCSPGRP: u64 = 0x8902;

/// The bits of a socket's type that are not flags.
const SOCKET_TYPE: u64 = 0xf;

/// The type that every command to a terminal has in its second byte.
const TERMINAL: u64 = 0x5400;

/// The types of commands that change what a file system keeps of a file beside its contents: `f`
/// and `X`.
const FILE_ATTRIBUTES: [u64; 2] = [0x6600, 0x5800];

/// Commands of that type that ask, and those that any descriptor takes.
#[allow(
    clippy::unnecessary_cast,
    reason = "the numbers have other types in other C libraries"
)]
const HARMLESS: [u64; 8] = [
    libc::TCGETS as u64,
    libc::TIOCGWINSZ as u64,
    libc::FIONREAD as u64,
    libc::TIOCOUTQ as u64,
    libc::FIONBIO as u64,
    libc::FIOASYNC as u64,
    libc::FIOCLEX as u64,
    libc::FIONCLEX as u64,
];

/// Matches what types into a terminal, takes it over or changes its modes.
fn terminal_ioctls() -> Result<SeccompRule, BackendError> {
    let harmless = HARMLESS.iter().map(|command| not_equal(1, *command));
    let conditions: Result<Vec<_>, _> = harmless.chain([of_type(TERMINAL)]).collect();
    SeccompRule::new(conditions?)
}

/// `fchmodat2`, `setxattrat`, `removexattrat`, `open_tree_attr` and `file_setattr`: older C
/// libraries have no names for them. The numbers are the same on every architecture.
const NAMELESS_CALLS: [i64; 5] = [452, 463, 466, 467, 469];

/// Numbers behind the last call that the lists below were written with, `file_setattr`. They are
/// the same on every architecture.
const LATER_CALLS: RangeInclusive<i64> = 470..=600;

/// System calls by their names.
macro_rules! calls {
    ($($name:ident)*) => { [$(libc::$name),*] };
}

/// Refused whatever their arguments.
fn refused() -> Vec<i64> {
    let mut refused = NAMELESS_CALLS.to_vec();
    // Leaving the session and the group that a role is killed with; other machines, and services of
    // this one.
    refused.extend(calls!(SYS_setsid SYS_setpgid SYS_socket SYS_connect SYS_bind SYS_listen));
    // Memory, descriptors and threads of other processes. `tkill` names a thread without its
    // process; `tgkill` is what C libraries use.
    refused.extend(calls! {
        SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_process_madvise SYS_process_mrelease SYS_pidfd_open
        SYS_pidfd_getfd SYS_pidfd_send_signal SYS_kcmp SYS_tkill SYS_migrate_pages SYS_move_pages
    });
    // What watches or changes the system, and calls of it that no filter sees.
    refused.extend(calls! {
        SYS_perf_event_open SYS_bpf SYS_userfaultfd SYS_fanotify_init SYS_keyctl SYS_add_key SYS_request_key
        SYS_init_module SYS_finit_module SYS_delete_module SYS_kexec_load SYS_kexec_file_load SYS_reboot SYS_swapon
        SYS_swapoff SYS_settimeofday SYS_clock_settime SYS_adjtimex SYS_clock_adjtime SYS_sethostname
        SYS_setdomainname SYS_syslog SYS_acct SYS_vhangup SYS_quotactl
        SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register
    });
    // Other views of the file system and of processes.
    refused.extend(calls! {
        SYS_unshare SYS_setns SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_open_tree SYS_move_mount SYS_fsopen
        SYS_fsconfig SYS_fspick SYS_fsmount SYS_mount_setattr SYS_open_by_handle_at
    });
    // Who owns a file and what it is called besides; contents are Landlock's affair.
    refused.extend(calls! {
        SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat SYS_utimensat SYS_setxattr SYS_lsetxattr SYS_fsetxattr
        SYS_removexattr SYS_lremovexattr SYS_fremovexattr
    });
    // What outlives the process that makes it, and is there for whoever knows its number.
    refused.extend(calls! {
        SYS_shmget SYS_shmat SYS_shmctl SYS_semget SYS_semop SYS_semtimedop SYS_semctl SYS_msgget SYS_msgsnd SYS_msgrcv
        SYS_msgctl SYS_mq_open SYS_mq_unlink
    });
    #[cfg(target_arch = "x86_64")]
    refused.extend(calls! {
        SYS_iopl SYS_ioperm SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat
    });
    refused
}

/// The same calls by their numbers of the x32 interface, and all of those that have numbers of
/// their own there: kernels that have it accept them from any process.
#[cfg(target_arch = "x86_64")]
fn add_x32(rules: &mut Rules) {
    add_x32_twins(rules);
    rules.extend((512..=547).map(|number| (number | X32, Vec::new())));
}

#[cfg(target_arch = "x86_64")]
fn add_x32_twins(rules: &mut Rules) {
    let twins: Rules = rules
        .iter()
        .map(|(number, rules)| (number | X32, rules.clone()))
        .collect();
    rules.extend(twins);
}

#[cfg(target_arch = "x86_64")]
const X32: i64 = 0x4000_0000;

/// Matches a process that is not `own`; the numbers of groups and of everybody are negative or
/// zero.
fn unless_process(own: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![not_equal(0, own)?])
}

/// Matches a process or thread that is neither `own` nor zero, which is the caller.
fn unless_this(argument: u8, own: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![not_equal(argument, own)?, not_equal(argument, 0)?])
}

fn not_equal(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

fn equal(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

/// Matches where the bits of `mask` have this value.
fn masked(argument: u8, mask: u64, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), value)
}

/// Matches commands of a type, which is their second byte.
fn of_type(commands: u64) -> Result<SeccompCondition, BackendError> {
    masked(1, 0xff00, commands)
}

fn commands(refused: &[u64]) -> Result<Vec<SeccompRule>, BackendError> {
    let rule = |command: &u64| SeccompRule::new(vec![equal(1, *command)?]);
    refused.iter().map(rule).collect()
}

/// Matches where any of `refused` is set.
fn flags(refused: &[i32]) -> Result<Vec<SeccompRule>, BackendError> {
    let rule = |flag: &i32| SeccompRule::new(vec![masked(0, *flag as u64, *flag as u64)?]);
    refused.iter().map(rule).collect()
}

#[cfg(test)]
pub(crate) mod tests;
