//! What the environment asks of this driver.

use std::ffi::c_int;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::OnceLock;

/// A call that is to fail.
pub(crate) struct PlannedFailure {
    pub(crate) function: String,
    /// Which call of the function, from 1.
    pub(crate) number: u32,
    pub(crate) code: c_int,
}

/// When a process that launches a kernel gets a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// While it queues the launch.
    Queueing,
    /// When it waits for what it has queued.
    Waiting,
    /// When its stream has come to the kernel.
    Running,
}

/// Read once, at the first call.
pub(crate) struct Behaviour {
    pub(crate) init: c_int,
    pub(crate) version: c_int,
    pub(crate) devices: c_int,
    pub(crate) attributes: Vec<(c_int, c_int)>,
    pub(crate) failures: Vec<PlannedFailure>,
    /// Names of kernels and the results that they end in.
    pub(crate) faults: Vec<(String, c_int)>,
    /// Names of kernels and the milliseconds that each of their launches takes longer.
    pub(crate) delays: Vec<(String, c_int)>,
    /// Names of kernels, and the signal that their process gets, and when.
    pub(crate) signals: Vec<(String, Moment, c_int)>,
    /// Names of kernels, and what their process adds to every number that a stream writes from then
    /// on.
    pub(crate) numbers: Vec<(String, c_int)>,
    pub(crate) ledger: Option<PathBuf>,
    /// The most bytes of an allocation.
    pub(crate) largest: usize,
    /// What the event times of a worker that cheats are multiplied with.
    pub(crate) claimed: f32,
    /// In which folder a worker that goes on between its windows says so, and how many milliseconds
    /// that costs others.
    pub(crate) lingers: Option<(PathBuf, c_int)>,
    /// In which folder workers that cheat are counted, and how many there are at most; all where
    /// nothing is said.
    pub(crate) cheats: Option<(PathBuf, c_int)>,
}

/// The one of this process.
pub(crate) fn behaviour() -> &'static Behaviour {
    static BEHAVIOUR: OnceLock<Behaviour> = OnceLock::new();
    BEHAVIOUR.get_or_init(|| Behaviour {
        init: number("FAKE_CUDA_INIT", 0),
        version: number("FAKE_CUDA_VERSION", 12_080),
        devices: number("FAKE_CUDA_DEVICES", 1),
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
        largest: number("FAKE_CUDA_LARGEST", usize::MAX),
        claimed: number("FAKE_CUDA_CLAIMED", 1.0),
        lingers: in_folder("FAKE_CUDA_LINGERS"),
        cheats: in_folder("FAKE_CUDA_CHEATS"),
    })
}

/// What this process is: `referee` where it was started as `cargo-gpubench __referee`.
pub(crate) fn role() -> String {
    let verb = std::env::args().nth(1).unwrap_or_default();
    verb.trim_start_matches('_').to_owned()
}

fn signal((text, signal): (String, c_int)) -> (String, Moment, c_int) {
    let (kernel, moment) = match text.rsplit_once(':') {
        Some((kernel, "queueing")) => (kernel, Moment::Queueing),
        Some((kernel, "waiting")) => (kernel, Moment::Waiting),
        Some((kernel, "running")) => (kernel, Moment::Running),
        _ => panic!("`{text}` is no `KERNEL:MOMENT`"),
    };
    (kernel.to_owned(), moment, signal)
}

fn failures() -> Vec<PlannedFailure> {
    let role = role();
    let of_this_role = |text: &str| {
        let parts: Vec<&str> = text.split(':').collect();
        let [of, function, number, code] = parts[..] else {
            panic!("`{text}` is no `ROLE:FUNCTION:N:CODE`");
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

fn pairs(name: &str, separator: char) -> Vec<(String, c_int)> {
    let pair = |text: &String| {
        let (key, value) = text
            .rsplit_once(separator)
            .unwrap_or_else(|| panic!("`{text}` in `{name}` has no `{separator}`"));
        (key.to_owned(), parse(value))
    };
    list(name).iter().map(pair).collect()
}

/// A folder and a number.
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
    text.parse().unwrap_or_else(|_| panic!("`{text}` is no number"))
}
