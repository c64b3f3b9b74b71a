//! Going on with a run or a grading that was interrupted or killed: `--resume`.
//!
//! The file of records is the only state. A result of it is taken over if everything that decides
//! it is the same now: the submission, the problem or the code, the settings, the device and the
//! tool. All other cases are measured.

mod basis;
mod error;
mod taken;

pub(super) use basis::{grading_of, resumption_of};
pub(super) use error::ResumeError;
pub(super) use taken::Resumed;
