//! Explanations of failed cases, below the table.

use super::columns::sign_of;
use super::style::{FAINT, Styling, TITLE};
use crate::wording::{found_in, gloss, wrong_besides_message};
use gpubench_contract::{BenchmarkComplete, Verdict};
use gpubench_diagnostic::layout::{fitted, folded, padded, width, wrapped};
use gpubench_diagnostic::{printable, printable_line};

/// Precedes every line, to show where an explanation ends even if it contains compiler output.
const BAR: &str = "  │ ";

/// The option that sets modes.
const MODE: &str = "--mode";

/// The command that runs a failed case again, without the parts that depend on the case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepeatedCommand {
    /// Program: `cargo gpubench`, or the executable itself without cargo.
    pub program: &'static str,
    /// Options to repeat, word by word.
    pub options: Vec<String>,
    /// Axes with values from the command line.
    pub overridden_axes: Vec<String>,
}

/// The default of `--min-samples`: any run makes this number of calls.
const FEWEST_SAMPLES: u64 = 20;

impl Default for RepeatedCommand {
    fn default() -> RepeatedCommand {
        RepeatedCommand {
            program: "cargo gpubench",
            options: Vec::new(),
            overridden_axes: Vec::new(),
        }
    }
}

impl RepeatedCommand {
    /// Returns the shell command for a case of a run with this seed.
    pub(super) fn for_case(&self, result: &BenchmarkComplete, seed: &str) -> String {
        let mut words = until_failure(self.with_mode(result), result);
        words.extend(["--exact".to_owned(), result.case.clone()]);
        let is_overridden = |name: &String| self.overridden_axes.contains(name);
        for (name, value) in result.params.0.iter().filter(|(name, _)| is_overridden(name)) {
            words.extend(["--axis".to_owned(), format!("{name}={value}")]);
        }
        if result.windows > 0 {
            words.extend(["--seed".to_owned(), seed.to_owned()]);
        }
        let quoted: String = words
            .iter()
            .map(|word| format!(" {}", shell_quoted(&printable_line(word))))
            .collect();
        format!("{}{quoted}", self.program)
    }
}

impl RepeatedCommand {
    /// Returns the options with the mode of a result in place of all modes of the run. The default
    /// mode is left out.
    fn with_mode(&self, result: &BenchmarkComplete) -> Vec<String> {
        let mut words = self.options.clone();
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

/// The message of a failed case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Message<'a> {
    /// No message.
    None,
    /// The case's own message.
    Own(&'a str),
    /// The same message as this case, which is above.
    SameAs(&'a BenchmarkComplete),
}

impl<'a> Message<'a> {
    /// Returns the message of a failure that follows `others`. A repeated message of several lines,
    /// such as compiler output for all cases of a source, is printed once.
    pub(super) fn after(others: &'a [BenchmarkComplete], failure: &'a BenchmarkComplete) -> Message<'a> {
        let Some(message) = &failure.message else {
            return Message::None;
        };
        let has_it = |other: &&BenchmarkComplete| (&other.message, other.cause) == (&failure.message, failure.cause);
        match others.iter().find(has_it) {
            Some(other) if message.contains('\n') => Message::SameAs(other),
            _ => Message::Own(message),
        }
    }
}

/// Returns the lines that explain a failed case.
pub(super) fn lines(
    result: &BenchmarkComplete,
    message: Message<'_>,
    command: &str,
    line_width: usize,
    styling: Styling,
) -> Vec<String> {
    let room = line_width.saturating_sub(width(BAR)).max(20);
    let (sign, style) = sign_of(result.verdict);
    let name = format!(
        "{} {}",
        printable_line(&result.package),
        printable_line(&result.label())
    );
    let [sign, name] = [(style, &*sign.to_string()), (TITLE, &*name)].map(|(style, text)| styling.paint(style, text));
    let mut lines = vec![fitted(&format!("{sign} {name}"), line_width)];
    let mut body = wrapped(&styled_outcome(result, styling), room);
    match message {
        Message::None => {}
        Message::Own(message) => {
            // After the first line, a compiler or a kernel controls the layout. Fold long lines
            // here, because the terminal would continue them without the bar.
            let message = printable(message);
            let mut message_lines = message.lines();
            body.extend(message_lines.next().into_iter().flat_map(|first| wrapped(first, room)));
            body.extend(message_lines.flat_map(|line| folded(line, room)));
        }
        Message::SameAs(other) => {
            let same = format!("same error as `{}` above", printable_line(&other.label()));
            body.extend(wrapped(&same, room));
        }
    }
    body.extend(other_outputs(result).iter().flat_map(|line| wrapped(line, room)));
    let barred = |line: String| format!("{}{line}", styling.paint(FAINT, BAR)).trim_end().to_owned();
    lines.extend(body.into_iter().map(barred));
    lines.push(format!("{}run it alone: {command}", styling.paint(FAINT, BAR)));
    lines
}

/// Returns the verdict, its cause and the meaning of the cause.
fn styled_outcome(result: &BenchmarkComplete, styling: Styling) -> String {
    let (_, style) = sign_of(result.verdict);
    let verdict = styling.paint(style, result.verdict.as_str());
    match result.cause {
        Some(cause) => format!("{verdict}: {cause}{}", gloss(cause)),
        None => verdict,
    }
}

/// Returns a line for every wrong output that the message does not describe, with aligned names.
fn other_outputs(result: &BenchmarkComplete) -> Vec<String> {
    let wrong = wrong_besides_message(result);
    let longest = wrong
        .clone()
        .map(|check| width(&printable_line(&check.output)))
        .max()
        .unwrap_or(0);
    wrong
        .map(|check| {
            format!(
                "{}  {}",
                padded(&printable_line(&check.output), longest),
                found_in(check)
            )
        })
        .collect()
}

/// Returns whether a shell takes the word as it is.
pub fn is_plain(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-:=,./+@%".contains(letter);
    !name.is_empty() && name.chars().all(is_plain)
}

/// Returns a word quoted for a shell.
fn shell_quoted(name: &str) -> String {
    if is_plain(name) {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::{Check, Mode};
    use gpubench_diagnostic::quoted;
    use gpubench_testing::every_verdict;

    #[test]
    fn names_with_spaces_are_quoted_for_the_shell() {
        assert_eq!(shell_quoted("image::gray::w=1,h=2.5"), "image::gray::w=1,h=2.5");
        assert_eq!(shell_quoted("a::b::mode=it's on"), r"'a::b::mode=it'\''s on'");
    }

    #[test]
    fn a_repeated_command_has_only_the_mode_of_the_result() {
        let command = |options: &[&str], mode| {
            let repeated = RepeatedCommand {
                options: options.iter().map(|option| (*option).to_owned()).collect(),
                ..RepeatedCommand::default()
            };
            let mut result = every_verdict().results.remove(2);
            (result.mode, result.windows) = (mode, 0);
            repeated.for_case(&result, "")
        };
        let several = ["--mode", "cold,warm", "--threads", "2"];
        assert_eq!(
            command(&several, Mode::Warm),
            "cargo gpubench --mode warm --threads 2 --exact copy::nothing"
        );
        assert_eq!(
            command(&[], Mode::Warm),
            "cargo gpubench --mode warm --exact copy::nothing"
        );
        assert_eq!(command(&[], Mode::Cold), "cargo gpubench --exact copy::nothing");
    }

    #[test]
    fn a_repeated_command_makes_the_call_that_failed() {
        let command = |options: &[&str], verdict, windows| {
            let repeated = RepeatedCommand {
                options: options.iter().map(|option| (*option).to_owned()).collect(),
                ..RepeatedCommand::default()
            };
            let mut result = every_verdict().results.remove(2);
            (result.verdict, result.windows) = (verdict, windows);
            repeated.for_case(&result, "5eed")
        };
        let until_158 = "--workers 1 --min-samples 158 --max-samples 158 --exact copy::nothing --seed 5eed";
        for options in [&[][..], &["--min-samples", "30", "--workers", "8"]] {
            assert_eq!(
                command(options, Verdict::WrongOutput, 158),
                format!("cargo gpubench {until_158}")
            );
        }
        let early = "--exact copy::nothing --seed 5eed";
        assert_eq!(
            command(&[], Verdict::WrongOutput, 20),
            format!("cargo gpubench {early}")
        );
        assert_eq!(
            command(&[], Verdict::TimeMismatch, 158),
            format!("cargo gpubench {early}")
        );
        assert_eq!(
            command(&["--test"], Verdict::WrongOutput, 158),
            format!("cargo gpubench --test {early}")
        );
    }

    #[test]
    fn an_output_that_the_message_describes_is_not_described_again() {
        let mut result = every_verdict().results.remove(1);
        let mut wrong = result.checks[0].clone();
        (wrong.elements, wrong.matched) = (8, 6);
        let named = |name: &str| Check {
            output: name.to_owned(),
            ..wrong.clone()
        };
        result.checks = vec![named("sum"), named("carry")];
        result.message = Some("2 of 8 elements of `sum` are wrong in call 1".to_owned());
        let lines = lines(&result, Message::after(&[], &result), "-", 100, Styling::Plain);
        let told = |what: &str| lines.iter().filter(|line| line.contains(what)).count();
        assert_eq!((told("elements"), told("carry  2 of 8")), (2, 1), "{lines:#?}");
    }

    #[test]
    fn the_first_line_of_a_message_is_wrapped_and_the_rest_keeps_its_layout() {
        let result = BenchmarkComplete {
            message: Some(
                "one of the elements is wrong; the worker last wrote:\nx[0]   and x[1]  and x[2]  are 1.0".to_owned(),
            ),
            ..every_verdict().results.remove(1)
        };
        let message = Message::after(&[], &result);
        let lines = lines(&result, message, "-", 40, Styling::Plain);
        assert!(
            lines.contains(&"  │ one of the elements is wrong; the".to_owned()),
            "{lines:#?}"
        );
        assert!(
            lines.contains(&"  │ x[0]   and x[1]  and x[2]  are 1.0".to_owned()),
            "{lines:#?}"
        );
    }

    #[test]
    fn user_output_is_indented_after_a_bar_on_every_line() {
        let printed = format!("run it alone: evil\n{}✓ it passed, too", " ".repeat(76));
        let result = BenchmarkComplete {
            message: Some(format!("it is wrong; the worker last wrote:\n{}", quoted(&printed))),
            ..every_verdict().results.remove(1)
        };
        let lines = lines(&result, Message::after(&[], &result), "-", 80, Styling::Plain);
        let position = lines.iter().position(|line| line.ends_with("last wrote:"));
        let body = &lines[position.expect("the message") + 1..];
        assert_eq!(
            body[..3],
            ["  │     run it alone: evil", "  │", "  │     ✓ it passed, too"]
        );
    }

    #[test]
    fn a_compiler_error_of_several_cases_is_printed_once() {
        let failed = |case: &str, message: &str| BenchmarkComplete {
            case: case.to_owned(),
            message: Some(message.to_owned()),
            ..every_verdict().results.remove(1)
        };
        let failures = [
            failed("a", "could not compile\nline 1"),
            failed("b", "not found"),
            failed("c", "could not compile\nline 1"),
            failed("d", "not found"),
            failed("e", "could not compile\nline 2"),
        ];
        let body: Vec<Message<'_>> = (0..5)
            .map(|position| Message::after(&failures[..position], &failures[position]))
            .collect();
        let [compiler, missing] = [Message::Own("could not compile\nline 1"), Message::Own("not found")];
        let other = Message::Own("could not compile\nline 2");
        assert_eq!(body, [compiler, missing, Message::SameAs(&failures[0]), missing, other]);
        let lines = lines(&failures[2], body[2], "again", 80, Styling::Plain).join("\n");
        assert!(lines.contains("\n  │ same error as `a` above\n"), "{lines}");
    }

    #[test]
    fn the_command_repeats_its_options_as_a_shell_takes_them() {
        let mut result = every_verdict().results.remove(0);
        result.params.0.clear();
        result.case = "add".to_owned();
        let repeated = RepeatedCommand {
            program: "cargo gpubench",
            options: ["--manifest-path", "my kernels/Cargo.toml", "--features", "fp8 bf16"]
                .map(str::to_owned)
                .to_vec(),
            overridden_axes: Vec::new(),
        };
        assert_eq!(
            repeated.for_case(&result, "5eed"),
            "cargo gpubench --manifest-path 'my kernels/Cargo.toml' --features 'fp8 bf16' --exact add --seed 5eed"
        );
    }
}
