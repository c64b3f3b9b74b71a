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

#[cfg(test)]
mod tests {
    use super::*;

    fn open(reason: &str) -> Confinement {
        Confinement::Open(reason.to_owned())
    }

    fn sandboxes(execution: Execution) -> Sandboxes {
        Sandboxes {
            execution,
            open: Vec::new(),
        }
    }

    #[test]
    fn host_code_is_confined_like_its_least_confined_worker() {
        let closed = Confinement::Closed;
        for (workers, least) in [
            (vec![], open("unknown")),
            (vec![closed.clone()], closed.clone()),
            (vec![closed.clone(), closed.clone()], closed.clone()),
            (vec![open("first"), closed.clone()], open("first")),
            (vec![closed.clone(), open("second")], open("second")),
            (vec![closed.clone(), open("second"), closed.clone()], open("second")),
            (vec![open("first"), open("second")], open("first")),
        ] {
            let mut sandboxes = sandboxes(Execution::Hosted(open("unknown")));
            for (position, confinement) in workers.iter().enumerate() {
                sandboxes.note_worker(position, confinement.clone());
            }
            assert_eq!(sandboxes.execution, Execution::Hosted(least), "{workers:?}");
            assert_eq!(sandboxes.open, [""; 0], "{workers:?}");
        }
    }

    #[test]
    fn open_sandboxes_of_native_kernels_are_listed_once_each() {
        let mut sandboxes = sandboxes(Execution::Sealed);
        for (position, confinement) in [open("one"), Confinement::Closed, open("one"), open("another")]
            .into_iter()
            .enumerate()
        {
            sandboxes.note_worker(position, confinement);
        }
        sandboxes.note("references", &open("one"));
        assert_eq!(sandboxes.execution, Execution::Sealed);
        let expected = [
            ("native kernels", "one"),
            ("native kernels", "another"),
            ("references", "one"),
        ];
        assert_eq!(sandboxes.open, expected.map(|(whose, why)| open_sandbox(whose, why)));
    }

    #[test]
    fn host_code_of_a_rival_is_an_open_sandbox() {
        let mut sandboxes = sandboxes(Execution::Sealed);
        sandboxes.note_hosted_rival("`saxpy`");
        let [open] = &sandboxes.open[..] else {
            panic!("{:?}", sandboxes.open)
        };
        assert!(open.contains("`saxpy`"), "{open}");
    }
}
