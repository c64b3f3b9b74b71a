//! Prints what an observation costs: the time to attach and to detach, the time that each call
//! takes longer, and how many of ten million launches are lost at a million a second, made by two
//! threads.
//!
//! `cargo run --release -p gpubench-observe --example costs` uses a test double of the driver. It
//! does nothing, so a call's own time is that of the probe. Given a command, it runs that, alone
//! and observed, and prints what it was seen to do. Needs root.

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use gpubench_observe::{EventKind, Launches, Observer, Source as _, Target, Users};

const CALLS: &str = "100000";
const EVENTS: &str = "10000000";

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some((program, arguments)) = words.split_first() {
        let command = || {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        };
        return compare(command);
    }
    let folder = tempfile::tempdir()?;
    compile(
        "libcuda.c",
        &folder.path().join("libcuda.so.1"),
        &["-DSHAPE=580", "-shared", "-fPIC", "-Wl,-Bsymbolic"],
    )?;
    compile(
        "program.c",
        &folder.path().join("program"),
        &["-DSTATIC_RUNTIME", "-pthread", "-ldl"],
    )?;
    let command = |words: &[&str]| {
        let mut command = Command::new(folder.path().join("program"));
        command.args(words).env("LD_LIBRARY_PATH", folder.path());
        command
    };
    compare(|| command(&["time", CALLS]))?;
    println!("\n{EVENTS} events:");
    observe(command(&["pace", EVENTS]))
}

fn compile(source: &str, file: &Path, options: &[&str]) -> Result<(), Box<dyn Error>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/observer/double")
        .join(source);
    let mut command = Command::new("cc");
    // The driver's functions begin with a `push`, which the kernel emulates.
    command.args(["-O0", "-w", "-o"]).arg(file).arg(source).args(options);
    if command.status()?.success() {
        Ok(())
    } else {
        Err("the test double does not compile".into())
    }
}

fn compare(command: impl Fn() -> Command) -> Result<(), Box<dyn Error>> {
    println!("alone:");
    command().status()?;
    println!("observed:");
    observe(command())
}

fn observe(command: Command) -> Result<(), Box<dyn Error>> {
    let begin = Instant::now();
    let mut observer = Observer::attach_for(Target::Command(command), Launches::Counted, Users::All)?;
    let attached = begin.elapsed();
    let (mut events, mut launches, mut names, mut failures) = (0, 0, 0, 0);
    let mut count = |observer: &mut Observer| -> Result<(), Box<dyn Error>> {
        events += observer
            .poll(&mut |event| match event.kind {
                EventKind::Launch(_) => launches += 1,
                EventKind::Launches { count, .. } => launches += count,
                EventKind::Name { .. } => names += 1,
                EventKind::Failed { .. } => failures += 1,
                _ => {}
            })
            .map_err(|failure| failure.to_string())?;
        Ok(())
    };
    while observer.child().ok_or("no child")?.try_wait()?.is_none() {
        count(&mut observer)?;
        std::thread::sleep(Duration::from_millis(2));
    }
    count(&mut observer)?;
    for driver in observer.drivers() {
        println!("{}: {:?}", driver.path.display(), driver.recognised);
    }
    let lost = observer.lost();
    let mut totals = observer.totals();
    totals.sort_by_key(|total| std::cmp::Reverse(total.entries));
    for total in totals.iter().take(12) {
        println!(
            "{:>10} {} ({} returns, {} errors)",
            total.entries, total.call, total.returns, total.errors
        );
    }
    println!("{events} events: {launches} launches, {names} names, {failures} failures; {lost} lost");
    let begin = Instant::now();
    drop(observer);
    println!("attached in {attached:?}, detached in {:?}", begin.elapsed());
    Ok(())
}
