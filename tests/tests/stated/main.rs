//! Where the book states a default, a limit, an exit code or a number of a formula, it is that of
//! the code. `table.rs` has a row for each; the test reads both texts.
#![forbid(unsafe_code)]

mod table;

use gpubench_tests::repository;
use regex::Regex;

/// A number, or its word, with its unit.
const VALUE: &str =
    r"\d{1,3}(?:[ ,]\d{3})+|\d+(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|sixteen|twenty";
const UNIT: &str = "KiB|MiB|GiB|%|ns|µs|ms|seconds?|minutes?|s|m";

/// A sentence of a page, and the line of a source that has its value. `{}` stands for the value.
pub(crate) struct Stated {
    pub(crate) page: &'static str,
    pub(crate) sentence: &'static str,
    pub(crate) source: &'static str,
    pub(crate) line: &'static str,
}

impl Stated {
    /// Returns what is wrong with the sentence.
    fn fault(&self) -> Option<String> {
        let Stated {
            page,
            sentence,
            source,
            line,
        } = self;
        let text = |path: &str| std::fs::read_to_string(repository().join(path)).expect("the file exists");
        let words = text(page).split_whitespace().collect::<Vec<_>>().join(" ");
        let value = format!("((?:{VALUE})(?: ?(?:{UNIT}))?)");
        let stated = all(&words, sentence, &value);
        let code = all(&text(source), line, "([^\n]+?)");
        match (&stated[..], &code[..]) {
            ([], _) => Some(format!("{page} no longer says `{sentence}`")),
            (_, [value]) => {
                let value = of_code(value) * if line.contains("_NS:") { 1e-9 } else { 1.0 };
                let differs = |stated: &&String| (of_page(stated) - value).abs() > 1e-9 * value.abs();
                let wrong = stated.iter().find(differs)?;
                Some(format!(
                    "{page} says `{wrong}` in `{sentence}`, {source} `{value}` in `{line}`"
                ))
            }
            (_, lines) => Some(format!("{source} has `{line}` {} times", lines.len())),
        }
    }
}

/// Returns what stands for `{}` wherever a text has the pattern.
fn all(text: &str, pattern: &str, value: &str) -> Vec<String> {
    let (before, after) = pattern.split_once("{}").expect("a pattern has `{}`");
    let expression = format!("{}{value}{}", regex::escape(before), regex::escape(after));
    let expression = Regex::new(&expression).expect("an expression");
    expression
        .captures_iter(text)
        .map(|found| found[1].to_owned())
        .collect()
}

/// Returns the value of a number of a page: times in seconds, sizes in bytes, shares as fractions.
fn of_page(text: &str) -> f64 {
    let expression = Regex::new(&format!("^({VALUE})(?: ?({UNIT}))?$")).expect("an expression");
    let parts = expression.captures(text).unwrap_or_else(|| panic!("{text}"));
    let number = match &parts[1] {
        "one" => 1.0,
        "two" => 2.0,
        "three" => 3.0,
        "four" => 4.0,
        "five" => 5.0,
        "six" => 6.0,
        "seven" => 7.0,
        "eight" => 8.0,
        "nine" => 9.0,
        "ten" => 10.0,
        "sixteen" => 16.0,
        "twenty" => 20.0,
        digits => digits.replace([' ', ','], "").parse().expect("a number"),
    };
    number
        * match parts.get(2).map_or("", |unit| unit.as_str()) {
            "KiB" => 1024.0,
            "MiB" => 1024.0 * 1024.0,
            "GiB" => 1024.0 * 1024.0 * 1024.0,
            "%" => 0.01,
            "ns" => 1e-9,
            "µs" => 1e-6,
            "ms" => 1e-3,
            "m" | "minute" | "minutes" => 60.0,
            _ => 1.0,
        }
}

/// Returns the value of an expression of Rust: numbers, products, shifts, and constructors, of
/// which those of times have a unit.
fn of_code(expression: &str) -> f64 {
    let expression = expression.trim();
    if let Some((left, right)) = expression.split_once(" << ") {
        return of_code(left) * 2f64.powf(of_code(right));
    }
    if let Some((constructor, rest)) = expression.split_once('(') {
        let value = of_code(rest.trim_end_matches(')'));
        return value
            * match constructor.rsplit("::").next() {
                Some("from_millis") => 1e-3,
                Some("from_micros") => 1e-6,
                _ => 1.0,
            };
    }
    if let Some((left, right)) = expression.split_once(" * ") {
        return of_code(left) * of_code(right);
    }
    expression
        .replace('_', "")
        .parse()
        .unwrap_or_else(|_| panic!("`{expression}` is no number"))
}

#[test]
fn the_book_states_the_values_of_the_code() {
    let faults: Vec<String> = table::STATED.iter().filter_map(Stated::fault).collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn values_are_read_from_both_texts() {
    assert_eq!(of_page("1 024"), 1024.0);
    assert_eq!(of_page("48 KiB"), 49152.0);
    assert_eq!(of_page("0.3 µs"), 0.3e-6);
    assert_eq!(of_page("ten"), 10.0);
    assert_eq!(of_code("227 * 1024"), 232_448.0);
    assert_eq!(of_code("16 << 20"), 16_777_216.0);
    assert_eq!(of_code("Duration::from_millis(200)"), 0.2);
    assert_eq!(of_code("Fraction::new(0.01)"), 0.01);
    let wrong = Stated {
        page: "docs/stored-runs.md",
        sentence: "After {} runs, the oldest is dropped",
        source: "crates/gpubench-store/src/history/mod.rs",
        line: "FEWEST: usize = {};",
    };
    assert!(wrong.fault().is_some_and(|fault| fault.contains("0 times")));
}
