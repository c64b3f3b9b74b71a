//! What the message of a failed case says besides the finding: its place, and remarks.

use super::job::Job;
use crate::admission::swapped_arguments;
use crate::broker::grading::Entrants;
use crate::broker::recording::preparation::PreparedCase;
use crate::broker::recording::selected::Selected;
use gpubench::catalog::Benchmark;
use gpubench_contract::{BenchmarkComplete, Cause, Verdict};
use gpubench_measure::verdict::BY_LAUNCHER;

/// Returns the message of a job's result, with the place of code that failed, or a remark about the
/// names of a failed call's arguments.
pub(super) fn message_of(result: &BenchmarkComplete, job: &Job<'_>, selected: Selected<'_>) -> Option<String> {
    let Some(benchmark) = selected.benchmark(job.case) else {
        return result.message.clone();
    };
    let dataset = selected.entrants.and_then(Entrants::dataset);
    let is_placed = |message: &String| dataset.is_some_and(|dataset| dataset.is_placed(message));
    if result.message.as_ref().is_some_and(is_placed) {
        return result.message.clone();
    }
    let remark = match (result.verdict, job.prepared) {
        (Verdict::WrongOutput | Verdict::Crashed | Verdict::Timeout, Some(Ok(PreparedCase { recorded, .. }))) => {
            let catalog = &selected.catalogs[job.case.library];
            swapped_arguments(catalog, &recorded.recording, &job.case.params)
        }
        _ => None,
    };
    let message = match selected.entrants {
        Some(_) => result.message.as_deref().map(for_contestants),
        None => result.message.clone(),
    };
    let submission = selected.entrants.map(|entrants| entrants.facts(job.case).place);
    let message = message.map(|message| match (submission, result.cause) {
        // The launches are those of its description, and not in the file of the problem.
        (Some(file), Some(Cause::PlanInvalid)) if !message.contains(&file) => format!("{file}: {message}"),
        _ => located(message, result.cause, benchmark),
    });
    message.map(|message| with_remark(message, remark.as_deref()))
}

/// Returns a message without advice that only authors of crates can follow.
fn for_contestants(message: &str) -> String {
    message.replace(BY_LAUNCHER, "as a step with `memset` in its description does")
}

/// Returns the message of a result, with the benchmark's line and name before one about its code,
/// unless the message already names a line of that file.
fn located(message: String, cause: Option<Cause>, benchmark: &Benchmark) -> String {
    let is_of_the_author = matches!(
        cause,
        Some(
            Cause::RecordingFailed
                | Cause::RecordingTimeout
                | Cause::NotReproducible
                | Cause::PlanInvalid
                | Cause::GeneratorFailed
                | Cause::GeneratorTimeout
                | Cause::ReferenceFailed
                | Cause::ReferenceTimeout
        )
    );
    let Benchmark { file, line, path, .. } = benchmark;
    if is_of_the_author && !message.contains(&format!("{file}:")) {
        format!("{file}:{line}: `{path}`: {message}")
    } else {
        message
    }
}

/// Returns a message with a remark about its first line.
fn with_remark(message: String, remark: Option<&str>) -> String {
    match (remark, message.split_once('\n')) {
        (None, _) => message,
        (Some(remark), None) => format!("{message}; {remark}"),
        (Some(remark), Some((first, rest))) => format!("{first}; {remark}\n{rest}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench::catalog::Selection;

    fn message_of(cause: Cause, message: &str) -> String {
        let benchmark = Benchmark {
            library: "image".to_owned(),
            path: "blur".to_owned(),
            problem: "blur".to_owned(),
            file: "src/lib.rs".to_owned(),
            line: 12,
            selection: Selection::Default,
            requirements: Vec::new(),
            axes: Vec::new(),
            own_axes: Vec::new(),
            counters: Vec::new(),
            device_axes: Vec::new(),
            settings: Vec::new(),
            own_library: None,
        };
        located(message.to_owned(), Some(cause), &benchmark)
    }

    #[test]
    fn contestants_get_advice_that_a_submission_can_follow() {
        let message = format!("outputs start as noise; set them first, {BY_LAUNCHER})");
        assert_eq!(
            for_contestants(&message),
            "outputs start as noise; set them first, as a step with `memset` in its description does)"
        );
    }

    #[test]
    fn a_remark_follows_the_first_line() {
        let remarked = |message: &str, remark| with_remark(message.to_owned(), remark);
        assert_eq!(remarked("wrong\nfiles", Some("why")), "wrong; why\nfiles");
        assert_eq!(remarked("wrong", Some("why")), "wrong; why");
        assert_eq!(remarked("wrong\nfiles", None), "wrong\nfiles");
    }

    #[test]
    fn a_message_about_user_code_names_its_line_once() {
        let located = "src/lib.rs:12: `blur`: it launches nothing";
        assert_eq!(message_of(Cause::PlanInvalid, "it launches nothing"), located);
        assert_eq!(message_of(Cause::PlanInvalid, located), located);
        let panicked = "it panicked: no (at src/lib.rs:20:5)";
        assert_eq!(message_of(Cause::RecordingFailed, panicked), panicked);
        assert_eq!(message_of(Cause::Mismatch, "1 of 2 elements"), "1 of 2 elements");
    }
}
