//! Metrics for Prometheus: a page in the OpenMetrics format, served over HTTP or written to a file.
//!
//! Counters are counters: they only grow while their row is there, also when processes end and when
//! names of kernels arrive late. No label has a pid, an address or a handle, and each label has a
//! bounded number of values: what has none shares the value `other`. Rows of what ended disappear
//! after an hour, or before if something that runs has no row.

use std::time::Duration;

mod answer;
mod clients;
mod error;
mod exporter;
mod families;
mod family;
mod kernel_rows;
mod labels;
mod memory;
mod page;
mod server;
mod textfile;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod server_tests;
#[cfg(test)]
mod tests;

pub use error::MetricsError;
pub use exporter::Exporter;
pub use families::MOST_ROWS;
pub use page::{Format, Page};
pub use server::{DEFAULT_ADDRESS, Server};
pub use textfile::Textfile;

/// How long the row of something that ended stays, so that each scrape gets its last value.
const RETENTION: Duration = Duration::from_secs(60 * 60);
