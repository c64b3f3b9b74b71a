//! What people and machines read: terminal table, JSON lines, CSV and Markdown.
//!
//! [`Record`] is the machine contract: one JSON object a line. Everything else here is a view of the same records, so that a table
//! never says what the JSON does not.
#![forbid(unsafe_code)]

mod element;
mod measurement;
mod params;
mod record;

pub use element::*;
pub use measurement::*;
pub use params::*;
pub use record::*;
