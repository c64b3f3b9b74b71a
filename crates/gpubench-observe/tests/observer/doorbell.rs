//! A watchpoint on a word of plain memory, which a doorbell is for a processor.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use gpubench_bpf::Abilities;
use gpubench_observe::Doorbell;

use crate::double::writer;

#[test]
fn writes_of_early_main_and_later_threads_are_counted() {
    if !Abilities::here().watchpoint {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: writes_of_early_main_and_later_threads_are_counted: no watchpoints here"
        );
        return;
    }
    let mut child = Command::new(writer())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("piped");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut line = || lines.next().expect("a line").expect("text");
    let address = u64::from_str_radix(line().trim_start_matches("0x"), 16).expect("an address");
    let doorbell = Doorbell::on_words(child.id(), &[address]).expect("it can be watched");
    assert_eq!(doorbell.submissions().expect("a count"), 0);
    input.write_all(b"\n").expect("it reads");
    assert_eq!(line(), "written");
    assert_eq!(doorbell.submissions().expect("a count"), 21_500);
    drop(input);
    assert!(child.wait().expect("it ends").success());
}
