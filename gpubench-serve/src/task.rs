//! Tasks and their answers, as clients and the spool have them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The name of a task: 128 random bits. Only who asked for a task knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TaskId(u128);

impl TaskId {
    /// # Errors
    /// The operating system has no random numbers.
    pub(crate) fn random() -> Result<TaskId, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(TaskId(u128::from_be_bytes(bytes)))
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for TaskId {
    type Err = ();

    /// Reads what its `Display` writes, and no other spelling of it.
    fn from_str(text: &str) -> Result<TaskId, ()> {
        let id = u128::from_str_radix(text, 16).map(TaskId).map_err(drop)?;
        if id.to_string() == text { Ok(id) } else { Err(()) }
    }
}

/// A submission that is to be graded, as the spool has it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Task {
    /// Place in the order of all tasks.
    pub(crate) number: u64,
    /// Name of its definition.
    pub(crate) definition: String,
    /// Name that the server gave to the solution, and that its document has.
    pub(crate) solution_name: String,
    /// Workloads to grade with. None stand for all.
    pub(crate) workload_uuids: Vec<String>,
    /// The document of the solution.
    pub(crate) solution: Box<RawValue>,
}

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Status {
    /// It waits.
    Pending,
    /// It is graded.
    Running,
    /// Its traces are there. They say whether the solution is right.
    Completed,
    /// It has no verdict.
    Failed,
}

/// What a client gets about a task, in the form of FlashInfer-Bench.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) task_id: String,
    pub(crate) status: Status,
    pub(crate) definition: String,
    /// Name that the server gave to the solution.
    pub(crate) solution: String,
    /// A trace for each workload. A task that failed has those from before.
    pub(crate) traces: Option<Vec<Box<RawValue>>>,
    /// Why a task failed.
    pub(crate) error: Option<String>,
    /// What FlashInfer-Bench does not have.
    pub(crate) gpubench: Progress,
}

impl Answer {
    /// Returns the answer about a task that waits.
    pub(crate) fn pending(id: TaskId, task: &Task, attempts: u32) -> Answer {
        Answer {
            task_id: id.to_string(),
            status: Status::Pending,
            definition: task.definition.clone(),
            solution: task.solution_name.clone(),
            traces: None,
            error: None,
            gpubench: Progress {
                attempts,
                ..Progress::default()
            },
        }
    }
}

/// How far a task is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// How many times it was begun. More than 1 if a server ended while it ran.
    pub(crate) attempts: u32,
    /// Tasks that are begun before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<usize>,
    /// Device that grades it, or did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) device: Option<String>,
    /// Seconds since this attempt began, or that it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<f64>,
    /// Place in the order of all results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_has_one_spelling_of_its_name() {
        let id = TaskId::random().expect("random numbers");
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_ne!(id, TaskId::random().expect("random numbers"));
        let zeros = "0".repeat(32);
        assert!(zeros.parse::<TaskId>().is_ok());
        for text in [
            "",
            "0",
            "..",
            &"0".repeat(31),
            &"0".repeat(33),
            &"A".repeat(32),
            &format!("+{}", "0".repeat(31)),
            &format!("../{}", "0".repeat(29)),
            "../../../../../../../etc/passwd\0",
        ] {
            assert!(text.parse::<TaskId>().is_err(), "{text:?}");
        }
    }
}
