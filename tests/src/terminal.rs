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

/// A pseudoterminal, and a thread that reads what is printed to it.
#[derive(Debug)]
pub struct Terminal {
    columns: usize,
    keyboard: File,
    printed: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
}

impl Terminal {
    /// Creates a terminal with this many columns, and returns it with the side for a program.
    ///
    /// # Panics
    /// If the system has no free pseudoterminal.
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
        let written = Arc::clone(&printed);
        let terminal = Terminal {
            columns: columns.into(),
            keyboard,
            printed,
            reader: std::thread::spawn(move || read(ours, &written)),
        };
        (terminal, theirs)
    }

    /// Starts the tool in a crate's folder on a new terminal, as a shell does: the terminal is its
    /// standard input, output and error, and the controlling terminal of its session.
    ///
    /// # Panics
    /// If `setsid` is not installed.
    pub fn running(columns: u16, fixture: &Fixture, arguments: &[&str]) -> (Terminal, Child) {
        let (terminal, theirs) = Terminal::new(columns);
        let stream = || Stdio::from(theirs.try_clone().expect("a descriptor"));
        let child = Command::new("setsid")
            .args(["--ctty", "--wait", tool().as_str(), "gpubench"])
            .args(arguments)
            .env("CARGO_TARGET_DIR", Fixture::target_directory())
            .env("GPUBENCH_NO_LAST_RUN", "true")
            .current_dir(fixture.directory())
            .stdin(stream())
            .stdout(stream())
            .stderr(stream())
            .spawn();
        (terminal, child.expect("setsid is installed"))
    }

    /// Waits until a text is printed.
    ///
    /// # Panics
    /// If it is not printed in time.
    pub fn wait_for(&self, text: &str) {
        wait_until(text, Duration::from_secs(300), || {
            self.so_far().contains(text).then_some(())
        });
    }

    /// Presses Ctrl-C.
    ///
    /// # Panics
    /// If no process has the terminal open.
    pub fn interrupt(&self) {
        (&self.keyboard).write_all(b"\x03").expect("the terminal takes it");
    }

    /// Waits until all programs have closed the terminal, and returns everything that they printed.
    ///
    /// # Panics
    /// If it is not UTF-8.
    pub fn text(self) -> String {
        self.end().0
    }

    /// Waits in the same way, and returns the final contents of the screen.
    ///
    /// # Panics
    /// Same as [`text`](Terminal::text).
    pub fn screen(self) -> String {
        let (text, columns) = self.end();
        screen(&text, columns)
    }

    fn end(self) -> (String, usize) {
        // A second descriptor of our side does not delay the end of the program's side.
        let Terminal {
            columns,
            printed,
            reader,
            ..
        } = self;
        reader.join().expect("the reader ends");
        let bytes = std::mem::take(&mut *printed.lock().expect("no thread panicked"));
        let text = String::from_utf8(bytes).expect("the text is UTF-8");
        (text.replace("\r\n", "\n"), columns)
    }

    fn so_far(&self) -> String {
        String::from_utf8_lossy(&self.printed.lock().expect("no thread panicked")).into_owned()
    }
}

fn read(mut terminal: File, written: &Mutex<Vec<u8>>) {
    let mut piece = [0; 4096];
    // Reading returns an error instead of an end when the other side is closed.
    while let Ok(length @ 1..) = terminal.read(&mut piece) {
        written
            .lock()
            .expect("no thread panicked")
            .extend_from_slice(&piece[..length]);
    }
}

/// Returns the lines that remain on the screen after carriage returns and line erasures.
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
