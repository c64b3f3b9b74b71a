//! Records of a ledger's state: the rows that people and programs see, with rates.

mod before;
mod processes;
mod rows;
mod sampler;
mod state;
mod timeline;
mod words;

#[cfg(test)]
mod tests;

pub use rows::Rows;
pub use sampler::{Sampler, Totals};
