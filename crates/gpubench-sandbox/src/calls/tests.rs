//! Tests of the filter, call by call. The lists here repeat those of the rules on purpose, so that
//! a call missing from the rules is found.
#![allow(unsafe_code)]

use super::*;

/// Invalid as a descriptor, an address or flags.
const NOTHING: u64 = u64::MAX;

/// The error of the filter in these tests, which no call returns by itself. Many calls return
/// `EPERM` to users other than root.
const BY_THE_FILTER: i32 = libc::EOWNERDEAD;

/// Returns the kernel's results for `calls`, each with up to four arguments, in a thread with the
/// filter.
fn answers(role: Calls, calls: &[(i64, [u64; 4])]) -> Vec<i32> {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            for (rules, refusal) in [
                (unknown(), libc::ENOSYS),
                (rules(role, std::process::id()).unwrap(), BY_THE_FILTER),
            ] {
                seccompiler::apply_filter(&program(rules, refusal).unwrap()).unwrap();
            }
            calls
                .iter()
                .map(|(number, arguments)| answer(*number, *arguments))
                .collect()
        });
        thread.join().unwrap()
    })
}

/// Returns the error, or 0.
pub(crate) fn answer(number: i64, [a, b, c, d]: [u64; 4]) -> i32 {
    // SAFETY: calls that pass the filter fail for their arguments, or change only this thread.
    let returned = unsafe { libc::syscall(number, a, b, c, d) };
    if returned == 0 && [FORK, libc::SYS_clone].contains(&number) {
        // SAFETY: a child that the filter should have denied; it does nothing.
        unsafe { libc::_exit(0) };
    }
    match returned {
        -1 => std::io::Error::last_os_error().raw_os_error().unwrap_or(0),
        _ => 0,
    }
}

#[cfg(target_arch = "x86_64")]
const FORK: i64 = libc::SYS_fork;
#[cfg(not(target_arch = "x86_64"))]
const FORK: i64 = -1;

macro_rules! calls {
    ($($name:ident)*) => { &[$((stringify!($name), libc::$name)),*] };
}

/// Calls that every role is denied with any arguments.
const REFUSED: &[(&str, i64)] = calls! {
    SYS_setsid SYS_setpgid
    SYS_socket SYS_connect SYS_bind SYS_listen
    SYS_ptrace SYS_process_vm_readv SYS_process_vm_writev SYS_process_madvise SYS_process_mrelease
    SYS_pidfd_open SYS_pidfd_getfd SYS_pidfd_send_signal SYS_kcmp SYS_tkill SYS_migrate_pages SYS_move_pages
    SYS_perf_event_open SYS_bpf SYS_userfaultfd SYS_keyctl SYS_add_key SYS_request_key
    SYS_init_module SYS_finit_module SYS_delete_module SYS_kexec_load SYS_kexec_file_load
    SYS_reboot SYS_swapon SYS_swapoff
    SYS_io_uring_setup SYS_io_uring_enter SYS_io_uring_register
    SYS_unshare SYS_setns SYS_mount SYS_umount2 SYS_pivot_root SYS_chroot SYS_open_tree SYS_move_mount
    SYS_fsopen SYS_fsconfig SYS_fspick SYS_fsmount SYS_mount_setattr SYS_open_by_handle_at SYS_quotactl
    SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat SYS_utimensat
    SYS_setxattr SYS_lsetxattr SYS_fsetxattr SYS_removexattr SYS_lremovexattr SYS_fremovexattr
    SYS_shmget SYS_shmat SYS_shmctl SYS_semget SYS_semop SYS_semtimedop SYS_semctl
    SYS_msgget SYS_msgsnd SYS_msgrcv SYS_msgctl SYS_mq_open SYS_mq_unlink
    SYS_settimeofday SYS_clock_settime SYS_adjtimex SYS_clock_adjtime SYS_sethostname SYS_setdomainname
    SYS_syslog SYS_acct SYS_vhangup SYS_fanotify_init
};

#[cfg(target_arch = "x86_64")]
const REFUSED_HERE: &[(&str, i64)] = calls! {
    SYS_iopl SYS_ioperm SYS_chmod SYS_chown SYS_lchown SYS_utime SYS_utimes SYS_futimesat
};
#[cfg(not(target_arch = "x86_64"))]
const REFUSED_HERE: &[(&str, i64)] = &[];

/// Calls whose names older C libraries lack.
const NEW: &[(&str, i64)] = &[
    ("fchmodat2", 452),
    ("setxattrat", 463),
    ("removexattrat", 466),
    ("open_tree_attr", 467),
    ("file_setattr", 469),
];

const ROLES: [Calls; 2] = [Calls::OfProcesses, Calls::OfThreads];

#[test]
fn the_filter_fits_the_kernel_limit() {
    for calls in ROLES {
        for rules in [rules(calls, 1).unwrap(), unknown()] {
            let program = program(rules, BY_THE_FILTER).unwrap();
            assert!(program.len() < 4096, "{}", program.len());
        }
    }
}

#[test]
fn every_call_that_reaches_out_is_denied() {
    for role in ROLES {
        let all = [REFUSED, REFUSED_HERE, NEW].concat();
        let calls: Vec<_> = all.iter().map(|(_, number)| (*number, [NOTHING; 4])).collect();
        for ((name, _), answer) in all.iter().zip(answers(role, &calls)) {
            assert_eq!(answer, BY_THE_FILTER, "{role:?}: {name}");
        }
    }
}

/// Kernels without that interface return another error, but the filter comes first.
#[cfg(target_arch = "x86_64")]
#[test]
fn x32_call_numbers_are_denied() {
    let all = [REFUSED, REFUSED_HERE].concat();
    let calls = all.iter().map(|(_, number)| (number | 0x4000_0000, [NOTHING; 4]));
    let own = (512..=547).map(|number| (number | 0x4000_0000, [NOTHING; 4]));
    let calls: Vec<_> = calls.chain(own).collect();
    for ((number, _), answer) in calls.iter().zip(answers(Calls::OfProcesses, &calls)) {
        assert_eq!(answer, BY_THE_FILTER, "{number}");
    }
    let clone3 = (libc::SYS_clone3 | 0x4000_0000, [NOTHING; 4]);
    assert_eq!(answers(Calls::OfProcesses, &[clone3]), [libc::ENOSYS]);
}

#[test]
fn clone3_and_later_calls_are_unknown() {
    for role in ROLES {
        for number in [libc::SYS_clone3, 470, 511, 547, 600] {
            assert_eq!(answers(role, &[(number, [NOTHING; 4])]), [libc::ENOSYS], "{number}");
        }
        assert!((470..=600).all(|number| unknown().contains_key(&number)));
    }
}

/// A lock on a readable file blocks every other process that wants it.
#[test]
fn only_roles_with_a_driver_lock_files() {
    let mut calls = vec![(libc::SYS_flock, [NOTHING, libc::LOCK_EX as u64, 0, 0])];
    calls.extend([6, 7, 37, 38].map(|command| (libc::SYS_fcntl, [NOTHING, command, NOTHING, 0])));
    assert_eq!(answers(Calls::OfThreads, &calls), [BY_THE_FILTER; 5]);
    assert_eq!(answers(Calls::OfProcesses, &calls), [libc::EBADF; 5]);
}

/// Calls that depend on their arguments: denied for other processes, allowed for the own one.
#[test]
fn calls_on_the_own_process_are_denied_for_others() {
    let own = u64::from(std::process::id());
    let other = u64::from(std::os::unix::process::parent_id());
    let no_signal = 0;
    let to_all = (-1_i64) as u64;
    let refused = [
        ("a signal to another process", libc::SYS_kill, [other, no_signal, 0, 0]),
        ("a signal to the own group", libc::SYS_kill, [0, no_signal, 0, 0]),
        ("a signal to all processes", libc::SYS_kill, [to_all, no_signal, 0, 0]),
        (
            "a signal to a thread of another process",
            libc::SYS_tgkill,
            [other, other, no_signal, 0],
        ),
        (
            "a signal with data to another process",
            libc::SYS_rt_sigqueueinfo,
            [other, no_signal, NOTHING, 0],
        ),
        (
            "a signal with data to a thread of another process",
            libc::SYS_rt_tgsigqueueinfo,
            [other, other, no_signal, NOTHING],
        ),
        ("limits of another process", libc::SYS_prlimit64, [other, 0, NOTHING, 0]),
        (
            "CPU affinity of another process",
            libc::SYS_sched_setaffinity,
            [other, 0, NOTHING, 0],
        ),
        (
            "scheduler of another process",
            libc::SYS_sched_setscheduler,
            [other, 0, NOTHING, 0],
        ),
        (
            "scheduling parameters of another process",
            libc::SYS_sched_setparam,
            [other, NOTHING, 0, 0],
        ),
        (
            "scheduling attributes of another process",
            libc::SYS_sched_setattr,
            [other, NOTHING, 0, 0],
        ),
        ("priority of another process", libc::SYS_setpriority, [0, other, 0, 0]),
        ("priority of a group", libc::SYS_setpriority, [1, 0, 0, 0]),
        ("priority of a user", libc::SYS_setpriority, [2, 0, 0, 0]),
        (
            "I/O priority of another process",
            libc::SYS_ioprio_set,
            [1, other, 0, 0],
        ),
        ("I/O priority of a group", libc::SYS_ioprio_set, [2, 0, 0, 0]),
        ("I/O priority of a user", libc::SYS_ioprio_set, [3, 0, 0, 0]),
        ("outliving the broker", libc::SYS_prctl, [1, 0, 0, 0]),
        ("F_SETOWN", libc::SYS_fcntl, [NOTHING, 8, other, 0]),
        ("F_SETOWN_EX", libc::SYS_fcntl, [NOTHING, 15, NOTHING, 0]),
        ("a lease", libc::SYS_fcntl, [NOTHING, 1024, 0, 0]),
        ("notifications of a folder", libc::SYS_fcntl, [NOTHING, 1026, 0, 0]),
        ("FIOSETOWN", libc::SYS_ioctl, [NOTHING, 0x8901, NOTHING, 0]),
        ("SIOCSPGRP", libc::SYS_ioctl, [NOTHING, 0x8902, NOTHING, 0]),
        (
            "typing into a terminal",
            libc::SYS_ioctl,
            [NOTHING, libc::TIOCSTI, NOTHING, 0],
        ),
        (
            "pasting into a console",
            libc::SYS_ioctl,
            [NOTHING, libc::TIOCLINUX, NOTHING, 0],
        ),
        ("taking a terminal", libc::SYS_ioctl, [NOTHING, libc::TIOCSCTTY, 0, 0]),
        (
            "foreground group of a terminal",
            libc::SYS_ioctl,
            [NOTHING, libc::TIOCSPGRP, NOTHING, 0],
        ),
        (
            "modes of a terminal",
            libc::SYS_ioctl,
            [NOTHING, libc::TCSETS, NOTHING, 0],
        ),
        ("peer of a pseudoterminal", libc::SYS_ioctl, [NOTHING, 0x5441, 0, 0]),
        (
            "unlocking a pseudoterminal",
            libc::SYS_ioctl,
            [NOTHING, 0x4004_5431, NOTHING, 0],
        ),
        ("flags of a file", libc::SYS_ioctl, [NOTHING, 0x4008_6602, NOTHING, 0]),
        (
            "32-bit flags of a file",
            libc::SYS_ioctl,
            [NOTHING, 0x4004_6602, NOTHING, 0],
        ),
        (
            "attributes of a file",
            libc::SYS_ioctl,
            [NOTHING, 0x401c_5820, NOTHING, 0],
        ),
        ("sealing a file", libc::SYS_ioctl, [NOTHING, 0x4080_6685, NOTHING, 0]),
        ("a datagram socket pair", libc::SYS_socketpair, [1, 2, 0, NOTHING]),
        (
            "a nonblocking datagram socket pair",
            libc::SYS_socketpair,
            [1, 2 | libc::SOCK_NONBLOCK as u64, 0, NOTHING],
        ),
        ("a raw socket pair", libc::SYS_socketpair, [1, 3, 0, NOTHING]),
        (
            "a socket pair of another family",
            libc::SYS_socketpair,
            [16, 1, 0, NOTHING],
        ),
        (
            "a child of the parent",
            libc::SYS_clone,
            [libc::CLONE_PARENT as u64, 0, 0, 0],
        ),
        (
            "a child in another namespace",
            libc::SYS_clone,
            [libc::CLONE_NEWUSER as u64, 0, 0, 0],
        ),
    ];
    let namespaces = [
        libc::CLONE_NEWNS,
        libc::CLONE_NEWCGROUP,
        libc::CLONE_NEWUTS,
        libc::CLONE_NEWIPC,
        libc::CLONE_NEWPID,
        libc::CLONE_NEWNET,
    ];
    let children = namespaces.map(|flag| ("a namespace", libc::SYS_clone, [flag as u64, 0, 0, 0]));
    let allowed = [
        ("a signal to the own process", libc::SYS_kill, [own, no_signal, 0, 0]),
        ("own limits", libc::SYS_prlimit64, [0, 0, 0, 0]),
        ("own limits by process id", libc::SYS_prlimit64, [own, 0, 0, 0]),
        ("own CPU affinity", libc::SYS_sched_setaffinity, [0, 0, NOTHING, 0]),
        (
            "PR_GET_DUMPABLE",
            libc::SYS_prctl,
            [libc::PR_GET_DUMPABLE as u64, 0, 0, 0],
        ),
        ("flags of a descriptor", libc::SYS_fcntl, [NOTHING, 3, 0, 0]),
        ("TCGETS", libc::SYS_ioctl, [NOTHING, libc::TCGETS, NOTHING, 0]),
        ("TIOCGWINSZ", libc::SYS_ioctl, [NOTHING, libc::TIOCGWINSZ, NOTHING, 0]),
        ("FIONREAD", libc::SYS_ioctl, [NOTHING, libc::FIONREAD, NOTHING, 0]),
        ("FIONBIO", libc::SYS_ioctl, [NOTHING, libc::FIONBIO, NOTHING, 0]),
        ("FIOCLEX", libc::SYS_ioctl, [NOTHING, libc::FIOCLEX, 0, 0]),
        ("FIONCLEX", libc::SYS_ioctl, [NOTHING, libc::FIONCLEX, 0, 0]),
        (
            "a driver's command",
            libc::SYS_ioctl,
            [NOTHING, 0xc020_462a, NOTHING, 0],
        ),
        ("a stream socket pair", libc::SYS_socketpair, [1, 1, 0, NOTHING]),
        (
            "a sequenced-packet socket pair, closed on exec",
            libc::SYS_socketpair,
            [1, 5 | libc::SOCK_CLOEXEC as u64, 0, NOTHING],
        ),
    ];
    for role in ROLES {
        let of = |table: &[(&str, i64, [u64; 4])]| {
            let calls: Vec<_> = table
                .iter()
                .map(|(_, number, arguments)| (*number, *arguments))
                .collect();
            answers(role, &calls)
        };
        for table in [&refused[..], &children[..]] {
            for ((what, ..), answer) in table.iter().zip(of(table)) {
                assert_eq!(answer, BY_THE_FILTER, "{role:?}: {what}");
            }
        }
        for ((what, ..), answer) in allowed.iter().zip(of(&allowed)) {
            assert_ne!(answer, BY_THE_FILTER, "{role:?}: {what}");
        }
    }
}

/// If a process cannot start others, none can outlive it.
#[test]
fn only_roles_that_may_start_processes_can_do_so() {
    let exit_signal = libc::SIGCHLD as u64;
    let child = (libc::SYS_clone, [exit_signal, 0, 0, 0]);
    let program = (libc::SYS_execve, [NOTHING; 4]);
    let program_at = (libc::SYS_execveat, [NOTHING; 4]);
    assert_eq!(
        answers(Calls::OfThreads, &[child, program, program_at]),
        [BY_THE_FILTER; 3]
    );
    assert_eq!(
        answers(Calls::OfProcesses, &[child, program, program_at]),
        [0, libc::EFAULT, libc::EFAULT]
    );
    if FORK >= 0 {
        assert_eq!(answers(Calls::OfThreads, &[(FORK, [0; 4])]), [BY_THE_FILTER]);
        assert!(rules(Calls::OfThreads, 1).unwrap().contains_key(&(FORK + 1)), "vfork");
    }
    let threads = std::thread::spawn(|| {
        seccompiler::apply_filter(&program_of(Calls::OfThreads)).unwrap();
        std::thread::spawn(|| 1).join().unwrap()
    });
    assert_eq!(threads.join().unwrap(), 1);
}

fn program_of(calls: Calls) -> BpfProgram {
    program(rules(calls, std::process::id()).unwrap(), BY_THE_FILTER).unwrap()
}
