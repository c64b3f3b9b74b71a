//! Processes from fork to exit, told apart.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use gpubench_observe::Source as _;
use gpubench_observe::{
    Descendants, Event, EventKind, Launches, Lifecycles, ObserveError, Observer, Origin, ProcessId, ProcessStart,
    Target, Users,
};

use crate::double::{Seen, Stubs, driver_folder, may_observe, of_assembly, program};

fn starts(seen: &Seen) -> Vec<(ProcessId, ProcessStart)> {
    let start = |event: &Event| match &event.kind {
        EventKind::Started(start) => Some((event.process, start.clone())),
        _ => None,
    };
    seen.events.iter().filter_map(start).collect()
}

fn is_end_of(pid: u32) -> impl Fn(&Event) -> bool {
    move |event| event.process.pid == pid && matches!(event.kind, EventKind::Exited { .. })
}

#[test]
fn forks_execs_and_ends_separate_processes() {
    if !may_observe("forks_execs_and_ends_separate_processes") {
        return;
    }
    let seen = Seen::from_command(program("dynamic", Stubs::Call, &["fork"]));
    let starts = starts(&seen);
    let [(parent, started), (first, forked), (second, executed), (last, again)] = &starts[..] else {
        panic!("{starts:#?}");
    };
    assert_eq!(started.origin, Origin::Exec { before: None });
    assert_eq!(started.command.last().map(String::as_str), Some("fork"));
    let executable = started.executable.as_deref().expect("a program");
    assert!(executable.ends_with("dynamic"), "{executable:?}");
    let parent = *parent;
    assert_eq!(
        (forked.origin, again.origin),
        (Origin::Fork { parent }, Origin::Fork { parent })
    );
    assert_eq!(executed.origin, Origin::Exec { before: Some(*first) });
    assert_eq!(executed.executable, started.executable, "it executes `/proc/self/exe`");
    assert_eq!(executed.command.last().map(String::as_str), Some("short"));
    assert_eq!((first.pid, first.started < second.started), (second.pid, true));
    let launches = |process: &ProcessId| {
        let of = seen.events.iter().filter(|event| event.process == *process);
        of.filter(|event| matches!(event.kind, EventKind::Launch(_))).count()
    };
    assert_eq!([&parent, first, second, last].map(launches), [2, 1, 1, 0]);
    let status = |process: &ProcessId| {
        seen.events.iter().find_map(|event| match event.kind {
            EventKind::Exited { status } if event.process == *process => Some(status),
            _ => None,
        })
    };
    // `wait` has the code of an exit in its second byte.
    let expected = [Some(Some(0)), Some(None), Some(Some(0)), Some(Some(5 << 8))];
    assert_eq!([&parent, first, second, last].map(status), expected);
}

#[test]
fn begins_and_ends_of_processes_are_seen_without_probes() {
    let command = program("dynamic", Stubs::Call, &["fork"]);
    let mut lifecycles = match Lifecycles::attach(Target::Command(command), Descendants::Followed) {
        Ok(lifecycles) => lifecycles,
        Err(error) => {
            let _ = writeln!(
                std::io::stderr(),
                "skipped: begins_and_ends_of_processes_are_seen_without_probes: {error}"
            );
            return;
        }
    };
    lifecycles.child().expect("a child").wait().expect("it ends");
    let seen = Seen::rest(&mut lifecycles);
    let starts = starts(&seen);
    let [(parent, started), (first, forked), (second, executed), (last, again)] = &starts[..] else {
        panic!("{starts:#?}");
    };
    let parent = *parent;
    assert_eq!(started.origin, Origin::Exec { before: None });
    assert_eq!(
        (forked.origin, again.origin),
        (Origin::Fork { parent }, Origin::Fork { parent })
    );
    assert_eq!(executed.origin, Origin::Exec { before: Some(*first) });
    assert_eq!(first.pid, second.pid);
    for process in [&parent, first, second, last] {
        let is_end = |event: &&Event| event.process == *process && matches!(event.kind, EventKind::Exited { .. });
        assert_eq!(seen.events.iter().filter(is_end).count(), 1);
    }
}

#[test]
fn grandchildren_of_a_shell_are_observed() {
    if !may_observe("grandchildren_of_a_shell_are_observed") {
        return;
    }
    let inner = program("dynamic", Stubs::Call, &["short"]);
    let mut command = Command::new("sh");
    command
        .args(["-c", "(\"$0\" short & \"$0\" short; wait) & wait"])
        .arg(inner.get_program())
        .env("LD_LIBRARY_PATH", driver_folder(Stubs::Call));
    let seen = Seen::from_command(command);
    assert_eq!(seen.launched_names(), ["short_lived"; 2]);
}

#[test]
fn a_new_process_with_the_pid_of_a_dead_one_is_another_process() {
    if !may_observe("a_new_process_with_the_pid_of_a_dead_one_is_another_process") {
        return;
    }
    // The kernel gives the next process the next pid. Others may be faster, so the script repeats.
    const LAST_PID: &str = "/proc/sys/kernel/ns_last_pid";
    let script = r#"
        "$0" short & first=$!; wait $first
        for attempt in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
            echo $((first - 1)) > "$1"; "$0" allocate 2 & second=$!; wait $second
            [ $first = $second ] && exit 0
        done
        exit 1"#;
    let inner = program("dynamic", Stubs::Call, &[]);
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(inner.get_program()).arg(LAST_PID);
    command.env("LD_LIBRARY_PATH", driver_folder(Stubs::Call));
    let mut observer = Observer::attach(Target::Command(command)).expect("it attaches");
    let status = observer.child().expect("a child").wait().expect("it ends");
    if !status.success() {
        let _ = writeln!(
            std::io::stderr(),
            "skipped: a_new_process_with_the_pid_of_a_dead_one_is_another_process: no pid was used again"
        );
        return;
    }
    let seen = Seen::rest(&mut observer);
    let launched = |event: &&Event| matches!(event.kind, EventKind::Launch(_));
    let first = seen.events.iter().find(launched).expect("it launches").process;
    let allocated = |event: &&Event| matches!(&event.kind, EventKind::Allocate(memory) if memory.bytes == 8);
    let second = seen.events.iter().rfind(allocated).expect("it allocates").process;
    assert_eq!(first.pid, second.pid);
    assert!(first.started < second.started);
    let of_first = seen
        .events
        .iter()
        .filter(|event| event.process == first)
        .filter(allocated);
    assert_eq!(of_first.count(), 0);
}

/// Starts a program that has loaded the driver and waits for a line.
fn waiting(command: &mut Command) -> std::process::Child {
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let maps = format!("/proc/{}/maps", child.id());
    while !std::fs::read_to_string(&maps)
        .unwrap_or_default()
        .contains("libcuda.so.1")
    {
        assert!(child.try_wait().expect("a child").is_none(), "it ended");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child
}

fn release(child: &mut std::process::Child) {
    child.stdin.take().expect("piped").write_all(b"\n").expect("it reads");
    child.wait().expect("it ends");
}

#[test]
fn a_running_process_is_observed_from_the_attachment_on() {
    if !may_observe("a_running_process_is_observed_from_the_attachment_on") {
        return;
    }
    let mut child = waiting(&mut program("dynamic", Stubs::Jump, &["wait"]));
    let mut other = waiting(&mut program("dynamic", Stubs::Jump, &["wait"]));
    let mut observer = Observer::attach(Target::Processes(vec![child.id()])).expect("it attaches");
    release(&mut other);
    release(&mut child);
    let seen = Seen::rest(&mut observer);
    let starts = starts(&seen);
    assert_eq!(starts.len(), 1, "the other one is not observed: {starts:?}");
    assert_eq!((starts[0].0.pid, starts[0].1.origin), (child.id(), Origin::Before));
    assert_eq!(seen.launched_names(), ["short_lived"]);
}

#[test]
fn the_whole_system_is_observed_with_processes_that_begin_later_and_live_shortly() {
    if !may_observe("the_whole_system_is_observed_with_processes_that_begin_later_and_live_shortly") {
        return;
    }
    let mut child = waiting(&mut program("dynamic", Stubs::Call, &["wait"]));
    let mut observer = Observer::attach(Target::System).expect("it attaches");
    release(&mut child);
    let mut later = program("static-runtime", Stubs::Call, &["short"])
        .spawn()
        .expect("it starts");
    later.wait().expect("it ends");
    let seen = Seen::until(&mut observer, is_end_of(later.id()));
    for (pid, name) in [(child.id(), "dynamic"), (later.id(), "static-runtime")] {
        let starts = starts(&seen);
        let (process, start) = starts
            .iter()
            .find(|(process, _)| process.pid == pid)
            .expect("it is seen");
        assert!(
            start.executable.as_deref().expect("a program").ends_with(name),
            "{start:?}"
        );
        assert!(start.command[0].ends_with(name), "{start:?}");
        let of = |event: &&Event| event.process == *process;
        let launches = seen
            .events
            .iter()
            .filter(of)
            .filter(|event| matches!(event.kind, EventKind::Launch(_)));
        assert_eq!(launches.count(), 1);
    }
}

#[test]
fn a_driver_in_another_mount_namespace_is_found() {
    if !may_observe("a_driver_in_another_mount_namespace_is_found") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let driver = driver_folder(Stubs::Call).join("libcuda.so.1");
    let mut command = Command::new("unshare");
    let script = r#"mount -t tmpfs none "$1" && cp "$2" "$1" && LD_LIBRARY_PATH="$1" exec "$3" wait"#;
    let inner = program("dynamic", Stubs::Call, &[]);
    command.args(["--mount", "sh", "-c", script, "sh"]);
    command.arg(folder.path()).arg(&driver).arg(inner.get_program());
    let mut child = waiting(&mut command);
    assert!(!folder.path().join("libcuda.so.1").exists(), "it is not seen from here");
    let mut observer = Observer::attach(Target::Processes(vec![child.id()])).expect("it attaches");
    release(&mut child);
    let seen = Seen::rest(&mut observer);
    assert_eq!(seen.launched_names(), ["short_lived"]);
}

/// Makes a copy of this program observe in a container.
const IN_CONTAINER: &str = "GPUBENCH_TEST_IN_CONTAINER";

#[test]
fn in_a_container_with_its_own_process_ids_its_processes_are_observed() {
    if !may_observe("in_a_container_with_its_own_process_ids_its_processes_are_observed") {
        return;
    }
    if std::env::var_os(IN_CONTAINER).is_none() {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--mount-proc"]);
        command.arg(std::env::current_exe().expect("this program"));
        let test = "processes::in_a_container_with_its_own_process_ids_its_processes_are_observed";
        command.args(["--exact", test, "--nocapture"]);
        let output = command.env(IN_CONTAINER, "1").output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return;
    }
    let inner = program("dynamic", Stubs::Call, &["fork"]);
    let mut command = Command::new("sh");
    command.args(["-c", "\"$0\" fork; unshare --pid --fork \"$0\" short; \"$0\" threads"]);
    command.arg(inner.get_program());
    command.env("LD_LIBRARY_PATH", driver_folder(Stubs::Call));
    let seen = Seen::from_command(command);
    assert_eq!(
        seen.launched_names()[..4],
        ["of_the_parent", "unknown", "short_lived", "of_the_parent"]
    );
    assert_eq!(
        seen.launched_names()[4..],
        ["in_thread"],
        "an inner container is another matter"
    );
    let ended = seen.kinds().filter(|kind| matches!(kind, EventKind::Exited { .. }));
    assert_eq!(starts(&seen).len(), ended.count());
    assert!(
        seen.events.iter().all(|event| event.process.pid < 100),
        "they are its own numbers"
    );
    let mut child = waiting(&mut program("dynamic", Stubs::Call, &["wait"]));
    let mut observer = Observer::attach(Target::System).expect("it attaches");
    release(&mut child);
    let seen = Seen::until(&mut observer, is_end_of(child.id()));
    assert_eq!(seen.launched_names(), ["short_lived"]);
}

#[test]
fn a_driver_that_is_mapped_later_is_probed_then() {
    if !may_observe("a_driver_that_is_mapped_later_is_probed_then") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let late = folder.path().join("libcuda.so.1");
    let mut command = Command::new("sh");
    let script = r#"read line; cp "$1" "$0"; LD_LIBRARY_PATH="${0%/*}" exec "$2" wait"#;
    let inner = program("dynamic", Stubs::Call, &[]);
    command.arg("-c").arg(script).arg(&late);
    command
        .arg(driver_folder(Stubs::Call).join("libcuda.so.1"))
        .arg(inner.get_program());
    command.stdin(Stdio::piped()).env("LD_LIBRARY_PATH", "");
    let mut observer = Observer::attach(Target::Command(command)).expect("it attaches");
    let child = observer.child().expect("a child");
    let mut input = child.stdin.take().expect("piped");
    input.write_all(b"\n").expect("it reads");
    let mut seen = Vec::new();
    let is_found = |observer: &Observer| observer.drivers().iter().any(|driver| same_file(&driver.path, &late));
    for _ in 0..10_000 {
        seen.extend(Seen::rest(&mut observer).events);
        if is_found(&observer) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(is_found(&observer), "{:?}", observer.drivers());
    input.write_all(b"\n").expect("it reads");
    observer.child().expect("a child").wait().expect("it ends");
    assert_eq!(Seen::rest(&mut observer).launched_names(), ["short_lived"]);
    let late = format!("`{}` was found when 1 process had mapped it", late.display());
    let notices = observer.notices();
    assert!(notices.iter().any(|notice| notice.starts_with(&late)), "{notices:#?}");
}

#[test]
fn a_driver_of_which_nothing_is_left_is_counted_as_lost_while_its_process_runs() {
    if !may_observe("a_driver_of_which_nothing_is_left_is_counted_as_lost_while_its_process_runs") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let odd = folder.path().join("libcuda.so.1");
    std::fs::copy(driver_folder(Stubs::Call).join("libcuda.so.1"), &odd).expect("a copy");
    let mut command = Command::new(program("maps", Stubs::Call, &[]).get_program());
    command.arg(&odd).env("LEAVE_NOTHING", "1").env("LD_LIBRARY_PATH", "");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut observer = Observer::attach(Target::Command(command)).expect("it attaches");
    let child = observer.child().expect("a child");
    let (input, output) = (child.stdin.take(), child.stdout.take());
    let mut line = [0; 7];
    std::io::Read::read_exact(&mut output.expect("piped"), &mut line).expect("it says so");
    let lost = (0..10_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        Seen::rest(&mut observer).lost > 0
    });
    drop(input);
    assert!(lost, "{:?}", observer.notices());
}

#[test]
fn a_process_that_ended_before_its_driver_was_probed_is_counted_as_lost() {
    if !may_observe("a_process_that_ended_before_its_driver_was_probed_is_counted_as_lost") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let late = folder.path().join("libcuda.so.1");
    let inner = program("dynamic", Stubs::Call, &[]);
    let mut command = Command::new("sh");
    let script = r#"cp "$1" "$0"; LD_LIBRARY_PATH="${0%/*}" "$2" short"#;
    command.arg("-c").arg(script).arg(&late);
    command
        .arg(driver_folder(Stubs::Call).join("libcuda.so.1"))
        .arg(inner.get_program());
    // Polls come too late: only when all has ended.
    let mut observer = Observer::attach(Target::System).expect("it attaches");
    let seen = Seen::from_command(command);
    assert_eq!((seen.launches().len(), seen.lost), (0, 1));
    assert!(
        Seen::rest(&mut observer).lost >= 1,
        "so it is for an observer of the system"
    );
}

fn same_file(one: &std::path::Path, other: &std::path::Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let inode = |path| {
        std::fs::metadata(path)
            .ok()
            .map(|data: std::fs::Metadata| (data.dev(), data.ino()))
    };
    inode(one) == inode(other)
}

#[test]
fn a_driver_that_lacks_functions_is_observed_all_the_same() {
    if !may_observe("a_driver_that_lacks_functions_is_observed_all_the_same") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("small.c");
    std::fs::write(
        &source,
        "int cuInit(unsigned f) { return f; } int main(void) { return cuInit(3); }",
    )
    .unwrap();
    let compile = |file: &str, options: &[&str]| {
        let mut command = Command::new("cc");
        command
            .arg(&source)
            .arg("-o")
            .arg(folder.path().join(file))
            .args(options);
        assert!(command.status().expect("there is a C compiler").success());
    };
    compile("libcuda.so.1", &["-shared", "-fPIC"]);
    let library = folder.path().join("libcuda.so.1");
    std::fs::write(&source, "int cuInit(unsigned f); int main(void) { return cuInit(3); }").unwrap();
    compile("program", &[library.to_str().unwrap()]);
    let mut command = Command::new(folder.path().join("program"));
    command.env("LD_LIBRARY_PATH", folder.path());
    let seen = Seen::from_command(command);
    assert_eq!(seen.failures(), [("cuInit".to_owned(), 3)]);
}

#[test]
fn a_driver_whose_launches_are_slow_to_observe_is_named() {
    if !may_observe("a_driver_whose_launches_are_slow_to_observe_is_named") {
        return;
    }
    let notices = |first: &str| {
        let folder = of_assembly(&format!(
            ".globl cuLaunchKernel\n.type cuLaunchKernel, %function\n\
             cuLaunchKernel: {first}\nxor %eax, %eax\nret\n.size cuLaunchKernel, 4"
        ));
        let mut command = Command::new("true");
        command.env("LD_LIBRARY_PATH", folder.path());
        let observer = Observer::attach(Target::Command(command)).expect("it attaches");
        let slow: Vec<String> = observer.notices();
        slow.into_iter()
            .filter(|notice| notice.contains("20 µs longer"))
            .count()
    };
    // The kernel emulates a `nop`.
    assert_eq!((notices("xor %ecx, %ecx"), notices("nop")), (1, 0));
}

#[test]
fn a_program_or_a_process_that_does_not_exist_is_told() {
    if !may_observe("a_program_or_a_process_that_does_not_exist_is_told") {
        return;
    }
    let error = Observer::attach(Target::Command(Command::new("/nowhere/at/all"))).expect_err("there is none");
    assert_eq!(error.to_string(), "`/nowhere/at/all` cannot be started");
    let error = Observer::attach(Target::Processes(vec![u32::MAX >> 1])).expect_err("there is none");
    assert!(matches!(error, ObserveError::NoProcess(_)));
}

#[test]
fn a_programs_output_is_the_same_under_observation() {
    if !may_observe("a_programs_output_is_the_same_under_observation") {
        return;
    }
    let script = "for word in a b c; do echo $word; done; exit 7";
    let mut command = Command::new("sh");
    command.args(["-c", script]).stdout(Stdio::piped());
    let mut observer = Observer::attach(Target::Command(command)).expect("it attaches");
    let child = observer.child().expect("a child");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let lines: Vec<String> = lines.map(|line| line.expect("text")).collect();
    assert_eq!(lines, ["a", "b", "c"]);
    assert_eq!(child.wait().expect("it ends").code(), Some(7));
}

#[test]
fn calls_of_other_users_are_not_recorded() {
    if !may_observe("calls_of_other_users_are_not_recorded") {
        return;
    }
    let own = rustix::process::getuid().as_raw();
    let launches_of = |launches, user| {
        let target = Target::Command(program("dynamic", Stubs::Call, &["launch", "1000"]));
        let observer = Observer::attach_for(target, Descendants::Followed, launches, Users::One(user));
        let mut observer = observer.unwrap_or_else(|error| panic!("{error:?}"));
        observer.child().expect("a child").wait().expect("it ends");
        let seen = Seen::rest(&mut observer);
        let each = seen.kinds().map(|kind| match kind {
            EventKind::Launch(_) => 1,
            EventKind::Launches { count, .. } => *count,
            _ => 0,
        });
        let names = seen
            .kinds()
            .filter(|kind| matches!(kind, EventKind::Name { .. }))
            .count();
        (each.sum::<u64>(), names)
    };
    for launches in [Launches::Each, Launches::Counted] {
        assert_eq!(launches_of(launches, own), (1000, 1), "{launches:?}");
        for other in [own + 1, u32::MAX] {
            assert_eq!(launches_of(launches, other), (0, 0), "{launches:?}");
        }
    }
}
