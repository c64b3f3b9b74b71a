//! What a submission to a problem is, as data.
//!
//! A *problem* comes from a crate: tensors, expected outputs, tolerances. A *submission* comes from
//! a stranger: CUDA C++, PTX, a cubin, a fatbin or a shared library, with a description of its
//! launches. Nothing of a submission runs here. [`Submission::read`] reads a file, a folder or a
//! tarball in bounded memory and time, and [`Submission::launches`] turns its description into a
//! launch plan for one [`Case`].
//!
//! ```
//! use gpubench::catalog::{AxisValue, DType, DeviceFacts, Fill, Role, Tensor, Tolerance};
//! use gpubench_submission::{Case, Launches, Limits, Submission};
//!
//! let text = r#"
//! /* gpubench
//! grid = "ceil_div(n, block)"
//! block = 256
//! */
//! __global__ void fill(float *out, int n) { }
//! "#;
//! let submission = Submission::from_bytes(text.into(), &Limits::default())?;
//! let out = Tensor {
//!     name: "out".into(),
//!     dtype: DType::F32,
//!     shape: vec![1000],
//!     role: Role::Output,
//!     fill: Fill::Poison,
//!     tolerance: Tolerance::Exact,
//!     record: None,
//! };
//! # let facts = DeviceFacts {
//! #     kind: gpubench::DeviceKind::Cuda, name: "GPU".into(), multiprocessors: 132, capability: 90, warp_size: 32,
//! #     max_threads_per_block: 1024, max_threads_per_multiprocessor: 2048, max_block: [1024, 1024, 64],
//! #     max_grid: [1 << 30, 65535, 65535], shared_per_block: 48 << 10, shared_per_block_optin: 227 << 10, l2_bytes: 1 << 20,
//! # };
//! let case = Case {
//!     tensors: &[out],
//!     params: &vec![("n".into(), AxisValue::Int(1000))],
//!     facts: &facts,
//! };
//! let Launches::Sealed(plan) = submission.launches(&case, 0)? else { panic!("it has no host code") };
//! let launch = plan.launches().next().expect("one launch");
//! assert_eq!((launch.grid, &*launch.kernel.name), ([4, 1, 1], "fill"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The grammar of a description is in the book: `docs/reference/submissions.md`.
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
mod main_file;
mod mistake;
mod name;
mod number_type;
mod packed;
mod position;
mod ptx;
mod sources;
mod submission;
mod table;
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
pub use packed::Packed;
pub use position::Position;
pub use sources::SourceTexts;
pub use submission::{Code, Submission};
