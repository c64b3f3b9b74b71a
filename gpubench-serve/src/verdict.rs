//! The traces that the tool wrote about a task. They are its verdict only if there is one for each
//! workload, and each is about this task.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read as _};
use std::path::Path;

use gpubench_diagnostic::{AtMost, open_regular_link_refused};
use gpubench_trace::{MOST_DOCUMENT_BYTES, Trace};
use serde_json::value::RawValue;

use crate::excerpt::excerpt;
use crate::queue::Outcome;

/// Most bytes of all traces of a task.
pub(crate) const MOST_BYTES: u64 = MOST_DOCUMENT_BYTES as u64;

/// What a trace must be about.
#[derive(Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) definition: &'a str,
    pub(crate) solution: &'a str,
    pub(crate) uuids: BTreeSet<&'a str>,
}

/// Most characters of what the tool said, as the reason why a trace is missing.
const MOST_SAID: usize = 500;

/// Returns what the tool found. `failure` is why it did not end well, if it did not. `said` is what
/// it printed last.
pub(crate) fn read(file: &Path, subject: &Subject<'_>, failure: Option<String>, said: &str) -> Outcome {
    let mut text = String::new();
    let read = open_regular_link_refused(file).and_then(|file| AtMost::new(file, MOST_BYTES).read_to_string(&mut text));
    match read {
        Err(error) if error.kind() == ErrorKind::NotFound => text.clear(),
        Err(error) => return Outcome::failed(failure.unwrap_or_else(|| format!("the traces cannot be read: {error}"))),
        Ok(_) => {}
    }
    let mut missing = subject.uuids.clone();
    let mut traces = Vec::new();
    for (before, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match trace(line, subject, &mut missing) {
            Ok(trace) => traces.push(trace),
            Err(why) => {
                let why = format!("line {} of the traces is none of this task: {why}", before + 1);
                return Outcome::Failed {
                    why: failure.unwrap_or(why),
                    traces,
                };
            }
        }
    }
    let lacking = || {
        let names: Vec<&str> = missing.iter().copied().collect();
        (!names.is_empty()).then(|| {
            let why = format!("there is no verdict about the workloads {}", excerpt(&names.join(", ")));
            match last_of(said) {
                "" => why,
                last => format!("{why}:\n{last}"),
            }
        })
    };
    match failure.or_else(lacking) {
        Some(why) => Outcome::Failed { why, traces },
        None => Outcome::Completed(traces),
    }
}

/// Returns the last characters of a text.
fn last_of(said: &str) -> &str {
    let said = said.trim();
    let begin = said.char_indices().rev().nth(MOST_SAID - 1);
    begin.map_or(said, |(begin, _)| &said[begin..])
}

fn trace(line: &str, subject: &Subject<'_>, missing: &mut BTreeSet<&str>) -> Result<Box<RawValue>, String> {
    let trace = Trace::parse(line).map_err(|error| error.to_string())?;
    if trace.definition != subject.definition || trace.solution.as_deref() != Some(subject.solution) {
        return Err("it is about another solution".to_owned());
    }
    if trace.evaluation.is_none() {
        return Err("it has no evaluation".to_owned());
    }
    if !missing.remove(trace.workload.uuid.as_str()) {
        return Err("its workload was not asked for, or has a trace already".to_owned());
    }
    RawValue::from_string(line.trim().to_owned()).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(definition: &str, solution: &str, uuid: &str) -> String {
        format!(
            r#"{{"definition":"{definition}","workload":{{"uuid":"{uuid}","axes":{{}},"inputs":{{}}}},"solution":"{solution}","evaluation":{{"status":"TIMEOUT","environment":{{"hardware":"h","libs":{{}}}},"timestamp":"t","log":"","correctness":null,"performance":null}}}}"#
        )
    }

    fn outcome(text: Option<&str>, failure: Option<&str>) -> Outcome {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("traces.jsonl");
        if let Some(text) = text {
            std::fs::write(&file, text).expect("written");
        }
        let subject = Subject {
            definition: "d",
            solution: "s",
            uuids: BTreeSet::from(["a", "b"]),
        };
        read(&file, &subject, failure.map(str::to_owned), "")
    }

    fn failed(text: Option<&str>, failure: Option<&str>) -> (String, usize) {
        match outcome(text, failure) {
            Outcome::Failed { why, traces } => (why, traces.len()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_verdict_has_a_trace_of_each_workload_in_any_order() {
        let both = format!("{}\n\n{}\n", line("d", "s", "b"), line("d", "s", "a"));
        assert!(matches!(outcome(Some(&both), None), Outcome::Completed(traces) if traces.len() == 2));
        assert_eq!(failed(Some(&both), Some("crashed")), ("crashed".to_owned(), 2));
    }

    #[test]
    fn less_than_that_is_no_verdict() {
        let one = line("d", "s", "a");
        assert_eq!(
            failed(Some(&one), None),
            ("there is no verdict about the workloads b".to_owned(), 1)
        );
        assert_eq!(
            failed(None, None),
            ("there is no verdict about the workloads a, b".to_owned(), 0)
        );
        assert_eq!(failed(None, Some("crashed")).0, "crashed");
    }

    #[test]
    fn traces_of_anything_else_are_no_verdict() {
        let right = line("d", "s", "a");
        for (wrong, words) in [
            (line("d", "s", "a"), "already"),
            (line("d", "s", "c"), "not asked for"),
            (line("other", "s", "b"), "another solution"),
            (line("d", "other", "b"), "another solution"),
            ("{}".to_owned(), "missing field"),
            ("nonsense".to_owned(), "line 2"),
            (
                r#"{"definition":"d","solution":"s","workload":{"uuid":"b","axes":{},"inputs":{}}}"#.to_owned(),
                "no evaluation",
            ),
        ] {
            let (why, traces) = failed(Some(&format!("{right}\n{wrong}\n")), None);
            assert!(why.contains(words) && traces == 1, "{wrong}: {why}");
        }
    }
}
