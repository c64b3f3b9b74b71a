//! The values of options.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Duration;

use camino::Utf8PathBuf;
use gpubench_observe::OwnerLabel;
use gpubench_observe::metrics::DEFAULT_ADDRESS;
use gpubench_report::OutputTarget;
use thiserror::Error;

/// A time above zero, of at most a week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Period(pub(super) Duration);

/// A longer one is a wrong unit.
const LONGEST: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Why a time is invalid.
#[derive(Debug, Error)]
pub(super) enum InvalidPeriod {
    /// Not a number with a unit.
    #[error("must be a number with a unit: `10s`, `500ms`, `2min`")]
    Form,
    /// Zero.
    #[error("must be longer than zero")]
    Zero,
    /// Longer than a week.
    #[error("must be at most 7 days")]
    TooLong,
}

impl FromStr for Period {
    type Err = InvalidPeriod;

    fn from_str(text: &str) -> Result<Self, InvalidPeriod> {
        match humantime::parse_duration(text) {
            Ok(Duration::ZERO) => Err(InvalidPeriod::Zero),
            Ok(duration) if duration > LONGEST => Err(InvalidPeriod::TooLong),
            Ok(duration) => Ok(Self(duration)),
            Err(_) => Err(InvalidPeriod::Form),
        }
    }
}

/// The place of `--report`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page(pub(super) OutputTarget);

/// The page, if it has no name.
const PAGE: &str = "gpubench-probe.html";

/// Why a report is invalid.
#[derive(Debug, Error)]
pub(super) enum InvalidPage {
    /// Another kind.
    #[error("unknown kind of report `{0}`; use `html` or `html=FILE`")]
    Kind(String),
    /// A kind without its file.
    #[error("the file is missing; use `html` or `html=FILE`")]
    File,
}

impl FromStr for Page {
    type Err = InvalidPage;

    fn from_str(text: &str) -> Result<Self, InvalidPage> {
        match text.split_once('=') {
            None if text == "html" => Ok(Self(PAGE.into())),
            Some(("html", "")) => Err(InvalidPage::File),
            Some(("html", file)) => Ok(Self(file.into())),
            Some((kind, _)) => Err(InvalidPage::Kind(kind.to_owned())),
            None => Err(InvalidPage::Kind(text.to_owned())),
        }
    }
}

/// A label of `--metrics-labels`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum MetricsLabel {
    /// The number of the user
    User,
    /// The first 12 digits of the container's id, empty outside containers
    Container,
    /// The UID of the Kubernetes pod, empty outside pods
    Pod,
    /// The path of the control group
    Cgroup,
}

impl From<MetricsLabel> for OwnerLabel {
    fn from(label: MetricsLabel) -> Self {
        match label {
            MetricsLabel::User => OwnerLabel::User,
            MetricsLabel::Container => OwnerLabel::Container,
            MetricsLabel::Pod => OwnerLabel::Pod,
            MetricsLabel::Cgroup => OwnerLabel::Cgroup,
        }
    }
}

/// Returns each value once, in the order of its first place.
pub(super) fn once<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut once = Vec::new();
    for value in values {
        if !once.contains(&value) {
            once.push(value);
        }
    }
    once
}

/// A value of `--user`: the number of a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct User(pub(super) u32);

/// Why a user is invalid.
#[derive(Debug, Error)]
#[error("`/etc/passwd` has no such user: give the number, as `id -u NAME` prints it")]
pub(super) struct InvalidUser;

impl FromStr for User {
    type Err = InvalidUser;

    fn from_str(text: &str) -> Result<Self, InvalidUser> {
        let users = || std::fs::read_to_string("/etc/passwd").unwrap_or_default();
        let number = text.parse().ok().or_else(|| number_of(text, &users()));
        number.map(Self).ok_or(InvalidUser)
    }
}

/// Returns the number of a user in lines of `name:password:number:…`.
fn number_of(name: &str, users: &str) -> Option<u32> {
    let mut lines = users.lines().map(|line| line.split(':'));
    lines.find_map(|mut fields| (fields.next()? == name && !name.is_empty()).then(|| fields.nth(1)?.parse().ok())?)
}

/// A value of `--cgroup`: the path of a control group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cgroup(pub(super) String);

/// Why a control group is invalid.
#[derive(Debug, Error)]
#[error("must be a path from the root, as in `/proc/PID/cgroup`: `/system.slice`")]
pub(super) struct InvalidCgroup;

impl FromStr for Cgroup {
    type Err = InvalidCgroup;

    fn from_str(text: &str) -> Result<Self, InvalidCgroup> {
        text.starts_with('/')
            .then(|| Self(text.to_owned()))
            .ok_or(InvalidCgroup)
    }
}

/// The file of `--metrics-file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Textfile(pub(super) Utf8PathBuf);

/// Why node_exporter would not read a file.
#[derive(Debug, Error)]
#[error("must end in `.prom`: node_exporter reads no other files")]
pub(super) struct InvalidTextfile;

impl FromStr for Textfile {
    type Err = InvalidTextfile;

    fn from_str(text: &str) -> Result<Self, InvalidTextfile> {
        let path = Utf8PathBuf::from(text);
        match path.extension() {
            Some("prom") => Ok(Self(path)),
            _ => Err(InvalidTextfile),
        }
    }
}

/// The address of `--metrics-addr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MetricsAddress(pub(super) SocketAddr);

/// Why an address is invalid.
#[derive(Debug, Error)]
#[error("must be an address with a port, or a port: `127.0.0.1:9000`, `[::1]:9000`, `9000`")]
pub(super) struct InvalidAddress;

impl FromStr for MetricsAddress {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        let port = text.strip_prefix(':').unwrap_or(text).parse();
        let of_this_machine = |port| SocketAddr::new(DEFAULT_ADDRESS.ip(), port);
        let text = text.replace("localhost:", "127.0.0.1:");
        match port {
            Ok(port) => Ok(Self(of_this_machine(port))),
            Err(_) => text.parse().map(Self).map_err(|_| InvalidAddress),
        }
    }
}

impl fmt::Display for MetricsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Option<String> {
        text.parse::<MetricsAddress>().ok().map(|address| address.to_string())
    }

    #[test]
    fn a_file_for_node_exporter_ends_as_it_wants() {
        assert!("/var/lib/gpubench.prom".parse::<Textfile>().is_ok());
        assert!("gpubench.txt".parse::<Textfile>().is_err() && "prom".parse::<Textfile>().is_err());
    }

    #[test]
    fn a_user_is_a_number_or_a_name_of_this_machine() {
        let users = "root:x:0:0:root:/root:/bin/sh\nann:x:1001:7::/:\n::7:\nbroken\nbad:x:many:\n";
        assert_eq!(number_of("ann", users), Some(1001));
        for name in ["an", "", "broken", "bad", "x"] {
            assert_eq!(number_of(name, users), None, "{name}");
        }
        assert_eq!("4294967295".parse::<User>().ok(), Some(User(u32::MAX)));
        assert_eq!("root".parse::<User>().ok(), Some(User(0)));
        assert!("4294967296".parse::<User>().is_err());
    }

    #[test]
    fn a_port_alone_is_of_this_machine() {
        for text in ["9100", ":9100", "localhost:9100"] {
            assert_eq!(address(text).as_deref(), Some("127.0.0.1:9100"));
        }
        assert_eq!(address("0.0.0.0:9100").as_deref(), Some("0.0.0.0:9100"));
        assert_eq!(address("[::1]:1").as_deref(), Some("[::1]:1"));
        assert_eq!(address("everywhere"), None);
        assert_eq!(address("99999"), None);
    }

    #[test]
    fn a_report_is_of_a_kind_and_may_have_a_file() {
        let page = |text: &str| {
            text.parse::<Page>()
                .map(|page| page.0)
                .map_err(|error| error.to_string())
        };
        assert_eq!(page("html"), Ok(PAGE.into()));
        assert_eq!(page("html=a=b.html"), Ok(OutputTarget::File("a=b.html".into())));
        assert_eq!(page("html=-"), Ok(OutputTarget::StandardOutput));
        for wrong in ["pdf", "pdf=x", "html="] {
            assert!(page(wrong).unwrap_err().contains("use `html` or `html=FILE`"));
        }
    }

    #[test]
    fn a_time_has_a_unit_and_a_limit() {
        let of = |text: &str| {
            text.parse::<Period>()
                .map(|period| period.0)
                .map_err(|error| error.to_string())
        };
        assert_eq!(of("500ms"), Ok(Duration::from_millis(500)));
        for wrong in ["0s", "5", "8days", "soon"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
