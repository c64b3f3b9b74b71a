//! Compares output in a page with real output, without what differs from run to run.

use std::sync::LazyLock;

use regex::Regex;

/// What differs between runs and machines, and what replaces it, in this order.
const VARIABLE: [(&str, &str); 14] = [
    // An explanation is wrapped between words.
    (r"(?m)^  │ | ▲$| ▼$", ""),
    (r"\b(expected|got|error|absolute)\s-?[\d.]+(e-?\d+)?", "$1 #"),
    (r"file://\S*/", "file://"),
    (r"CPU device: .*, \d+ threads?", "CPU device: MACHINE"),
    (r"UTC · .*", "UTC · MACHINE"),
    (r"\d{4}-\d\d-\d\d( \d\d:\d\d)?", "DATE"),
    (r"gpubench \d+\.\d+\.\d+", "gpubench VERSION"),
    (r"\b[0-9a-f]{16,}\b|\b[0-9a-f]+…|\b[0-9a-f]{9}\b", "HEX"),
    (r"HEX on [\w-]+", "HEX on BRANCH"),
    (
        r"[±+-]?(>?\d[\d.]*(%|×| ([nµm]?s|min|[kMGT]?(B|FLOP)/s|[KMG]i?B|B)\b)(\s\d+ s\b)?|inf%)|×\d[\d.]*",
        "#",
    ),
    // Ranks follow from times.
    (r"(?m)^  ([\d–]+ +)?\S+ +# +(fastest.*|# the time.*)$", "RANK"),
    (r"(?m)^  not [\w ]+: .*\n", ""),
    // A score that is too uncertain has no interval.
    (r"(?m)^(  \d+ +\S+)( +#)+ *$", "$1 SCORE"),
    // Three figures come before the number of samples.
    (r"(pass +# +# +# +)\d+", "$1#"),
];

/// An output without the progress of cargo and the tool.
pub(crate) fn without_progress(output: &str) -> String {
    static PROGRESS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^ +(Compiling|Finished|Locking|Blocking|Building|Updating|Adding)\b.*\n").expect("a pattern")
    });
    PROGRESS.replace_all(output, "").into_owned()
}

/// The words of an output, without what varies.
pub(crate) fn words(output: &str) -> Vec<String> {
    static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        let pattern = |(pattern, normal)| (Regex::new(pattern).expect("a pattern"), normal);
        VARIABLE.into_iter().map(pattern).collect()
    });
    let replace = |text: String, (pattern, normal): &(Regex, &str)| pattern.replace_all(&text, *normal).into_owned();
    let normal = PATTERNS.iter().fold(without_progress(&format!("{output}\n")), replace);
    normal.split_whitespace().map(str::to_owned).collect()
}

/// Whether a page shows this output. `[…]` in the page stands for any number of words.
pub(crate) fn shows(page: &str, output: &str) -> bool {
    let (page, output) = (words(page), words(output));
    let mut parts: Vec<&[String]> = page.split(|word| word == "[…]").collect();
    let (first, last) = (parts.remove(0), parts.pop());
    let Some(mut rest) = output.strip_prefix(first) else {
        return false;
    };
    let Some(last) = last else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = (0..=rest.len()).find(|&at| rest[at..].starts_with(part)) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[test]
fn figures_machines_and_wrapping_do_not_matter() {
    let page = "cargo gpubench 0.1.0 · CPU device: AMD EPYC, 2 threads · 1 case\n n=8  ✓ pass  3.5 µs  ±0.72%  66.7%  39  17.74 GB/s  unverified\n  │ one two\n  │ three\n";
    let run = "   Compiling a v0.1.0\ncargo gpubench 0.2.0 · CPU device: A Processor, 16 threads · 1 case\n n=8  ✓ pass  23.5 ms  ±1%  6.7%  9  7.74 MB/s  unverified\n  │ one two three\n";
    assert!(shows(page, run));
    assert!(!shows(page, &run.replace("1 case", "2 cases")));
    assert!(!shows(page, &run.replace("pass", "fail")));
}

#[test]
fn elided_words_may_be_anything() {
    assert!(shows("a […] d e", "a b c d e"));
    assert!(!shows("a […] d e", "a b c d e f"));
    assert!(!shows("[…] c b […]", "a b c d"));
    assert!(shows("[…] c d […]", "a b c d"));
}

#[test]
fn a_score_may_lack_its_interval() {
    let page =
        "row_sums scores\n  1  warp_a_row  4.3 ms  ±10.5%  60.46 MFLOP/s\n  –  nothing  wrong-output: constant\n";
    assert!(shows(page, &page.replace("±10.5%", "      ")));
    assert!(!shows(page, &page.replace("warp_a_row", "nothing")));
}
