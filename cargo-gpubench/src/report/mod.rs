//! What people and machines read: terminal table, JSON lines, CSV, Markdown, JUnit and HTML.
//!
//! [`Record`] is the machine contract: one JSON object a line. Everything else here is a view of the same records, so that a table
//! never says what the JSON does not. The broker drives every view in the same way, as a [`Reporter`].
#![forbid(unsafe_code)]

mod comparison;
mod contest;
mod csv;
mod element;
mod gate;
mod gpu_environment;
mod history;
mod html;
mod json;
mod junit;
mod markdown;
mod markdown_text;
mod measurement;
mod output;
mod params;
mod pull_request;
mod record;
mod reporter;
mod summary;
mod terminal;
pub mod units;
mod wording;
mod xml;

#[cfg(test)]
mod comparison_golden;
#[cfg(test)]
mod comparison_samples;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod hostile;
#[cfg(test)]
pub(crate) mod samples;
#[cfg(test)]
mod schema;

pub use comparison::*;
pub use csv::CsvReporter;
pub use element::*;
pub use gate::*;
pub use gpu_environment::*;
pub use history::*;
pub use html::HtmlReport;
pub use json::{JsonReporter, json_line};
pub use junit::JunitReporter;
pub use markdown::MarkdownReporter;
pub use markdown_text::GITHUB_LIMIT;
pub use measurement::*;
pub use output::{Output, OutputError, address, ensure_replaceable, replace_file};
pub use params::*;
pub use pull_request::*;
pub use record::*;
pub use reporter::*;
pub use summary::CPU_NOTICE;
pub use terminal::*;
