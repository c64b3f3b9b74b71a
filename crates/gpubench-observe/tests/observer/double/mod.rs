//! The driver's double, the programs that use it, and what an observer saw of them.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use gpubench_bpf::{Abilities, Ability};
use gpubench_observe::{
    Allocation, Attachment, Event, EventKind, FunctionTotal, Launch, Launches, MemoryHandle, Observer, Source, Target,
};

/// The shape of the driver's stubs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stubs {
    None,
    Jump,
    Call,
    /// None, and the kernel must step over the first instruction.
    Stepped,
}

impl Stubs {
    pub(crate) const ALL: [Stubs; 4] = [Stubs::None, Stubs::Jump, Stubs::Call, Stubs::Stepped];

    fn number(self) -> u32 {
        match self {
            Stubs::None => 0,
            Stubs::Jump => 535,
            Stubs::Call => 580,
            Stubs::Stepped => 1,
        }
    }
}

/// Everything that was compiled, once for all tests.
struct Compiled(tempfile::TempDir);

impl Compiled {
    fn get() -> &'static Compiled {
        static COMPILED: OnceLock<Compiled> = OnceLock::new();
        COMPILED.get_or_init(|| {
            let compiled = Compiled(tempfile::tempdir().expect("a folder"));
            for stubs in Stubs::ALL {
                let folder = compiled.folder(stubs);
                std::fs::create_dir(&folder).expect("a folder");
                let shape = format!("-DSHAPE={}", stubs.number());
                let options = [
                    "-shared",
                    "-fPIC",
                    "-fvisibility=default",
                    "-Wl,-Bsymbolic,-soname,libcuda.so.1",
                    &shape,
                ];
                compile("libcuda.c", &folder.join("libcuda.so.1"), &options);
            }
            let driver = compiled.folder(Stubs::None).join("libcuda.so.1");
            let driver = driver.to_str().expect("it is text");
            let program = |name: &str, options: &[&str]| {
                compile(
                    "program.c",
                    &compiled.0.path().join(name),
                    &[options, &["-pthread", "-ldl"]].concat(),
                );
            };
            program("dynamic", &[driver]);
            program("stripped", &["-no-pie", "-s", driver]);
            program("static-runtime", &["-DSTATIC_RUNTIME"]);
            compile("maps.c", &compiled.0.path().join("maps"), &[]);
            // Another user runs the programs, too.
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(compiled.0.path(), mode).expect("it is ours");
            compiled
        })
    }

    fn folder(&self, stubs: Stubs) -> PathBuf {
        self.0.path().join(stubs.number().to_string())
    }
}

fn compile(source: &str, file: &Path, options: &[&str]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/observer/double")
        .join(source);
    let mut command = Command::new("cc");
    // The driver's functions begin with a `push`, which the kernel emulates.
    command.args(["-O0", "-w", "-o"]).arg(file).arg(source).args(options);
    assert!(
        command.status().expect("there is a C compiler").success(),
        "{}",
        file.display()
    );
}

/// A program that writes to one word of its memory.
pub(crate) fn writer() -> PathBuf {
    let file = Compiled::get().0.path().join("writer");
    compile("writer.c", &file, &["-pthread"]);
    file
}

/// A folder with a `libcuda.so.1` of this code.
pub(crate) fn of_assembly(code: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("libcuda.s");
    std::fs::write(&source, format!("{code}\n")).expect("it is written");
    let file = folder.path().join("libcuda.so.1");
    compile(source.to_str().expect("it is text"), &file, &["-shared", "-nostdlib"]);
    folder
}

/// The folder of a driver.
pub(crate) fn driver_folder(stubs: Stubs) -> PathBuf {
    Compiled::get().folder(stubs)
}

/// A program that does what `words` say, with a driver.
pub(crate) fn program(name: &str, stubs: Stubs, words: &[&str]) -> Command {
    let mut command = Command::new(Compiled::get().0.path().join(name));
    command
        .args(words)
        .env("LD_LIBRARY_PATH", driver_folder(stubs))
        .stdin(Stdio::null());
    command
}

/// What an observer saw.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) events: Vec<Event>,
    pub(crate) totals: BTreeMap<String, FunctionTotal>,
    pub(crate) lost: u64,
}

impl Seen {
    /// Runs a command under an observer, which polls when the command has ended.
    pub(crate) fn from_command(command: Command) -> Seen {
        Seen::with(command, Attachment::AtOnce, Launches::Each)
    }

    pub(crate) fn with(command: Command, attachment: Attachment, launches: Launches) -> Seen {
        let target = Target::Command(command);
        let observer = Observer::attach_with(target, attachment, launches);
        let mut observer = observer.unwrap_or_else(|error| panic!("{error:?}"));
        observer.child().expect("a child").wait().expect("it ends");
        Seen::rest(&mut observer)
    }

    /// Returns what an observer has still to tell.
    pub(crate) fn rest(observer: &mut impl Source) -> Seen {
        let mut events = Vec::new();
        observer.poll(&mut |event| events.push(event)).expect("events");
        let totals = observer.totals().into_iter();
        Seen {
            events,
            totals: totals.map(|total| (total.call.to_string(), total)).collect(),
            lost: observer.lost(),
        }
    }

    /// Polls until an event is there, at most 20 s.
    pub(crate) fn until(observer: &mut Observer, is_last: impl Fn(&Event) -> bool) -> Seen {
        let mut seen = Seen::rest(observer);
        let begun = Instant::now();
        while !seen.events.iter().any(&is_last) && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(2));
            let more = Seen::rest(observer);
            seen.events.extend(more.events);
            (seen.totals, seen.lost) = (more.totals, more.lost);
        }
        seen
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = &EventKind> {
        self.events.iter().map(|event| &event.kind)
    }

    pub(crate) fn launches(&self) -> Vec<Launch> {
        let launch = |kind: &EventKind| match kind {
            EventKind::Launch(launch) => Some(*launch),
            _ => None,
        };
        self.kinds().filter_map(launch).collect()
    }

    pub(crate) fn allocations(&self) -> Vec<Allocation> {
        let allocation = |kind: &EventKind| match kind {
            EventKind::Allocate(allocation) => Some(*allocation),
            _ => None,
        };
        self.kinds().filter_map(allocation).collect()
    }

    pub(crate) fn frees(&self) -> Vec<MemoryHandle> {
        let free = |kind: &EventKind| match kind {
            EventKind::Free(handle) => Some(*handle),
            _ => None,
        };
        self.kinds().filter_map(free).collect()
    }

    pub(crate) fn failures(&self) -> Vec<(String, u32)> {
        let failure = |kind: &EventKind| match kind {
            EventKind::Failed { call, code } => Some((call.to_string(), *code)),
            _ => None,
        };
        self.kinds().filter_map(failure).collect()
    }

    /// Returns the name of each launched kernel, as events before the launch tell it.
    pub(crate) fn launched_names(&self) -> Vec<String> {
        let mut names = BTreeMap::new();
        let mut launched = Vec::new();
        for event in &self.events {
            match &event.kind {
                EventKind::Name { function, name, .. } => {
                    names.insert((event.process, *function), name.to_string());
                }
                EventKind::Alias { function, of } => {
                    let name = names.get(&(event.process, *of)).cloned().unwrap_or_default();
                    names.insert((event.process, *function), name);
                }
                EventKind::Launch(launch) => {
                    let name = names.get(&(event.process, launch.function));
                    launched.push(name.cloned().unwrap_or_else(|| "unknown".to_owned()));
                }
                _ => {}
            }
        }
        launched
    }

    pub(crate) fn entries(&self, call: &str) -> u64 {
        self.totals.get(call).map_or(0, |total| total.entries)
    }
}

/// Whether the kernel lets this process observe. If not, prints why, with the test's name.
pub(crate) fn may_observe(test: &str) -> bool {
    let abilities = Abilities::here();
    let may = abilities.ability == Ability::Probes;
    if let Some(missing) = abilities.missing.filter(|_| !may) {
        // Not a macro: those are silent in tests that pass.
        let _ = writeln!(std::io::stderr(), "skipped: {test}: {missing}");
    }
    may
}
