//! Prints what an observation costs on this machine: the time that a call takes longer for each way
//! to probe it, the time to attach and to detach, and how many of ten million launches are lost at
//! a million a second, made by two threads.
//!
//! `cargo run --release -p gpubench-observe --example costs` uses a test double of the driver. It
//! does nothing, so a call's own time is that of the probe. Given a command, it runs that, alone
//! and observed, and prints what it was seen to do. Needs root.

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use gpubench_observe::{Descendants, Driver, EventKind, Launches, Observer, Source as _, Target, Users};

const CALLS: &str = "20000";
/// Of those that take some ten microseconds.
const FEW_CALLS: &str = "2000";
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
    let program = folder.path().join("program");
    compile("program.c", &program, &["-DSTATIC_RUNTIME", "-pthread", "-ldl"])?;
    let drivers = [
        ("emulated", "-DSHAPE=580"),
        ("returning", "-DSHAPE=0"),
        ("stepped", "-DSHAPE=1"),
    ];
    for (name, shape) in drivers {
        let driver = folder.path().join(name);
        std::fs::create_dir(&driver)?;
        compile(
            "libcuda.c",
            &driver.join("libcuda.so.1"),
            &[shape, "-shared", "-fPIC", "-Wl,-Bsymbolic"],
        )?;
    }
    let command = |driver: &str, words: &[&str]| {
        let mut command = Command::new(&program);
        command.args(words).env("LD_LIBRARY_PATH", folder.path().join(driver));
        command
    };
    ways(&command)?;
    println!("\n{EVENTS} events:");
    observe(command("emulated", &["pace", EVENTS]))
}

/// Who observes while a program is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Observed {
    Nobody,
    Program,
    /// Another process, with these descendants.
    Another(Descendants),
}

/// Prints how much longer calls take for each way to probe them, in nanoseconds.
fn ways(command: &impl Fn(&str, &[&str]) -> Command) -> Result<(), Box<dyn Error>> {
    let another = |descendants| Observed::Another(descendants);
    let rows = [
        ("entry, emulated", "emulated", CALLS, Observed::Program),
        ("entry, emulated, and return", "returning", CALLS, Observed::Program),
        (
            "entry, stepped over, and return",
            "stepped",
            FEW_CALLS,
            Observed::Program,
        ),
        (
            "another process is observed",
            "emulated",
            CALLS,
            another(Descendants::Followed),
        ),
        ("another one alone", "emulated", CALLS, another(Descendants::LeftOut)),
    ];
    println!(
        "{:30} {:>12} {:>26}",
        "added nanoseconds", "launch", "allocation and free"
    );
    for (way, driver, calls, observed) in rows {
        let timed = || command(driver, &["time", calls]);
        let alone = time(timed(), Observed::Nobody)?;
        let longer = time(timed(), observed)?;
        println!("{way:32} {:12.0} {:26.0}", longer[0] - alone[0], longer[1] - alone[1]);
    }
    Ok(())
}

/// Returns the nanoseconds that a launch takes, and an allocation with its free.
fn time(mut command: Command, observed: Observed) -> Result<[f64; 2], Box<dyn Error>> {
    let attach = |target, descendants| Observer::attach_for(target, descendants, Launches::Counted, Users::All);
    command.stdout(Stdio::piped());
    let output = match observed {
        Observed::Nobody => command.output()?.stdout,
        Observed::Program => {
            let mut observer = attach(Target::Command(command), Descendants::Followed)?;
            let child = observer.child().ok_or("no child")?;
            let mut output = child.stdout.take().ok_or("no output")?;
            let reader = std::thread::spawn(move || {
                let mut text = Vec::new();
                std::io::Read::read_to_end(&mut output, &mut text).map(|_| text)
            });
            while !reader.is_finished() {
                observer.poll(&mut |_| {}).map_err(|failure| failure.to_string())?;
                std::thread::sleep(Duration::from_millis(2));
            }
            reader.join().map_err(|_| "the reader panicked")??
        }
        Observed::Another(descendants) => {
            let mut waiting = Command::new("sleep");
            waiting.arg("1000");
            for (name, value) in command.get_envs() {
                waiting.env(name, value.ok_or("a variable that is removed")?);
            }
            let mut observer = attach(Target::Command(waiting), descendants)?;
            let output = command.output()?.stdout;
            observer.child().ok_or("no child")?.kill()?;
            output
        }
    };
    let text = String::from_utf8(output)?;
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    numbers.try_into().map_err(|_| format!("no times: {text}").into())
}

fn compile(source: &str, file: &Path, options: &[&str]) -> Result<(), Box<dyn Error>> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/observer/double")
        .join(source);
    let mut command = Command::new("cc");
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
    let mut observer = Observer::attach_for(
        Target::Command(command),
        Descendants::Followed,
        Launches::Counted,
        Users::All,
    )?;
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
        let Driver {
            path,
            recognised,
            traps,
            ..
        } = driver;
        println!("{}: {recognised:?}, {traps:?}", path.display());
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
