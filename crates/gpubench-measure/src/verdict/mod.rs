//! From facts and claims to a verdict: one pure function, [`judge`]. Verdicts and causes are
//! defined in `gpubench-contract`.
//!
//! The referee reports facts, the worker makes claims, and neither decides anything.

mod conservation;
mod disturbance;
mod element;
mod evidence;
mod finding;
mod floor;
mod grade;
mod judge;
mod kept;
mod observed;
mod orders;
mod sharing;
mod words;

pub use conservation::{balance, control_residuals, residual};
pub(crate) use element::element_value;
pub use evidence::{Ending, Evidence, Execution, RunEvidence, Surroundings, TimeUse, WindowEvidence, WindowSpan};
pub use floor::floor_ns;
pub use gpubench_contract::{Cause, Grade, Verdict};
pub(crate) use grade::open_sandbox;
pub use judge::{Judgement, judge};
pub use kept::KeptEvidence;
pub(crate) use orders::are_differently_wrong;
pub use sharing::sharing;
pub(crate) use words::placed;
pub use words::{BY_LAUNCHER, tolerance_in_words};
