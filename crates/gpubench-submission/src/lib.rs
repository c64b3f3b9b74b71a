//! What a submission to a problem is, as data.
//!
//! A *problem* comes from a crate: tensors, expected outputs, tolerances. A *submission* comes from
//! a stranger: CUDA C++, PTX, a cubin, a fatbin or a shared library, with a description of its
//! launches. Nothing of a submission runs here. [`Submission::read`] reads a file, a folder or a
//! tarball in bounded memory and time, and [`Submission::launches`] turns its description into a
//! launch plan for one [`Case`].
#![forbid(unsafe_code)]

mod argument;
mod beneath;
mod buffers;
mod case;
mod comment;
mod description;
mod entry_path;
mod error;
mod evaluation;
mod expression;
mod folder;
mod grammar;
mod include;
mod kernels;
mod launch_plan;
mod limits;
mod mistake;
mod name;
mod number_type;
mod position;
mod ptx;
mod submission;
mod tarball;
mod tree;

pub use case::Case;
pub use description::{
    Argument, Body, Compiler, Constant, Description, LaunchStep, LibraryFunction, Placed, ScratchBuffer, Step, Steps,
    Written,
};
pub use entry_path::BadPath;
pub use error::ReadError;
pub use expression::{Expression, ExpressionError, Names, Problem, Value};
pub use launch_plan::Launches;
pub use limits::Limits;
pub use mistake::{Mistake, What};
pub use name::{Name, NotAName};
pub use number_type::{NumberType, Unfit};
pub use position::Position;
pub use submission::{Code, Submission};
