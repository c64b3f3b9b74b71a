//! A thread of the head for each agent: it starts the agent's command, gives it work and takes its
//! records.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;

use super::connection::{Connection, Ended, Heard, Hurry, ShownLines, ending, pieces_of};
use super::frame::Frame;
use super::late_records::LateRecords;
use super::leases::{Failed, Leases, Misplaced};
use super::message::{Begin, FromAgent, Ready, ToAgent};
use super::submissions::{contents_of, order_of};
use crate::broker::lanes::units::Message;
use crate::broker::options::ReadSubmission;
use gpubench_contract::{BenchmarkComplete, Cause};
use gpubench_device::Facts;
use gpubench_diagnostic::{chain, print_warning, printable_line};
use gpubench_measure::clients::Interrupt;
use gpubench_measure::measurement::CaseFailure;

/// How long a station waits for its agent before it looks for work.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// How often an agent may end one after another before it was ready, and after it was, without a
/// result in between.
const FALSE_STARTS: u32 = 3;
const ENDS_WITHOUT_RESULT: u32 = 10;

/// How many times longer than the limit a silent agent is listened to, before it is started again.
const LISTENED_TO: u32 = 5;

/// The longest reason of an agent that is shown, in characters.
const LONGEST_REASON: usize = 2_000;

/// The longest pause before an agent is started again.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// What the stations of a run share.
pub(super) struct Fleet {
    pub(super) begin: Begin,
    pub(super) sent: Sent,
    pub(super) silence: Duration,
    pub(super) interrupt: Interrupt,
    /// What is to be measured, once it is known.
    pub(super) plan: OnceLock<Plan>,
    /// Agents that are ready, until the head has the first.
    pub(super) ready: Mutex<Option<Sender<Ready>>>,
    pub(super) messages: Mutex<Option<Sender<Message>>>,
    pub(super) late: LateRecords,
    pub(super) shown: Arc<ShownLines>,
    /// Agents that may still take work.
    pub(super) left: AtomicUsize,
    /// Why the last agent gave up.
    pub(super) last: Mutex<String>,
}

/// What agents get besides messages.
pub(super) struct Sent {
    /// The archive.
    pub(super) archive: Utf8PathBuf,
    /// What is graded, if something is.
    pub(super) submissions: Vec<ReadSubmission>,
}

/// What is to be measured.
pub(super) struct Plan {
    pub(super) leases: Leases,
    /// The device of the first agent. Others are of the same kind.
    pub(super) facts: Facts,
}

/// Why the connection to an agent has ended.
#[derive(Debug, thiserror::Error)]
enum Broken {
    /// The run is over.
    #[error("the run is over")]
    Over,
    /// Its command cannot be started.
    #[error("`{program}` cannot be started")]
    Start {
        program: String,
        #[source]
        source: std::io::Error,
    },
    /// Nothing more comes.
    #[error(transparent)]
    Ended(#[from] Ended),
    /// It was silent.
    #[error("it was silent for {} s", .0.as_secs())]
    Silent(Duration),
    /// It does not listen.
    #[error("it does not listen")]
    Deaf(#[source] std::io::Error),
    /// The archive cannot be read.
    #[error("the archive for it cannot be read")]
    Archive(#[source] std::io::Error),
    /// Its machine has a fault.
    #[error("{0}")]
    Fault(String),
    /// It says what it cannot know.
    #[error("it broke the protocol: {0}")]
    Protocol(String),
    /// It cannot take part.
    #[error("it cannot take part: {0}")]
    Refused(String),
}

impl From<Misplaced> for Broken {
    fn from(error: Misplaced) -> Broken {
        Broken::Protocol(printable_line(&error.to_string()).to_string())
    }
}

/// An agent of the run, however often it is started.
pub(super) struct Station {
    pub(super) fleet: Arc<Fleet>,
    /// Its number, from 0.
    pub(super) number: usize,
    /// `agent 2`.
    pub(super) name: String,
    /// The words of its command.
    pub(super) words: Vec<String>,
}

/// What is known of the agent while its command runs.
#[derive(Default)]
struct Session {
    is_ready: bool,
    ready: Option<Box<Ready>>,
    has_results: bool,
    /// The lease that it works on, whether it is live or not.
    busy: Option<u64>,
    /// The lease that it was silent with for too long.
    silent_with: Option<u64>,
    /// All leases that it has had.
    had: BTreeSet<u64>,
    /// Its host.
    host: Option<String>,
}

impl Session {
    /// Whether the agent is ready and its work is not lost.
    fn can_work(&self) -> bool {
        self.is_ready && (self.busy.is_none() || self.busy != self.silent_with)
    }
}

impl Station {
    /// Starts the agent until the run is over, or it fails too often.
    pub(super) fn run(self) {
        let (mut false_starts, mut ends) = (0, 0);
        loop {
            let mut session = Session::default();
            let broken = self.session(&mut session);
            let name = self.named(&session);
            if matches!(broken, Broken::Over) || self.fleet.interrupt.is_set() {
                break;
            }
            let why = printable_line(&chain(&broken)).to_string();
            match (session.is_ready, session.has_results) {
                (false, _) => false_starts += 1,
                (true, false) => (false_starts, ends) = (0, ends + 1),
                (true, true) => (false_starts, ends) = (0, 0),
            }
            let is_final = matches!(
                broken,
                Broken::Start { .. } | Broken::Refused(_) | Broken::Protocol(_) | Broken::Ended(Ended::Message(_))
            );
            if is_final || false_starts >= FALSE_STARTS || ends >= ENDS_WITHOUT_RESULT {
                print_warning(&format_args!("{name} measures no more: {why}"));
                self.note_last(format!("{name}: {why}"));
                break;
            }
            print_warning(&format_args!("{name} is started again: {why}"));
            let pause = Duration::from_millis(100) * 2u32.pow((false_starts + ends).min(8));
            self.fleet.interrupt.sleep(pause.min(LONGEST_PAUSE));
        }
        self.leave();
    }

    /// Fails what nobody can measure, if this was the last agent.
    fn leave(&self) {
        if self.fleet.left.fetch_sub(1, Ordering::SeqCst) != 1 {
            return;
        }
        // The head waits for an agent, or for results.
        drop(self.fleet.ready.lock().unwrap_or_else(PoisonError::into_inner).take());
        if let Some(plan) = self.fleet.plan.get().filter(|_| !self.fleet.interrupt.is_set()) {
            let last = self.fleet.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
            plan.leases.strand(&last).iter().for_each(|failed| self.fail(failed));
        }
        drop(
            self.fleet
                .messages
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        );
    }

    fn session(&self, session: &mut Session) -> Broken {
        let mut connection = match Connection::start(&self.words, &self.name, &self.fleet.shown, &self.fleet.interrupt)
        {
            Ok(connection) => connection,
            Err(source) => {
                let program = self.words.first().cloned().unwrap_or_default();
                return Broken::Start { program, source };
            }
        };
        let broken = match self.talk(&mut connection, session) {
            Ok(never) => match never {},
            Err(broken) => broken,
        };
        self.leave_work(&broken, session);
        let hurry = match &broken {
            Broken::Over if self.fleet.interrupt.is_set() && !session.is_ready => Hurry::Signalled,
            Broken::Silent(_) | Broken::Protocol(_) => Hurry::Signalled,
            _ => Hurry::Patient,
        };
        let status = connection.end(hurry);
        match broken {
            Broken::Ended(Ended::Closed) => Broken::Fault(ending(status)),
            Broken::Ended(ended @ Ended::NoAgent(_)) => Broken::Fault(format!("{ended}; {}", ending(status))),
            broken => broken,
        }
    }

    /// Leaves the agent's work to others, who need not wait for the end of its command.
    fn leave_work(&self, broken: &Broken, session: &mut Session) {
        if let Some(plan) = self.fleet.plan.get() {
            plan.leases.exit(self.number);
        }
        if matches!(broken, Broken::Over) {
            return;
        }
        if let Some(lease) = session.busy.take() {
            let name = self.named(session);
            self.lose(lease, &format!("{name}: {}", printable_line(&chain(broken))));
        }
    }

    fn talk(&self, connection: &mut Connection, session: &mut Session) -> Result<std::convert::Infallible, Broken> {
        let mut heard_at = Instant::now();
        // Before it says its first word it may wait for a machine.
        let mut has_begun = false;
        loop {
            if self.fleet.interrupt.is_set() {
                return Err(Broken::Over);
            }
            let silent_for = heard_at.elapsed();
            let is_silent = has_begun && silent_for > self.fleet.silence;
            if let Some(plan) = self.fleet.plan.get() {
                if plan.leases.are_done() {
                    return Err(Broken::Over);
                }
                if let Some(ready) = session.ready.take() {
                    self.ensure_alike(plan, &ready)?;
                    session.is_ready = true;
                }
                match session.can_work() && !is_silent {
                    true => plan.leases.enter(self.number),
                    false => plan.leases.exit(self.number),
                }
                if session.can_work()
                    && !is_silent
                    && session.busy.is_none()
                    && let Some(order) = plan.leases.take(self.number)
                {
                    let lease = order.lease;
                    session.busy = Some(lease);
                    session.had.insert(lease);
                    connection.tell(&ToAgent::Lease(order)).map_err(Broken::Deaf)?;
                }
            }
            if is_silent {
                if let Some(lease) = session.busy {
                    let name = self.named(session);
                    let why = format!("{name} was silent for {} s", self.fleet.silence.as_secs_f64());
                    if session.silent_with != Some(lease) {
                        print_warning(&format_args!("{why}, so its case is given to others"));
                    }
                    session.silent_with = Some(lease);
                    self.lose(lease, &why);
                }
                if silent_for > self.fleet.silence.saturating_mul(LISTENED_TO) {
                    return Err(Broken::Silent(silent_for));
                }
            }
            match connection.hear(BETWEEN_LOOKS) {
                Heard::Nothing => {}
                Heard::End(ended) => return Err(ended.into()),
                Heard::Message(message) => {
                    has_begun = true;
                    self.take(message, connection, session)?;
                    // An agent is not silent while it gets files.
                    heard_at = Instant::now();
                }
            }
        }
    }

    fn take(&self, message: FromAgent, connection: &mut Connection, session: &mut Session) -> Result<(), Broken> {
        match message {
            FromAgent::Hello { tool_version, host, .. } => {
                let here = env!("CARGO_PKG_VERSION");
                if tool_version != here {
                    let there = printable_line(&tool_version);
                    return Err(Broken::Refused(format!(
                        "its `cargo gpubench` is version {there}, and the run's is {here} (hint: install the same \
                         version on both machines)"
                    )));
                }
                session.host = Some(printable_line(&host).to_string());
                let begin = Box::new(self.fleet.begin.clone());
                connection.tell(&ToAgent::Begin(begin)).map_err(Broken::Deaf)?;
            }
            FromAgent::Archive { is_wanted: true } => {
                let file = fs_err::File::open(&self.fleet.sent.archive).map_err(Broken::Archive)?;
                pieces_of(file, |piece| connection.send(&Frame::Piece(piece))).map_err(Broken::Deaf)?;
            }
            FromAgent::Archive { is_wanted: false } => {
                for submission in &self.fleet.sent.submissions {
                    let order = ToAgent::Submission(order_of(submission));
                    connection.tell(&order).map_err(Broken::Deaf)?;
                    for contents in contents_of(submission) {
                        pieces_of(contents, |piece| connection.send(&Frame::Piece(piece))).map_err(Broken::Deaf)?;
                    }
                }
            }
            FromAgent::Heartbeat => {}
            FromAgent::Ready(_) if session.host.is_none() => {
                return Err(Broken::Protocol("it was ready before it said who it is".to_owned()));
            }
            FromAgent::Ready(ready) => {
                let first = self.fleet.ready.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(first) = first {
                    // The head may have ended.
                    let _ = first.send((*ready).clone());
                }
                session.ready = Some(ready);
            }
            FromAgent::Progress { lease, so_far } => {
                let is_own = session.busy == Some(lease);
                if let Some(position) = self.position(lease).filter(|_| is_own) {
                    self.report(Message::Progress(position, so_far));
                }
            }
            FromAgent::Finished { lease, results } => self.results(lease, results, session)?,
            FromAgent::Done { lease } if session.busy == Some(lease) => {
                if self.position(lease).is_some() {
                    return Err(Broken::Protocol(format!("it has done {lease} without its results")));
                }
                session.busy = None;
            }
            FromAgent::Done { lease } => {
                return Err(Broken::Protocol(format!("it has done {lease}, which it did not have")));
            }
            FromAgent::Fault { why } => return Err(Broken::Fault(printable_line(&why).to_string())),
            FromAgent::Refused { why, hint } => {
                let hint = hint.map_or_else(String::new, |hint| format!(" (hint: {hint})"));
                let why: String = format!("{why}{hint}").chars().take(LONGEST_REASON).collect();
                return Err(Broken::Refused(printable_line(&why).to_string()));
            }
        }
        Ok(())
    }

    /// Returns the position of the job that a live lease measures.
    fn position(&self, lease: u64) -> Option<usize> {
        self.fleet.plan.get()?.leases.position(lease)
    }

    /// Counts results, or keeps them if their lease has ended.
    fn results(&self, lease: u64, results: Vec<BenchmarkComplete>, session: &mut Session) -> Result<(), Broken> {
        let plan = self.fleet.plan.get().filter(|_| session.had.contains(&lease));
        let Some(plan) = plan else {
            return Err(Broken::Protocol(format!(
                "it has results of {lease}, which it did not have"
            )));
        };
        let name = self.named(session);
        let Some(counted) = plan.leases.count(lease, &results)? else {
            for result in results {
                if result.run_id != self.fleet.begin.run_id {
                    return Err(Broken::Protocol("it sent a late result of another run".to_owned()));
                }
                self.fleet.late.keep(&name, result);
            }
            return Ok(());
        };
        session.has_results = true;
        for (position, mut result) in (counted.first..).zip(results) {
            // A contestant learns nothing else of a hidden case.
            let losses = counted.losses.iter().filter(|_| !result.is_hidden());
            let again = losses
                .map(|loss| format!("{loss}, while it measured this case, so it was measured again with other inputs"));
            let again: Vec<String> = again.collect();
            result.notices.extend(again);
            self.report(Message::Finished(position, Box::new(result.into())));
        }
        Ok(())
    }

    /// Ends a lease, so that others measure what is left of it.
    fn lose(&self, lease: u64, why: &str) {
        let failed = self
            .fleet
            .plan
            .get()
            .and_then(|plan| plan.leases.lose(lease, self.number, why));
        failed.iter().for_each(|failed| self.fail(failed));
    }

    fn fail(&self, failed: &Failed) {
        for position in failed.first..failed.first + failed.number {
            let failure = CaseFailure::error(Cause::DeviceLost, failed.why.clone());
            self.report(Message::Failed(position, Box::new(failure)));
        }
    }

    fn report(&self, message: Message) {
        if let Some(messages) = &*self.fleet.messages.lock().unwrap_or_else(PoisonError::into_inner) {
            // Nobody listens after the end of the run.
            let _ = messages.send(message);
        }
    }

    fn note_last(&self, why: String) {
        *self.fleet.last.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }

    /// Checks that the device is of the kind that the run measures on.
    fn ensure_alike(&self, plan: &Plan, ready: &Ready) -> Result<(), Broken> {
        let (own, first) = (&ready.facts, &plan.facts);
        if crate::broker::device::kind::is_alike(own, first) {
            return Ok(());
        }
        let of = |facts: &Facts| {
            let driver = facts.driver.as_ref().map(|driver| format!(" with driver {driver}"));
            format!("`{}`{}", facts.device.name, driver.unwrap_or_default())
        };
        Err(Broken::Refused(format!(
            "its device is {}, and the run measures on {}, the first that was ready",
            of(own),
            of(first)
        )))
    }

    fn named(&self, session: &Session) -> String {
        match &session.host {
            Some(host) => format!("{} on `{host}`", self.name),
            None => self.name.clone(),
        }
    }
}
