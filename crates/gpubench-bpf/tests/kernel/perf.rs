//! Perf events on processes that the tests start.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use gpubench_bpf::perf::{Lifecycle, Records, Watched, Watchpoint};
use gpubench_bpf::{Abilities, HeldChild};

use crate::target::Target;

/// Tells the address of a word, then writes to it: 20,000 times, and 1,000 times in a later thread.
/// Writes to the words next to it do not count.
const WRITER: &str = r#"
#include <pthread.h>
#include <stdio.h>
static volatile int words[4] __attribute__((aligned(16)));
static void *later(void *unused) { for (int i = 0; i < 1000; i++) words[1] = i; return unused; }
int main(void) {
  printf("%p\n", (void *)&words[1]); fflush(stdout); getchar();
  for (int i = 0; i < 20000; i++) { words[1] = i; words[0] = i; words[2] = i; }
  pthread_t thread; pthread_create(&thread, 0, later, 0); pthread_join(thread, 0);
  puts("written"); fflush(stdout); getchar();
}
"#;

#[test]
fn a_watchpoint_counts_each_write_of_the_main_thread_and_of_a_later_one() {
    let abilities = Abilities::here();
    if !abilities.watchpoint {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: a_watchpoint_counts_each_write_of_the_main_thread_and_of_a_later_one: no watchpoints here"
        );
        return;
    }
    let target = Target::build();
    let writer = target.compile("writer", WRITER, &["-pthread"]);
    let mut child = Command::new(writer)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut line = move || lines.next().expect("a line").expect("text");
    let address = line();
    let address = u64::from_str_radix(address.trim_start_matches("0x"), 16).expect("an address");
    let watchpoint = Watchpoint::on_writes(child.id(), address).expect("it can be watched");
    assert_eq!(watchpoint.writes().expect("a count"), 0);
    child.stdin.as_mut().expect("piped").write_all(b"\n").expect("it reads");
    assert_eq!(line(), "written");
    assert_eq!(watchpoint.writes().expect("a count"), 21_000);
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn records_tell_forks_execs_ends_and_mapped_libraries_of_descendants() {
    let target = Target::build();
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(format!("{} 1; exit 3", target.program().display()))
        .stdout(Stdio::null());
    let held = HeldChild::start(command).expect("a process");
    let pid = held.pid();
    let mut records = match Records::open(Watched::Process(pid)) {
        Ok(records) => records,
        Err(error) => {
            let _ = writeln!(
                std::io::stderr(),
                "skipped: records_tell_forks_execs_ends_and_mapped_libraries_of_descendants: {error}"
            );
            return;
        }
    };
    let status = held.release().expect("it runs").wait().expect("it ends");
    assert_eq!(status.code(), Some(3));
    let records = records.read();
    let forked = records
        .iter()
        .find(|record| record.what == Lifecycle::Forked { parent: pid });
    let child = forked.expect("the shell forked").pid;
    let is_exec = |wanted: u32, name: &str| {
        let exec = Lifecycle::Exec {
            command: name.to_owned(),
        };
        records.iter().any(|record| record.pid == wanted && record.what == exec)
    };
    assert!(is_exec(pid, "sh") && is_exec(child, "program"), "{records:#?}");
    let library = std::fs::canonicalize(target.library()).expect("it is there");
    let maps = |record: &&gpubench_bpf::perf::Record| {
        matches!(&record.what, Lifecycle::Mapped { name, protection, .. }
            if *name == library && protection & libc::PROT_EXEC.cast_unsigned() != 0)
    };
    assert_eq!(records.iter().find(maps).expect("it is mapped").pid, child);
    for ended in [pid, child] {
        assert!(
            records
                .iter()
                .any(|record| record.pid == ended && record.what == Lifecycle::Exited)
        );
    }
    assert!(records.is_sorted_by_key(|record| record.at));
}
