//! `cargo gpubench probe`.

use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use camino::Utf8PathBuf;
use clap::{ArgGroup, ValueHint};
use thiserror::Error;

use super::UsageError;
use super::standard_output::refuse_two;
use crate::broker::options::{MessageFormat, PageTarget};
use crate::config::{TimeLimit, Value, settings};
use crate::probe::{Liveliness, ObservedTarget, ProbeOptions};
use gpubench_observe::metrics::DEFAULT_ADDRESS;
use gpubench_report::OutputTarget;

impl Value for OsString {}
impl Value for MetricsAddress {}
impl Value for Textfile {}
impl Value for u32 {}

settings! {
    /// The options of `cargo gpubench probe`.
    #[command(
        override_usage = USAGE,
        after_long_help = EXAMPLES,
        group = ArgGroup::new("target").required(true).args(["command", "pid", "system"])
    )]
    pub(super) struct ProbeArguments {
        /// Start this command and observe it with all its children
        ///
        /// All words after its name are its arguments.
        #[arg(value_name = "COMMAND", trailing_var_arg = true, num_args = 1.., value_hint = ValueHint::CommandWithArguments)]
        command: Vec<OsString> => Line "-- python train.py --steps 7", common;

        /// Observe the process with this id, and its children
        ///
        /// Memory that it allocated before is not known, but all that it does from now on is.
        #[arg(long, value_name = "PID", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Observe")]
        pid: Option<u32> => Line "--pid 1234", common;

        /// Observe all processes of the machine
        #[arg(long, help_heading = "Observe")]
        system: bool => Line "--system", common;

        /// Show the state at this interval
        #[arg(long, value_name = "DURATION", default_value_t = TimeLimit::seconds(1), help_heading = "Observe")]
        interval: TimeLimit => Line "--interval 500ms", common;

        /// Stop after this time
        ///
        /// A command runs on, and its exit code is not awaited. It keeps its terminal, so lines are
        /// printed instead of a screen.
        #[arg(long, value_name = "DURATION", help_heading = "Observe")]
        duration: Option<TimeLimit> => Line "--duration 30s";

        /// Serve metrics for Prometheus at this address or port
        ///
        /// Without a value it is 127.0.0.1:9000. A port alone is one of this machine, which no
        /// other can reach. Port 0 takes a free one. The page is at `/metrics`.
        #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = DEFAULT, help_heading = "Output")]
        metrics_addr: Option<MetricsAddress> => Line "--metrics-addr 127.0.0.1:9000", common;

        /// Write metrics for node_exporter's textfile collector to this file
        ///
        /// It is replaced at each interval, as a whole. Its name must end in `.prom`.
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
        metrics_file: Option<Textfile> => Line "--metrics-file /var/lib/node_exporter/gpubench.prom";

        /// Write standard output for people or for programs
        ///
        /// `json` writes one `probe-started` record, a `probe-sample` record for each interval and
        /// one `probe-finished` record. What the command writes to standard output then goes to
        /// standard error.
        #[arg(long, value_name = "FORMAT", default_value = "human", help_heading = "Output")]
        message_format: MessageFormat => Line "--message-format json > observed.jsonl";

        /// Also write the records to this file as JSON lines
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
        export_json: Option<OutputTarget> => Line "--export-json observed.jsonl";

        /// Also write an HTML page at the end: `html`, or `html=FILE`
        ///
        /// The page is one file that needs no network and no scripts. Without FILE it is
        /// `gpubench-probe.html` in the current folder.
        #[arg(long, value_name = "KIND", help_heading = "Output")]
        report: Option<PageTarget> => Line "--report html=observed.html", common;

        /// Print a line for each interval, and leave the command's terminal alone
        ///
        /// By default, a terminal shows a screen that is redrawn, with the lines of the command
        /// above it, without their colours. Programs that draw a screen of their own need this
        /// option.
        #[arg(long, conflicts_with = "quiet", help_heading = "Output")]
        no_live: bool => Line "--no-live";

        /// Show only the summary
        #[arg(short, long, help_heading = "Output")]
        quiet: bool => Line "--quiet";
    }
}

/// The default of `--metrics-addr`, as text.
const DEFAULT: &str = "127.0.0.1:9000";

/// The page, if it has no name.
const PAGE: &str = "gpubench-probe.html";

const USAGE: &str = "cargo gpubench probe [OPTIONS] -- <COMMAND>...
       cargo gpubench probe [OPTIONS] --pid <PID>
       cargo gpubench probe [OPTIONS] --system";

const EXAMPLES: &str = "\
Examples:
  cargo gpubench probe -- python train.py             a command, to its end
  cargo gpubench probe --pid 1234 --duration 30s      a process that runs already
  cargo-gpubench probe --system --metrics-addr 9000   a machine without cargo, for Prometheus";

impl ProbeArguments {
    /// Checks the rules that clap cannot express.
    ///
    /// # Errors
    /// Several options write to standard output.
    pub(super) fn into_options(self) -> Result<ProbeOptions, UsageError> {
        let page = self.report.map(|page| match page {
            PageTarget::TargetDirectory => OutputTarget::File(PAGE.into()),
            PageTarget::OutputTarget(target) => target,
        });
        let is_taken = |target: &Option<OutputTarget>| *target == Some(OutputTarget::StandardOutput);
        refuse_two(
            [
                (self.message_format == MessageFormat::Json).then_some("--message-format json"),
                is_taken(&self.export_json).then_some("--export-json -"),
                is_taken(&page).then_some("--report html=-"),
            ]
            .into_iter()
            .flatten(),
        )?;
        let outlives_the_probe = self.duration.is_some() && !self.command.is_empty();
        Ok(ProbeOptions {
            // clap requires one of the three.
            target: match self.pid {
                Some(pid) => ObservedTarget::Process(pid),
                None if self.system => ObservedTarget::System,
                None => ObservedTarget::Command(self.command),
            },
            interval: self.interval.duration(),
            duration: self.duration.map(TimeLimit::duration),
            metrics_address: self.metrics_addr.map(|address| address.0),
            metrics_file: self.metrics_file.map(|file| file.0),
            format: self.message_format,
            export: self.export_json,
            page,
            liveliness: match (self.quiet, self.no_live) {
                (true, _) => Liveliness::Quiet,
                (false, true) => Liveliness::Lines,
                // The command would lose the terminal that a screen gives it.
                (false, false) if outlives_the_probe => Liveliness::Lines,
                (false, false) => Liveliness::Live,
            },
        })
    }
}

/// The file of `--metrics-file`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Textfile(Utf8PathBuf);

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

impl fmt::Display for Textfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The address of `--metrics-addr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MetricsAddress(SocketAddr);

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
    use crate::cli::{Environment, Verb, resolve};

    fn options(arguments: &[&str]) -> ProbeOptions {
        let all: Vec<_> = ["cargo-gpubench", "probe"]
            .iter()
            .chain(arguments)
            .map(Into::into)
            .collect();
        let Ok(resolved) = resolve(&all, &Environment::default(), &|_| None) else {
            panic!("{arguments:?} are arguments");
        };
        let Verb::Gpubench(words) = resolved.verb else {
            panic!("another verb");
        };
        match words.into_command().expect("a command") {
            crate::cli::Command::Probe(options) => *options,
            other => panic!("another command: {other:?}"),
        }
    }

    #[test]
    fn all_words_from_a_program_on_are_its_own() {
        let command = ["app", "-q", "--pid", "1"];
        let with_dashes = [&["--"], &command[..]].concat();
        for arguments in [&command[..], &with_dashes] {
            let options = options(arguments);
            assert_eq!(
                options.target,
                ObservedTarget::Command(command.map(OsString::from).to_vec())
            );
            assert_eq!(options.liveliness, Liveliness::Live);
        }
    }

    #[test]
    fn a_command_that_may_outlive_the_probe_keeps_its_terminal() {
        let of = |arguments| options(arguments).liveliness;
        assert_eq!(of(&["--duration", "3s", "app"]), Liveliness::Lines);
        assert_eq!(of(&["--duration", "3s", "--system"]), Liveliness::Live);
    }

    fn address(text: &str) -> Option<String> {
        text.parse::<MetricsAddress>().ok().map(|address| address.to_string())
    }

    #[test]
    fn a_file_for_node_exporter_ends_as_it_wants() {
        assert!("/var/lib/gpubench.prom".parse::<Textfile>().is_ok());
        assert!("gpubench.txt".parse::<Textfile>().is_err() && "prom".parse::<Textfile>().is_err());
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
        assert_eq!(DEFAULT, DEFAULT_ADDRESS.to_string());
    }
}
