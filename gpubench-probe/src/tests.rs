//! The observation of recorded events.

use std::cell::Cell;
use std::process::{Child, Command, ExitStatus};
use std::rc::Rc;
use std::time::Duration;

use super::MessageFormat;
use super::calls::Calls;
use super::display::Display;
use super::observation::{Observation, Started};
use super::outlets::Outlets;
use super::outline::Outline;
use super::outlined::{Look, Submissions};
use super::screen::Stream;
use super::signals::Signals;
use super::subject::{OtherProcess, Subject};
use super::watch::Watch;
use super::{Liveliness, ObservedTarget, ProbeOptions};
use gpubench_contract::{ProbeEnd, ProbeFinished, ProbeStarted, ProbeTarget, Record, SchemaVersion};
use gpubench_diagnostic::Failure;
use gpubench_observe::testing::{Replay, Script};
use gpubench_observe::{Descendants, DoorbellError, Event, Filter, FunctionTotal, Source, Timestamp};

/// Recorded events, and perhaps a real command.
#[derive(Default)]
struct Played {
    replay: Replay,
    child: Option<Child>,
    polls: Rc<Cell<usize>>,
}

impl Source for Played {
    fn poll(&mut self, sink: &mut dyn FnMut(Event)) -> Result<usize, Failure> {
        self.polls.set(self.polls.get() + 1);
        self.replay.poll(sink)
    }

    fn totals(&self) -> Vec<FunctionTotal> {
        self.replay.totals()
    }

    fn lost(&self) -> u64 {
        self.replay.lost()
    }
}

impl Started for Played {
    fn child(&mut self) -> Option<&mut Child> {
        self.child.as_mut()
    }
}

struct Set {
    folder: tempfile::TempDir,
    options: ProbeOptions,
    signals: Signals,
}

impl Set {
    fn up() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| camino::Utf8PathBuf::from_path_buf(folder.path().join(name)).expect("UTF-8");
        let options = ProbeOptions {
            target: ObservedTarget::System,
            descendants: Descendants::Followed,
            filter: Filter::default(),
            listed: 0,
            interval: Duration::from_millis(5),
            duration: None,
            metrics_address: None,
            metrics_file: Some(path("gpubench.prom")),
            metrics_labels: Vec::new(),
            format: MessageFormat::Human,
            export: Some(gpubench_report::OutputTarget::File(path("observed.jsonl"))),
            page: Some(gpubench_report::OutputTarget::File(path("page.html"))),
            liveliness: Liveliness::Quiet,
        };
        Self {
            folder,
            options,
            signals: Signals::default(),
        }
    }

    fn watch(&self, played: Played, subject: Subject) -> (ProbeFinished, Option<ExitStatus>) {
        self.observe(
            &mut Calls::new(played, Vec::new(), &self.options, Timestamp::now()),
            subject,
        )
    }

    fn observe(&self, observation: &mut dyn Observation, subject: Subject) -> (ProbeFinished, Option<ExitStatus>) {
        let started = ProbeStarted {
            schema_version: SchemaVersion,
            started_at: "2026-11-18T10:00:00Z".into(),
            tool_version: "0".into(),
            target: ProbeTarget::System,
            children: true,
            command: Vec::new(),
            pid: None,
            pids: Vec::new(),
            filter: None,
            notices: Vec::new(),
        };
        let mut watch = Watch {
            observation,
            subject,
            started,
            interval: self.options.interval,
            duration: self.options.duration,
            signals: self.signals.clone(),
            display: Display::on(Stream::Stderr, self.options.liveliness, None),
            outlets: Outlets::open(&self.options).expect("files"),
            failed: None,
        };
        let finished = watch.run().expect("an observation");
        watch.outlets.write_page(&watch.started, &finished.0).expect("a page");
        finished
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(name)).expect("a file")
    }

    /// Checks that each record is as the schema says.
    fn check_schema(&self) {
        let schema = include_str!("../../crates/gpubench-contract/schema/gpubench-v2.schema.json");
        let schema = serde_json::from_str(schema).expect("JSON");
        let validator = jsonschema::validator_for(&schema).expect("a schema");
        for line in self.read("observed.jsonl").lines() {
            let record = serde_json::from_str(line).expect("JSON");
            let errors: Vec<String> = validator.iter_errors(&record).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{errors:?} in {record}");
        }
    }

    fn records(&self) -> Vec<Record> {
        let lines = self.read("observed.jsonl");
        lines
            .lines()
            .map(|line| serde_json::from_str(line).expect("a record"))
            .collect()
    }
}

fn leaky() -> Script {
    Script::new(7, Timestamp::now().0 / 1_000_000, "leaky")
        .allocate(0x1000, 1 << 20)
        .name(1, "_Z4axpyPf")
        .launch(1)
        .exit(0)
}

#[test]
fn an_observation_without_a_subject_ends_after_its_duration_and_looks_at_each_interval() {
    let mut set = Set::up();
    set.options.duration = Some(Duration::from_millis(60));
    let played = Played::default();
    let polls = played.polls.clone();
    let (finished, status) = set.watch(played, Subject::System);
    assert_eq!((finished.end, status), (ProbeEnd::Duration, None));
    assert!(polls.get() > 3);
    let records = set.records();
    assert!(matches!(records.first(), Some(Record::ProbeStarted(_))));
    assert!(matches!(records.last(), Some(Record::ProbeFinished(_))));
    // Looks without events are samples like any other.
    assert!(
        records
            .iter()
            .filter(|record| matches!(record, Record::ProbeSample(_)))
            .count()
            >= 2
    );
}

#[test]
fn an_interval_without_end_has_no_samples() {
    let mut set = Set::up();
    set.options.interval = Duration::MAX;
    set.options.duration = Some(Duration::from_millis(20));
    let (finished, _) = set.watch(Played::default(), Subject::System);
    assert_eq!(finished.end, ProbeEnd::Duration);
}

#[test]
fn a_command_that_fails_passes_its_code_on_and_its_events_are_all_there() {
    let set = Set::up();
    let child = Command::new("sh").args(["-c", "exit 3"]).spawn().expect("a shell");
    let mut played = Played {
        replay: Replay::new(leaky().events),
        child: Some(child),
        polls: Rc::default(),
    };
    // They come only after the command has ended.
    played.replay.batches.push_front(Vec::new());
    let (finished, status) = set.watch(played, Subject::Command);
    assert_eq!(status.and_then(|status| status.code()), Some(3));
    assert_eq!((finished.exit_code, finished.signal), (Some(3), None));
    assert_eq!(finished.calls.as_ref().expect("calls").kernels[0].name, "axpy(float*)");
    assert_eq!(finished.calls.as_ref().expect("calls").memory[0].unfreed_bytes, 1 << 20);
    assert!(
        set.read("gpubench.prom")
            .contains("gpubench_cuda_unfreed_bytes_total{program=\"leaky\",kind=\"device\"} 1048576")
    );
    assert!(set.read("page.html").contains("Left allocated"));
}

#[test]
fn a_command_that_a_signal_ends_is_told_by_its_signal() {
    let set = Set::up();
    let child = Command::new("sh").args(["-c", "kill -9 $$"]).spawn().expect("a shell");
    let played = Played {
        child: Some(child),
        ..Played::default()
    };
    let (finished, _) = set.watch(played, Subject::Command);
    assert_eq!((finished.exit_code, finished.signal), (None, Some(9)));
    assert_eq!(finished.end, ProbeEnd::Ended);
}

#[test]
fn the_end_of_an_observed_process_ends_the_observation() {
    let set = Set::up();
    let mut other = Command::new("sleep").arg("0.02").spawn().expect("a process");
    let subject = Subject::Processes(vec![OtherProcess::from_pid(other.id()).expect("it runs")]);
    let (finished, _) = set.watch(Played::default(), subject);
    assert_eq!(finished.end, ProbeEnd::Ended);
    other.wait().expect("it has ended");
    assert!(OtherProcess::from_pid(u32::MAX).is_err());
}

#[test]
fn an_interruption_ends_an_observation_with_its_results() {
    let set = Set::up();
    set.signals.interrupt();
    let played = Played {
        replay: Replay::new(leaky().events),
        ..Played::default()
    };
    let (finished, _) = set.watch(played, Subject::System);
    assert_eq!(finished.end, ProbeEnd::Interrupted);
    assert_eq!(finished.calls.expect("calls").work.plain_launches, 1);
}

#[test]
fn records_of_an_observation_follow_the_schema() {
    let mut set = Set::up();
    set.options.duration = Some(Duration::from_millis(20));
    set.watch(
        Played {
            replay: Replay::new(leaky().events),
            ..Played::default()
        },
        Subject::System,
    );
    set.check_schema();
}

/// Doorbells that ring a hundred times until each look at their count.
struct Ringing;

impl Look for Ringing {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn has_driver(&self, _pid: u32) -> bool {
        true
    }

    fn doorbell(&self, _pid: u32) -> Result<Box<dyn Submissions>, DoorbellError> {
        Ok(Box::new(Rings(Cell::new(0))))
    }
}

struct Rings(Cell<u64>);

impl Submissions for Rings {
    fn count(&self) -> Option<u64> {
        self.0.set(self.0.get() + 100);
        Some(self.0.get())
    }
}

fn without_calls(events: Vec<Event>, at: Timestamp) -> Outline<Played> {
    let played = Played {
        replay: Replay::new(events),
        ..Played::default()
    };
    Outline::new(played, Box::new(Ringing), "no rights".to_owned(), at)
}

#[test]
fn records_without_calls_follow_the_schema_and_have_no_metrics() {
    let mut set = Set::up();
    set.options.duration = Some(Duration::from_millis(20));
    let mut outline = without_calls(leaky().events, Timestamp::now());
    let (finished, _) = set.observe(&mut outline, Subject::System);
    set.check_schema();
    assert_eq!((finished.calls, finished.timeline.len()), (None, 0));
    assert_eq!(
        finished.processes_only.expect("an outline").processes[0]
            .program
            .as_deref(),
        Some("leaky")
    );
    assert_eq!(set.read("gpubench.prom"), "");
}

#[test]
fn rates_of_submissions_are_those_of_the_interval_and_at_the_end_of_the_whole_time() {
    let second = |seconds: u64| Timestamp(seconds * 1_000_000_000);
    let mut outline = without_calls(Script::new(7, 1, "app").events, second(0));
    outline.poll().expect("events");
    let mut rate = |at| {
        let outline = outline.sample(second(at)).processes_only.expect("an outline");
        outline.submissions_per_second.expect("a rate")
    };
    let first = rate(1);
    assert!(first > 0.0);
    // As many in ten times the time.
    assert!(rate(11) < first);
    let finished = outline.finish(second(20), ProbeEnd::Interrupted);
    let outline = finished.processes_only.expect("an outline");
    let total = outline.submissions.expect("a count") as f64;
    assert_eq!(outline.submissions_per_second, Some(total / 20.0));
}
