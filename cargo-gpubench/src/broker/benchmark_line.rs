//! The source location of a benchmark whose own code failed.

use gpubench::catalog::Benchmark;
use gpubench_contract::{BenchmarkComplete, Cause};

/// Puts the benchmark's line and name before a message about its code, unless the message already
/// names a line of that file.
pub(super) fn add_location(result: &mut BenchmarkComplete, benchmark: &Benchmark) {
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
    if let Some(message) = result.message.as_mut().filter(|_| is_of_the_author)
        && !message.contains(&format!("{file}:"))
    {
        message.insert_str(0, &format!("{file}:{line}: `{path}`: "));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench::catalog::Selection;
    use gpubench_testing::every_verdict;

    fn located_message(cause: Cause, message: &str) -> String {
        let benchmark = Benchmark {
            library: "image".to_owned(),
            path: "blur".to_owned(),
            problem: "blur".to_owned(),
            file: "src/lib.rs".to_owned(),
            line: 12,
            selection: Selection::Default,
            requirements: Vec::new(),
            axes: Vec::new(),
            device_axes: Vec::new(),
            settings: Vec::new(),
            own_library: None,
        };
        let mut result = every_verdict().results.remove(0);
        (result.cause, result.message) = (Some(cause), Some(message.to_owned()));
        add_location(&mut result, &benchmark);
        result.message.unwrap_or_default()
    }

    #[test]
    fn a_message_about_user_code_names_its_line_once() {
        let located = "src/lib.rs:12: `blur`: it launches nothing";
        assert_eq!(located_message(Cause::PlanInvalid, "it launches nothing"), located);
        assert_eq!(located_message(Cause::PlanInvalid, located), located);
        let panicked = "it panicked: no (at src/lib.rs:20:5)";
        assert_eq!(located_message(Cause::RecordingFailed, panicked), panicked);
        assert_eq!(located_message(Cause::Mismatch, "1 of 2 elements"), "1 of 2 elements");
    }
}
