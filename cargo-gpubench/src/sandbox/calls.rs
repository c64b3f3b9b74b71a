//! The filter of system calls that reach into other processes or into the system.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Why there is no filter.
#[derive(Debug, thiserror::Error)]
pub(super) enum FilterError {
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

/// Refuses, with `EPERM` and in every thread there is and will be, what [`refused`] lists. Needs no privilege but to have given up gaining any.
///
/// # Errors
/// When there is no filter for this architecture, or the operating system does not take it.
pub(super) fn refuse_reaching_out() -> Result<(), FilterError> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(|_| FilterError::Architecture)?;
    let refuse = SeccompAction::Errno(libc::EPERM as u32);
    let filter = SeccompFilter::new(rules(std::process::id())?, SeccompAction::Allow, refuse, architecture)?;
    let program: BpfProgram = filter.try_into()?;
    Ok(seccompiler::apply_filter_all_threads(&program)?)
}

fn rules(own: u32) -> Result<Rules, BackendError> {
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
    // Limits of another process; zero is this one.
    let other = SeccompRule::new(vec![not_equal(0, own)?, not_equal(0, 0)?])?;
    rules.insert(libc::SYS_prlimit64, vec![other]);
    // A descriptor's owner is sent a signal of the caller's choice.
    rules.insert(libc::SYS_fcntl, commands(&[F_SETOWN, F_SETOWN_EX])?);
    rules.insert(libc::SYS_ioctl, commands(&[FIOSETOWN, SIOCSPGRP])?);
    #[cfg(target_arch = "x86_64")]
    add_x32(&mut rules);
    Ok(rules)
}

const F_SETOWN: u64 = 8;
const F_SETOWN_EX: u64 = 15;
const FIOSETOWN: u64 = 0x8901;
const SIOCSPGRP: u64 = 0x8902;

/// Refused whatever their arguments.
fn refused() -> Vec<i64> {
    let mut refused = vec![
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
        libc::SYS_fsmount,
        libc::SYS_mount_setattr,
    ];
    refused.push(libc::SYS_kexec_file_load);
    #[cfg(target_arch = "x86_64")]
    refused.extend([libc::SYS_iopl, libc::SYS_ioperm]);
    refused
}

/// The same calls by their numbers of the x32 interface, and all of those that have numbers of their own there: kernels that have it accept them from any process.
#[cfg(target_arch = "x86_64")]
fn add_x32(rules: &mut Rules) {
    const X32: i64 = 0x4000_0000;
    let twins: Rules = rules
        .iter()
        .map(|(number, rules)| (number | X32, rules.clone()))
        .collect();
    rules.extend(twins);
    rules.extend((512..=547).map(|number| (number | X32, Vec::new())));
}

/// Matches a process that is not `own`; the numbers of groups and of everybody are negative or zero.
fn unless_process(own: u64) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![not_equal(0, own)?])
}

fn not_equal(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

fn commands(refused: &[u64]) -> Result<Vec<SeccompRule>, BackendError> {
    let rule = |command: &u64| {
        let equal = SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, *command)?;
        SeccompRule::new(vec![equal])
    };
    refused.iter().map(rule).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rules_make_a_filter_that_the_kernel_has_room_for() {
        let architecture = TargetArch::try_from(std::env::consts::ARCH).unwrap();
        let refuse = SeccompAction::Errno(1);
        let filter = SeccompFilter::new(rules(1).unwrap(), SeccompAction::Allow, refuse, architecture).unwrap();
        let program: BpfProgram = filter.try_into().unwrap();
        assert!(program.len() < 4096, "{}", program.len());
    }
}
