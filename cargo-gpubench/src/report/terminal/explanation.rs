//! What went wrong with a case, below the table.

use super::columns::sign_of;
use super::style::{FAINT, Styling, TITLE};
use super::text::{padded, printable, width, wrapped};
use crate::report::{BenchmarkComplete, Check};
use crate::verdict::Cause;

/// A bar stands before every line, so that it is clear where an explanation ends even if it holds a compiler's output.
const BAR: &str = "  │ ";

/// What a command that runs a case again has to say beside its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repetition<'a> {
    /// The archive that the case comes from.
    pub(super) archive: Option<&'a str>,
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
                shell_quoted(&printable(archive))
            ),
            None => "cargo gpubench".to_owned(),
        };
        command = format!("{command} --exact {}", shell_quoted(&printable(&result.case)));
        let overridden = result
            .params
            .0
            .iter()
            .filter(|(name, _)| self.overridden.contains(name));
        for (name, value) in overridden {
            let value = shell_quoted(&printable(&format!("{name}={value}")));
            command = format!("{command} --axis {value}");
        }
        if result.windows > 0 {
            command = format!("{command} --seed {}", self.seed);
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
    let name = format!("{} {}", printable(&result.package), printable(&result.case));
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

/// What a cause means, where its word alone does not tell someone new.
fn gloss(cause: Cause) -> &'static str {
    match cause {
        Cause::Unwritten => " (elements were never written)",
        Cause::Stale => " (the answer to the call before)",
        Cause::Cached => " (the answer to the first call)",
        Cause::Partial => " (part of the output was left)",
        Cause::Constant => " (one value everywhere)",
        Cause::Unsealed => " (the output changed after the call)",
        Cause::ClaimTooShort => " (the referee's clock saw more time pass)",
        Cause::ClaimsInconsistent => " (time was moved from one call's claim to another's)",
        Cause::NotReproducible => " (a second recording gave another plan)",
        _ => "",
    }
}

/// Every output that is not right, one line each, names aligned.
fn outputs(checks: &[Check]) -> Vec<String> {
    let wrong = checks.iter().filter(|check| check.matched < check.elements);
    let longest = wrong.clone().map(|check| width(&check.output)).max().unwrap_or(0);
    wrong
        .map(|check| format!("{}  {}", padded(&printable(&check.output), longest), found_in(check)))
        .collect()
}

/// `4 of 16 elements wrong; first at 5 [1, 1]: expected 0.5, got 0.25; largest error 0.25 absolute, 0.5 relative`.
fn found_in(check: &Check) -> String {
    let count = Some(format!(
        "{} of {} elements wrong",
        check.elements - check.matched,
        check.elements
    ));
    let first = check.first_wrong.as_ref().map(|first| {
        let place = coordinates(first.index, &check.shape);
        format!(
            "first at {}{place}: expected {}, got {}",
            first.index, first.expected, first.got
        )
    });
    [count, first, largest_error(check)]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ")
}

/// `largest error 0.25 absolute, 0.5 relative`.
fn largest_error(check: &Check) -> Option<String> {
    let errors = [(check.max_abs_error, "absolute"), (check.max_rel_error, "relative")];
    let known: Vec<String> = errors
        .into_iter()
        .filter_map(|(error, what)| Some(format!("{} {what}", three_digits(error?))))
        .collect();
    (!known.is_empty()).then(|| format!("largest error {}", known.join(", ")))
}

/// A number rounded to three significant digits, in its shortest form.
fn three_digits(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    format!("{rounded:?}")
}

/// ` [row, column]` of a flat index; nothing where it says no more than the index itself.
fn coordinates(index: u64, shape: &[u64]) -> String {
    let elements = shape
        .iter()
        .try_fold(1u64, |product, extent| product.checked_mul(*extent));
    if shape.len() < 2 || elements.is_none_or(|elements| index >= elements) {
        return String::new();
    }
    let mut rest = index;
    let mut place: Vec<String> = shape
        .iter()
        .rev()
        .map(|extent| {
            let coordinate = rest % extent;
            rest /= extent;
            coordinate.to_string()
        })
        .collect();
    place.reverse();
    format!(" [{}]", place.join(", "))
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
    fn a_flat_index_is_shown_with_its_coordinates() {
        assert_eq!(coordinates(5, &[2, 4]), " [1, 1]");
        assert_eq!(coordinates(23, &[2, 3, 4]), " [1, 2, 3]");
        assert_eq!(coordinates(5, &[16]), "");
        assert_eq!(coordinates(8, &[2, 4]), "");
        assert_eq!(coordinates(0, &[0, 4]), "");
        assert_eq!(coordinates(1, &[u64::MAX, u64::MAX]), "");
    }

    #[test]
    fn errors_are_rounded_to_what_one_wants_to_know() {
        assert_eq!(
            [0.25, 1.23456e-7, 0.0, 65_504.0].map(three_digits),
            ["0.25", "1.23e-7", "0.0", "65500.0"]
        );
    }

    #[test]
    fn names_with_spaces_are_quoted_for_the_shell() {
        assert_eq!(shell_quoted("image::gray::w=1,h=2.5"), "image::gray::w=1,h=2.5");
        assert_eq!(shell_quoted("a::b::mode=it's on"), r"'a::b::mode=it'\''s on'");
    }
}
