//! Explanations of failed cases, below the table.

use super::columns::sign_of;
use super::style::{FAINT, Styling, TITLE};
use crate::wording::{first_wrong_elements, found_in, gloss, wrong_besides_message};
use gpubench_contract::BenchmarkComplete;
use gpubench_diagnostic::layout::{fitted, folded, padded, width, wrapped};
use gpubench_diagnostic::{printable, printable_line};

/// Precedes every line, to show where an explanation ends even if it contains compiler output.
const BAR: &str = "  │ ";

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
    for line in first_wrong_elements(result) {
        body.extend(folded(&printable_line(&line), room));
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use gpubench_contract::Check;
    use gpubench_diagnostic::quoted;
    use gpubench_testing::every_verdict;

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
}
