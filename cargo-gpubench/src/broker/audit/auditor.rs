//! The conversation with `gpubench-probe --audit`, which observes the run.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, ChildStdout, Stdio};
use std::sync::{Mutex, PoisonError};

use crate::probe_program::{ProbeProgram, ProbeProgramError};
use gpubench::catalog::DeviceKind;
use gpubench_contract::{AuditAnswer, AuditRequest, ObservedCall, ObservedSystemCall, Refusal};
use gpubench_diagnostic::{ExitCode, Expected};
use gpubench_measure::clients::Companion;
use gpubench_sandbox::Rights;

/// Longest answer, in bytes: a kernel's name twice, with escapes, and room.
const LONGEST_ANSWER: u64 = 64 << 10;

/// What was seen.
#[derive(Debug, Default)]
pub(crate) struct SeenCalls {
    /// The calls of the driver of all processes of this run.
    pub(crate) calls: Vec<ObservedCall>,
    /// Their system calls.
    pub(crate) system_calls: Vec<ObservedSystemCall>,
    /// Number of lost events.
    pub(crate) lost: u64,
}

/// Why something was not observed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuditError {
    /// The calls ask nothing of a CUDA driver.
    #[error("the CPU device has no CUDA driver")]
    NoGpu,
    /// There is nothing that observes.
    #[error(transparent)]
    Program(#[from] ProbeProgramError),
    /// It cannot observe.
    #[error("{}", .0.reason)]
    Refused(Refusal),
    /// It ended, or said something else than it should.
    #[error("the program that observes processes ended too early")]
    Ended,
    /// The doorbell does not count what is known to have been submitted.
    #[error("the doorbell counted {counted} of at least {submitted} submissions")]
    Inexact {
        /// What it counted.
        counted: u64,
        /// What was submitted at least.
        submitted: u64,
    },
}

impl Expected for AuditError {
    fn exit_code(&self) -> ExitCode {
        ExitCode::SetupMissing
    }

    fn hint(&self) -> Option<String> {
        match self {
            AuditError::NoGpu => Some("`--audit` needs a GPU".to_owned()),
            AuditError::Program(error) => error.hint(),
            AuditError::Refused(refusal) => refusal.hint.clone(),
            AuditError::Ended => None,
            AuditError::Inexact { .. } => Some("this driver submits in another way; leave the count out".to_owned()),
        }
    }
}

/// The program that observes this process and its descendants.
#[derive(Debug)]
pub(crate) struct Auditor {
    pipes: Mutex<Pipes>,
    #[expect(dead_code, reason = "the program runs while it exists")]
    program: Companion,
}

#[derive(Debug)]
struct Pipes {
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Auditor {
    /// Starts the program, and returns when it observes. The calls are made on a `device`.
    ///
    /// # Errors
    /// The device has nothing to observe, the program is not installed, or this machine does not
    /// let it observe.
    pub(crate) fn begin(device: DeviceKind) -> Result<Auditor, AuditError> {
        if device == DeviceKind::Cpu {
            return Err(AuditError::NoGpu);
        }
        let program = ProbeProgram::find()?;
        let mut command = program.auditor();
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let started = Companion::start(&mut command, Rights::Observe);
        let mut companion = started.map_err(|source| program.broken(source))?;
        let process = companion.process();
        let (Some(requests), Some(answers)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(AuditError::Ended);
        };
        let mut pipes = Pipes {
            requests,
            answers: BufReader::new(answers),
        };
        match pipes.answer() {
            Ok(AuditAnswer::Begun { tool_version }) if tool_version == env!("CARGO_PKG_VERSION") => {}
            Ok(_) | Err(AuditError::Ended) => return Err(program.of_other_version().into()),
            Err(error) => return Err(error),
        }
        Ok(Auditor {
            pipes: Mutex::new(pipes),
            program: companion,
        })
    }

    /// Begins to count the submissions of a process.
    ///
    /// # Errors
    /// They cannot be counted.
    pub(super) fn watch(&self, process: u32) -> Result<(), AuditError> {
        match self.ask(AuditRequest::Watch { process })? {
            AuditAnswer::Watched => Ok(()),
            _ => Err(AuditError::Ended),
        }
    }

    /// Returns the submissions of a process since it was watched.
    ///
    /// # Errors
    /// They were not counted.
    pub(super) fn count(&self, process: u32) -> Result<u64, AuditError> {
        match self.ask(AuditRequest::Count { process })? {
            AuditAnswer::Counted { submissions } => Ok(submissions),
            _ => Err(AuditError::Ended),
        }
    }

    /// Ends the observation and returns what was seen.
    ///
    /// # Errors
    /// The events could not be read.
    pub(crate) fn end(self) -> Result<SeenCalls, AuditError> {
        let mut pipes = self.pipes.into_inner().unwrap_or_else(PoisonError::into_inner);
        pipes.request(AuditRequest::End)?;
        let mut seen = SeenCalls::default();
        loop {
            match pipes.answer()? {
                AuditAnswer::Call(call) => seen.calls.push(call),
                AuditAnswer::SystemCall(call) => seen.system_calls.push(call),
                AuditAnswer::Ended { lost } => {
                    seen.lost = lost;
                    return Ok(seen);
                }
                _ => return Err(AuditError::Ended),
            }
        }
    }

    fn ask(&self, request: AuditRequest) -> Result<AuditAnswer, AuditError> {
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        pipes.request(request)?;
        pipes.answer()
    }
}

impl Pipes {
    fn request(&mut self, request: AuditRequest) -> Result<(), AuditError> {
        let mut line = serde_json::to_vec(&request).map_err(|_| AuditError::Ended)?;
        line.push(b'\n');
        self.requests.write_all(&line).map_err(|_| AuditError::Ended)
    }

    /// Returns the next answer, a refusal as an error.
    fn answer(&mut self) -> Result<AuditAnswer, AuditError> {
        let mut line = Vec::new();
        let read = self.answers.by_ref().take(LONGEST_ANSWER).read_until(b'\n', &mut line);
        read.map_err(|_| AuditError::Ended)?;
        match serde_json::from_slice(&line) {
            Ok(AuditAnswer::Refused(refusal)) => Err(AuditError::Refused(refusal)),
            Ok(answer) => Ok(answer),
            Err(_) => Err(AuditError::Ended),
        }
    }
}
