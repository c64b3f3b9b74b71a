//! The command that runs a failed case again.

use gpubench_contract::{BenchmarkComplete, Grading, RepeatedCommand, Verdict};
use gpubench_diagnostic::printable_line;

/// The option that sets modes.
const MODE: &str = "--mode";

/// The default of `--min-samples`: any run makes this number of calls.
const FEWEST_SAMPLES: u64 = 20;

/// Returns the seed of the run that a result is from, given the seed of the run that has it. `None`
/// if it is from an earlier run that was killed.
pub(super) fn seed_of<'s>(result: &BenchmarkComplete, grading: Option<&'s Grading>, seed: &'s str) -> Option<&'s str> {
    let Some(earlier) = &result.resumed_from else {
        return Some(seed);
    };
    let mut runs = grading?.resumed.iter();
    runs.find(|run| run.run_id == *earlier)?.seed.as_deref()
}

/// Returns the shell command that runs a case again, with this seed if it is known. It is empty for
/// a run of several parts with different seeds.
pub(super) fn command(repeated: &RepeatedCommand, result: &BenchmarkComplete, seed: Option<&str>) -> String {
    let mut words = until_failure(with_mode(repeated, result), result);
    if let Some(graded) = &result.submission {
        words.extend(graded.is_solution.then(|| "--solution".to_owned()));
        words.push(graded.place.clone());
    }
    words.extend(["--exact".to_owned(), result.case.clone()]);
    let is_overridden = |name: &String| repeated.overridden_axes.contains(name);
    for (name, value) in result.params.0.iter().filter(|(name, _)| is_overridden(name)) {
        words.extend(["--axis".to_owned(), format!("{name}={value}")]);
    }
    if let Some(seed) = seed.filter(|seed| result.windows > 0 && !seed.is_empty()) {
        words.extend(["--seed".to_owned(), seed.to_owned()]);
    }
    let quoted: String = words
        .iter()
        .map(|word| format!(" {}", shell_quoted(&printable_line(word))))
        .collect();
    format!("{}{quoted}", repeated.program.as_str())
}

/// Returns the options with the mode of a result in place of all modes of the run. The default
/// mode is left out.
fn with_mode(repeated: &RepeatedCommand, result: &BenchmarkComplete) -> Vec<String> {
    let mut words = repeated.options.clone();
    let option = words.iter().position(|word| word == MODE);
    match option.and_then(|option| words.get_mut(option + 1)) {
        Some(modes) => *modes = result.mode.to_string(),
        None if result.reading().words().contains(&result.mode.as_str()) => {
            words.extend([MODE.to_owned(), result.mode.to_string()]);
        }
        None => {}
    }
    words
}

/// Returns the options with enough samples in one worker that the call that failed is made again,
/// however long that takes. A call that failed early is made in any case. A test makes few calls.
fn until_failure(options: Vec<String>, result: &BenchmarkComplete) -> Vec<String> {
    let is_test = options.iter().any(|word| word == "--test");
    let failed_in_a_call = matches!(
        result.verdict,
        Verdict::WrongOutput | Verdict::LateWrite | Verdict::Crashed | Verdict::Timeout
    );
    if is_test || !failed_in_a_call || result.windows <= FEWEST_SAMPLES {
        return options;
    }
    const REPLACED: [&str; 3] = ["--workers", "--min-samples", "--max-samples"];
    let mut words = Vec::new();
    let mut options = options.into_iter();
    while let Some(word) = options.next() {
        match REPLACED.contains(&word.as_str()) {
            true => drop(options.next()),
            false => words.push(word),
        }
    }
    let calls = result.windows.to_string();
    words.extend(["--workers", "1", "--min-samples", &calls, "--max-samples", &calls].map(str::to_owned));
    words
}

/// Returns whether a shell takes the word as it is.
pub fn is_plain(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-:=,./+@%".contains(letter);
    !name.is_empty() && name.chars().all(is_plain)
}

/// Returns a word quoted for a shell.
pub fn shell_quoted(name: &str) -> String {
    if is_plain(name) {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::{Mode, ScoreRule, SubmissionFacts};
    use gpubench_testing::every_verdict;

    #[test]
    fn names_with_spaces_are_quoted_for_the_shell() {
        assert_eq!(shell_quoted("image::gray::w=1,h=2.5"), "image::gray::w=1,h=2.5");
        assert_eq!(shell_quoted("a::b::mode=it's on"), r"'a::b::mode=it'\''s on'");
    }

    #[test]
    fn a_repeated_command_has_only_the_mode_of_the_result() {
        let again = |options: &[&str], mode| {
            let repeated = RepeatedCommand {
                options: options.iter().map(|option| (*option).to_owned()).collect(),
                ..RepeatedCommand::default()
            };
            let mut result = every_verdict().results.remove(2);
            (result.mode, result.windows) = (mode, 0);
            command(&repeated, &result, None)
        };
        let several = ["--mode", "cold,warm", "--threads", "2"];
        assert_eq!(
            again(&several, Mode::Warm),
            "cargo gpubench --mode warm --threads 2 --exact copy::nothing"
        );
        assert_eq!(
            again(&[], Mode::Warm),
            "cargo gpubench --mode warm --exact copy::nothing"
        );
        assert_eq!(again(&[], Mode::Cold), "cargo gpubench --exact copy::nothing");
    }

    #[test]
    fn a_repeated_command_makes_the_call_that_failed() {
        let again = |options: &[&str], verdict, windows| {
            let repeated = RepeatedCommand {
                options: options.iter().map(|option| (*option).to_owned()).collect(),
                ..RepeatedCommand::default()
            };
            let mut result = every_verdict().results.remove(2);
            (result.verdict, result.windows) = (verdict, windows);
            command(&repeated, &result, Some("5eed"))
        };
        let until_158 = "--workers 1 --min-samples 158 --max-samples 158 --exact copy::nothing --seed 5eed";
        for options in [&[][..], &["--min-samples", "30", "--workers", "8"]] {
            assert_eq!(
                again(options, Verdict::WrongOutput, 158),
                format!("cargo gpubench {until_158}")
            );
        }
        let early = "--exact copy::nothing --seed 5eed";
        assert_eq!(again(&[], Verdict::WrongOutput, 20), format!("cargo gpubench {early}"));
        assert_eq!(
            again(&[], Verdict::TimeMismatch, 158),
            format!("cargo gpubench {early}")
        );
        assert_eq!(
            again(&["--test"], Verdict::WrongOutput, 158),
            format!("cargo gpubench --test {early}")
        );
    }

    #[test]
    fn the_command_of_a_run_without_a_seed_names_none() {
        let mut result = every_verdict().results.remove(2);
        result.windows = 3;
        let again = command(&RepeatedCommand::default(), &result, Some(""));
        assert!(!again.contains("--seed"), "{again}");
    }

    #[test]
    fn the_command_repeats_its_options_as_a_shell_takes_them() {
        let mut result = every_verdict().results.remove(0);
        result.params.0.clear();
        result.case = "add".to_owned();
        let repeated = RepeatedCommand {
            options: ["--manifest-path", "my kernels/Cargo.toml", "--features", "fp8 bf16"]
                .map(str::to_owned)
                .to_vec(),
            ..RepeatedCommand::default()
        };
        assert_eq!(
            command(&repeated, &result, Some("5eed")),
            "cargo gpubench --manifest-path 'my kernels/Cargo.toml' --features 'fp8 bf16' --exact add --seed 5eed"
        );
    }

    #[test]
    fn a_submission_is_graded_again_alone() {
        let repeated = RepeatedCommand {
            options: ["grade", "--problem", "row_sums"].map(str::to_owned).to_vec(),
            ..RepeatedCommand::default()
        };
        let mut result = every_verdict().results.remove(2);
        result.submission = Some(SubmissionFacts {
            place: "in box/fast.cu".to_owned(),
            sha256: None,
            is_solution: false,
            score_rule: ScoreRule::GeometricMean,
            hidden_case: None,
        });
        result.windows = 0;
        assert_eq!(
            command(&repeated, &result, None),
            "cargo gpubench grade --problem row_sums 'in box/fast.cu' --exact copy::nothing"
        );
        let graded = result.submission.as_mut().expect("it is one");
        (graded.place, graded.is_solution) = ("fast".to_owned(), true);
        assert_eq!(
            command(&repeated, &result, None),
            "cargo gpubench grade --problem row_sums --solution fast --exact copy::nothing"
        );
    }

    #[test]
    fn a_record_can_name_no_other_program_and_its_words_stay_words() {
        let hostile = r#"{"program": "sh -c evil; cargo gpubench", "options": [], "overridden_axes": []}"#;
        assert!(serde_json::from_str::<RepeatedCommand>(hostile).is_err());
        let result = every_verdict().results.remove(1);
        let repeated = RepeatedCommand {
            options: vec!["; evil".to_owned(), "$(evil)\u{1b}[2J".to_owned()],
            ..RepeatedCommand::default()
        };
        let written = command(&repeated, &result, Some("5eed"));
        assert!(written.starts_with("cargo gpubench '; evil' '$(evil)"), "{written}");
        assert!(!written.contains('\u{1b}'), "{written:?}");
    }
}
