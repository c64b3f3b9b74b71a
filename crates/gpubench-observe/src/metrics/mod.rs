//! Metrics for Prometheus: a page in the OpenMetrics format, served over HTTP or written to a file.
//!
//! Counters are counters: they only grow while the observation lasts, also when processes end and
//! when names of kernels arrive late. No label has a pid, an address or a handle, and each label
//! has a bounded number of values: a kernel or a program keeps the label that it got first, and
//! those that come after the limit share the value `other`.

mod clients;
mod error;
mod exporter;
mod families;
mod family;
mod labels;
mod page;
mod server;
mod textfile;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;

pub use error::MetricsError;
pub use exporter::Exporter;
pub use page::{Format, Page};
pub use server::{DEFAULT_ADDRESS, Server};
pub use textfile::Textfile;
