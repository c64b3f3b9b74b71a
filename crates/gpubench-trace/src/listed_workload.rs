//! Files of workloads.

use serde::Deserialize;

use crate::json::{WrongDocument, read, read_lines};
use crate::trace::Trace;
use crate::workload::Workload;

/// A workload of a file with one on each line.
#[derive(Clone, Debug, PartialEq)]
pub struct ListedWorkload {
    /// Line of the file, counted from 1.
    pub line: usize,
    /// Name of its definition, if the line has it.
    pub definition: Option<String>,
    /// The workload.
    pub workload: Workload,
}

/// Reads the workloads of a JSONL file. A line is a workload, as in SOL-ExecBench, or a trace
/// without an evaluation, as in FlashInfer-Bench. Blank lines are skipped.
///
/// # Errors
/// The file is longer than [`MOST_FILE_BYTES`](crate::MOST_FILE_BYTES), or a line is neither.
pub fn read_workloads(text: &str) -> Result<Vec<ListedWorkload>, WrongDocument> {
    read_lines(text, |text, line| {
        // A line that is no JSON has its error from the second reading.
        let is_trace = serde_json::from_str::<Kind>(text).is_ok_and(|kind| kind.workload.is_some());
        if !is_trace {
            let workload = read(text, line)?;
            let definition = None;
            return Ok(ListedWorkload {
                line,
                definition,
                workload,
            });
        }
        let trace: Trace = read(text, line)?;
        Ok(ListedWorkload {
            line,
            definition: Some(trace.definition),
            workload: trace.workload,
        })
    })
}

/// What tells a trace from a workload.
#[derive(Deserialize)]
struct Kind {
    workload: Option<serde::de::IgnoredAny>,
}
