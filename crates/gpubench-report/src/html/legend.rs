//! How the page is to be read, at its end.

use super::facts::Facts;
use super::markup::{Element, folded, text};

/// Words and what they mean.
const WORDS: [(&str, &str); 9] = [
    (
        "time",
        "the figure of a case: the trimmed mean over its fresh workers of the interquartile mean of each one's samples; of another metric the same",
    ),
    (
        "± 95 %",
        "half the width of the 95 % interval of that figure, relative to it: where the figure of other fresh workers would lie",
    ),
    ("cv", "the standard deviation of the samples over their mean"),
    (
        "sealed",
        "the tool itself replayed the launches; no host code of the crate was loaded while the clock ran",
    ),
    (
        "bracketed",
        "host code of the crate launched the kernels, and a second clock that it cannot reach agrees within the bound",
    ),
    (
        "advisory",
        "no second clock could check the times, as always on the CPU device",
    ),
    (
        "early-check",
        "windows in which the outputs are checked right behind the call, so that nothing can be finished later",
    ),
    (
        "control worker",
        "a process that runs only this tool's part of a window; what it needs is taken off before the clocks are compared",
    ),
    (
        "noise",
        "the larger of a floor and of what runs in the device's history differ by; smaller changes are no regressions",
    ),
];

/// The explanations.
pub(super) fn legend() -> Element {
    let words = WORDS.into_iter().fold(Facts::default(), |facts, (word, meaning)| {
        facts.and(word, text(meaning))
    });
    folded("How to read this page").with("id", "legend").child(words.list())
}
