//! A terminal for the tool to print to.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::run::wait_until;
use crate::{Fixture, tool};

/// A pseudo terminal, and a thread that reads what is printed to it.
#[derive(Debug)]
pub struct Terminal {
    columns: usize,
    keyboard: File,
    printed: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
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
        let ours = File::from(ours);
        let keyboard = ours.try_clone().expect("a descriptor");
        let printed = Arc::default();
        let heard = Arc::clone(&printed);
        let terminal = Terminal {
            columns: columns.into(),
            keyboard,
            printed,
            reader: std::thread::spawn(move || read(ours, &heard)),
        };
        (terminal, theirs)
    }

    /// Starts the tool in a crate's folder with a terminal of so many columns as a shell gives it:
    /// for its input and its output, and as the terminal of its session.
    ///
    /// # Panics
    /// When `setsid` is not installed.
    pub fn running(columns: u16, fixture: &Fixture, arguments: &[&str]) -> (Terminal, Child) {
        let (terminal, theirs) = Terminal::new(columns);
        let stream = || Stdio::from(theirs.try_clone().expect("a descriptor"));
        let child = Command::new("setsid")
            .args(["--ctty", "--wait", tool().as_str(), "gpubench"])
            .args(arguments)
            .env("CARGO_TARGET_DIR", Fixture::target_directory())
            .current_dir(fixture.directory())
            .stdin(stream())
            .stdout(stream())
            .stderr(stream())
            .spawn();
        (terminal, child.expect("setsid is installed"))
    }

    /// Waits until something has been printed.
    ///
    /// # Panics
    /// When it is not.
    pub fn wait_for(&self, text: &str) {
        wait_until(text, Duration::from_secs(300), || {
            self.so_far().contains(text).then_some(())
        });
    }

    /// Ctrl-C.
    ///
    /// # Panics
    /// When nobody holds the terminal any more.
    pub fn interrupt(&self) {
        (&self.keyboard).write_all(b"\x03").expect("the terminal takes it");
    }

    /// Everything that was printed, once all who could print have closed their side.
    ///
    /// # Panics
    /// When it is not UTF-8.
    pub fn text(self) -> String {
        self.end().0
    }

    /// What stands on the screen in the end, likewise.
    ///
    /// # Panics
    /// As [`text`](Terminal::text).
    pub fn screen(self) -> String {
        let (text, columns) = self.end();
        screen(&text, columns)
    }

    fn end(self) -> (String, usize) {
        // A second descriptor of our side would keep nobody from the end of the other.
        let Terminal {
            columns,
            printed,
            reader,
            ..
        } = self;
        reader.join().expect("the reader ends");
        let bytes = std::mem::take(&mut *printed.lock().expect("nobody panicked"));
        let text = String::from_utf8(bytes).expect("the text is UTF-8");
        (text.replace("\r\n", "\n"), columns)
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.printed.lock().expect("nobody panicked")).into_owned()
    }
}

fn read(mut terminal: File, heard: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4096];
    // A terminal whose other side is closed gives an error instead of an end.
    while let Ok(length @ 1..) = terminal.read(&mut piece) {
        heard
            .lock()
            .expect("nobody panicked")
            .extend_from_slice(&piece[..length]);
    }
}

/// What is left of a text on the screen: lines are rewritten after a carriage return, and erased to
/// their end.
fn screen(text: &str, columns: usize) -> String {
    const ERASE: &str = "\u{1b}[K";
    let mut lines = vec![Vec::new()];
    let mut column = 0;
    for letter in text.replace(ERASE, "\0").chars() {
        let last = lines.len() - 1;
        match letter {
            '\n' => {
                lines.push(Vec::new());
                column = 0;
            }
            '\r' => column = 0,
            '\0' => lines[last].truncate(column),
            letter => {
                if column == columns {
                    lines.push(Vec::new());
                    column = 0;
                }
                let line = lines.last_mut().expect("there is a line");
                line.resize(line.len().max(column + 1), ' ');
                line[column] = letter;
                column += 1;
            }
        }
    }
    let lines: Vec<String> = lines.into_iter().map(|line| line.into_iter().collect()).collect();
    lines.join("\n")
}
