//! Whose code runs in the workers of an arm, and how well it is confined.

use super::case::ReadyCase;
use crate::verdict::{Execution, open_sandbox};
use gpubench_sandbox::Confinement;

/// Whose code runs in the workers of an arm, and which of its sandboxes are open.
#[derive(Debug)]
pub(super) struct Sandboxes {
    pub(super) execution: Execution,
    /// The open ones of other user code than the workers' host code, with the reasons.
    pub(super) open: Vec<String>,
}

impl Sandboxes {
    pub(super) fn new(case: &ReadyCase<'_>) -> Sandboxes {
        Sandboxes {
            execution: match case.recording.execution {
                gpubench::catalog::Execution::Sealed => Execution::Sealed,
                gpubench::catalog::Execution::Hosted | gpubench::catalog::Execution::HostedSync => Execution::Hosted(
                    Confinement::Open("the worker did not report that it is closed".to_owned()),
                ),
            },
            open: Vec::new(),
        }
    }

    /// Notes the confinement of the worker at `position`, from 0. The case has that of its least
    /// confined worker.
    pub(super) fn note_worker(&mut self, position: usize, confinement: Confinement) {
        if self.execution == Execution::Sealed {
            self.note("native kernels", &confinement);
        } else if position == 0 || self.execution == Execution::Hosted(Confinement::Closed) {
            self.execution = Execution::Hosted(confinement);
        }
    }

    /// Notes the sandbox of some user code. An open one makes the grade `unverified`.
    pub(super) fn note(&mut self, whose: &str, confinement: &Confinement) {
        if let Confinement::Open(reason) = confinement {
            let open = open_sandbox(whose, reason);
            if !self.open.contains(&open) {
                self.open.push(open);
            }
        }
    }

    /// Notes that host code of another contestant lives at the same time, which makes the grade
    /// `unverified`: it could slow this one down.
    pub(super) fn note_hosted_rival(&mut self, name: &str) {
        let reason = format!("host code of {name} could disturb it in the same contest");
        self.open.push(reason);
    }
}
