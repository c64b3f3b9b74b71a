//! The observation of a run for `cargo gpubench --audit`, which asks for it over a pipe.

use std::collections::HashMap;
use std::io::{self, BufWriter, Write};
use std::os::fd::AsFd;
use std::time::Duration;

use gpubench_contract::{AuditAnswer, AuditRequest, ObservedSystemCall, Refusal};
use gpubench_diagnostic::{Expected, Failure, InternalError, chain};
use gpubench_observe::{
    Descendants, Doorbell, DoorbellError, Event, Launches, ObserveError, Observer, Source, SystemCall, SystemCalls,
    Target, observed_calls,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::reach::Reach;

/// Pause between two looks at the events. The kernel has room for many more.
const PAUSE: Duration = Duration::from_millis(5);

/// Most events that are kept. More are lost.
const MOST_EVENTS: usize = 1 << 20;

/// The longest request, in bytes.
const LONGEST_REQUEST: usize = 256;

/// Observes the process that started this one, and its descendants, and answers its requests until
/// it asks for the end or closes the pipe.
///
/// # Errors
/// The pipe fails, or a request is none.
pub(super) fn serve(reach: Reach) -> Result<(), Failure> {
    let broken = InternalError::because("cannot talk to the command that audits");
    converse(reach, io::stdin(), io::stdout().lock()).map_err(|error| broken(error).into())
}

fn converse(reach: Reach, requests: impl AsFd, answers: impl Write) -> io::Result<()> {
    let mut answers = Answers(BufWriter::new(answers));
    let mut audit = match Audit::begin(reach) {
        Ok(audit) => audit,
        Err(error) => return answers.give(&refusal(error.as_error(), error.hint())),
    };
    answers.give(&AuditAnswer::Begun {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
    })?;
    let mut requests = Requests {
        pipe: requests,
        begun: Vec::new(),
    };
    loop {
        if let Err(error) = audit.look() {
            return answers.give(&refusal(error.as_error(), error.hint()));
        }
        match requests.wait()? {
            Waited::InVain => {}
            Waited::Closed => return Ok(()),
            Waited::For(AuditRequest::Watch { process }) => answers.give(&audit.watch(process))?,
            Waited::For(AuditRequest::Count { process }) => answers.give(&audit.count(process))?,
            Waited::For(AuditRequest::End) => return audit.end(&mut answers),
        }
    }
}

fn refusal(error: &(dyn std::error::Error + 'static), hint: Option<String>) -> AuditAnswer {
    AuditAnswer::Refused(Refusal {
        reason: chain(error),
        hint,
    })
}

/// An observation of a run.
struct Audit {
    reach: Reach,
    observer: Observer,
    system_calls: SystemCalls,
    events: Vec<Event>,
    calls_of_system: Vec<SystemCall>,
    lost: u64,
    doorbells: HashMap<u32, Doorbell>,
}

impl Audit {
    fn begin(reach: Reach) -> Result<Self, Failure> {
        let target = Target::Processes(vec![reach.parent()?]);
        let observer = Observer::attach_for(target, Descendants::Followed, Launches::Each, reach.users())?;
        Ok(Self {
            reach,
            system_calls: SystemCalls::new(&observer, reach.users())?,
            observer,
            events: Vec::new(),
            calls_of_system: Vec::new(),
            lost: 0,
            doorbells: HashMap::new(),
        })
    }

    /// Takes what happened since the last look.
    fn look(&mut self) -> Result<(), Failure> {
        let (events, calls, lost) = (&mut self.events, &mut self.calls_of_system, &mut self.lost);
        self.observer.poll(&mut |event| {
            if events.len() < MOST_EVENTS {
                events.push(event)
            } else {
                *lost += 1
            }
        })?;
        self.system_calls.poll(&mut |call| {
            if calls.len() < MOST_EVENTS {
                calls.push(call)
            } else {
                *lost += 1
            }
        });
        Ok(())
    }

    fn watch(&mut self, process: u32) -> AuditAnswer {
        if let Err(error) = self.reach.covers_process(process) {
            return refusal(error.as_error(), error.hint());
        }
        match Doorbell::of_process(process) {
            Ok(doorbell) => {
                self.doorbells.insert(process, doorbell);
                AuditAnswer::Watched
            }
            Err(error) => refusal(&error, error.hint()),
        }
    }

    fn count(&mut self, process: u32) -> AuditAnswer {
        let watched = self.doorbells.remove(&process);
        let counted = watched.ok_or(DoorbellError::NoDoorbell(process));
        match counted.and_then(|doorbell| doorbell.submissions()) {
            Ok(submissions) => AuditAnswer::Counted { submissions },
            Err(error) => refusal(&error, error.hint()),
        }
    }

    /// Says what was seen. What happened before the request is seen after it.
    fn end(mut self, answers: &mut Answers<impl Write>) -> io::Result<()> {
        let lost = match self
            .look()
            .and_then(|()| Ok(self.system_calls.lost().map_err(ObserveError::from)?))
        {
            Ok(lost_calls) => self.lost + self.observer.lost() + lost_calls,
            Err(error) => return answers.give(&refusal(error.as_error(), error.hint())),
        };
        for call in observed_calls(&self.events) {
            answers.queue(&AuditAnswer::Call(call))?;
        }
        for call in self.calls_of_system {
            answers.queue(&AuditAnswer::SystemCall(ObservedSystemCall {
                at_ns: call.at.0,
                process: call.process,
                name: call.name().into_owned(),
            }))?;
        }
        answers.give(&AuditAnswer::Ended { lost })
    }
}

/// The answers, a line each.
struct Answers<W: Write>(BufWriter<W>);

impl<W: Write> Answers<W> {
    fn queue(&mut self, answer: &AuditAnswer) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, answer)?;
        self.0.write_all(b"\n")
    }

    fn give(&mut self, answer: &AuditAnswer) -> io::Result<()> {
        self.queue(answer)?;
        self.0.flush()
    }
}

/// The requests, a line each.
struct Requests<R> {
    pipe: R,
    begun: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
enum Waited {
    For(AuditRequest),
    InVain,
    Closed,
}

impl<R: AsFd> Requests<R> {
    /// Waits for a request, but not longer than [`PAUSE`].
    fn wait(&mut self) -> io::Result<Waited> {
        if let Some(request) = self.next()? {
            return Ok(Waited::For(request));
        }
        let pause = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(PAUSE.subsec_nanos()),
        };
        let mut descriptors = [PollFd::new(&self.pipe, PollFlags::IN)];
        match poll(&mut descriptors, Some(&pause)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(Waited::InVain),
            ready => ready?,
        };
        let mut bytes = [0; LONGEST_REQUEST];
        match rustix::io::read(&self.pipe, &mut bytes)? {
            0 => return Ok(Waited::Closed),
            read => self.begun.extend_from_slice(&bytes[..read]),
        }
        Ok(self.next()?.map_or(Waited::InVain, Waited::For))
    }

    /// Takes the first request that is there whole.
    fn next(&mut self) -> io::Result<Option<AuditRequest>> {
        let Some(end) = self.begun.iter().position(|byte| *byte == b'\n') else {
            return if self.begun.len() > LONGEST_REQUEST {
                Err(io::Error::other("a request is too long"))
            } else {
                Ok(None)
            };
        };
        let line: Vec<u8> = self.begun.drain(..=end).collect();
        Ok(Some(serde_json::from_slice(&line)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waited(text: &str) -> Vec<io::Result<Waited>> {
        let (pipe, mut end) = io::pipe().expect("a pipe");
        end.write_all(text.as_bytes()).expect("it has room");
        drop(end);
        let mut requests = Requests {
            pipe,
            begun: Vec::new(),
        };
        let mut all = Vec::new();
        loop {
            all.push(requests.wait());
            if matches!(all.last(), Some(Ok(Waited::Closed) | Err(_))) {
                return all;
            }
        }
    }

    #[test]
    fn requests_are_lines_in_whatever_pieces_they_come() {
        let request = |request| Waited::For(request);
        let text = "{\"request\":\"watch\",\"process\":7}\n{\"request\":\"end\"}\n";
        let all: Vec<Waited> = waited(text).into_iter().map(|one| one.expect("a request")).collect();
        let watch = request(AuditRequest::Watch { process: 7 });
        assert_eq!(all, [watch, request(AuditRequest::End), Waited::Closed]);
    }

    #[test]
    fn what_is_no_request_ends_the_conversation() {
        let endless = "x".repeat(10 * LONGEST_REQUEST);
        for text in ["{}\n", "\n", "{\"request\":\"run\",\"command\":\"true\"}\n", &endless] {
            let last = waited(text).pop().expect("an end");
            assert!(last.is_err(), "{last:?}");
        }
    }
}
