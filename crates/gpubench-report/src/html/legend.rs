//! The explanation of the page's terms, at its end.

use super::facts::Facts;
use super::markup::{Element, folded, text};

/// Terms and their meanings.
const WORDS: [(&str, &str); 11] = [
    (
        "time",
        "the trimmed mean of the workers' values; the value of a worker is the interquartile mean of its samples; other metrics are computed in the same way",
    ),
    (
        "± 95%",
        "half the width of the 95% interval of the time, relative to the time; a measurement with other workers is expected to lie in this interval",
    ),
    ("cv", "the standard deviation of the samples, divided by their mean"),
    (
        "sealed",
        "the tool replayed the launches; no host code of the crate was loaded while the clock ran",
    ),
    (
        "sandboxed",
        "host code of the crate launched the kernels; a second clock that it cannot reach agrees within the bound",
    ),
    (
        "unverified",
        "no second clock could check the times; the CPU device never has one",
    ),
    (
        "early-check",
        "windows whose outputs are checked right after the call, so that a kernel cannot finish later",
    ),
    (
        "control worker",
        "a process that runs only the tool's part of a window; its time is subtracted before the clocks are compared",
    ),
    (
        "occupancy",
        "the share of a multiprocessor's warps that the resident blocks fill; more blocks would not fit because of what it is limited by",
    ),
    (
        "waves",
        "the blocks of the grid, divided by those that the whole GPU can hold at the same time",
    ),
    (
        "noise",
        "the larger of a fixed minimum and the variation in the device's history; smaller changes are not regressions",
    ),
];

/// Returns the explanation.
pub(super) fn legend() -> Element {
    let words = WORDS.into_iter().fold(Facts::default(), |facts, (word, meaning)| {
        facts.and(word, text(meaning))
    });
    folded("How to read this page").with("id", "legend").child(words.list())
}
