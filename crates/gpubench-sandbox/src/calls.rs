//! The system call filter. It denies calls that reach other processes or the system.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Why there is no filter.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FilterError {
    /// The system call numbers of this architecture are not known.
    #[error("there is no system call filter for the architecture `{}`", std::env::consts::ARCH)]
    Architecture,
    /// The rules are invalid.
    #[error("the system call filter is invalid")]
    Rules(#[from] BackendError),
    /// The operating system rejected the filter.
    #[error("the operating system rejected the system call filter")]
    Refused(#[from] seccompiler::Error),
}

/// Rules by system call number. A call that matches one of its rules is denied, and so is a call
/// with an empty list.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// The system calls that a role may make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Calls {
    /// All.
    All,
    /// Those that reach neither other processes nor the system, and those that start processes.
    OfProcesses,
    /// Those that reach neither other processes nor the system, and those that start threads.
    OfThreads,
}

/// Denies with `EPERM` the calls that the role may not make, in all current and later threads. The
/// process needs no privilege, but it must have `no_new_privs`.
///
/// # Errors
/// If there is no filter for this architecture, or the operating system rejects it.
pub(crate) fn apply_filter(calls: Calls) -> Result<(), FilterError> {
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

/// Returns the filter that denies with `EPERM` to start threads, processes and programs.
///
/// # Errors
/// If there is no filter for this architecture.
pub(crate) fn new_task_filter() -> Result<BpfProgram, FilterError> {
    let numbers = NEW_PROGRAMS.into_iter().chain([libc::SYS_clone, libc::SYS_clone3]);
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut))]
    let mut rules: Rules = numbers.map(|number| (number, Vec::new())).collect();
    #[cfg(target_arch = "x86_64")]
    add_x32(&mut rules);
    program(rules, libc::EPERM)
}

/// Calls that fail as on a kernel that does not have them.
fn unknown() -> Rules {
    // `clone3` takes its flags from memory, which a filter cannot read. C libraries then use
    // `clone`.
    let numbers = std::iter::once(libc::SYS_clone3).chain(LATER_CALLS);
    let mut rules: Rules = numbers.map(|number| (number, Vec::new())).collect();
    #[cfg(target_arch = "x86_64")]
    add_x32_twins(&mut rules);
    rules
}

fn rules(calls: Calls, own: u32) -> Result<Rules, BackendError> {
    let mut rules: Rules = denied_calls().into_iter().map(|number| (number, Vec::new())).collect();
    let own = u64::from(own);
    for number in [
        libc::SYS_kill,
        libc::SYS_tgkill,
        libc::SYS_rt_sigqueueinfo,
        libc::SYS_rt_tgsigqueueinfo,
    ] {
        rules.insert(number, vec![unless_process(own)?]);
    }
    // Limits and scheduling of other processes.
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
    // The process cannot undo that it dies with the broker.
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
    // The two ends of a stream reach only each other. A datagram can reach any service with a name.
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

/// Calls that start a program, or a process without `clone`.
#[cfg(target_arch = "x86_64")]
const NEW_PROGRAMS: [i64; 4] = [libc::SYS_execve, libc::SYS_execveat, libc::SYS_fork, libc::SYS_vfork];
#[cfg(not(target_arch = "x86_64"))]
const NEW_PROGRAMS: [i64; 2] = [libc::SYS_execve, libc::SYS_execveat];

const IOPRIO_WHO_PROCESS: u64 = 1;

/// A descriptor's owner receives a signal that the caller chooses. Whoever opens a file with a
/// lease waits for its holder.
const REACHING_FCNTLS: [u64; 4] = [F_SETOWN, F_SETOWN_EX, libc::F_SETLEASE as u64, libc::F_NOTIFY as u64];
/// A lock needs only a readable file, and another run would wait for it. A driver may need locks to
/// share a GPU with other processes.
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

/// The bits of a socket type that are not flags.
const SOCKET_TYPE: u64 = 0xf;

/// The type of terminal commands, in the second byte.
const TERMINAL: u64 = 0x5400;

/// The types `f` and `X`: commands that change a file's attributes.
const FILE_ATTRIBUTES: [u64; 2] = [0x6600, 0x5800];

/// Terminal commands that only read, and commands that every descriptor accepts.
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

/// Matches commands that type into a terminal, take it over or change its modes.
fn terminal_ioctls() -> Result<SeccompRule, BackendError> {
    let harmless = HARMLESS.iter().map(|command| not_equal(1, *command));
    let conditions: Result<Vec<_>, _> = harmless.chain([of_type(TERMINAL)]).collect();
    SeccompRule::new(conditions?)
}

/// `fchmodat2`, `setxattrat`, `removexattrat`, `open_tree_attr` and `file_setattr`. Older C
/// libraries lack their names. The numbers are the same on every architecture.
const NAMELESS_CALLS: [i64; 5] = [452, 463, 466, 467, 469];

/// Numbers after `file_setattr`, the last call that the lists below know. They are the same on
/// every architecture.
const LATER_CALLS: RangeInclusive<i64> = 470..=600;

/// Looks up system calls by name.
macro_rules! calls {
    ($($name:ident)*) => { [$(libc::$name),*] };
}

/// Calls that are denied with any arguments.
fn denied_calls() -> Vec<i64> {
    let mut refused = NAMELESS_CALLS.to_vec();
    // Calls that leave the session and the process group, or reach other machines and local
    // services.
    refused.extend(calls!(SYS_setsid SYS_setpgid SYS_socket SYS_connect SYS_bind SYS_listen));
    // Memory, descriptors and threads of other processes. `tkill` names a thread without its
    // process; C libraries use `tgkill`.
    refused.extend(calls! {
        SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_process_madvise SYS_process_mrelease SYS_pidfd_open
        SYS_pidfd_getfd SYS_pidfd_send_signal SYS_kcmp SYS_tkill SYS_migrate_pages SYS_move_pages
    });
    // Calls that watch or change the system, or hide other calls from the filter.
    refused.extend(calls! {
        SYS_perf_event_open SYS_bpf SYS_userfaultfd SYS_fanotify_init SYS_keyctl SYS_add_key SYS_request_key
        SYS_init_module SYS_finit_module SYS_delete_module SYS_kexec_load SYS_kexec_file_load SYS_reboot SYS_swapon
        SYS_swapoff SYS_settimeofday SYS_clock_settime SYS_adjtimex SYS_clock_adjtime SYS_sethostname
        SYS_setdomainname SYS_syslog SYS_acct SYS_vhangup SYS_quotactl
        SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register
    });
    // Namespaces and mounts.
    refused.extend(calls! {
        SYS_unshare SYS_setns SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_open_tree SYS_move_mount SYS_fsopen
        SYS_fsconfig SYS_fspick SYS_fsmount SYS_mount_setattr SYS_open_by_handle_at
    });
    // Owners and attributes of files. Landlock protects their contents.
    refused.extend(calls! {
        SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat SYS_utimensat SYS_setxattr SYS_lsetxattr SYS_fsetxattr
        SYS_removexattr SYS_lremovexattr SYS_fremovexattr
    });
    // Objects that outlive their process and that others can open by a number.
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

/// Adds the same calls by their x32 numbers, and all calls that exist only there. Kernels with the
/// x32 interface accept them from any process.
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

/// Matches processes other than `own`. Groups and "all processes" have negative or zero ids.
fn unless_process(own: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![not_equal(0, own)?])
}

/// Matches a process or thread that is neither `own` nor zero, which means the caller.
fn unless_this(argument: u8, own: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![not_equal(argument, own)?, not_equal(argument, 0)?])
}

fn not_equal(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

fn equal(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

/// Matches if the bits of `mask` have this value.
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

/// Matches if any flag of `refused` is set.
fn flags(refused: &[i32]) -> Result<Vec<SeccompRule>, BackendError> {
    let rule = |flag: &i32| SeccompRule::new(vec![masked(0, *flag as u64, *flag as u64)?]);
    refused.iter().map(rule).collect()
}

#[cfg(test)]
pub(crate) mod tests;
