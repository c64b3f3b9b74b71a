//! The source location of a benchmark whose own code failed.

use gpubench::catalog::Benchmark;
use gpubench_contract::{BenchmarkComplete, Cause};

/// Returns the message of a result, with the benchmark's line and name before one about its code,
/// unless the message already names a line of that file.
pub(super) fn located_message(result: &BenchmarkComplete, benchmark: &Benchmark) -> Option<String> {
    let is_of_the_author = matches!(
        result.cause,
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
    let located = |message: &String| {
        if is_of_the_author && !message.contains(&format!("{file}:")) {
            format!("{file}:{line}: `{path}`: {message}")
        } else {
            message.clone()
        }
    };
    result.message.as_ref().map(located)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench::catalog::Selection;
    use gpubench_testing::every_verdict;

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
            device_axes: Vec::new(),
            settings: Vec::new(),
            own_library: None,
        };
        let mut result = every_verdict().results.remove(0);
        (result.cause, result.message) = (Some(cause), Some(message.to_owned()));
        located_message(&result, &benchmark).unwrap_or_default()
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
