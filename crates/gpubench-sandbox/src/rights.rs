//! The capabilities of processes.
//!
//! Capabilities come from the caller alone: root, or a user to whom something else has given them
//! as ambient ones. An executable with capabilities of its own would give them to every user, with
//! the libraries and the programs that this user's environment names.

use rustix::io::Errno;
use rustix::process::{getegid, geteuid, getgid, getuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, capability_is_in_ambient_set, clear_ambient_capability_set,
    configure_capability_in_ambient_set, remove_capability_from_bounding_set, set_capabilities,
};

/// What a process may do with capabilities, if its caller has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rights {
    /// Nothing.
    #[default]
    None,
    /// To read the files that its caller can read: a compiler in the home of the user who called
    /// `sudo`, for example.
    ReadFiles,
    /// To read the counters of a GPU, in a process that a profiler of the caller may run.
    CountOnGpu,
    /// To lock the clocks of a GPU, and a file of its caller meanwhile.
    LockClocks,
    /// To observe the processes of others.
    Observe,
}

impl Rights {
    const fn capabilities(self) -> CapabilitySet {
        match self {
            Rights::None => CapabilitySet::empty(),
            Rights::ReadFiles => CapabilitySet::DAC_READ_SEARCH,
            Rights::CountOnGpu => CapabilitySet::DAC_READ_SEARCH
                .union(CapabilitySet::PERFMON)
                .union(CapabilitySet::SYS_ADMIN),
            Rights::LockClocks => CapabilitySet::DAC_OVERRIDE.union(CapabilitySet::SYS_ADMIN),
            // The last two are for kernels that know neither `CAP_BPF` nor its accounts of memory.
            Rights::Observe => CapabilitySet::BPF
                .union(CapabilitySet::PERFMON)
                .union(CapabilitySet::SYS_PTRACE)
                .union(CapabilitySet::DAC_READ_SEARCH)
                .union(CapabilitySet::SYS_ADMIN)
                .union(CapabilitySet::SYS_RESOURCE),
        }
    }
}

/// The executable has rights that its caller lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this executable has rights that its caller lacks: capabilities, or those of its owner or group")]
pub struct ForeignRights;

/// To whom the capabilities of a process were granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granted {
    /// To its caller, who has them without this executable, too. Or there are none.
    ToCaller,
    /// To its executable's file: whoever may execute it has them.
    ToExecutable,
}

/// The executable has more rights than it needs to observe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this executable has more rights than those to observe: other capabilities, or those of its owner or group")]
pub struct TooManyRights;

/// Gives up all capabilities but those to observe, for good, unless the caller is root. No program
/// inherits any from this process, but from root. Call it before anything else.
///
/// # Errors
/// If the executable is set-user-ID or set-group-ID, or its file has other capabilities.
pub fn begin_to_observe() -> Result<Granted, TooManyRights> {
    if getuid() != geteuid() || getgid() != getegid() {
        return Err(TooManyRights);
    }
    let kept = Rights::Observe.capabilities();
    let permitted = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.permitted);
    if getuid().is_root() {
        let _ = reduce(CapabilitySet::all(), CapabilitySet::empty());
        return Ok(Granted::ToCaller);
    }
    let of_file = of_file(permitted);
    if !kept.contains(of_file) {
        return Err(TooManyRights);
    }
    // Where this fails, the process has none to begin with.
    let _ = reduce(kept, CapabilitySet::empty());
    Ok(if of_file.is_empty() {
        Granted::ToCaller
    } else {
        Granted::ToExecutable
    })
}

/// Returns those of the permitted capabilities that the caller does not have. Others than root have
/// those that they inherited.
fn of_file(permitted: CapabilitySet) -> CapabilitySet {
    let inherited = each(permitted).filter(|one| capability_is_in_ambient_set(*one).unwrap_or(false));
    permitted.difference(inherited.fold(CapabilitySet::empty(), CapabilitySet::union))
}

/// Starts a program that has these rights, if this process's caller has them. Others that this
/// process starts do not.
///
/// # Errors
/// The program cannot be started.
pub fn spawn_with_rights(command: &mut std::process::Command, rights: Rights) -> std::io::Result<std::process::Child> {
    // Capabilities are a thread's own.
    std::thread::scope(|threads| {
        let spawned = threads.spawn(|| {
            let _ = reduce(CapabilitySet::all(), rights.capabilities());
            command.spawn()
        });
        spawned.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Executes a program in place of this one, with these rights if this process's caller has them.
/// Returns only if that fails, with the reason.
pub fn execute_with_rights(command: &mut std::process::Command, rights: Rights) -> std::io::Error {
    let _ = reduce(CapabilitySet::all(), rights.capabilities());
    std::os::unix::process::CommandExt::exec(command)
}

/// Makes sure that all rights of this process are its caller's, and that no program inherits
/// capabilities from it. A caller that is not root keeps at most those to observe and to count,
/// until [`keep_in_broker`]. Call it before anything else.
///
/// # Errors
/// If the executable's file has capabilities, or is set-user-ID or set-group-ID.
pub fn begin_with_rights_of_caller() -> Result<(), ForeignRights> {
    let is_root = getuid().is_root();
    // Without capabilities, as in some containers, nothing is known and nothing is there to drop.
    let permitted = capabilities(None).map_or(CapabilitySet::empty(), |sets| sets.permitted);
    // Root's capabilities come with the user.
    let has_foreign = !is_root && !of_file(permitted).is_empty();
    if getuid() != geteuid() || getgid() != getegid() || has_foreign {
        return Err(ForeignRights);
    }
    let kept = if is_root {
        CapabilitySet::all()
    } else {
        Rights::Observe.capabilities()
    };
    let _ = reduce(kept, CapabilitySet::empty());
    Ok(())
}

/// Gives up capabilities that are not for `rights`, for good. What is kept, no program inherits.
/// Root keeps those of its user. Call it while the process has one thread.
///
/// # Errors
/// If the operating system refuses.
pub fn keep_in_broker(rights: Rights) -> rustix::io::Result<()> {
    if getuid().is_root() {
        Ok(())
    } else {
        reduce(rights.capabilities(), CapabilitySet::empty())
    }
}

/// Gives up capabilities that are not for `rights`, for good, also as root. A program that this
/// thread executes has the others. It makes only system calls.
///
/// # Errors
/// If the operating system refuses.
pub(crate) fn keep_only(rights: Rights) -> rustix::io::Result<()> {
    let kept = rights.capabilities();
    for other in each(CapabilitySet::all()).filter(|other| !kept.contains(*other)) {
        match remove_capability_from_bounding_set(other) {
            // It needs a right itself, without which nothing can be regained either.
            Ok(()) | Err(Errno::PERM) => {}
            // The kernel knows no further ones.
            Err(_) => break,
        }
    }
    reduce(kept, kept)
}

/// Gives up all capabilities, for good. Call it while the process has one thread.
///
/// # Errors
/// If the operating system refuses.
pub fn drop_capabilities() -> rustix::io::Result<()> {
    keep_only(Rights::None)
}

/// Gives up capabilities that are not in `kept`. Programs inherit those in `inherited`.
fn reduce(kept: CapabilitySet, inherited: CapabilitySet) -> rustix::io::Result<()> {
    let has = capabilities(None)?;
    // A kernel without ambient capabilities has none to clear.
    let _ = clear_ambient_capability_set();
    let permitted = has.permitted & kept;
    let wanted = CapabilitySets {
        effective: has.effective & permitted,
        permitted,
        inheritable: permitted & inherited,
    };
    if wanted != has {
        set_capabilities(None, wanted)?;
    }
    for one in each(permitted & inherited) {
        // Root hands capabilities over without this. Others may be kept from it.
        let _ = configure_capability_in_ambient_set(one, true);
    }
    Ok(())
}

/// Returns the capabilities in a set, one by one.
fn each(set: CapabilitySet) -> impl Iterator<Item = CapabilitySet> {
    let numbers = 0..u64::BITS;
    numbers
        .map(|number| CapabilitySet::from_bits_retain(1 << number))
        .filter(move |one| set.contains(*one))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs `check` in a thread of its own, since capabilities are those of a thread.
    fn in_a_thread(check: impl FnOnce() + Send + 'static) {
        std::thread::spawn(check).join().expect("it passes");
    }

    #[test]
    fn the_broker_of_root_keeps_what_it_has_and_that_of_another_user_only_what_it_needs() {
        in_a_thread(|| {
            let before = capabilities(None).expect("capabilities").permitted;
            keep_in_broker(Rights::ReadFiles).expect("they can be reduced");
            let after = capabilities(None).expect("capabilities").permitted;
            let wanted = if getuid().is_root() {
                before
            } else {
                before & Rights::ReadFiles.capabilities()
            };
            assert_eq!(after, wanted);
        });
    }

    #[test]
    fn what_a_process_inherited_is_not_of_its_file() {
        in_a_thread(|| {
            let all = capabilities(None).expect("capabilities").permitted;
            let own = Rights::ReadFiles.capabilities();
            if all.contains(own) {
                keep_only(Rights::ReadFiles).expect("they can be reduced");
                assert_eq!(of_file(own), CapabilitySet::empty());
                let more = own.union(CapabilitySet::SYS_ADMIN);
                assert_eq!(of_file(more), CapabilitySet::SYS_ADMIN);
            }
        });
    }

    #[test]
    fn no_right_has_more_than_its_capabilities() {
        let number = |rights: Rights| each(rights.capabilities()).count();
        assert_eq!(number(Rights::None), 0);
        assert_eq!(number(Rights::ReadFiles), 1);
        assert_eq!(number(Rights::CountOnGpu), 3);
        assert_eq!(number(Rights::LockClocks), 2);
        assert_eq!(number(Rights::Observe), 6);
    }
}
