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
    // Root's capabilities come with the user. Others have those that they inherited.
    let of_file = each(permitted).any(|one| !capability_is_in_ambient_set(one).unwrap_or(false));
    if getuid() != geteuid() || getgid() != getegid() || (of_file && !is_root) {
        return Err(ForeignRights);
    }
    let kept = match is_root {
        true => CapabilitySet::all(),
        false => Rights::Observe.capabilities(),
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
    match getuid().is_root() {
        true => Ok(()),
        false => reduce(rights.capabilities(), CapabilitySet::empty()),
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
pub fn give_up_capabilities() -> rustix::io::Result<()> {
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
