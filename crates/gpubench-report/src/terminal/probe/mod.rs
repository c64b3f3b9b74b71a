//! What `cargo gpubench probe` shows: a screen that is redrawn, a line for each interval where
//! there is no terminal, and a summary at the end.

pub(crate) mod figures;
mod grid;
pub(crate) mod holdings;
mod line;
pub(crate) mod outline;
mod page;
pub(crate) mod screen;
pub(crate) mod summary;
pub(crate) mod tables;

#[cfg(test)]
mod tests;

pub use line::probe_line;
pub use page::{probe_screen, probe_summary};
pub use screen::ScreenSize;
