//! Which processes this program may observe for its caller.

use std::os::unix::fs::MetadataExt;

use gpubench_diagnostic::{Failure, SetupMissing};
use gpubench_observe::Users;
use gpubench_sandbox::{Granted, begin_to_observe};
use rustix::process::{getppid, getuid};

use super::ObservedTarget;
use super::error::ProbeError;

/// Which processes this program may observe for its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those that the caller's own rights cover: the kernel decides.
    Callers,
    /// Those of the caller's user. The capabilities are those of this program's file, which every
    /// user may execute.
    OfOneUser(u32),
}

impl Reach {
    /// Gives up what observing does not need. Call it before anything else.
    ///
    /// # Errors
    /// The executable is set-user-ID or set-group-ID, or has other capabilities.
    pub(super) fn begin() -> Result<Self, SetupMissing> {
        match begin_to_observe() {
            Ok(Granted::ToCaller) => Ok(Reach::Callers),
            Ok(Granted::ToExecutable) => Ok(Reach::OfOneUser(getuid().as_raw())),
            Err(refused) => Err(SetupMissing {
                what: refused.to_string(),
                hint: "of all rights, give this file at most these: `setcap cap_bpf,cap_perfmon,cap_sys_ptrace+ep \
                       gpubench-probe`"
                    .to_owned(),
            }),
        }
    }

    /// Checks that a target is within reach.
    ///
    /// # Errors
    /// It is not.
    pub(super) fn covers(self, target: &ObservedTarget) -> Result<(), Failure> {
        match (self, target) {
            (Reach::Callers, _) | (_, ObservedTarget::Command(_)) => Ok(()),
            (Reach::OfOneUser(_), ObservedTarget::System) => Err(ProbeError::OtherUsers.into()),
            (Reach::OfOneUser(_), ObservedTarget::Processes(pids)) => {
                pids.iter().try_for_each(|pid| self.covers_process(*pid))
            }
        }
    }

    /// Checks that a process is within reach.
    ///
    /// # Errors
    /// It is not, or there is no such process.
    pub(super) fn covers_process(self, pid: u32) -> Result<(), Failure> {
        let Reach::OfOneUser(user) = self else {
            return Ok(());
        };
        // It is root for a process that the kernel does not let its own user look into.
        let owner = std::fs::metadata(format!("/proc/{pid}")).map_err(|_| ProbeError::NoProcess { pid })?;
        if owner.uid() == user {
            Ok(())
        } else {
            Err(ProbeError::OfAnotherUser { pid }.into())
        }
    }

    /// Returns whose calls are recorded.
    pub(super) fn users(self) -> Users {
        match self {
            Reach::Callers => Users::All,
            Reach::OfOneUser(user) => Users::One(user),
        }
    }

    /// Returns the process that started this one, if it is within reach.
    ///
    /// # Errors
    /// It is not, or it has ended.
    pub(super) fn parent(self) -> Result<u32, Failure> {
        let parent = getppid().map_or(0, |parent| parent.as_raw_nonzero().get().unsigned_abs());
        self.covers_process(parent)?;
        Ok(parent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capabilities_of_the_file_cover_processes_of_the_caller_alone() {
        let own = std::process::id();
        let user = getuid().as_raw();
        let (of_user, of_another) = (Reach::OfOneUser(user), Reach::OfOneUser(user + 1));
        assert!(of_user.covers(&ObservedTarget::Processes(vec![own])).is_ok());
        assert!(of_user.parent().is_ok());
        let refused = of_another
            .covers(&ObservedTarget::Processes(vec![own]))
            .expect_err("another user's");
        assert!(refused.to_string().contains("another user"), "{refused}");
        assert!(of_another.parent().is_err());
        assert!(of_user.covers(&ObservedTarget::System).is_err());
        assert!(of_another.covers(&ObservedTarget::Command(vec!["true".into()])).is_ok());
        assert!(Reach::Callers.covers(&ObservedTarget::System).is_ok());
    }
}
