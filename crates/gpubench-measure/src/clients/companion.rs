//! A program that runs in addition to the roles.

use std::io;
use std::process::{Child, Command};

use super::strays::Registered;
use gpubench_sandbox::{Rights, spawn_with_rights};

/// A program that runs in addition to the roles. It is killed when this is dropped.
#[derive(Debug)]
pub struct Companion {
    process: Child,
    registered: Registered,
}

impl Companion {
    /// Starts a program, with these rights if the caller of this process has them.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(command: &mut Command, rights: Rights) -> io::Result<Companion> {
        let (process, registered) = Registered::start_by(|| spawn_with_rights(command, rights))?;
        Ok(Companion { process, registered })
    }

    /// Returns the process, to take its pipes.
    pub fn process(&mut self) -> &mut Child {
        &mut self.process
    }
}

impl Drop for Companion {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.process.kill();
        let _ = self.registered.reap(&mut self.process);
    }
}
