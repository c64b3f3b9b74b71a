//! Going on with a grading that was interrupted or killed: `grade --resume`.
//!
//! The file of records is the only state. A result of it is taken over if everything that decides
//! it is the same now: the submission, the problem, the settings, the device and the tool. All
//! other cases are judged anew.

mod basis;
mod error;
mod taken;

pub(super) use basis::grading_of;
pub(super) use error::ResumeError;
pub(super) use taken::Resumed;
