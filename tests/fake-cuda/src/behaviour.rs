//! What the environment asks of this driver.

use std::ffi::c_int;
use std::fs::File;
use std::io::ErrorKind;
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
    /// Names of kernels, and what their process adds to every number that a stream writes from then on.
    pub(crate) numbers: Vec<(String, c_int)>,
    pub(crate) ledger: Option<PathBuf>,
    /// The most bytes of an allocation.
    pub(crate) largest: usize,
    /// What a worker's event times are multiplied with.
    pub(crate) claimed: f32,
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
        claimed: match &*role() {
            "worker" if is_to_lie() => number("FAKE_CUDA_CLAIMED", 1.0),
            _ => 1.0,
        },
    })
}

/// What this process is: `referee` where it was started as `cargo-gpubench __referee`.
pub(crate) fn role() -> String {
    let verb = std::env::args().nth(1).unwrap_or_default();
    verb.trim_start_matches('_').to_owned()
}

/// Whether this worker is one of those whose claims `FAKE_CUDA_CLAIMED` changes: all, or the first few, which are counted by the files that they make in a folder.
fn is_to_lie() -> bool {
    let Ok(text) = std::env::var("FAKE_CUDA_CLAIMED_BY") else {
        return true;
    };
    let (folder, processes) = text
        .rsplit_once(':')
        .unwrap_or_else(|| panic!("`{text}` is no `FOLDER:PROCESSES`"));
    (1..=parse::<u32>(processes)).any(|number| {
        let path = PathBuf::from(folder).join(number.to_string());
        match File::create_new(&path) {
            Ok(_) => true,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            Err(error) => panic!("cannot create `{}`: {error}", path.display()),
        }
    })
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
