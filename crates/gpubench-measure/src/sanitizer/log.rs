//! The whole log: its errors, and whether it is complete.

use std::path::Path;

use gpubench_contract::{SanitizerFinding, SanitizerReport, SanitizerTool};

use super::record::LogRecord;

/// What every line of the tool begins with.
const PREFIX: &str = "=========";

/// Longest part of a log that is read, in bytes. The tool prints a limited number of errors.
const LONGEST: u64 = 16 << 20;

/// Why a log does not say whether the kernels have errors.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogProblem {
    /// There is no log, or it cannot be read.
    #[error("its log cannot be read")]
    Unreadable(#[source] std::io::Error),
    /// The last line is missing.
    #[error("it did not finish: its log has no summary")]
    Unfinished,
    /// The tool says that it failed, or that it may have missed errors.
    #[error("it says: {0}")]
    Failed(String),
}

/// Reads the log of a tool.
///
/// # Errors
/// If the log is incomplete and names no error in a kernel.
pub(crate) fn read_log(path: &Path, tool: SanitizerTool) -> Result<SanitizerReport, LogProblem> {
    use std::io::Read as _;
    let file = fs_err::File::open(path).map_err(LogProblem::Unreadable)?;
    let mut bytes = Vec::new();
    file.take(LONGEST)
        .read_to_end(&mut bytes)
        .map_err(LogProblem::Unreadable)?;
    parse(&String::from_utf8_lossy(&bytes), tool)
}

/// Parses a log. Errors in kernels count even if the log is incomplete: the tool may have been
/// killed with a call that never ends.
fn parse(text: &str, tool: SanitizerTool) -> Result<SanitizerReport, LogProblem> {
    let records = records(text);
    let summary = records.iter().rev().find_map(|record| errors_in_summary(record.head));
    let (mut findings, mut unread) = (Vec::new(), Vec::new());
    for record in &records {
        match record.finding() {
            Some(finding) => add(&mut findings, finding),
            None => unread.push(record.head),
        }
    }
    let printed = findings.iter().map(|finding| finding.count).sum();
    let errors = summary.unwrap_or_default().max(printed);
    if findings.is_empty() {
        if let Some(failure) = unread.iter().find(|head| is_failure(head)) {
            return Err(LogProblem::Failed((*failure).to_owned()));
        }
        if summary.is_none() {
            return Err(LogProblem::Unfinished);
        }
        if errors > 0 {
            let said: Vec<&str> = unread.into_iter().filter(|head| !is_frame_of_log(head)).collect();
            return Err(LogProblem::Failed(said.join("; ")));
        }
    }
    findings.truncate(SanitizerReport::MOST_FINDINGS);
    Ok(SanitizerReport { tool, errors, findings })
}

/// Divides the log into records: a line with less indentation than the others begins one.
fn records(text: &str) -> Vec<LogRecord<'_>> {
    let mut records: Vec<LogRecord<'_>> = Vec::new();
    for line in text.lines().filter_map(|line| line.trim_start().strip_prefix(PREFIX)) {
        let content = line.trim();
        if content.is_empty() {
            continue;
        }
        let is_detail = line.len() - line.trim_start().len() > 2;
        match records.last_mut().filter(|_| is_detail) {
            Some(record) => record.details.push(content),
            None => records.push(LogRecord {
                head: content,
                details: Vec::new(),
            }),
        }
    }
    records
}

/// Counts an error at a place that is already known, or adds it.
fn add(findings: &mut Vec<SanitizerFinding>, new: SanitizerFinding) {
    let is_same = |known: &&mut SanitizerFinding| {
        let kind = |finding: &SanitizerFinding| {
            let first_words = finding.message.split(';').next().unwrap_or_default();
            first_words.split(" at __").next().unwrap_or_default().to_owned()
        };
        let place = |finding: &SanitizerFinding| {
            (
                finding.cause,
                finding.kernel.clone(),
                finding.file.clone(),
                finding.line,
            )
        };
        place(known) == place(&new) && kind(known) == kind(&new)
    };
    match findings.iter_mut().find(is_same) {
        Some(known) => known.count += 1,
        None => findings.push(new),
    }
}

/// Returns the number of errors in a summary: `ERROR SUMMARY: 2 errors`, or `RACECHECK SUMMARY: 3
/// hazards displayed (1 error, 2 warnings)`.
fn errors_in_summary(head: &str) -> Option<u64> {
    let (name, counted) = head.split_once(" SUMMARY: ")?;
    let is_whole = matches!(name, "ERROR" | "RACECHECK") && !counted.contains("not printed");
    let number = counted.split_whitespace().next()?.replace(',', "");
    number.parse().ok().filter(|_| is_whole)
}

/// Whether the tool says that it failed, or that it may have missed errors.
fn is_failure(head: &str) -> bool {
    ["Error:", "Internal Sanitizer Error", "Warning:", "Target application"]
        .iter()
        .any(|begins| head.starts_with(begins))
}

/// Whether a line belongs to every log.
fn is_frame_of_log(head: &str) -> bool {
    head == "COMPUTE-SANITIZER" || head.contains(" SUMMARY: ")
}

#[cfg(test)]
mod tests;
