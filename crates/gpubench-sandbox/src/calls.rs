//! The filter of system calls that reach into other processes or into the system.

use std::collections::BTreeMap;

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

/// Rules by the number of their system call; a call that one of its rules matches, or that has none, is refused.
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

/// Refuses, with `EPERM` and in every thread there is and will be, what the role may not call. Needs no privilege but to have given up gaining any.
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
    let mut rules: Rules = [(libc::SYS_clone3, Vec::new())].into();
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
    rules.insert(libc::SYS_fcntl, commands(&REACHING_FCNTLS)?);
    let mut ioctls = commands(&[FIOSETOWN, SIOCSPGRP])?;
    ioctls.push(terminal_ioctls()?);
    rules.insert(libc::SYS_ioctl, ioctls);
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

/// A descriptor's owner is sent a signal of the caller's choice, and who opens a file with a lease waits for its holder.
const REACHING_FCNTLS: [u64; 4] = [F_SETOWN, F_SETOWN_EX, libc::F_SETLEASE as u64, libc::F_NOTIFY as u64];
const F_SETOWN: u64 = 8;
const F_SETOWN_EX: u64 = 15;
const FIOSETOWN: u64 = 0x8901;
const SIOCSPGRP: u64 = 0x8902;

/// The type that every command to a terminal has in its second byte.
const TERMINAL: u64 = 0x5400;

/// Commands of that type that ask, and those that any descriptor takes.
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
    let conditions: Result<Vec<_>, _> = harmless.chain([masked(1, 0xff00, TERMINAL)]).collect();
    SeccompRule::new(conditions?)
}

/// The same number on every architecture; older C libraries have no name for it.
const SYS_FCHMODAT2: i64 = 452;

/// Refused whatever their arguments.
fn refused() -> Vec<i64> {
    let mut refused = vec![
        // Leaving the session and the group that a role is killed with.
        libc::SYS_setsid,
        libc::SYS_setpgid,
        // Other machines, and services of this one.
        libc::SYS_socket,
        libc::SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        // Memory, descriptors and threads of other processes.
        libc::SYS_ptrace,
        libc::SYS_process_vm_readv,
        libc::SYS_process_vm_writev,
        libc::SYS_process_madvise,
        libc::SYS_process_mrelease,
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_pidfd_send_signal,
        libc::SYS_kcmp,
        // It names a thread without its process; `tgkill` is what C libraries use.
        libc::SYS_tkill,
        libc::SYS_migrate_pages,
        libc::SYS_move_pages,
        // What watches or changes the system.
        libc::SYS_perf_event_open,
        libc::SYS_bpf,
        libc::SYS_userfaultfd,
        libc::SYS_keyctl,
        libc::SYS_add_key,
        libc::SYS_request_key,
        libc::SYS_init_module,
        libc::SYS_finit_module,
        libc::SYS_delete_module,
        libc::SYS_kexec_load,
        libc::SYS_reboot,
        libc::SYS_swapon,
        libc::SYS_swapoff,
        // Calls of the system that no filter sees.
        libc::SYS_io_uring_setup,
        libc::SYS_io_uring_enter,
        libc::SYS_io_uring_register,
        // Other views of the file system and of processes.
        libc::SYS_unshare,
        libc::SYS_setns,
        libc::SYS_mount,
        libc::SYS_umount2,
        libc::SYS_pivot_root,
        libc::SYS_chroot,
        libc::SYS_open_tree,
        libc::SYS_move_mount,
        libc::SYS_fsopen,
        libc::SYS_fsconfig,
        libc::SYS_fspick,
        libc::SYS_fsmount,
        libc::SYS_mount_setattr,
        libc::SYS_open_by_handle_at,
        libc::SYS_quotactl,
        // Who owns a file and what it is called besides; contents are Landlock's affair.
        libc::SYS_fchmod,
        libc::SYS_fchmodat,
        SYS_FCHMODAT2,
        libc::SYS_fchown,
        libc::SYS_fchownat,
        libc::SYS_setxattr,
        libc::SYS_lsetxattr,
        libc::SYS_fsetxattr,
        libc::SYS_removexattr,
        libc::SYS_lremovexattr,
        libc::SYS_fremovexattr,
        libc::SYS_utimensat,
        // What outlives the process that makes it.
        libc::SYS_shmget,
        libc::SYS_semget,
        libc::SYS_msgget,
        libc::SYS_mq_open,
        // The clock, the name and the log of the system.
        libc::SYS_settimeofday,
        libc::SYS_clock_settime,
        libc::SYS_adjtimex,
        libc::SYS_clock_adjtime,
        libc::SYS_sethostname,
        libc::SYS_setdomainname,
        libc::SYS_syslog,
        libc::SYS_acct,
        libc::SYS_vhangup,
        libc::SYS_fanotify_init,
    ];
    refused.push(libc::SYS_kexec_file_load);
    #[cfg(target_arch = "x86_64")]
    refused.extend([
        libc::SYS_iopl,
        libc::SYS_ioperm,
        libc::SYS_chmod,
        libc::SYS_chown,
        libc::SYS_lchown,
        libc::SYS_utime,
        libc::SYS_utimes,
        libc::SYS_futimesat,
    ]);
    refused
}

/// The same calls by their numbers of the x32 interface, and all of those that have numbers of their own there: kernels that have it accept them from any process.
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

/// Matches a process that is not `own`; the numbers of groups and of everybody are negative or zero.
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
mod tests;
