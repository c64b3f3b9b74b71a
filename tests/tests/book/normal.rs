//! What is the same in two runs on two machines: the words, without times, rates, seeds and names
//! of machines, and however the lines are wrapped.

use std::sync::OnceLock;

use regex::Regex;

/// Lines with which cargo and the tool say how far they are.
const PROGRESS: [&str; 8] = [
    "Compiling",
    "Finished",
    "Locking",
    "Blocking",
    "Building",
    "Updating",
    "Downloading",
    "Downloaded",
];

/// In this order.
const FIGURES: [(&str, &str); 16] = [
    (r"file://\S*/", "file://…/"),
    (r"\(\d+\.\d+\.\d+[^)]*\)", "(VERSION)"),
    (r"\bgpubench \d+\.\d+\.\d+", "gpubench VERSION"),
    (r"CPU device: .*?, \d+ threads?", "CPU device: MACHINE"),
    (r"UTC · .*", "UTC · MACHINE"),
    (r"\d{4}-\d\d-\d\d( \d\d:\d\d)?( UTC)?", "DATE"),
    (r"\b([0-9a-f]{16,}|[0-9a-f]{6,}…)", "SEED"),
    (r"\b[0-9a-f]{7,10}\b( on \S+)?(, modified)?", "COMMIT"),
    (r"expected \S+ within", "expected # within"),
    (r"got -?[\w.+-]+", "got #"),
    (r"[±+-]?\d[\d.]*%|± *-", "#%"),
    (r"\d[\d.]* ([num]|µ)?s\b( \d+ s)?", "#time"),
    (r"\d+ min( \d+ s)?", "#time"),
    (r"\d[\d.]* [kMGT]?(B|FLOP)/s", "#rate"),
    (r"\d[\d.]* ([KMG]i)?B\b", "#size"),
    (r"\d[\d.]*×", "#×"),
];

/// The words of a text, normalised; `[…]` stands for any others.
pub(crate) fn words(text: &str) -> Vec<String> {
    static PATTERNS: OnceLock<Vec<(Regex, &str)>> = OnceLock::new();
    let patterns = PATTERNS.get_or_init(|| {
        let pattern = |(pattern, normal)| (Regex::new(pattern).expect("a pattern"), normal);
        FIGURES.into_iter().map(pattern).collect()
    });
    let mut all = Vec::new();
    for line in without_progress(text).lines() {
        // An explanation is wrapped between words; each of its lines begins with a bar.
        let mut line = line.strip_prefix("  │ ").unwrap_or(line).to_owned();
        for (pattern, normal) in patterns {
            line = pattern.replace_all(&line, *normal).into_owned();
        }
        all.extend(line.split_whitespace().map(str::to_owned));
    }
    without_counts(all)
}

/// A text without the lines that say how far the work is.
pub(crate) fn without_progress(text: &str) -> String {
    let is_progress = |line: &str| {
        let words = line.trim_start();
        line.starts_with("   ") && PROGRESS.iter().any(|word| words.starts_with(word))
    };
    let lines = text.lines().filter(|line| !is_progress(line));
    lines.map(|line| format!("{line}\n")).collect()
}

/// The number of samples comes after `cv`.
fn without_counts(mut words: Vec<String>) -> Vec<String> {
    for index in 2..words.len() {
        if words[index - 2..index] == ["#%", "#%"] && words[index].parse::<u64>().is_ok() {
            words[index] = "#".to_owned();
        }
    }
    words
}

/// Whether a page shows what was printed, but for what it leaves out.
pub(crate) fn shows(page: &str, printed: &str) -> bool {
    let (shown, printed) = (words(page), words(printed));
    let parts: Vec<&[String]> = shown.split(|word| word == "[…]").collect();
    let (first, rest) = parts.split_first().expect("one part at least");
    let Some(mut left) = printed.strip_prefix(*first) else {
        return false;
    };
    let Some((last, middle)) = rest.split_last() else {
        return left.is_empty();
    };
    for part in middle {
        let Some(at) = (0..left.len()).find(|&at| left[at..].starts_with(part)) else {
            return false;
        };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

#[test]
fn figures_machines_and_wrapping_make_no_difference() {
    let page = "cargo gpubench 0.1.0 · CPU device: AMD EPYC, 2 threads · 1 case\n  ╰─ n=8  ✓ pass  3.5 µs  ±0.72%  66.7%  39  17.74 GB/s  advisory\n  │ one two\n  │ three\n";
    let run = "cargo gpubench 0.2.0 · CPU device: A Processor, 16 threads · 1 case\n  ╰─ n=8  ✓ pass  23.5 ms  ±1%  6.7%  9  7.74 MB/s  advisory\n  │ one two three\n";
    assert!(shows(page, run));
    assert!(!shows(page, &run.replace("1 case", "2 cases")));
    assert!(!shows(page, &run.replace("pass", "fail")));
}

#[test]
fn what_is_left_out_may_be_anything() {
    assert!(shows("a […] d e", "a b c d e"));
    assert!(!shows("a […] d e", "a b c d e f"));
    assert!(!shows("[…] c b […]", "a b c d"));
    assert!(shows("[…] c d […]", "a b c d"));
}
