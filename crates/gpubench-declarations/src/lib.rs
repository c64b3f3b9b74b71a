//! Reads what CUDA C++ sources declare: kernels, their parameters and their launch bounds.
//!
//! It reads the text, without a preprocessor and without a parser of C++. What it does not
//! understand is unknown, never wrong: macros, names with several meanings, and kernels with
//! different declarations. Both the tool and the macros of kernel crates use it, so it has no
//! dependencies.

#![forbid(unsafe_code)]

mod declarations;
mod functions;
mod includes;
mod kernels;
mod launch_bounds;
mod macros;
mod number;
mod parameters;
mod structs;
mod type_names;
mod words;

pub use declarations::{Declarations, Texts};
pub use includes::{Include, includes};
pub use kernels::DeclaredKernel;
pub use number::Number;
pub use parameters::{Access, Parameter, ParameterType, name_of_variable};
pub use structs::Field;
pub use words::{Token, after_parentheses, is_word, tokens};
