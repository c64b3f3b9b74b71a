//! The command's steps on standard error, in cargo's style, and lists of names.

use std::fmt::Display;

use super::options::Verbosity;
use gpubench_diagnostic::{print_to_stderr, printable_line};

/// Prints a line as in `    Building the baseline`, unless `--quiet` is set.
pub(crate) fn status(verbosity: Verbosity, step: &str, what: impl Display) {
    if verbosity > Verbosity::Quiet {
        // Paths and revisions are untrusted: they must not start a line.
        print_to_stderr(&format_args!("{step:>12} {}\n", printable_line(&what.to_string())));
    }
}

/// Returns an RFC 3339 time to the minute: `2026-11-29 18:40 UTC`. Returns other texts unchanged.
pub(super) fn moment(rfc3339: &str) -> String {
    match rfc3339.parse::<jiff::Timestamp>() {
        Ok(moment) => moment.strftime("%Y-%m-%d %H:%M UTC").to_string(),
        Err(_) => rfc3339.to_owned(),
    }
}

/// Returns the first names, at most `shown` of them, and the number of the rest.
pub(crate) fn first_of(names: &[impl AsRef<str>], shown: usize) -> String {
    let first = names.iter().take(shown);
    let first: Vec<String> = first
        .map(|name| format!("`{}`", printable_line(name.as_ref())))
        .collect();
    match names.len().saturating_sub(shown) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_names_stay_on_one_line_and_the_rest_is_counted() {
        let names: Vec<String> = (1..=7).map(|number| format!("a::b{number}\nwarning: x")).collect();
        let listed = first_of(&names, 5);
        assert!(listed.starts_with("`a::b1 warning: x`, `a::b2"), "{listed}");
        assert!(listed.ends_with("`a::b5 warning: x` and 2 more"), "{listed}");
    }
}
