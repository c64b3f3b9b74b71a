//! Processes without their children: of one process, nobody else pays for the probes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use gpubench_bpf::Within;
use gpubench_bpf::elf::Library;
use gpubench_observe::{Descendants, EventKind, Launches, Lifecycles, Observer, Origin, Source as _, Target, Users};

use crate::double::{Seen, Stubs, driver_folder, may_observe, program};

fn alone(target: Target, launches: Launches) -> Observer {
    let observer = Observer::attach_for(target, Descendants::LeftOut, launches, Users::All);
    observer.unwrap_or_else(|error| panic!("{error:?}"))
}

fn seen_alone(command: Command) -> Seen {
    let mut observer = alone(Target::Command(command), Launches::Each);
    observer.child().expect("a child").wait().expect("it ends");
    Seen::rest(&mut observer)
}

/// Starts a program that has mapped the driver of a folder, and waits for a line.
fn waiting(folder: &Path) -> Child {
    let mut command = program("dynamic", Stubs::Call, &["greet-and-wait"]);
    command.env("LD_LIBRARY_PATH", folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut line = String::new();
    let output = child.stdout.as_mut().expect("piped");
    BufReader::new(output).read_line(&mut line).expect("it greets");
    assert_eq!(line, "ready\n");
    child
}

fn go_on(child: &mut Child) {
    child.stdin.take().expect("piped").write_all(b"\n").expect("it reads");
    assert!(child.wait().expect("it ends").success());
}

/// The bytes that a process has where a function of the driver is probed.
fn probed_byte(child: &Child, driver: &Path) -> u8 {
    let library = Library::read(driver, |name| name == "cuLaunchKernel").expect("a library");
    let site = library.functions[0].site.offset;
    let maps = std::fs::read_to_string(format!("/proc/{}/maps", child.id())).expect("it runs");
    let driver = driver.to_str().expect("it is text");
    let number = |text: &str| u64::from_str_radix(text, 16).expect("a number");
    let mut places = maps.lines().filter(|line| line.ends_with(driver)).filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (begin, end) = words[0].split_once('-').expect("a range");
        let (begin, end, offset) = (number(begin), number(end), number(words[2]));
        let is_inside = words[1].contains('x') && site >= offset && site - offset < end - begin;
        is_inside.then(|| begin + site - offset)
    });
    let memory = std::fs::File::open(format!("/proc/{}/mem", child.id())).expect("root may");
    let mut byte = [0];
    let place = places.next().expect("it is mapped");
    memory.read_exact_at(&mut byte, place).expect("it is there");
    byte[0]
}

#[test]
#[cfg(target_arch = "x86_64")]
fn probes_of_one_process_are_in_no_other() {
    if !may_observe("probes_of_one_process_are_in_no_other") {
        return;
    }
    const BREAKPOINT: u8 = 0xcc;
    for stubs in Stubs::ALL {
        // Other tests probe the file of all.
        let folder = tempfile::tempdir().expect("a folder");
        let driver = folder.path().join("libcuda.so.1");
        std::fs::copy(driver_folder(stubs).join("libcuda.so.1"), &driver).expect("a copy");
        let (mut observed, mut other) = (waiting(folder.path()), waiting(folder.path()));
        let mut observer = alone(Target::Processes(vec![observed.id()]), Launches::Each);
        assert_eq!(probed_byte(&observed, &driver), BREAKPOINT, "{stubs:?}");
        assert_ne!(probed_byte(&other, &driver), BREAKPOINT, "{stubs:?}");
        let mut later = waiting(folder.path());
        assert_ne!(probed_byte(&later, &driver), BREAKPOINT, "{stubs:?}");
        for child in [&mut observed, &mut other, &mut later] {
            go_on(child);
        }
        assert_eq!(Seen::rest(&mut observer).launched_names(), ["short_lived"], "{stubs:?}");
    }
}

#[test]
fn a_process_alone_is_observed_without_its_children() {
    if !may_observe("a_process_alone_is_observed_without_its_children") {
        return;
    }
    let seen = seen_alone(program("dynamic", Stubs::Call, &["fork"]));
    assert_eq!(seen.launched_names(), ["of_the_parent"; 2]);
    assert_eq!(seen.entries("cuLaunchKernel"), 2);
    assert!(seen.allocations().is_empty(), "they are a child's");
    let starts = seen.kinds().filter(|kind| matches!(kind, EventKind::Started(_)));
    assert_eq!((starts.count(), seen.lost), (1, 0));
}

/// Starts a program that waits for a line, and then runs one program in a child and another itself.
fn waiting_parent() -> Child {
    let inner = program("dynamic", Stubs::Call, &[]);
    let mut command = Command::new("sh");
    command
        .args(["-c", "read line; \"$0\" short; exec \"$0\" launch 3"])
        .arg(inner.get_program())
        .env("LD_LIBRARY_PATH", driver_folder(Stubs::Call))
        .stdin(Stdio::piped());
    command.spawn().expect("it starts")
}

fn has_forked(kind: &EventKind) -> bool {
    matches!(kind, EventKind::Started(start) if matches!(start.origin, Origin::Fork { .. }))
}

#[test]
fn several_processes_alone_are_observed_without_children_and_everybody_pays() {
    if !may_observe("several_processes_alone_are_observed_without_children_and_everybody_pays") {
        return;
    }
    let folder = driver_folder(Stubs::Call);
    let mut children = [waiting(&folder), waiting_parent(), waiting(&folder)];
    let observed = children[..2].iter().map(Child::id).collect();
    let mut observer = alone(Target::Processes(observed), Launches::Each);
    children.iter_mut().for_each(go_on);
    let seen = Seen::rest(&mut observer);
    let mut names = seen.launched_names();
    names.sort_unstable();
    assert_eq!(names, ["looped", "looped", "looped", "short_lived"]);
    assert_eq!(seen.kinds().filter(|kind| has_forked(kind)).count(), 0);
    let drivers = observer.drivers();
    let payers: Vec<_> = drivers.iter().map(|driver| driver.within).collect();
    assert_eq!(payers, vec![Within::AllProcesses; payers.len()]);
    assert!(!payers.is_empty());
}

#[test]
fn all_threads_of_a_process_alone_are_observed() {
    if !may_observe("all_threads_of_a_process_alone_are_observed") {
        return;
    }
    let seen = seen_alone(program("dynamic", Stubs::Call, &["many-threads", "20"]));
    assert_eq!(seen.launched_names(), ["in_thread"; 20]);
    let seen = seen_alone(program("dynamic", Stubs::Call, &["outlive-main"]));
    assert_eq!(seen.launched_names(), ["after_main"]);
}

#[test]
fn a_process_alone_is_observed_after_it_runs_another_program() {
    if !may_observe("a_process_alone_is_observed_after_it_runs_another_program") {
        return;
    }
    let inner = program("dynamic", Stubs::Call, &[]);
    let mut command = Command::new("sh");
    command.args(["-c", "\"$0\" short; exec \"$0\" launch 300"]);
    command
        .arg(inner.get_program())
        .env("LD_LIBRARY_PATH", driver_folder(Stubs::Call));
    let seen = seen_alone(command);
    assert_eq!(seen.launched_names(), vec!["looped"; 300]);
}

#[test]
fn counted_launches_of_a_process_alone_are_all_told() {
    if !may_observe("counted_launches_of_a_process_alone_are_all_told") {
        return;
    }
    let command = program("dynamic", Stubs::Call, &["launch", "100000"]);
    let mut observer = alone(Target::Command(command), Launches::Counted);
    observer.child().expect("a child").wait().expect("it ends");
    assert_eq!(Seen::rest(&mut observer).entries("cuLaunchKernel"), 100_000);
}

#[test]
fn a_driver_that_replaces_another_meanwhile_is_probed_for_a_process_alone() {
    if !may_observe("a_driver_that_replaces_another_meanwhile_is_probed_for_a_process_alone") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("libcuda.so.1");
    let driver = driver_folder(Stubs::Call).join("libcuda.so.1");
    std::fs::copy(&driver, &file).expect("a copy");
    let script = r#"read line; cp "$1" "$0.new"; mv "$0.new" "$0"; exec "$2" wait"#;
    let inner = program("dynamic", Stubs::Call, &[]);
    let mut command = Command::new("sh");
    command
        .args(["-c", script])
        .arg(&file)
        .arg(&driver)
        .arg(inner.get_program());
    command.stdin(Stdio::piped()).env("LD_LIBRARY_PATH", folder.path());
    let mut observer = alone(Target::Command(command), Launches::Each);
    let before = observer.drivers().len();
    let mut input = observer.child().and_then(|child| child.stdin.take()).expect("piped");
    input.write_all(b"\n").expect("it reads");
    let is_probed = (0..10_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        Seen::rest(&mut observer);
        observer.drivers().len() > before
    });
    assert!(is_probed, "{:?}", observer.drivers());
    input.write_all(b"\n").expect("it reads");
    observer.child().expect("a child").wait().expect("it ends");
    assert_eq!(Seen::rest(&mut observer).launched_names(), ["short_lived"]);
}

/// Makes a copy of this program run one test. In a process of many tests, a command of another one
/// that waits to be started has the probes of this one too, and keeps them.
const BY_ITSELF: &str = "GPUBENCH_TEST_BY_ITSELF";

#[test]
fn a_driver_that_a_process_loads_when_the_kernel_has_lost_it_is_probed_anew() {
    if !may_observe("a_driver_that_a_process_loads_when_the_kernel_has_lost_it_is_probed_anew") {
        return;
    }
    if std::env::var_os(BY_ITSELF).is_none() {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        let test = "alone::a_driver_that_a_process_loads_when_the_kernel_has_lost_it_is_probed_anew";
        command.args(["--exact", test, "--nocapture"]).env(BY_ITSELF, "1");
        let output = command.output().expect("it starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"), "it ran");
        return;
    }
    for (word, kernel) in [("load-after-main", "after_main"), ("exec-in-thread", "short_lived")] {
        let mut command = program("static-runtime", Stubs::Call, &[word]);
        command.stdin(Stdio::piped());
        let mut observer = alone(Target::Command(command), Launches::Each);
        let is_probed = (0..10_000).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(1));
            Seen::rest(&mut observer);
            observer.notices().iter().any(|notice| notice.contains("found when"))
        });
        assert!(is_probed, "{word}: {:?}", observer.drivers());
        let child = observer.child().expect("a child");
        let mut input = child.stdin.take().expect("piped");
        input.write_all(b"\n").expect("it reads");
        child.wait().expect("it ends");
        assert_eq!(Seen::rest(&mut observer).launched_names(), [kernel], "{word}");
    }
}

#[test]
fn without_probes_children_are_left_out_too() {
    if !may_observe("without_probes_children_are_left_out_too") {
        return;
    }
    let command = program("dynamic", Stubs::Call, &["fork"]);
    let attached = Lifecycles::attach(Target::Command(command), Descendants::LeftOut);
    let mut lifecycles = attached.unwrap_or_else(|error| panic!("{error:?}"));
    lifecycles.child().expect("a child").wait().expect("it ends");
    let seen = Seen::rest(&mut lifecycles);
    let starts = seen.kinds().filter(|kind| matches!(kind, EventKind::Started(_)));
    let ends = seen.kinds().filter(|kind| matches!(kind, EventKind::Exited { .. }));
    assert_eq!((starts.count(), ends.count()), (1, 1));
}

#[test]
fn without_probes_children_of_several_processes_are_left_out_too() {
    if !may_observe("without_probes_children_of_several_processes_are_left_out_too") {
        return;
    }
    let mut children = [waiting_parent(), waiting_parent()];
    let observed = children.iter().map(Child::id).collect();
    let attached = Lifecycles::attach(Target::Processes(observed), Descendants::LeftOut);
    children.iter_mut().for_each(go_on);
    let mut lifecycles = attached.unwrap_or_else(|error| panic!("{error:?}"));
    let seen = Seen::rest(&mut lifecycles);
    let starts = seen.kinds().filter(|kind| matches!(kind, EventKind::Started(_)));
    let ends = seen.kinds().filter(|kind| matches!(kind, EventKind::Exited { .. }));
    // Each as it was found, and as it ran another program.
    assert_eq!((starts.count(), ends.count()), (4, 4));
    assert_eq!(seen.kinds().filter(|kind| has_forked(kind)).count(), 0);
}
