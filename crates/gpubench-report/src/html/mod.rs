//! A run as one page to read in a browser: no script, no network, nothing beside the file.
//!
//! The page is a view of the same records as every other report. What is written in it passes
//! through [`markup`], which escapes; what is drawn is SVG with its meaning in words beside it.

mod attention;
mod case;
mod cases;
mod chart;
mod checks;
mod comparison;
mod distribution;
mod document;
mod facts;
mod forest;
mod integrity;
mod legend;
mod markup;
mod masthead;
mod names;
mod rankings;
mod roofline;
mod roofline_chart;
mod sequence;
mod surroundings;
mod trend;

#[cfg(test)]
mod tests;

pub use document::HtmlReport;
