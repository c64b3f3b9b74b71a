//! One side of a run: its selected cases, who records them, and what compiles their kernels.

use std::rc::Rc;

use super::recording::authors::Authors;
use super::selected::Selected;
use crate::build::kernels::Compiler;

/// The candidate of a run, or the revision that it is measured in turns with.
pub(super) struct Side<'a> {
    /// Its libraries and cases.
    pub(super) selected: Selected<'a>,
    /// Their authors.
    pub(super) authors: Authors<'a>,
    /// The compiler of their kernels.
    pub(super) compiler: Rc<dyn Compiler>,
}
