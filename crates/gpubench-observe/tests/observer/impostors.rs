//! Files that are named like the driver and are none.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gpubench_observe::{Event, EventKind, Observer, Source as _, Target};

use crate::double::{Seen, Stubs, driver_folder, may_observe, of_assembly, program};

/// Users who mean no good.
const BOB: u32 = 12_345;
const MALLORY: u32 = 12_346;

/// A folder that everybody can read.
fn open_folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), mode).expect("it is ours");
    folder
}

/// A process of a user that has mapped files as code. It waits for the end of its input.
fn mapping(user: u32, files: &[PathBuf]) -> Child {
    let mut command = Command::new(program("maps", Stubs::Call, &[]).get_program());
    command.args(files).uid(user).gid(user);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("root may be anybody");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped"))
        .read_line(&mut line)
        .expect("it maps");
    assert_eq!(line, "mapped\n");
    child
}

/// Whether a program of another user is seen, which brings its own driver.
fn is_seen_of_alice(observer: &mut Observer, folder: &Path) -> bool {
    let late = folder.join("libcuda.so.1");
    std::fs::copy(driver_folder(Stubs::Call).join("libcuda.so.1"), &late).expect("a copy");
    let mut command = program("dynamic", Stubs::Call, &["wait"]);
    command.env("LD_LIBRARY_PATH", folder).uid(23_456).gid(23_456);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
    let begun = Instant::now();
    while !observer
        .drivers()
        .iter()
        .any(|driver| driver.path.to_string_lossy().contains(&format!("/{}/", child.id())))
        && begun.elapsed() < Duration::from_secs(20)
    {
        Seen::rest(observer);
        std::thread::sleep(Duration::from_millis(2));
    }
    child.stdin.take().expect("piped").write_all(b"\n").expect("it reads");
    let pid = child.id();
    let is_end = move |event: &Event| event.process.pid == pid && matches!(event.kind, EventKind::Exited { .. });
    child.wait().expect("it ends");
    !Seen::until(observer, is_end).launched_names().is_empty()
}

#[test]
fn endless_files_of_one_user_do_not_hide_the_driver_of_another() {
    if !may_observe("endless_files_of_one_user_do_not_hide_the_driver_of_another") {
        return;
    }
    let junk = open_folder();
    let file = |number| {
        let file = junk.path().join(format!("libcuda.so.{number}"));
        std::fs::write(&file, "no library").expect("a file");
        file
    };
    let files: Vec<PathBuf> = (0..150).map(file).collect();
    let mut observer = Observer::attach(Target::System).expect("it attaches");
    let mut children = Vec::new();
    for files in files.chunks(1) {
        let known = observer.refused().count();
        children.push(mapping(BOB, files));
        let begun = Instant::now();
        // In the end there are no more places.
        while observer.refused().count() == known && begun.elapsed() < Duration::from_millis(100) {
            Seen::rest(&mut observer);
            std::thread::sleep(Duration::from_millis(2));
        }
    }
    let folder = open_folder();
    assert!(is_seen_of_alice(&mut observer, folder.path()));
    let notices = observer.notices();
    let told = |notice: &String| notice.contains("user 12345") && notice.contains("not observed");
    assert!(notices.iter().any(told), "{notices:#?}");
    for mut child in children {
        drop(child.stdin.take());
        child.wait().expect("it ends");
    }
}

#[test]
fn a_file_with_millions_of_symbols_is_refused_and_others_are_seen() {
    if !may_observe("a_file_with_millions_of_symbols_is_refused_and_others_are_seen") {
        return;
    }
    const SYMBOLS: usize = 4_000_000;
    let junk = open_folder();
    let small = of_assembly(".globl cuInit\n.type cuInit, %function\ncuInit: ret\n.size cuInit, 1");
    let mut bytes = std::fs::read(small.path().join("libcuda.so.1")).expect("a library");
    // The table of symbols moves to the end of the file, where there is room for more.
    let sections = usize::try_from(u64::from_le_bytes(bytes[40..48].try_into().expect("8 bytes"))).expect("small");
    let count = usize::from(u16::from_le_bytes([bytes[60], bytes[61]]));
    let table = (0..count)
        .map(|number| sections + 64 * number)
        .find(|at| bytes[at + 4] == 11)
        .expect("symbols");
    let end = bytes.len() as u64;
    bytes[table + 24..table + 32].copy_from_slice(&end.to_le_bytes());
    bytes[table + 32..table + 40].copy_from_slice(&(24 * SYMBOLS as u64).to_le_bytes());
    let symbol = [&1_u32.to_le_bytes()[..], &[0x12, 0, 7, 0], &[0; 16]].concat();
    bytes.extend(symbol.repeat(SYMBOLS));
    let bomb = junk.path().join("libcuda.so.1");
    std::fs::write(&bomb, bytes).expect("a file");
    let mut observer = Observer::attach(Target::System).expect("it attaches");
    let mut child = mapping(MALLORY, &[bomb]);
    let folder = open_folder();
    assert!(is_seen_of_alice(&mut observer, folder.path()));
    let is_refused = |observer: &Observer| {
        let mut reasons = observer.refused().map(|(_, error)| format!("{error:?}"));
        reasons.any(|reason| reason.contains("more symbols than a driver"))
    };
    let begun = Instant::now();
    while !is_refused(&observer) && begun.elapsed() < Duration::from_secs(20) {
        Seen::rest(&mut observer);
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(is_refused(&observer), "{:?}", observer.refused().collect::<Vec<_>>());
    drop(child.stdin.take());
    child.wait().expect("it ends");
}

#[test]
fn a_file_that_the_kernel_refuses_to_probe_does_not_end_the_observation_of_others() {
    if !may_observe("a_file_that_the_kernel_refuses_to_probe_does_not_end_the_observation_of_others") {
        return;
    }
    // The kernel puts no probe on another breakpoint.
    let trap = if cfg!(target_arch = "x86_64") { "int3" } else { "brk #0" };
    let folder = of_assembly(&format!(
        ".globl cuMemAlloc_v2\n.type cuMemAlloc_v2, %function\ncuMemAlloc_v2: {trap}\n ret\n.size cuMemAlloc_v2, 8"
    ));
    let impostor = folder.path().join("libcuda.so.1");
    // It looks at an instruction once a process has it in its memory.
    let mut user = std::process::Command::new("sleep")
        .arg("60")
        .env("LD_PRELOAD", &impostor)
        .spawn()
        .expect("it starts");
    let maps = format!("/proc/{}/maps", user.id());
    while !std::fs::read_to_string(&maps)
        .expect("it runs")
        .contains("libcuda.so.1")
    {
        std::thread::yield_now();
    }
    let mut command = program("dynamic", Stubs::Call, &["short"]);
    let folders = [driver_folder(Stubs::Call), folder.path().to_owned()];
    command.env("LD_LIBRARY_PATH", std::env::join_paths(folders).expect("paths"));
    let mut observer = Observer::attach(Target::Command(command)).expect("it attaches");
    let refused: Vec<_> = observer.refused().map(|(path, _)| path.to_owned()).collect();
    observer.child().expect("a child").wait().expect("it ends");
    user.kill().expect("it is ours");
    user.wait().expect("it ends");
    assert_eq!(refused, [impostor]);
    assert_eq!(Seen::rest(&mut observer).launched_names(), ["short_lived"]);
}
