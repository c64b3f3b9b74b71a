//! What NVIDIA's compute-sanitizer found in a call.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Cause;
use super::words::{shown_by_word, words};

words! {
    /// A tool of compute-sanitizer.
    pub enum SanitizerTool {
        /// Finds accesses out of bounds and misaligned accesses.
        Memcheck = "memcheck",
        /// Finds data races in shared memory.
        Racecheck = "racecheck",
        /// Finds reads of memory that nobody has written.
        Initcheck = "initcheck",
        /// Finds wrong uses of barriers.
        Synccheck = "synccheck",
    }
}

shown_by_word!(SanitizerTool);

/// What a tool of compute-sanitizer found in one call of a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct SanitizerReport {
    /// The tool.
    pub tool: SanitizerTool,
    /// Number of errors that the tool counted. One wrong line of a kernel can cause an error in
    /// every thread.
    pub errors: u64,
    /// The errors, one for each place in the code, in the order of the tool. At most 32.
    pub findings: Vec<SanitizerFinding>,
}

impl SanitizerReport {
    /// Most findings of a report.
    pub const MOST_FINDINGS: usize = 32;
}

/// Errors of one kind at one place in the code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(any(test, feature = "schema"), derive(schemars::JsonSchema))]
pub struct SanitizerFinding {
    /// The kind of error. The cause of the first finding is that of the case.
    pub cause: Cause,
    /// The tool's description of the first of these errors.
    pub message: String,
    /// The kernel. Null if unknown.
    pub kernel: Option<String>,
    /// The block with the first of these errors: x, y, z. Null if unknown.
    pub block: Option<[u32; 3]>,
    /// The thread with the first of these errors, in its block: x, y, z. Null if unknown.
    pub thread: Option<[u32; 3]>,
    /// The source file. Null if unknown.
    pub file: Option<String>,
    /// The line in the source file, from 1. Null if unknown.
    pub line: Option<u32>,
    /// Number of these errors that the tool printed.
    pub count: u64,
}
