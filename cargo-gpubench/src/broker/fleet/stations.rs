//! The stations of a run, from the start of their commands to the end of the last.

use std::sync::atomic::AtomicUsize;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::late_records::LateRecords;
use super::message::{Begin, Ready};
use super::station::{Fleet, Plan, Sent, Station};
use crate::broker::lanes::units::Message;
use crate::broker::options::FleetOptions;
use gpubench_diagnostic::{Failure, InternalError, Interrupted, SetupMissing};
use gpubench_measure::clients::Interrupt;

/// How long the head waits for an agent before it looks whether the run is interrupted.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// The stations of a run. All agents end when it is dropped.
pub(super) struct Stations {
    fleet: Arc<Fleet>,
    threads: Vec<JoinHandle<()>>,
    /// What agents have measured.
    pub(super) messages: Receiver<Message>,
    ready: Receiver<Ready>,
}

impl Stations {
    /// Starts the commands.
    pub(super) fn start(
        agents: &FleetOptions,
        begin: Begin,
        sent: Sent,
        late: LateRecords,
        interrupt: &Interrupt,
    ) -> Result<Stations, Failure> {
        let tool = std::env::current_exe().map_err(InternalError::because("cannot find this executable"))?;
        let tool = tool.to_string_lossy().into_owned();
        let (sender, messages) = channel();
        let (ready_sender, ready) = channel();
        let fleet = Arc::new(Fleet {
            begin,
            sent,
            silence: agents.silence,
            interrupt: interrupt.clone(),
            plan: OnceLock::new(),
            ready: Mutex::new(Some(ready_sender)),
            messages: Mutex::new(Some(sender)),
            late,
            shown: Arc::default(),
            left: AtomicUsize::new(agents.runners.len() * agents.agents.get()),
            last: Mutex::default(),
        });
        let mut threads = Vec::new();
        for runner in agents.runners.iter() {
            for _ in 0..agents.agents.get() {
                let station = Station {
                    fleet: Arc::clone(&fleet),
                    number: threads.len(),
                    name: format!("agent {}", threads.len() + 1),
                    words: runner.to_start(&tool),
                };
                threads.push(std::thread::spawn(move || station.run()));
            }
        }
        Ok(Stations {
            fleet,
            threads,
            messages,
            ready,
        })
    }

    /// Waits for the first agent that is ready.
    pub(super) fn first_ready(&self, interrupt: &Interrupt) -> Result<Ready, Failure> {
        loop {
            if interrupt.is_set() {
                return Err(Interrupted.into());
            }
            match self.ready.recv_timeout(BETWEEN_LOOKS) {
                Ok(ready) => return Ok(ready),
                Err(RecvTimeoutError::Disconnected) if !interrupt.is_set() => {
                    let last = self.fleet.last.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    return Err(SetupMissing {
                        what: format!("no agent is ready: {last}"),
                        hint: "an agent that starts says why it cannot take part; else the command of `--runner` must start \
                               `cargo-gpubench agent` with its own standard input and output"
                            .to_owned(),
                    }
                    .into());
                }
                Err(_) => {}
            }
        }
    }

    /// Lets the agents measure.
    pub(super) fn measure(&self, plan: Plan) {
        // It is set once.
        let _ = self.fleet.plan.set(plan);
    }
}

impl Drop for Stations {
    fn drop(&mut self) {
        self.fleet.interrupt.cancel();
        for thread in self.threads.drain(..) {
            // A station that panicked has said so.
            let _ = thread.join();
        }
        self.fleet.late.sum_up();
    }
}
