//! The behaviour of this driver, as set by environment variables.

use std::ffi::c_int;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::OnceLock;

/// A call that must fail.
pub(crate) struct PlannedFailure {
    pub(crate) function: String,
    /// Counts the calls of the function, from 1.
    pub(crate) number: u32,
    pub(crate) code: c_int,
}

/// The moment at which a process that launches a kernel gets a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// While the process queues the launch.
    Queueing,
    /// When the process waits for its queued work.
    Waiting,
    /// When the stream reaches the kernel.
    Running,
}

/// When a GPU fails.
pub(crate) struct LostGpu {
    /// The page that all processes share.
    pub(crate) page: PathBuf,
    /// The numbers of the GPUs that fail.
    pub(crate) ordinals: Vec<c_int>,
    /// How many workers get a context on each before.
    pub(crate) workers: u32,
    /// What every later call on it returns.
    pub(crate) code: c_int,
}

/// The settings, read once at the first call.
pub(crate) struct Behaviour {
    pub(crate) init: c_int,
    pub(crate) version: c_int,
    pub(crate) devices: c_int,
    /// The names of the GPUs, where they are not the usual one.
    pub(crate) names: Vec<String>,
    /// The addresses of the GPUs on the PCI bus.
    pub(crate) pci: Vec<String>,
    /// When a GPU fails.
    pub(crate) lost: Option<LostGpu>,
    pub(crate) attributes: Vec<(c_int, c_int)>,
    pub(crate) failures: Vec<PlannedFailure>,
    /// Kernel names and the fault code of their launches.
    pub(crate) faults: Vec<(String, c_int)>,
    /// Kernel names and the delay of each launch in milliseconds.
    pub(crate) delays: Vec<(String, c_int)>,
    /// Kernel names, the moment of the signal and the signal number.
    pub(crate) signals: Vec<(String, Moment, c_int)>,
    /// Kernel names, and the value added to every number that streams of the process write after
    /// the launch.
    pub(crate) numbers: Vec<(String, c_int)>,
    pub(crate) ledger: Option<PathBuf>,
    /// The file that is mapped as the doorbell.
    pub(crate) doorbell: Option<PathBuf>,
    /// The file with the time of a clock that only work advances. `None`: the host's clock.
    pub(crate) clock: Option<PathBuf>,
    /// The largest allocation in bytes.
    pub(crate) largest: usize,
    /// The factor on the event times of a cheating worker.
    pub(crate) claimed: f32,
    /// The folder in which a worker that keeps working between windows locks a file, and the delay
    /// in milliseconds that it causes for others.
    pub(crate) lingers: Option<(PathBuf, c_int)>,
    /// The folder in which cheating workers are counted, and their maximum. `None`: all workers
    /// cheat.
    pub(crate) cheats: Option<(PathBuf, c_int)>,
    /// The folder with the state of the clocks. `None`: there is no NVML.
    pub(crate) nvml: Option<PathBuf>,
    /// Readings of the throttle reasons that find a cap, as ranges that exclude their end.
    pub(crate) throttled: Vec<(u32, u32)>,
    /// The file in which workers list their launches and the commands to a profiler.
    pub(crate) launches: Option<PathBuf>,
}

/// Returns the behaviour of this process.
pub(crate) fn behaviour() -> &'static Behaviour {
    static BEHAVIOUR: OnceLock<Behaviour> = OnceLock::new();
    BEHAVIOUR.get_or_init(|| Behaviour {
        init: number("FAKE_CUDA_INIT", 0),
        version: number("FAKE_CUDA_VERSION", 12_080),
        devices: number("FAKE_CUDA_DEVICES", 1),
        names: list("FAKE_CUDA_NAMES"),
        pci: list("FAKE_CUDA_PCI"),
        lost: lost(),
        attributes: pairs("FAKE_CUDA_ATTRIBUTES", '=')
            .into_iter()
            .map(|(attribute, value)| (parse(&attribute), value))
            .collect(),
        failures: failures(),
        faults: pairs("FAKE_CUDA_FAULTS", ':'),
        delays: pairs("FAKE_CUDA_DELAYS", ':'),
        signals: pairs("FAKE_CUDA_SIGNALS", ':').into_iter().map(signal).collect(),
        numbers: pairs("FAKE_CUDA_NUMBERS", ':'),
        ledger: std::env::var_os("FAKE_CUDA_LEDGER").map(PathBuf::from),
        clock: std::env::var_os("FAKE_CUDA_CLOCK").map(PathBuf::from),
        doorbell: std::env::var_os("FAKE_CUDA_DOORBELL").map(PathBuf::from),
        largest: number("FAKE_CUDA_LARGEST", usize::MAX),
        claimed: number("FAKE_CUDA_CLAIMED", 1.0),
        lingers: in_folder("FAKE_CUDA_LINGERS"),
        cheats: in_folder("FAKE_CUDA_CHEATS"),
        nvml: std::env::var_os("FAKE_NVML").map(PathBuf::from),
        throttled: pairs("FAKE_NVML_THROTTLED", ':')
            .into_iter()
            .map(|(from, to)| (parse(&from), to as u32))
            .collect(),
        launches: std::env::var_os("FAKE_CUDA_LAUNCHES").map(PathBuf::from),
    })
}

/// Returns the role of this process: `referee` if it was started as `cargo-gpubench __referee`.
pub(crate) fn role() -> String {
    let verb = std::env::args().nth(1).unwrap_or_default();
    verb.trim_start_matches('_').to_owned()
}

fn signal((text, signal): (String, c_int)) -> (String, Moment, c_int) {
    let (kernel, moment) = match text.rsplit_once(':') {
        Some((kernel, "queueing")) => (kernel, Moment::Queueing),
        Some((kernel, "waiting")) => (kernel, Moment::Waiting),
        Some((kernel, "running")) => (kernel, Moment::Running),
        _ => panic!("`{text}` is not `KERNEL:MOMENT`"),
    };
    (kernel.to_owned(), moment, signal)
}

fn failures() -> Vec<PlannedFailure> {
    let role = role();
    let of_this_role = |text: &str| {
        let parts: Vec<&str> = text.split(':').collect();
        let [of, function, number, code] = parts[..] else {
            panic!("`{text}` is not `ROLE:FUNCTION:N:CODE`");
        };
        (of == role).then(|| PlannedFailure {
            function: function.to_owned(),
            number: parse(number),
            code: parse(code),
        })
    };
    list("FAKE_CUDA_FAIL")
        .iter()
        .filter_map(|text| of_this_role(text))
        .collect()
}

fn lost() -> Option<LostGpu> {
    let text = std::env::var("FAKE_CUDA_LOST").ok()?;
    let parts: Vec<&str> = text.split(':').collect();
    let [page, ordinals, workers, code] = parts[..] else {
        panic!("`{text}` is not `FILE:ORDINAL+ORDINAL:WORKERS:CODE`");
    };
    Some(LostGpu {
        page: PathBuf::from(page),
        ordinals: ordinals.split('+').map(parse).collect(),
        workers: parse(workers),
        code: parse(code),
    })
}

fn pairs(name: &str, separator: char) -> Vec<(String, c_int)> {
    let pair = |text: &String| {
        let (key, value) = text
            .rsplit_once(separator)
            .unwrap_or_else(|| panic!("`{text}` in `{name}` has no `{separator}`"));
        (key.to_owned(), parse(value))
    };
    list(name).iter().map(pair).collect()
}

/// Parses a folder and a number.
fn in_folder(name: &str) -> Option<(PathBuf, c_int)> {
    let (folder, number) = pairs(name, ':').pop()?;
    Some((PathBuf::from(folder), number))
}

fn list(name: &str) -> Vec<String> {
    let text = std::env::var(name).unwrap_or_default();
    text.split(',')
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect()
}

fn number<T: FromStr>(name: &str, otherwise: T) -> T {
    std::env::var(name).map_or(otherwise, |text| parse(&text))
}

fn parse<T: FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("`{text}` is not a number"))
}
