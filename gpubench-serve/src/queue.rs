//! The state of every task: which wait, which run, and which results are there.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::time::Instant;

use serde_json::value::RawValue;
use tokio::sync::Notify;

use crate::spool::{Found, Spool};
use crate::task::{Answer, Status, Task, TaskId};

/// A task that was running when this many servers ended is not run again: it may be what ends them.
const MOST_ATTEMPTS: u32 = 3;

/// All tasks.
#[derive(Debug)]
pub(crate) struct Queue {
    spool: Spool,
    state: RefCell<State>,
    most_waiting: usize,
    most_results: usize,
    /// A task waits.
    added: Notify,
    /// A task is over.
    finished: Notify,
}

#[derive(Debug, Default)]
struct State {
    tasks: BTreeMap<TaskId, Place>,
    waiting: VecDeque<TaskId>,
    /// The oldest first.
    results: VecDeque<TaskId>,
}

#[derive(Debug)]
enum Place {
    /// It waits or runs: the answer so far, and when it began.
    Open(Answer, Option<Instant>),
    /// The result is in the spool.
    Finished,
    /// The result could not be written, as this answer says. The next server runs the task again.
    Unwritten(Answer),
}

/// A task that a worker has begun.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) id: TaskId,
    pub(crate) task: Task,
}

/// How an attempt ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// Each workload has its trace.
    Completed(Vec<Box<RawValue>>),
    /// There is no verdict.
    Failed { why: String, traces: Vec<Box<RawValue>> },
    /// The server ends.
    PutBack,
}

impl Outcome {
    pub(crate) fn failed(why: impl Into<String>) -> Outcome {
        Outcome::Failed {
            why: why.into(),
            traces: Vec::new(),
        }
    }
}

/// Why a task is not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotTaken {
    #[error("{0} tasks wait already")]
    Full(usize),
    #[error("the task cannot be kept")]
    Unkept(#[from] io::Error),
}

impl Queue {
    pub(crate) fn new(spool: Spool, found: Found, most_waiting: usize, most_results: usize) -> Queue {
        let mut state = State::default();
        for id in found.results {
            state.tasks.insert(id, Place::Finished);
            state.results.push_back(id);
        }
        for (id, answer) in found.tasks {
            state.tasks.insert(id, Place::Open(answer, None));
            state.waiting.push_back(id);
        }
        let (added, finished) = (Notify::new(), Notify::new());
        let queue = Queue {
            spool,
            state: RefCell::new(state),
            most_waiting,
            most_results,
            added,
            finished,
        };
        queue.drop_old_results();
        queue
    }

    /// Takes a task. It survives the server from then on.
    ///
    /// # Errors
    /// Too many wait, or it cannot be written.
    pub(crate) fn add(&self, id: TaskId, task: impl FnOnce(u64) -> Task) -> Result<(), NotTaken> {
        let waiting = self.waiting();
        if waiting >= self.most_waiting {
            return Err(NotTaken::Full(waiting));
        }
        let task = task(self.spool.number());
        self.spool.keep_task(id, &task)?;
        let answer = Answer::pending(id, &task, 0);
        let mut state = self.state.borrow_mut();
        state.tasks.insert(id, Place::Open(answer, None));
        state.waiting.push_back(id);
        self.added.notify_one();
        Ok(())
    }

    /// Returns how many tasks wait.
    pub(crate) fn waiting(&self) -> usize {
        self.state.borrow().waiting.len()
    }

    /// Waits for a task, and begins it.
    pub(crate) async fn begin(&self, device: &str) -> Begun {
        loop {
            let next = self.state.borrow_mut().waiting.pop_front();
            match next {
                Some(id) => {
                    if let Some(begun) = self.try_begin(id, device) {
                        return begun;
                    }
                }
                None => self.added.notified().await,
            }
        }
    }

    fn try_begin(&self, id: TaskId, device: &str) -> Option<Begun> {
        let mut state = self.state.borrow_mut();
        // More tasks may have come than notifications.
        if !state.waiting.is_empty() {
            self.added.notify_one();
        }
        let Some(Place::Open(answer, began)) = state.tasks.get_mut(&id) else {
            return None;
        };
        *began = Some(Instant::now());
        answer.status = Status::Running;
        answer.gpubench.device = Some(device.to_owned());
        let before = answer.gpubench.attempts;
        let begun = match before {
            MOST_ATTEMPTS.. => Err(format!("the server ended {before} times while the task ran")),
            _ => {
                answer.gpubench.attempts += 1;
                let noted = self.spool.begin(id, answer.gpubench.attempts);
                let task = noted.and_then(|()| self.spool.task(id));
                task.map_err(|error| format!("the spool cannot be used: {error}"))
            }
        };
        drop(state);
        let begun = begun.map(|task| Begun { id, task });
        begun.map_err(|why| self.end(id, Outcome::failed(why))).ok()
    }

    /// Ends what [`Queue::begin`] began.
    pub(crate) fn end(&self, id: TaskId, outcome: Outcome) {
        let mut state = self.state.borrow_mut();
        let Some(Place::Open(mut answer, Some(began))) = state.tasks.remove(&id) else {
            return;
        };
        match outcome {
            Outcome::PutBack => {
                // This attempt is no sign that the task ends servers.
                answer.gpubench.attempts -= 1;
                let _ = self.spool.begin(id, answer.gpubench.attempts);
                answer.status = Status::Pending;
                state.tasks.insert(id, Place::Open(answer, None));
                return;
            }
            Outcome::Completed(traces) => {
                answer.status = Status::Completed;
                answer.traces = Some(traces);
            }
            Outcome::Failed { why, traces } => {
                answer.status = Status::Failed;
                answer.traces = Some(traces).filter(|traces| !traces.is_empty());
                answer.error = Some(why);
            }
        }
        answer.gpubench.before = None;
        answer.gpubench.seconds = Some(began.elapsed().as_secs_f64());
        let place = match self.spool.finish(id, &mut answer) {
            Ok(()) => {
                state.results.push_back(id);
                Place::Finished
            }
            Err(error) => {
                answer.status = Status::Failed;
                answer.error = Some(format!("the result cannot be written: {error}"));
                Place::Unwritten(answer)
            }
        };
        state.tasks.insert(id, place);
        drop(state);
        self.drop_old_results();
        self.finished.notify_waiters();
    }

    fn drop_old_results(&self) {
        let mut state = self.state.borrow_mut();
        while state.results.len() > self.most_results {
            if let Some(id) = state.results.pop_front() {
                state.tasks.remove(&id);
                self.spool.drop_result(id);
            }
        }
    }

    pub(crate) fn knows(&self, id: TaskId) -> bool {
        self.state.borrow().tasks.contains_key(&id)
    }

    /// Waits until all of these tasks are over.
    pub(crate) async fn all_over(&self, ids: &[TaskId]) {
        loop {
            // Made before the look, so that no end is missed.
            let finished = self.finished.notified();
            let is_open = |id: &TaskId| matches!(self.state.borrow().tasks.get(id), Some(Place::Open(..)));
            if !ids.iter().any(is_open) {
                return;
            }
            finished.await;
        }
    }

    /// Returns the answer about a task as JSON. `None` if there is none of that name.
    pub(crate) fn answer(&self, id: TaskId) -> Option<String> {
        let mut state = self.state.borrow_mut();
        let before = state.waiting.iter().position(|other| *other == id);
        let answer = match state.tasks.get_mut(&id)? {
            Place::Finished => return self.spool.result(id).ok(),
            Place::Unwritten(answer) => answer,
            Place::Open(answer, began) => {
                answer.gpubench.before = before;
                answer.gpubench.seconds = began.map(|began| began.elapsed().as_secs_f64());
                answer
            }
        };
        serde_json::to_string(answer).ok()
    }

    /// Makes a folder for an attempt.
    ///
    /// # Errors
    /// The operating system refuses.
    pub(crate) fn work(&self, id: TaskId) -> io::Result<std::path::PathBuf> {
        self.spool.work(id)
    }
}
