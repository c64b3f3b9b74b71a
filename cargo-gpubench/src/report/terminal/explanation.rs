//! What went wrong with a case, below the table.

use super::columns::sign_of;
use super::style::{FAINT, Styling, TITLE};
use super::text::{padded, width, wrapped};
use crate::printable::{printable, printable_line};
use crate::report::wording::{found_in, gloss};
use crate::report::{BenchmarkComplete, Check};

/// A bar stands before every line, so that it is clear where an explanation ends even if it holds a compiler's output.
const BAR: &str = "  │ ";

/// What a command that runs a case again has to say beside its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repetition<'a> {
    /// The archive that the case comes from.
    pub(super) archive: Option<&'a str>,
    /// The order of a block's threads on the CPU device; 0 is their own.
    pub(super) schedule: u64,
    /// Axes whose values are the command line's.
    pub(super) overridden: &'a [String],
    /// The seed of the run.
    pub(super) seed: &'a str,
}

impl Repetition<'_> {
    fn command(&self, result: &BenchmarkComplete) -> String {
        let mut command = match self.archive {
            Some(archive) => format!(
                "cargo-gpubench gpubench --archive-file {}",
                shell_quoted(&printable_line(archive))
            ),
            None => "cargo gpubench".to_owned(),
        };
        command = format!("{command} --exact {}", shell_quoted(&printable_line(&result.case)));
        let overridden = result
            .params
            .0
            .iter()
            .filter(|(name, _)| self.overridden.contains(name));
        for (name, value) in overridden {
            let value = shell_quoted(&printable_line(&format!("{name}={value}")));
            command = format!("{command} --axis {value}");
        }
        if self.schedule != 0 {
            command = format!("{command} --schedule {}", self.schedule);
        }
        if result.windows > 0 {
            command = format!("{command} --seed {}", printable_line(self.seed));
        }
        command
    }
}

/// The explanation of a failed case, line by line.
pub(super) fn lines(
    result: &BenchmarkComplete,
    repetition: Repetition<'_>,
    line_width: usize,
    styling: Styling,
) -> Vec<String> {
    let room = line_width.saturating_sub(width(BAR)).max(20);
    let (sign, style) = sign_of(result.verdict);
    let name = format!("{} {}", printable_line(&result.package), printable_line(&result.case));
    let mut lines = vec![format!(
        "{} {}",
        styling.paint(style, &sign.to_string()),
        styling.paint(TITLE, &name)
    )];
    let mut say = |text: &str| {
        for line in wrapped(text, room) {
            let line = format!("{}{line}", styling.paint(FAINT, BAR));
            lines.push(line.trim_end().to_owned());
        }
    };
    say(&styled_outcome(result, styling));
    if let Some(message) = &result.message {
        say(&printable(message));
    }
    // The message speaks of the output that decided; of a single one there is nothing to add.
    if result.checks.len() > 1 {
        for line in outputs(&result.checks) {
            say(&line);
        }
    }
    let command = repetition.command(result);
    lines.push(format!("{}run it alone: {command}", styling.paint(FAINT, BAR)));
    lines
}

/// The verdict, its cause and what the cause means.
fn styled_outcome(result: &BenchmarkComplete, styling: Styling) -> String {
    let (_, style) = sign_of(result.verdict);
    let verdict = styling.paint(style, result.verdict.as_str());
    match result.cause {
        Some(cause) => format!("{verdict}: {cause}{}", gloss(cause)),
        None => verdict,
    }
}

/// Every output that is not right, one line each, names aligned.
fn outputs(checks: &[Check]) -> Vec<String> {
    let wrong = checks.iter().filter(|check| check.matched < check.elements);
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

/// A name as a shell takes it whole.
fn shell_quoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-:=,./+@%".contains(letter);
    if name.chars().all(is_plain) {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_spaces_are_quoted_for_the_shell() {
        assert_eq!(shell_quoted("image::gray::w=1,h=2.5"), "image::gray::w=1,h=2.5");
        assert_eq!(shell_quoted("a::b::mode=it's on"), r"'a::b::mode=it'\''s on'");
    }
}
