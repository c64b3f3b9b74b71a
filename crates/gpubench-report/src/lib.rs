//! The reports: terminal table, JSON lines, CSV, Markdown, JUnit, HTML and files for trackers.
//!
//! Every report is a view of the records in [`contract`](gpubench_contract), so a table never shows
//! anything that is not in the JSON. Every view implements [`Reporter`], and the broker calls it.
#![forbid(unsafe_code)]

mod contest;
mod csv;
mod devices;
mod devices_markdown;
mod gate;
mod grading;
mod html;
mod json;
mod junit;
mod kernels;
mod markdown;
mod markdown_text;
mod output;
mod output_target;
mod pull_request;
mod ranking;
mod records;
mod remarks;
mod repeat;
mod reporter;
mod reward;
mod samples;
mod scores;
mod summary;
mod terminal;
mod tracker;
mod wording;

#[cfg(test)]
mod tests;

pub use csv::CsvReporter;
pub use devices_markdown::device_matrix_markdown;
pub use gate::*;
pub use html::{HtmlReport, ObservationPage};
pub use json::{JsonReporter, json_line};
pub use junit::JunitReporter;
pub use markdown::MarkdownReporter;
pub use markdown_text::GITHUB_LIMIT;
pub use output::{Output, OutputError, address};
pub use output_target::OutputTarget;
pub use pull_request::*;
pub use records::RecordsReporter;
pub use repeat::{is_plain, shell_quoted};
pub use reporter::*;
pub use reward::{NotARewardFile, RewardFile, RewardReporter};
pub use samples::SamplesReporter;
pub use scores::RankingReporter;
pub use terminal::*;
pub use tracker::{TrackerFormat, TrackerReporter};
