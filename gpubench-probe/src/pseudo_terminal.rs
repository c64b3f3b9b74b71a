//! The terminal of an observed command, while the real one shows the screen.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::Stdio;

use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcgetwinsize, tcsetwinsize};

/// A terminal whose output is read here. Programs behave on it as on the real one.
#[derive(Debug)]
pub(super) struct PseudoTerminal {
    ours: OwnedFd,
    /// The command's side, until the command has it.
    theirs: Option<File>,
}

impl PseudoTerminal {
    /// Returns a terminal as large as the real one.
    ///
    /// # Errors
    /// The system has none.
    pub(super) fn open() -> io::Result<Self> {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
        grantpt(&ours)?;
        unlockpt(&ours)?;
        let name = ptsname(&ours, Vec::new())?;
        let theirs = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
        let flags = fcntl_getfl(&ours)?;
        fcntl_setfl(&ours, flags | OFlags::NONBLOCK)?;
        let terminal = Self {
            ours,
            theirs: Some(File::from(theirs)),
        };
        terminal.resize();
        Ok(terminal)
    }

    /// Makes it as large as the real one.
    pub(super) fn resize(&self) {
        let size: Result<Winsize, _> = tcgetwinsize(io::stderr());
        if let Ok(size) = size {
            // A program that asks for another size wraps its lines elsewhere.
            let _ = tcsetwinsize(&self.ours, size);
        }
    }

    /// Returns the command's side, for one of its streams.
    ///
    /// # Errors
    /// There are no more descriptors.
    pub(super) fn stdio(&self) -> io::Result<Stdio> {
        match &self.theirs {
            Some(file) => Ok(file.try_clone()?.into()),
            None => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// Closes the command's side here, once the command has it.
    pub(super) fn started(&mut self) {
        self.theirs = None;
    }

    /// Returns what the command wrote, at most `most` bytes. Nothing if it wrote nothing more.
    pub(super) fn read(&self, most: usize) -> Vec<u8> {
        let mut written = Vec::new();
        let mut buffer = [0; 16 * 1024];
        while written.len() < most {
            let room = buffer.len().min(most - written.len());
            // An error means that nothing waits, or that no process has the other side any more.
            match rustix::io::read(&self.ours, &mut buffer[..room]) {
                Ok(0) | Err(_) => break,
                Ok(bytes) => written.extend_from_slice(&buffer[..bytes]),
            }
        }
        written
    }
}

impl AsFd for PseudoTerminal {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ours.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn of_an_endless_output_a_part_is_read_at_once_and_nothing_is_lost() {
        const ALL: usize = 100_000;
        let mut terminal = PseudoTerminal::open().expect("a terminal");
        let mut theirs = terminal.theirs.take().expect("the other side");
        let writer = std::thread::spawn(move || theirs.write_all(&[b'x'; ALL]));
        let mut total = 0;
        while total < ALL {
            let read = terminal.read(1000).len();
            assert!(read <= 1000);
            total += read;
        }
        writer.join().expect("no panic").expect("it writes");
        assert_eq!((total, terminal.read(1000).len()), (ALL, 0));
    }
}
