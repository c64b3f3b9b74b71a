//! The observation, from the first event to the last.

use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::attach::attach;
use super::command::{prepare, takes_standard_output};
use super::display::Display;
use super::ending::Ending;
use super::observation::Observation;
use super::outlets::Outlets;
use super::reach::Reach;
use super::screen::Stream;
use super::signals::Signals;
use super::subject::{Standing, Subject};
use super::{Liveliness, ObservedTarget, ProbeOptions};
use gpubench_contract::{ProbeEnd, ProbeFinished, ProbeStarted, Record, SchemaVersion};
use gpubench_diagnostic::layout::columns_of;
use gpubench_diagnostic::{ExitCode, Failure, print_warning};
use gpubench_observe::{Descendants, Target, Timestamp};
use gpubench_report::probe_summary;

/// Time between two looks at the source while events come.
const BUSY: Duration = Duration::from_millis(1);
/// Time between two looks while none come.
const IDLE: Duration = Duration::from_millis(10);
/// The longest wait for the last events.
const LAST: Duration = Duration::from_millis(500);

/// Observes, and prints what was seen.
///
/// # Errors
/// The machine does not let processes be observed, there is no such command or process, or a result
/// cannot be written.
pub(super) fn probe(options: &ProbeOptions, reach: Reach) -> Result<Ending, Failure> {
    let outlets = Outlets::open(options)?;
    let signals = Signals::catch()?;
    let subject = Subject::new(&options.target)?;
    let mut terminal = None;
    let mut observation = attach(options, reach, || match &options.target {
        ObservedTarget::Command(words) => {
            let prepared = prepare(words, options);
            terminal = prepared.terminal;
            Target::Command(prepared.command)
        }
        ObservedTarget::Processes(pids) => Target::Processes(pids.clone()),
        ObservedTarget::System => Target::System,
    })?;
    if let Some(terminal) = &mut terminal {
        terminal.started();
    }
    outlets.greet();
    let tells_now = options.liveliness != Liveliness::Quiet;
    let told = observation.missing().filter(|_| tells_now).map(str::to_owned);
    told.iter().for_each(|missing| print_warning(missing));
    let started = started(options, &mut *observation);
    let stream = stream_for_people(options);
    let mut watch = Watch {
        started,
        observation: &mut *observation,
        subject,
        interval: options.interval,
        duration: options.duration,
        signals,
        display: Display::on(stream, options.liveliness, terminal),
        outlets,
        failed: None,
    };
    let (finished, status) = watch.run()?;
    let columns = match stream {
        Stream::Stdout => columns_of(&std::io::stdout()),
        Stream::Stderr => columns_of(&std::io::stderr()),
    };
    let mut started = watch.started.clone();
    started.notices.retain(|notice| Some(notice) != told.as_ref());
    stream.write(&probe_summary(&started, &finished, columns));
    watch.outlets.write_page(&watch.started, &finished)?;
    // A reader that has seen enough is no failure.
    if let Some(failure) = watch.failed.filter(|failure| !failure.is_broken_pipe()) {
        return Err(failure);
    }
    Ok(status.map_or(Ending::Own(ExitCode::Success), Ending::from_status))
}

/// Returns where text for people goes: to standard error if standard output is the command's, or
/// has records.
fn stream_for_people(options: &ProbeOptions) -> Stream {
    match options.target {
        ObservedTarget::Command(_) => Stream::Stderr,
        _ if takes_standard_output(options) => Stream::Stderr,
        ObservedTarget::Processes(_) | ObservedTarget::System => Stream::Stdout,
    }
}

fn started(options: &ProbeOptions, observation: &mut dyn Observation) -> ProbeStarted {
    let (command, pid) = match &options.target {
        ObservedTarget::Command(words) => {
            let words = words.iter().map(|word| word.to_string_lossy().into_owned());
            (words.collect(), observation.child().map(|child| child.id()))
        }
        ObservedTarget::Processes(pids) => (Vec::new(), pids.first().copied().filter(|_| pids.len() == 1)),
        ObservedTarget::System => (Vec::new(), None),
    };
    ProbeStarted {
        schema_version: SchemaVersion,
        started_at: jiff::Timestamp::now().to_string(),
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        target: options.target.word(),
        children: options.descendants == Descendants::Followed,
        command,
        pid,
        pids: match &options.target {
            ObservedTarget::Processes(pids) => pids.clone(),
            ObservedTarget::Command(_) | ObservedTarget::System => Vec::new(),
        },
        filter: (!options.filter.is_empty()).then(|| options.filter.clone().into()),
        notices: observation.notices(),
    }
}

/// A loop that observes.
pub(super) struct Watch<'a> {
    pub(super) observation: &'a mut dyn Observation,
    pub(super) subject: Subject,
    pub(super) started: ProbeStarted,
    pub(super) interval: Duration,
    pub(super) duration: Option<Duration>,
    pub(super) signals: Signals,
    pub(super) display: Display,
    pub(super) outlets: Outlets,
    /// The first result that could not be written while the command ran.
    pub(super) failed: Option<Failure>,
}

impl Watch<'_> {
    /// Observes until the end, and returns its record.
    ///
    /// # Errors
    /// Events cannot be read. A result cannot be written, and no command runs that must not be left
    /// alone.
    pub(super) fn run(&mut self) -> Result<(ProbeFinished, Option<ExitStatus>), Failure> {
        let began = Instant::now();
        self.record(&Record::ProbeStarted(Box::new(self.started.clone())))?;
        self.publish()?;
        let mut last = began;
        let mut is_told = false;
        let (end, status) = loop {
            let events = self.observation.poll()?;
            self.display.pump(&self.started);
            if let Standing::Ended(status) = self.subject.standing(self.observation)? {
                break (self.reason_of_end(), status);
            }
            if self.duration.is_some_and(|duration| began.elapsed() >= duration) {
                break (ProbeEnd::Duration, None);
            }
            if self.signals.came() {
                match self.observation.child() {
                    // The command decides when it ends, and is observed until then.
                    Some(child) if !is_told => self.signals.pass_on(child.id()),
                    Some(_) => {}
                    None => break (ProbeEnd::Interrupted, None),
                }
                is_told = true;
            }
            let time = Instant::now();
            if time - last >= self.interval {
                self.sample()?;
                // After a pause of the machine, one sample makes up for all that are missing.
                last = (last + self.interval).max(time - self.interval);
            }
            let rest = if events > 0 { BUSY } else { IDLE };
            self.wait(rest.min(self.interval.saturating_sub(last.elapsed())));
        };
        self.drain()?;
        let mut finished = self.observation.finish(Timestamp::now(), end);
        tell_status(&mut finished, status);
        self.publish()?;
        self.record(&Record::ProbeFinished(Box::new(finished.clone())))?;
        self.display.end(&self.started);
        Ok((finished, status))
    }

    fn reason_of_end(&self) -> ProbeEnd {
        if self.signals.came() {
            ProbeEnd::Interrupted
        } else {
            ProbeEnd::Ended
        }
    }

    fn sample(&mut self) -> Result<(), Failure> {
        let sample = self.observation.sample(Timestamp::now());
        self.publish()?;
        self.display.show(&self.started, &sample);
        self.record(&Record::ProbeSample(Box::new(sample)))
    }

    fn record(&mut self, record: &Record) -> Result<(), Failure> {
        let written = self.outlets.record(record);
        self.go_on_despite(written)
    }

    fn publish(&mut self) -> Result<(), Failure> {
        let published = self.outlets.publish(|| self.observation.metrics(Timestamp::now()));
        self.go_on_despite(published)
    }

    /// A command is observed to its end, with what can be written. Failures follow its summary.
    fn go_on_despite(&mut self, written: Result<(), Failure>) -> Result<(), Failure> {
        match (written, &self.subject) {
            (Err(failure), Subject::Command) => {
                self.failed.get_or_insert(failure);
                Ok(())
            }
            (written, _) => written,
        }
    }

    /// Takes the events that are left. Other processes may go on and never leave none.
    fn drain(&mut self) -> Result<(), Failure> {
        let until = Instant::now() + LAST;
        let mut empty = 0;
        while empty < 3 && Instant::now() < until {
            match self.observation.poll()? {
                0 => empty += 1,
                _ => empty = 0,
            }
            self.display.pump(&self.started);
            std::thread::sleep(BUSY);
        }
        Ok(())
    }

    /// Waits, but not longer than until the command writes something that is shown.
    fn wait(&self, rest: Duration) {
        let Some(terminal) = self.display.terminal() else {
            return std::thread::sleep(rest);
        };
        let mut descriptors = [PollFd::new(terminal, PollFlags::IN)];
        let rest = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(rest.min(IDLE).subsec_nanos()),
        };
        // A signal ends the wait, which the loop notices. A terminal that nobody has any more is
        // always ready.
        let _ = poll(&mut descriptors, Some(&rest));
        if descriptors[0].revents().contains(PollFlags::HUP) {
            std::thread::sleep(BUSY);
        }
    }
}

fn tell_status(finished: &mut ProbeFinished, status: Option<ExitStatus>) {
    use std::os::unix::process::ExitStatusExt;
    finished.exit_code = status.and_then(|status| status.code());
    finished.signal = status.and_then(|status| status.signal());
}
