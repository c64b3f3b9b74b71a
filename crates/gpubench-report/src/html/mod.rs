//! A run or an observation as an HTML page: one file without scripts or network access.
//!
//! The page is a view of the same records as every other report. All text passes through
//! [`markup`], which escapes it. Charts are SVG with a description in words.

mod attention;
mod audit;
mod case;
mod cases;
mod chart;
mod checks;
mod comparison;
mod contest;
mod course;
mod devices;
mod distribution;
mod document;
mod facts;
mod forest;
mod integrity;
mod kernels;
mod legend;
mod log_scale;
mod markup;
mod masthead;
mod names;
mod observation;
mod observed;
mod outlined;
mod rankings;
mod roofline;
mod roofline_chart;
mod roofline_model;
mod scaling;
mod scaling_chart;
mod scaling_model;
mod scores;
mod sequence;
mod steps;
mod surroundings;
mod trend;

#[cfg(test)]
mod tests;

pub use document::HtmlReport;
pub use observation::ObservationPage;
