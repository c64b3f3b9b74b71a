//! A terminal for the tool to print to.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// A pseudo terminal, and a thread that reads what is printed to it.
#[derive(Debug)]
pub struct Terminal {
    reader: JoinHandle<String>,
}

impl Terminal {
    /// A terminal of so many columns, and its side for a program to print to.
    ///
    /// # Panics
    /// When the system has no more of them.
    pub fn new(columns: u16) -> (Terminal, OwnedFd) {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a pseudo terminal");
        grantpt(&ours).expect("it is ours");
        unlockpt(&ours).expect("it is ours");
        let name = ptsname(&ours, Vec::new()).expect("it has a name");
        let theirs = open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty()).expect("it opens");
        let size = Winsize {
            ws_row: 50,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&theirs, size).expect("it has a size");
        let reader = std::thread::spawn(move || read(File::from(ours)));
        (Terminal { reader }, theirs)
    }

    /// Everything that was printed, once all who could print have closed their side.
    ///
    /// # Panics
    /// When it is not UTF-8.
    pub fn text(self) -> String {
        self.reader.join().expect("the text is UTF-8").replace("\r\n", "\n")
    }
}

fn read(mut terminal: File) -> String {
    let mut text = Vec::new();
    let mut piece = [0; 4096];
    // A terminal whose other side is closed gives an error instead of an end.
    while let Ok(length @ 1..) = terminal.read(&mut piece) {
        text.extend_from_slice(&piece[..length]);
    }
    String::from_utf8(text).expect("the text is UTF-8")
}
