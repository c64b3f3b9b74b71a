//! The command line.

use std::ffi::OsString;

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgGroup, Parser, ValueHint};
use gpubench_observe::sample::Rows;
use gpubench_observe::{Descendants, Filter, OwnerLabel};
use gpubench_report::{Color, HELP_STYLES, OutputTarget};

use super::error::ProbeError;
use super::values::{Cgroup, MetricsAddress, MetricsLabel, Page, Period, Textfile, User, once};
use super::{Liveliness, MessageFormat, ObservedTarget, ProbeOptions};

/// What the command line asks for.
#[derive(Debug)]
pub(super) enum Task {
    /// What can be observed.
    Abilities,
    /// The observation of a run.
    Audit,
    /// An observation for people.
    Observe(Box<ProbeOptions>),
}

/// Show what CUDA processes do, without rebuilding them
///
/// Starts a command, or looks at processes that run, and shows their memory, launches, copies and
/// errors while they happen. At the end it tells what was left allocated. It can serve metrics for
/// Prometheus. Needs root or capabilities, else it sees processes and how often they give work to a
/// GPU. Needs no GPU toolkit and no cargo. With a command, the exit code is that of the command, or
/// 128 and the number of the signal that ended it.
#[derive(Debug, Parser)]
#[command(
    name = "gpubench-probe",
    version,
    styles = HELP_STYLES,
    max_term_width = 100,
    override_usage = USAGE,
    after_long_help = EXAMPLES,
    group = ArgGroup::new("metrics").multiple(true).args(["metrics_addr", "metrics_file"]),
    group = ArgGroup::new("target").required(true).args(["command", "pid", "system", "abilities", "audit"])
)]
pub(super) struct CommandLine {
    /// Start this command and observe it with all its children
    ///
    /// All words after its name are its arguments.
    #[arg(value_name = "COMMAND", trailing_var_arg = true, num_args = 1.., value_hint = ValueHint::CommandWithArguments)]
    command: Vec<OsString>,

    /// Observe the process with this id, and its children
    ///
    /// Memory that it allocated before is not known, but all that it does from now on is. Several
    /// are given one by one or separated by commas: the observation ends with the last of them.
    #[arg(
        long,
        value_name = "PID",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = "Observe"
    )]
    pid: Vec<u32>,

    /// Observe all processes of the machine
    #[arg(long, help_heading = "Observe")]
    system: bool,

    /// Observe the command or the processes alone, without their children
    ///
    /// From Linux 6.12 on, no other process pays for the probes of one process. With several
    /// `--pid`, all processes that use the driver pay.
    #[arg(
        long,
        conflicts_with_all = ["system", "abilities", "audit"],
        help_heading = "Observe",
        hide_short_help = true
    )]
    no_children: bool,

    /// Show only processes of this program
    ///
    /// NAME is the file name of the executable, as the table of processes has it. Several may be
    /// given. Processes that do not match `--program`, `--user` and `--cgroup` are left out and
    /// counted.
    #[arg(
        long,
        value_name = "NAME",
        value_parser = NonEmptyStringValueParser::new(),
        help_heading = "Observe",
        hide_short_help = true
    )]
    program: Vec<String>,

    /// Show only processes of this user, by name or number
    ///
    /// It is the user that a process has when it begins. Several may be given.
    #[arg(long, value_name = "USER", help_heading = "Observe", hide_short_help = true)]
    user: Vec<User>,

    /// Show only processes in this control group, and in those below it
    ///
    /// PATH is as in `/proc/PID/cgroup`, such as `/system.slice/docker.service`. Several may be
    /// given.
    #[arg(long, value_name = "PATH", help_heading = "Observe", hide_short_help = true)]
    cgroup: Vec<Cgroup>,

    /// List each allocation that is not freed, by its address
    ///
    /// The summary, the record of the end and the page then have the largest 256 of each process,
    /// one by one.
    #[arg(long, help_heading = "Observe", hide_short_help = true)]
    allocations: bool,

    /// Show the state at this interval
    #[arg(long, value_name = "DURATION", default_value = "1s", help_heading = "Observe")]
    interval: Period,

    /// Stop after this time
    ///
    /// A command runs on, and its exit code is not awaited. It keeps its terminal, so lines are
    /// printed instead of a screen.
    #[arg(long, value_name = "DURATION", help_heading = "Observe", hide_short_help = true)]
    duration: Option<Period>,

    /// Serve metrics for Prometheus at this address or port
    ///
    /// Without a value it is 127.0.0.1:9000. A port alone is one of this machine, which no
    /// other can reach. Port 0 takes a free one. The page is at `/metrics`.
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:9000", help_heading = "Output")]
    metrics_addr: Option<MetricsAddress>,

    /// Write metrics for node_exporter's textfile collector to this file
    ///
    /// It is replaced at each interval, as a whole. Its name must end in `.prom`.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output", hide_short_help = true)]
    metrics_file: Option<Textfile>,

    /// Tell programs apart in metrics by whose they are
    ///
    /// Of each process that calls the driver, its user or control group is read when it begins.
    /// Several are separated by commas.
    #[arg(
        long,
        value_name = "LABELS",
        value_delimiter = ',',
        requires = "metrics",
        help_heading = "Output",
        hide_short_help = true
    )]
    metrics_labels: Vec<MetricsLabel>,

    /// Write standard output for people or for programs
    ///
    /// `json` writes one `probe-started` record, a `probe-sample` record for each interval and
    /// one `probe-finished` record. What the command writes to standard output then goes to
    /// standard error.
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "human",
        help_heading = "Output",
        hide_short_help = true
    )]
    message_format: MessageFormat,

    /// Also write the records to this file as JSON lines
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output", hide_short_help = true)]
    export_json: Option<OutputTarget>,

    /// Also write an HTML page at the end: `html`, or `html=FILE`
    ///
    /// The page is one file that needs no network and no scripts. Without FILE it is
    /// `gpubench-probe.html` in the current folder.
    #[arg(long, value_name = "KIND", help_heading = "Output")]
    report: Option<Page>,

    /// Print a line for each interval, and leave the command's terminal alone
    ///
    /// By default, a terminal shows a screen that is redrawn, with the lines of the command
    /// above it, without their colours. Programs that draw a screen of their own need this
    /// option.
    #[arg(long, conflicts_with = "quiet", help_heading = "Output", hide_short_help = true)]
    no_live: bool,

    /// Show only the summary
    #[arg(short, long, help_heading = "Output", hide_short_help = true)]
    quiet: bool,

    /// Colour standard output and standard error
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Output",
        hide_short_help = true
    )]
    color: Color,

    /// Print what this machine lets be observed, as a record
    #[arg(long, help_heading = "Observe", hide_short_help = true)]
    abilities: bool,

    /// Observes the process that starts this one, for `cargo gpubench --audit`
    #[arg(long, hide = true)]
    audit: bool,
}

const USAGE: &str = "cargo gpubench probe [OPTIONS] -- <COMMAND>...
       cargo gpubench probe [OPTIONS] --pid <PID>
       cargo gpubench probe [OPTIONS] --system";

/// The most values of an option that takes several.
const MOST_VALUES: usize = 64;

const EXAMPLES: &str = "\
Examples:
  cargo gpubench probe -- python train.py            a command, to its end
  cargo gpubench probe --pid 1234 --duration 30s     a process that runs already
  gpubench-probe --system --metrics-addr 9000        a machine without cargo, for Prometheus";

impl CommandLine {
    /// Returns when output is coloured.
    pub(super) fn color(&self) -> Color {
        self.color
    }

    /// Checks the rules that clap cannot express.
    ///
    /// # Errors
    /// Several options write to standard output.
    pub(super) fn into_task(self) -> Result<Task, ProbeError> {
        if self.abilities {
            return Ok(Task::Abilities);
        }
        if self.audit {
            return Ok(Task::Audit);
        }
        let page = self.report.map(|page| page.0);
        let is_taken = |target: &Option<OutputTarget>| *target == Some(OutputTarget::StandardOutput);
        let takers = [
            (self.message_format == MessageFormat::Json).then_some("--message-format json"),
            is_taken(&self.export_json).then_some("--export-json -"),
            is_taken(&page).then_some("--report html=-"),
        ];
        let mut takers = takers.into_iter().flatten();
        if let (Some(one), Some(other)) = (takers.next(), takers.next()) {
            return Err(ProbeError::StandardOutputTaken { one, other });
        }
        let counts = [
            ("--pid", self.pid.len()),
            ("--program", self.program.len()),
            ("--user", self.user.len()),
            ("--cgroup", self.cgroup.len()),
        ];
        if let Some((option, _)) = counts.into_iter().find(|(_, count)| *count > MOST_VALUES) {
            return Err(ProbeError::TooManyValues {
                option,
                most: MOST_VALUES,
            });
        }
        let outlives_the_probe = self.duration.is_some() && !self.command.is_empty();
        Ok(Task::Observe(Box::new(ProbeOptions {
            // clap requires one of the three.
            target: match self.pid {
                pids if !pids.is_empty() => ObservedTarget::Processes(once(pids)),
                _ if self.system => ObservedTarget::System,
                _ => ObservedTarget::Command(self.command),
            },
            listed: if self.allocations { Rows::FINAL.allocations } else { 0 },
            filter: Filter {
                programs: self.program.into_iter().collect(),
                users: self.user.into_iter().map(|user| user.0).collect(),
                cgroups: self.cgroup.into_iter().map(|cgroup| cgroup.0).collect(),
            },
            descendants: if self.no_children {
                Descendants::LeftOut
            } else {
                Descendants::Followed
            },
            interval: self.interval.0,
            duration: self.duration.map(|duration| duration.0),
            metrics_address: self.metrics_addr.map(|address| address.0),
            metrics_file: self.metrics_file.map(|file| file.0),
            metrics_labels: once(self.metrics_labels.into_iter().map(OwnerLabel::from)),
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
        })))
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn options(arguments: &[&str]) -> ProbeOptions {
        let all = ["gpubench-probe"].iter().chain(arguments);
        let parsed = CommandLine::try_parse_from(all).expect("arguments");
        match parsed.into_task().expect("a task") {
            Task::Observe(options) => *options,
            other => panic!("another task: {other:?}"),
        }
    }

    #[test]
    fn verify_the_command_line() {
        CommandLine::command().debug_assert();
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
    fn labels_of_metrics_need_metrics_and_are_there_once() {
        let labels = options(&["--system", "--metrics-addr", "0", "--metrics-labels", "pod,user,pod"]).metrics_labels;
        assert_eq!(
            labels.iter().map(|label| label.name()).collect::<Vec<_>>(),
            ["pod", "user"]
        );
        for wrong in [
            &["--system", "--metrics-labels", "user"][..],
            &["--system", "--metrics-addr", "0", "--metrics-labels", "pid"],
            &["--system", "--metrics-addr", "0", "--metrics-labels", ""],
        ] {
            let all = ["gpubench-probe"].iter().chain(wrong);
            assert!(CommandLine::try_parse_from(all).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn several_processes_are_given_one_by_one_or_in_a_list_and_are_there_once() {
        let target = options(&["--pid", "7,8", "--pid", "9", "--pid", "7"]).target;
        assert_eq!(target, ObservedTarget::Processes(vec![7, 8, 9]));
        for wrong in ["0", "", "7,", "7,x", "-1", "4294967296"] {
            let words = ["gpubench-probe", "--pid", wrong];
            assert!(CommandLine::try_parse_from(words).is_err(), "{wrong}");
        }
    }

    #[test]
    fn filters_have_a_limit_and_no_empty_values() {
        let filter = options(&[
            "--system",
            "--program",
            "a",
            "--program",
            "a b",
            "--user",
            "0",
            "--cgroup",
            "/x",
        ])
        .filter;
        assert_eq!(filter.programs, ["a", "a b"].map(str::to_owned).into());
        assert_eq!((filter.users, filter.cgroups), ([0].into(), ["/x".to_owned()].into()));
        for wrong in [
            ["--program", ""],
            ["--user", ""],
            ["--user", "-1"],
            ["--cgroup", "x"],
            ["--cgroup", ""],
        ] {
            let words = ["gpubench-probe", "--system"].into_iter().chain(wrong);
            assert!(CommandLine::try_parse_from(words).is_err(), "{wrong:?}");
        }
        let many: Vec<String> = (0..65)
            .flat_map(|name| ["--program".to_owned(), name.to_string()])
            .collect();
        let words = ["gpubench-probe", "--system"]
            .map(str::to_owned)
            .into_iter()
            .chain(many);
        let error = CommandLine::try_parse_from(words)
            .expect("arguments")
            .into_task()
            .expect_err("too many");
        assert_eq!(error.to_string(), "`--program` takes at most 64 values");
    }

    #[test]
    fn children_of_a_command_or_a_process_are_left_out_if_asked_for() {
        assert_eq!(options(&["app", "--no-children"]).descendants, Descendants::Followed);
        assert_eq!(options(&["--pid", "1"]).descendants, Descendants::Followed);
        for target in [&["--pid", "1"][..], &["--pid", "1,2"], &["app"]] {
            let all = [&["--no-children"], target].concat();
            assert_eq!(options(&all).descendants, Descendants::LeftOut);
        }
        let all = ["gpubench-probe", "--no-children", "--system"];
        assert!(CommandLine::try_parse_from(all).is_err());
    }

    #[test]
    fn a_command_that_may_outlive_the_probe_keeps_its_terminal() {
        let of = |arguments| options(arguments).liveliness;
        assert_eq!(of(&["--duration", "3s", "app"]), Liveliness::Lines);
        assert_eq!(of(&["--duration", "3s", "--system"]), Liveliness::Live);
    }

    #[test]
    fn two_options_cannot_both_write_to_standard_output() {
        let words = [
            "gpubench-probe",
            "--system",
            "--message-format",
            "json",
            "--export-json",
            "-",
        ];
        let parsed = CommandLine::try_parse_from(words).expect("arguments");
        let error = parsed.into_task().expect_err("both do").to_string();
        assert_eq!(
            error,
            "`--message-format json` and `--export-json -` both write to standard output"
        );
    }

    #[test]
    fn the_reference_has_the_help() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/gpubench-probe.md");
        let text = std::fs::read_to_string(page).unwrap_or_default();
        let help = CommandLine::command().term_width(100).render_long_help().to_string();
        let help: String = help.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        let wanted = format!("# `gpubench-probe --help`\n\n```text\n{help}```\n");
        match std::env::var_os("GPUBENCH_UPDATE_REFERENCE") {
            Some(_) => std::fs::write(page, wanted).expect("the page is written"),
            None => assert!(text == wanted, "{page}: run this test with GPUBENCH_UPDATE_REFERENCE=1"),
        }
    }
}
